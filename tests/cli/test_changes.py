"""`truckee changes`: counts from the log alone, rows by Spark."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import command_line
from builders import History, history
from staging import metadata
from truckee.protocol.actions import AddCDCFile
from truckee.protocol.paths import commit_path
from truckee.storage.local import LocalStorage

FEED_ON = {"delta.enableChangeDataFeed": "true"}
CHANGED = pa.table(
    {
        "id": pa.array([2, 2], pa.int64()),
        "name": ["b\n2", None],
        "_change_type": ["update_postimage", "update_preimage"],
    }
)


@pytest.fixture
def table(tmp_path: Path) -> History:
    """Three rows are inserted, one is deleted by a vector, one is updated."""
    root = tmp_path / "t"
    made = history(LocalStorage(str(root)))
    made.stage(metadata("id long", "name string", properties=FEED_ON))
    made.add("a", stats='{"numRecords":3}', size=_write(root / "a", [1, 2, 3], ["a", None, "c"]))
    made.then().delete("a", rows=[2]).then()
    made.delete("a", rows=[1, 2])
    made.add("b", stats='{"numRecords":1}', size=_write(root / "b", [2], ["b\n2"]))
    (root / "_change_data").mkdir()
    pq.write_table(CHANGED, root / "_change_data" / "c")
    size = (root / "_change_data" / "c").stat().st_size
    made.stage(AddCDCFile(path="_change_data/c", partition_values={}, size=size)).then()
    for version in range(3):
        time_ns = 1_700_000_000_000_000_000 + version * 1_000_000
        os.utime(root / commit_path(version), ns=(time_ns, time_ns))
    return made


def _write(path: Path, ids: list[int], names: list[str | None]) -> int:
    path.parent.mkdir(exist_ok=True)
    columns = {"id": pa.array(ids, pa.int64()), "name": pa.array(names, pa.string())}
    pq.write_table(pa.table(columns), path)
    return path.stat().st_size


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    return command_line.run(capsys, "changes", *arguments)


def run_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    return command_line.run_json(capsys, "changes", *arguments)


def test_the_log_alone_counts_files_and_vectors(
    table: History, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(
        capsys, table.storage.root, "--from", "0", "--to", "1", "--summary", "--utc"
    )

    assert (code, err) == (0, "")
    assert [line.split() for line in out.splitlines()] == [
        ["version", "timestamp", "change", "type", "rows"],
        ["0", "2023-11-14T22:13:20.000Z", "insert", "3"],
        ["1", "2023-11-14T22:13:20.001Z", "delete", "1"],
    ]


@pytest.mark.parametrize("how", [(), ("--summary",)])
def test_times_are_shown_in_the_local_zone_and_can_be_given_so(
    how: tuple[str, ...],
    table: History,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    shown = "2023-11-15 03:43:20.001+05:30"
    try:
        _, out, _ = run(capsys, table.storage.root, "--from", shown, "--to", "1", *how)
    finally:
        monkeypatch.undo()
        time.tzset()

    (line,) = out.splitlines()[1:]
    assert shown in line


@pytest.mark.parametrize("end", ["1", "2023-11-14T22:13:20.001Z", "2023-11-14 22:13:20.001"])
def test_a_bound_is_a_version_or_a_timestamp_in_utc(
    end: str, table: History, capsys: pytest.CaptureFixture[str]
) -> None:
    counts = run_json(capsys, table.storage.root, "--from", "1", "--to", end, "--summary")

    assert counts == [
        {
            "version": 1,
            "timestamp": "2023-11-14T22:13:20.001Z",
            "changeType": "delete",
            "rows": 1,
        }
    ]


def test_spark_counts_what_the_log_leaves_open(
    spark: SparkSession, table: History, capsys: pytest.CaptureFixture[str]
) -> None:
    counts = run_json(capsys, table.storage.root, "--from", "1", "--summary")

    assert [(c["version"], c["changeType"], c["rows"]) for c in counts] == [
        (1, "delete", 1),
        (2, "update_preimage", 1),
        (2, "update_postimage", 1),
    ]
    assert counts[1]["timestamp"] == "2023-11-14T22:13:20.002Z"


def test_a_condition_is_counted_with(
    spark: SparkSession, table: History, capsys: pytest.CaptureFixture[str]
) -> None:
    counts = run_json(
        capsys, table.storage.root, "--from", "0", "--summary", "--where", "name IS NULL"
    )

    assert [(c["version"], c["changeType"], c["rows"]) for c in counts] == [
        (0, "insert", 1),
        (2, "update_preimage", 1),
    ]


def test_rows_come_oldest_first_with_the_images_of_an_update_side_by_side(
    spark: SparkSession, table: History, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, table.storage.root, "--from", "0", "--utc")

    assert (code, err) == (0, "")
    assert [line.split() for line in out.splitlines()] == [
        ["_commit_version", "_change_type", "id", "name", "_commit_timestamp"],
        ["0", "insert", "1", "a", "2023-11-14T22:13:20.000Z"],
        ["0", "insert", "2", "null", "2023-11-14T22:13:20.000Z"],
        ["0", "insert", "3", "c", "2023-11-14T22:13:20.000Z"],
        ["1", "delete", "3", "c", "2023-11-14T22:13:20.001Z"],
        ["2", "update_preimage", "2", "null", "2023-11-14T22:13:20.002Z"],
        ["2", "update_postimage", "2", r"b\n2", "2023-11-14T22:13:20.002Z"],
    ]


def test_rows_are_coloured_by_what_became_of_them_where_colours_are_shown(
    spark: SparkSession,
    table: History,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)

    code, out, err = run(capsys, table.storage.root, "--from", "0", "--where", "id > 1")

    assert (code, err) == (0, "")
    colours = [line[: line.index("m") + 1] for line in out.splitlines()[1:]]
    assert colours == [
        "\x1b[32m",
        "\x1b[32m",
        "\x1b[31m",
        "\x1b[2;33m",
        "\x1b[33m",
    ]


def test_rows_in_json_have_the_names_of_the_feed(
    spark: SparkSession, table: History, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = run_json(capsys, table.storage.root, "--from", "2", "--limit", "1")

    assert rows == [
        {
            "id": 2,
            "name": None,
            "_change_type": "update_preimage",
            "_commit_version": 2,
            "_commit_timestamp": "2023-11-14T22:13:20.002Z",
        }
    ]


def test_a_condition_that_makes_no_sense_is_told_in_a_sentence(
    spark: SparkSession, table: History, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(
        capsys, table.storage.root, "--from", "0", "--where", "nonsense > 1", "--engine", "spark"
    )

    assert (code, out) == (3, "")
    # PySpark's own logger also writes here, since no process of its own was started.
    sentence, hint = err.splitlines()[-2:]
    assert sentence.startswith("error: [UNRESOLVED_COLUMN.WITH_SUGGESTION] ")
    assert hint == "hint: --debug shows where it came from"


def test_a_start_after_the_latest_version_is_an_error(
    table: History, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, table.storage.root, "--from", "9")

    assert (code, out) == (1, "")
    assert err.startswith("error: [DELTA_CDC_START_VERSION_AFTER_LATEST] the change feed of ")


def test_a_table_without_a_feed_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    history(LocalStorage(str(tmp_path))).add("a").then()

    code, out, err = run(capsys, str(tmp_path), "--from", "0", "--summary")

    assert (code, out) == (1, "")
    assert err.startswith("error: [DELTA_MISSING_CHANGE_DATA] ")


def test_net_changes_are_derived_from_data_files(
    spark: SparkSession, table: History, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("--from", "1", "--feed", "derived", "--keys", "id", "--net", "--updates")
    code, out, _ = run(capsys, table.storage.root, *asked, "--json")

    found = [(r["id"], r["name"], r["_change_type"]) for r in json.loads(out)]
    assert code == 0
    assert sorted(found, key=str) == [
        (2, "b\n2", "update_postimage"),
        (2, None, "update_preimage"),
        (3, "c", "delete"),
    ]
    code, _, err = run(capsys, table.storage.root, "--from", "1", "--feed", "none")
    assert code == 2
    assert "'none' is not one of recorded, derived, auto" in err


def test_rows_that_a_restore_only_moved_can_be_left_out(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "t"
    made = history(LocalStorage(str(root)))
    made.stage(metadata("id long", "name string", properties=FEED_ON))
    whole: dict[str, Any] = {"extended_file_metadata": True, "partition_values": {}}
    size, stats = _write(root / "a", [1, 2, 3], ["a", "b", "c"]), '{"numRecords":3}'
    made.add("a", size=size, stats=stats).then()
    size = _write(root / "b", [1, 2, 3], ["a", "B", "c"])
    made.remove("a", **whole).add("b", size=size, stats=stats).then()
    made.info(operation="RESTORE").remove("b", size=size, stats=stats, **whole)
    made.add("a", size=(root / "a").stat().st_size, stats=stats).then()
    feed = (str(root), "--from", "2", "--summary")

    every = run_json(capsys, *feed)
    changed = run_json(capsys, *feed, "--drop-carryovers")
    paired = run_json(capsys, *feed, "--drop-carryovers", "--keys", "id")

    assert [(c["changeType"], c["rows"]) for c in every] == [("insert", 3), ("delete", 3)]
    assert [(c["changeType"], c["rows"]) for c in changed] == [("insert", 1), ("delete", 1)]
    assert [(c["changeType"], c["rows"]) for c in paired] == [
        ("update_preimage", 1),
        ("update_postimage", 1),
    ]
