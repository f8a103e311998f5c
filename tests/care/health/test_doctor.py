"""What the doctor says of tables, and the command that it names for each finding."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from builders import history
from care.folders import NOW_MS, UNKNOWN_WRITER, Folder
from data_tables import vector
from truckee.care.health.doctor import diagnosis
from truckee.care.health.findings import Finding, Severity
from truckee.care.vacuum.plan import VacuumOptions, plan_vacuum
from truckee.care.vacuum.vacuum import carry_out
from truckee.log.snapshot import load_snapshot
from truckee.log.upkeep.checkpoint_writer import write_checkpoint
from truckee.protocol.paths import checksum_path


def findings(table: Folder) -> dict[str, Finding]:
    found = diagnosis(load_snapshot(table.storage), now_ms=NOW_MS).findings
    assert len({finding.topic for finding in found}) == len(found)
    return {finding.topic: finding for finding in found}


@pytest.fixture
def table(tmp_path: Path) -> Folder:
    made = Folder(tmp_path / "t", **{"delta.enableChangeDataFeed": "true"})
    made.write("a", "b", days=20)
    made.commit(made.add("a"), made.add("b"), days=20)
    made.commit(made.remove("a", days=10), days=10)
    return made


def test_a_table_in_order_has_nothing_to_mend(tmp_path: Path) -> None:
    table = Folder(tmp_path / "t")
    table.write("a", days=20)
    table.commit(table.add("a"), days=20)

    found = findings(table)

    assert sorted(found) == ["checkpoints", "checksum", "features", "readable"]
    assert all(f.severity is Severity.INFO and f.mend is None for f in found.values())
    assert found["readable"].says == (
        "the table can be read from version 0 on, up to 1; its change data feed is off"
    )


def test_it_tells_what_the_next_vacuum_takes_and_ends(table: Folder) -> None:
    (table.path / "empty").mkdir()

    found = findings(table)

    assert found["readable"].facts == {"table": 0, "feed": 0, "latest": 2}
    assert found["vacuum"].says == (
        "the next vacuum deletes 1 file (10 B) and 1 empty folder; after that, versions before 2 "
        "and the feed before 3 cannot be read"
    )
    assert found["vacuum"].mend == f"truckee vacuum {table.path}"

    carry_out(plan_vacuum(table.storage, VacuumOptions(), now_ms=NOW_MS))

    after = findings(table)
    assert "vacuum" not in after
    assert after["readable"].facts == {"table": 2, "feed": 3, "latest": 4}


def test_a_file_that_is_missing_is_an_error(table: Folder) -> None:
    table.write("c", days=1)
    table.commit(table.add("c"), days=1)
    (table.path / "c").unlink()

    found = findings(table)["missing"]

    assert (found.severity, found.facts) == (Severity.ERROR, {"files": ["c"]})
    assert found.says == "1 file that the table needs cannot be found: c"
    assert found.mend == f"truckee restore {table.path} --version 2"


def test_a_version_that_has_lost_files_too_is_not_what_the_doctor_restores(table: Folder) -> None:
    table.write("c", days=1)
    table.commit(table.add("c"), days=1)
    whole = findings(table)["readable"]
    assert (whole.facts["table"], whole.facts["latest"]) == (0, 3)
    for name in "abc":
        (table.path / name).unlink(missing_ok=True)

    found = findings(table)

    assert found["missing"].mend == "restore the files from a backup"
    assert found["readable"].says.startswith(
        "no version of the table from 2 on can be read in full; "
    )


def test_orphans_and_temporary_files_are_told_apart(table: Folder) -> None:
    table.write("orphan", days=3)
    table.write("_temporary/0/x", "_delta_log/.00000000000000000003.json.ab.tmp", days=3)
    table.write("being-written", "_temporary/0/y", days=0.1)

    found = findings(table)

    assert found["orphaned"].says == (
        "no version in the log uses 1 file (10 B) of the folder: orphan; the retention "
        "keeps 1 of them for now"
    )
    assert found["temporary"].facts["files"] == [
        "_delta_log/.00000000000000000003.json.ab.tmp",
        "_temporary/0/x",
    ]
    assert found["temporary"].mend == (
        f"rm -r {table.path}/_delta_log/.00000000000000000003.json.ab.tmp {table.path}/_temporary"
    )


def test_a_command_that_helps_can_be_pasted_whatever_a_folder_is_called(tmp_path: Path) -> None:
    table = Folder(tmp_path / "my table; echo")
    table.write("orphan", "_temporary $(x)/0/y", days=30)
    table.commit(*(table.add(f"{n}", size=1) for n in range(10)), days=1)

    found = findings(table)

    assert found["vacuum"].mend == f"truckee vacuum '{table.path}'"
    assert found["orphaned"].mend == f"truckee vacuum '{table.path}'"
    assert found["temporary"].mend == f"rm -r '{table.path}/_temporary $(x)'"
    assert found["small files"].mend == f"truckee optimize '{table.path}'"


def test_files_with_many_deleted_rows_are_worth_purging(tmp_path: Path) -> None:
    table = Folder(tmp_path / "t", **{"delta.enableDeletionVectors": "true"})
    many = '{"numRecords":100,"tightBounds":false}'
    table.write("a", "b", days=1)
    table.commit(
        table.add("a", deletion_vector=vector(1, 2, 3, 4, 5), stats=many),
        table.add("b", deletion_vector=vector(1), stats='{"numRecords":10}'),
        days=1,
    )

    found = findings(table)["vectors"]

    assert found.facts == {"files": 2, "deletedRows": 6, "filesWorthPurging": 1}
    assert found.says == (
        "deleted rows that are still stored: 6, in 2 of 2 files; "
        "worth rewriting: 1 file with more than 5 % deleted"
    )
    assert found.mend == f"truckee optimize {table.path} --purge"


def test_small_files_and_skew_are_found(tmp_path: Path) -> None:
    table = Folder(tmp_path / "t", partition_by=("p",))
    mib = 1 << 20
    adds = [
        table.add(f"{p}{n}", partition_values={"p": p}, size=size)
        for p, sizes in {"a": [200 * mib], "b": [mib] * 12, "c": [mib] * 2}.items()
        for n, size in enumerate(sizes)
    ]
    table.write(*(add.path for add in adds), days=1)
    table.commit(*adds, days=1)

    found = findings(table)

    assert found["small files"].facts == {"files": 12, "bytes": 12 * mib, "partitions": 1}
    assert found["small files"].mend == f"truckee optimize {table.path}"
    assert found["skew"].facts["partition"] == {"p": "a"}


def test_a_log_without_checkpoints_or_with_a_wrong_checksum_is_told(tmp_path: Path) -> None:
    table = Folder(tmp_path / "t")
    for _ in range(21):
        table.commit(days=1)

    late = findings(table)["checkpoints"]
    assert late.severity is Severity.WARNING
    assert late.says == (
        "22 commits and there is no checkpoint; one is due every 10, so readers have to read each "
        "of them"
    )
    # Checkpoints are written at versions that the interval divides.
    assert late.mend == "the commit of version 30 writes a checkpoint"

    write_checkpoint(load_snapshot(table.storage))
    told = findings(table)["checkpoints"].says
    assert told == "the newest is of version 21, with 0 commits after it"
    for _ in range(21):
        table.commit(days=1)
    told = findings(table)["checkpoints"].says
    assert told.startswith("21 commits came after the last checkpoint; one is due every 10, ")
    write_checkpoint(load_snapshot(table.storage))
    (table.path / "_delta_log" / "_last_checkpoint").unlink()
    assert "names no existing checkpoint" in findings(table)["checkpoints"].says

    table.storage.write(checksum_path(42), json.dumps({"numFiles": 7}).encode())
    assert findings(table)["checksum"].severity is Severity.ERROR


def test_commits_that_a_clean_up_has_left_are_told(tmp_path: Path) -> None:
    table = Folder(tmp_path / "t", days=90, **{"delta.enableExpiredLogCleanup": "false"})
    table.commit(days=80)
    write_checkpoint(load_snapshot(table.storage))
    table.commit(days=1)

    found = findings(table)["clean-up"]

    assert found.facts == {"commits": 1, "firstKept": 1}
    assert found.mend == "set the table property delta.enableExpiredLogCleanup to true"


def test_it_tells_who_can_write_the_table(tmp_path: Path) -> None:
    table = Folder(tmp_path / "t")
    table.commit(UNKNOWN_WRITER, days=1)

    found = findings(table)["features"]

    assert found.facts["readersLack"] == {"truckee": [], "delta-spark 4": [], "deltalake 1": []}
    assert "somethingNew" in found.facts["writersLack"]["truckee"]


def test_the_worst_comes_first_and_all_of_it_is_json(table: Folder) -> None:
    (table.path / "b").unlink()

    found = diagnosis(load_snapshot(table.storage), now_ms=NOW_MS)

    assert found.findings[0].topic == "missing"
    assert not found.is_healthy
    decoded = msgspec.json.decode(msgspec.json.encode(found))
    assert decoded["findings"][0]["severity"] == "error"
    assert "-> truckee restore" in str(found)


def test_a_table_in_memory_has_a_doctor_too() -> None:
    found = diagnosis(history().add("a").snapshot())

    assert found.findings[0].facts == {"files": ["a"]}
