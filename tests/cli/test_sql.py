"""`truckee sql` runs a statement and shows what it returns."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from truckee.cli.main import main


def test_statements_are_run_and_their_rows_are_shown(
    spark: SparkSession, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    table = f"delta.`{tmp_path}/t`"
    rows = "VALUES (1, array(1, 2), X'0A'), (2, NULL, NULL) AS v(id, tags, bytes)"

    created = main(["sql", f"CREATE TABLE {table} USING delta AS SELECT * FROM {rows}"])
    deleted = main(["sql", f"DELETE FROM {table} WHERE id = 2", "--json"])
    shown = main(["sql", f"SELECT *, id FROM {table}"])
    out = capfd.readouterr().out.splitlines()

    assert (created, deleted, shown) == (0, 0, 0)
    assert json.loads("\n".join(out[:-2])) == [{"num_affected_rows": 1}]
    assert [line.split() for line in out[-2:]] == [
        ["id", "tags", "bytes", "id"],
        ["1", "[1,2]", "0A", "1"],
    ]


def test_a_statement_that_is_wrong_is_one_sentence(
    spark: SparkSession, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code = main(["sql", f"SELECT nothing FROM delta.`{tmp_path}/nowhere`"])
    printed = capfd.readouterr()

    assert code in (1, 3)
    assert printed.out == ""
    assert len(printed.err.strip().splitlines()) <= 3
    assert "nowhere" in printed.err


@pytest.mark.parametrize(
    ("table", "code", "hint"),
    [
        (
            "delta.`orders`",
            1,
            "write delta.`./orders` for a folder in the working directory, "
            "or delta.`/the/whole/path`",
        ),
        ("no_such_name", 3, "name the table by its path, as in delta.`/data/orders`"),
    ],
)
def test_a_table_that_spark_does_not_find_is_told_with_how_to_name_it(
    spark: SparkSession, table: str, code: int, hint: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["sql", f"SELECT * FROM {table}"]) == code
    assert capfd.readouterr().err.splitlines()[-1] == f"hint: {hint}"
