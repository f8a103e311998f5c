"""What the verbs print: data on stdout, words on stderr, and no JVM anywhere."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from builders import History, history, vector
from command_line import run, run_json
from staging import metadata
from truckee.log.upkeep.checksum_writer import counted_checksum
from truckee.protocol.paths import checksum_path, commit_path
from truckee.storage.local import LocalStorage


@pytest.fixture
def table(tmp_path: Path) -> History:
    """A table of two versions, with fixed times."""
    made = (
        history(LocalStorage(str(tmp_path / "t")))
        .stage(metadata("id long", "day string", partitioned_by=("day",)))
        .add("day=1/a", partition_values={"day": "1"}, size=3)
        .then()
        .info(operation="DELETE", operation_metrics={"numDeletedRows": "2"}, user_name="me")
        .remove("day=1/a")
        .add(
            "day=1/a",
            partition_values={"day": "1"},
            size=3,
            deletion_vector=vector(1, 2),
        )
        .add("day=x%20y/b", partition_values={"day": "x y"}, size=4, stats=None)
        .then()
    )
    for version in (0, 1):
        time_ns = 1_700_000_000_000_000_000 + version * 1_000_000
        os.utime(f"{made.storage.root}/{commit_path(version)}", ns=(time_ns, time_ns))
    return made


def test_history_prints_the_newest_first(
    table: History, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, "history", table.storage.root, "--utc")

    assert (code, err) == (0, "")
    assert [line.split() for line in out.splitlines()] == [
        ["version", "timestamp", "operation", "what", "it", "did"],
        ["1", "2023-11-14T22:13:20.001Z", "DELETE", "-2", "rows"],
        ["0", "2023-11-14T22:13:20.000Z"],
    ]


def test_times_are_shown_in_the_local_zone(
    table: History, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    try:
        _, out, _ = run(capsys, "history", table.storage.root, "--limit", "1")
        (entry,) = run_json(capsys, "history", table.storage.root, "--limit", "1")
    finally:
        monkeypatch.undo()
        time.tzset()

    assert "2023-11-15 03:43:20.001+05:30" in out
    assert entry["timestamp"] == "2023-11-14T22:13:20.001Z"


def test_long_history_shows_all_that_a_commit_says(
    table: History, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = run(capsys, "history", table.storage.root, "--limit", "1", "--long", "--utc")

    assert out.splitlines() == [
        "version 1",
        "  timestamp            2023-11-14T22:13:20.001Z",
        "  userName             me",
        "  operation            DELETE",
        "  operationMetrics     numDeletedRows=2",
    ]


def test_history_is_one_line_a_commit_in_80_columns(table: History) -> None:
    """A terminal is 80 columns wide; `script` gives the command one."""
    root = table.storage.root
    long = {"predicate": "country IN ('PT', 'DE', 'FR') AND amount BETWEEN 10 AND 20"}
    table.info(operation="DELETE", operation_parameters=long).then()
    program = f"{sys.executable} -m truckee history {root}"
    done = subprocess.run(
        ["script", "-qec", f"stty cols 80 && {program}", "/dev/null"],
        capture_output=True,
        text=True,
        env={**os.environ, "TERM": "dumb", "COLUMNS": "80"},
        timeout=60,
    )

    lines = done.stdout.replace("\r", "").splitlines()
    assert len(lines) == 4
    assert max(map(len, lines)) <= 80
    # Only the last column is shortened.
    assert lines[0].split() == ["version", "timestamp", "operation", "what", "it", "did"]
    assert re.search(r"\.\d{3}[+-]\d\d:\d\d  DELETE     predicate=country IN .*…$", lines[1])


def test_history_in_json_has_every_column(
    table: History, capsys: pytest.CaptureFixture[str]
) -> None:
    (newest,) = run_json(capsys, "history", table.storage.root, "--limit", "1")

    assert newest == {
        "version": 1,
        "timestamp": "2023-11-14T22:13:20.001Z",
        "userId": None,
        "userName": "me",
        "operation": "DELETE",
        "operationParameters": None,
        "job": None,
        "notebook": None,
        "clusterId": None,
        "readVersion": None,
        "isolationLevel": None,
        "isBlindAppend": None,
        "operationMetrics": {"numDeletedRows": "2"},
        "userMetadata": None,
        "engineInfo": None,
    }


def test_history_warns_of_a_version_that_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    storage = history(LocalStorage(str(tmp_path))).empty(3).storage
    storage.delete(commit_path(1))

    code, out, err = run(capsys, "history", str(tmp_path), "--json")

    assert code == 0
    assert [entry["version"] for entry in json.loads(out)] == [2, 0]
    assert err == "warning: version 1 is missing in the log\n"


def test_detail_tells_what_the_table_is(table: History, capsys: pytest.CaptureFixture[str]) -> None:
    found = run_json(capsys, "detail", table.storage.root)

    assert found == {
        "format": "delta",
        "id": "11111111-2222-3333-4444-555555555555",
        "name": None,
        "description": None,
        "location": table.storage.root,
        "version": 1,
        "createdAt": "2023-11-14T22:13:20.000Z",
        "lastModified": "2023-11-14T22:13:20.001Z",
        "partitionColumns": ["day"],
        "clusteringColumns": [],
        "numRows": None,
        "numFiles": 2,
        "sizeInBytes": 7,
        "properties": {},
        "minReaderVersion": 3,
        "minWriterVersion": 7,
        "tableFeatures": [
            "deletionVectors",
            "domainMetadata",
            "inCommitTimestamp",
            "v2Checkpoint",
        ],
        "columns": [
            {"name": "id", "type": "bigint", "nullable": True},
            {"name": "day", "type": "string", "nullable": True},
        ],
    }


def test_detail_as_text_has_one_fact_a_line(
    table: History, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, "detail", table.storage.root, "--version", "0")

    assert (code, err) == (0, "")
    assert "numFiles           1\n" in out
    assert "partitionColumns   day\n" in out
    assert out.splitlines()[-3:] == [
        "columns",
        "  id               bigint",
        "  day              string",
    ]
    assert len(out.splitlines()) == 20


def test_detail_names_clustering_columns_as_people_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    history(LocalStorage(str(tmp_path))).domain(
        "delta.clustering", '{"clusteringColumns":[["id"],["col-gone"]]}'
    ).then()

    assert run_json(capsys, "detail", str(tmp_path))["clusteringColumns"] == ["id", "col-gone"]


def test_detail_warns_of_a_checksum_that_disagrees_and_fails_only_if_asked(
    table: History, capsys: pytest.CaptureFixture[str]
) -> None:
    snapshot = table.snapshot()
    (Path(snapshot.storage.root) / checksum_path(1)).write_text('{"numFiles":9}')
    sentence = (
        f"[DELTA_TXN_LOG_FAILED_INTEGRITY] version 1 of {snapshot.storage.root} disagrees with "
        "its checksum: it has 2 files, the checksum says 9\n"
        "hint: the log or the checksum was changed after it was written; compare with a copy\n"
    )

    code, out, err = run(capsys, "detail", snapshot.storage.root, "--json")
    assert (code, json.loads(out)["numFiles"], err) == (0, 2, f"warning: {sentence}")
    code, out, err = run(capsys, "detail", snapshot.storage.root, "--verify")
    assert (code, out, err) == (1, "", f"error: {sentence}")


def test_detail_says_that_a_checksum_agrees(
    table: History, capsys: pytest.CaptureFixture[str]
) -> None:
    import msgspec

    root = table.storage.root

    assert run(capsys, "detail", root, "--verify")[2] == "version 1 has no checksum\n"
    table.storage.write(checksum_path(1), msgspec.json.encode(counted_checksum(table.snapshot())))
    assert run(capsys, "detail", root, "--verify")[2] == "version 1 agrees with its checksum\n"


def test_log_lists_the_files_of_the_log(table: History, capsys: pytest.CaptureFixture[str]) -> None:
    table.storage.write(checksum_path(1), b"{}")

    records = run_json(capsys, "log", table.storage.root)

    assert [(r["version"], r["kind"], r["name"]) for r in records] == [
        (0, "commit", "00000000000000000000.json"),
        (1, "checksum", "00000000000000000001.crc"),
        (1, "commit", "00000000000000000001.json"),
    ]
    assert records[0]["modified"] == "2023-11-14T22:13:20.000Z"


def test_log_as_text_has_one_file_a_line(
    table: History, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, "log", table.storage.root)

    assert (code, err) == (0, "")
    assert [line.split()[:3] for line in out.splitlines()] == [
        ["version", "kind", "name"],
        ["0", "commit", "00000000000000000000.json"],
        ["1", "commit", "00000000000000000001.json"],
    ]


def test_log_of_a_version_shows_its_actions_whole(
    table: History, capsys: pytest.CaptureFixture[str]
) -> None:
    table.storage.write(commit_path(2), b'{"unheardOf":{"x":1}}\n{"txn":{"appId":"a","new":2}}\n')

    actions = run_json(capsys, "log", table.storage.root, "--version", "2")
    _, text, _ = run(capsys, "log", table.storage.root, "--version", "2")

    assert actions == [{"unheardOf": {"x": 1}}, {"txn": {"appId": "a", "new": 2}}]
    assert text == 'unheardOf        {"x":1}\ntxn              {"appId":"a","new":2}\n'


def test_files_shows_what_makes_up_a_version(
    table: History, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, "files", table.storage.root, "--utc")

    assert code == 0
    assert err == "2 files, 7 bytes\n"
    assert [line.split() for line in out.splitlines()] == [
        ["path", "size", "modified", "partition", "rows", "deleted"],
        ["day=1/a", "3", "2023-11-14T22:13:20.000Z", "day=1", "10", "2"],
        ["day=x%20y/b", "4", "2023-11-14T22:13:20.000Z", "day=x", "y"],
    ]


def test_files_in_json_are_as_in_the_log(
    table: History, capsys: pytest.CaptureFixture[str]
) -> None:
    (file,) = run_json(capsys, "files", table.storage.root, "--version", "0")

    assert file == {
        "path": "day=1/a",
        "partitionValues": {"day": "1"},
        "size": 3,
        "modificationTime": 1_700_000_000_000,
        "stats": {"numRecords": 10},
    }


def test_an_empty_table_has_an_empty_list_of_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    history(LocalStorage(str(tmp_path))).then()

    assert run_json(capsys, "files", str(tmp_path)) == []


@pytest.mark.parametrize("verb", ["history", "detail", "log", "files"])
def test_what_is_no_table_is_one_sentence_on_stderr(
    verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, verb, str(tmp_path))

    assert (code, out) == (1, "")
    assert err == (
        f"error: [DELTA_MISSING_DELTA_TABLE] {tmp_path} is not a Delta table: it has no "
        "_delta_log\n"
        "hint: give the folder that holds _delta_log\n"
    )


@pytest.mark.parametrize("verb", ["detail", "log", "files"])
def test_a_version_that_is_not_there_is_one_sentence_on_stderr(
    verb: str, table: History, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, verb, table.storage.root, "--version", "7")

    assert (code, out) == (1, "")
    assert err == (
        "error: [DELTA_VERSION_NOT_FOUND] Cannot time travel Delta table to version 7: "
        f"it is not available in {table.storage.root}\n"
        "hint: the log has versions 0 to 1\n"
    )


_MODULES_AFTER = """
import sys
from truckee.cli.main import main
assert main(sys.argv[1:]) == 0
print(*sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("verb", "unneeded"),
    [
        ("history", {"pyspark", "py4j", "pyarrow", "numpy", "obstore", "pyroaring"}),
        ("log", {"pyspark", "py4j", "pyarrow", "numpy", "obstore", "pyroaring"}),
        ("detail", {"pyspark", "py4j", "obstore"}),
        ("files", {"pyspark", "py4j", "obstore"}),
    ],
)
def test_a_verb_loads_only_what_it_needs(verb: str, unneeded: set[str], table: History) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _MODULES_AFTER, verb, table.storage.root, "--json"],
        capture_output=True,
        text=True,
        check=True,
    )

    assert not unneeded & set(done.stderr.split())
