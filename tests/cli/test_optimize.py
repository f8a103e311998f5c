"""`truckee optimize`: what would be rewritten, and what was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import command_line
from dml_tables import VECTORS, Table, create_table, numbers


@pytest.fixture
def table(spark: SparkSession, tmp_path: Path) -> Table:
    made = create_table(spark, tmp_path / "t", numbers(spark, 0, 4), properties=VECTORS)
    return made.append(numbers(spark, 4, 8)).append(numbers(spark, 8, 12))


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    return command_line.run(capsys, "optimize", *arguments)


def test_a_dry_run_says_what_would_be_rewritten_and_changes_nothing(
    table: Table, capsys: pytest.CaptureFixture[str]
) -> None:
    size = table.snapshot.size_in_bytes

    code, out, _ = run(capsys, str(table.path), "--dry-run", "--json")

    assert code == 0
    assert json.loads(out) == {
        "version": 2,
        "filesConsidered": 3,
        "filesToRewrite": 3,
        "bytesToRewrite": size,
        "filesAfterwards": 1,
        "partitions": 1,
    }
    assert table.version == 2


def test_files_are_compacted_and_the_outcome_is_printed(
    table: Table, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, str(table.path), "--zorder-by", "v,id")

    assert code == 0
    lines = dict(line.split() for line in out.splitlines())
    assert (lines["version"], lines["filesRemoved"], lines["filesAdded"]) == ("3", "3", "1")
    assert (table.info.operation_parameters or {})["zOrderBy"] == '["v","id"]'
    assert len(table.rows()) == 12


def test_what_cannot_be_done_is_told_in_one_sentence(
    table: Table, capsys: pytest.CaptureFixture[str]
) -> None:
    refused = run(capsys, str(table.path), "--zorder-by", "nope")
    contradicting = run(capsys, str(table.path), "--zorder-by", "id", "--purge")

    assert refused[0] == 1
    assert refused[2].startswith(
        "error: [DELTA_ZORDERING_COLUMN_DOES_NOT_EXIST] cannot Z-order by `nope`"
    )
    assert contradicting[0] == 2
    assert table.version == 2
