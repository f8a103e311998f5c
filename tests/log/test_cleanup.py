"""What goes from a log when its retention is over, and what stays for the versions left."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from staging import add, append, create_table, metadata, paths
from truckee.errors.log import CorruptLogFileError
from truckee.log.checkpoint_writer import write_checkpoint, write_v2_checkpoint
from truckee.log.cleanup import clean_log
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.storage import LocalStorage

DAY_MS = 24 * 3600 * 1000
MIDNIGHT_MS = 20_000 * DAY_MS
RETENTION_DAYS = 30


def age(table: Path, days: dict[int, float], *, default: float = 0.0) -> None:
    """Set the times of a log's files to so many days before a certain midnight, by version."""
    for file in sorted((table / "_delta_log").rglob("*.*")):
        version = int(file.name[:20]) if file.name[:20].isdigit() else -1
        seconds = (MIDNIGHT_MS - days.get(version, default) * DAY_MS) / 1000
        os.utime(file, (seconds, seconds))


def names(table: Path) -> list[str]:
    """Return the log's files as `3.json`, without their leading zeros and uuids."""
    found = (f.name for f in (table / "_delta_log").iterdir() if f.name[:1].isdigit())
    return sorted(
        (f"{int(n[:20])}.{n[21:]}" for n in found), key=lambda n: (int(n.split(".")[0]), n)
    )


def versions(table: Path) -> list[int]:
    return [int(n.split(".")[0]) for n in names(table) if n.endswith(".json") and n.count(".") == 1]


def table_with(
    tmp_path: Path, last: int, *, checkpoints: tuple[int, ...], **properties: str
) -> Snapshot:
    """Return the last version of a table with one file a version and checkpoints at some."""
    storage = LocalStorage(str(tmp_path))
    settings = {f"delta.{name}": value for name, value in properties.items()}
    create_table(storage, metadata(properties={"delta.checkpointInterval": "1000", **settings}))
    for version in range(1, last + 1):
        append(storage, add(f"f{version}"))
        if version in checkpoints:
            write_checkpoint(load_snapshot(storage))
    return load_snapshot(storage)


def clean(snapshot: Snapshot, *, hours_after_midnight: float = 1) -> int:
    now_ms = int(MIDNIGHT_MS + RETENTION_DAYS * DAY_MS + hours_after_midnight * 3600 * 1000)
    return clean_log(snapshot, now_ms=now_ms)


def test_versions_that_are_retained_keep_the_checkpoint_they_are_read_from(tmp_path: Path) -> None:
    snapshot = table_with(tmp_path, 9, checkpoints=(2, 5, 9))
    age(tmp_path, dict.fromkeys(range(8), 1.0), default=-1.0)

    clean(snapshot)

    assert versions(tmp_path) == [5, 6, 7, 8, 9]
    assert [n for n in names(tmp_path) if "parquet" in n] == [
        "5.checkpoint.parquet",
        "9.checkpoint.parquet",
    ]
    assert next(n for n in names(tmp_path) if n.endswith("crc")) == "5.crc"
    for version in range(5, 10):
        found = paths(load_snapshot(snapshot.storage, version))
        assert found == [f"f{v}" for v in range(1, version + 1)]


def test_checkpoint_right_after_the_expired_versions_is_far_enough_back(tmp_path: Path) -> None:
    snapshot = table_with(tmp_path, 6, checkpoints=(2, 5))
    age(tmp_path, dict.fromkeys(range(5), 1.0), default=-1.0)

    clean(snapshot)

    assert versions(tmp_path) == [5, 6]


def test_idle_table_keeps_its_last_checkpoint(tmp_path: Path) -> None:
    snapshot = table_with(tmp_path, 4, checkpoints=(3,))
    age(tmp_path, {}, default=400.0)

    deleted = clean(snapshot)

    assert deleted == 6
    assert versions(tmp_path) == [3, 4]
    assert paths(load_snapshot(snapshot.storage)) == ["f1", "f2", "f3", "f4"]


@pytest.mark.parametrize("checkpoints", [(), (5,)], ids=["none", "too new"])
def test_nothing_goes_without_a_checkpoint_to_read_the_rest_from(
    tmp_path: Path, checkpoints: tuple[int, ...]
) -> None:
    snapshot = table_with(tmp_path, 6, checkpoints=checkpoints)
    age(tmp_path, dict.fromkeys(range(3), 1.0), default=-1.0)

    assert clean(snapshot) == 0
    assert versions(tmp_path) == [0, 1, 2, 3, 4, 5, 6]


def test_cutoff_is_a_midnight(tmp_path: Path) -> None:
    snapshot = table_with(tmp_path, 4, checkpoints=(3,))
    age(tmp_path, dict.fromkeys(range(4), -0.25), default=-2.0)

    assert clean(snapshot, hours_after_midnight=23) == 0
    assert clean(snapshot, hours_after_midnight=25) == 6


def test_commit_that_looks_older_than_the_one_before_is_not(tmp_path: Path) -> None:
    snapshot = table_with(tmp_path, 4, checkpoints=(3,))
    age(tmp_path, {0: 5.0, 1: -1.0, 2: 5.0, 3: 5.0, 4: 5.0})

    assert clean(snapshot) == 0


def test_retention_is_the_tables_own(tmp_path: Path) -> None:
    snapshot = table_with(tmp_path, 4, checkpoints=(3,), logRetentionDuration="interval 60 days")
    age(tmp_path, {}, default=10.0)

    assert clean(snapshot) == 0


@pytest.mark.parametrize(("protected", "deleted"), [("2", 6), ("3", 6), ("4", 0)])
def test_protected_history_goes_in_one_piece_or_not_at_all(
    tmp_path: Path, protected: str, deleted: int
) -> None:
    snapshot = table_with(
        tmp_path,
        4,
        checkpoints=(3,),
        requireCheckpointProtectionBeforeVersion=protected,
        **{"feature.checkpointProtection": "supported"},
    )
    age(tmp_path, {}, default=400.0)

    assert clean(snapshot) == deleted


def test_nothing_goes_if_the_checkpoint_is_broken(tmp_path: Path) -> None:
    snapshot = table_with(tmp_path, 4, checkpoints=(3,))
    (tmp_path / "_delta_log" / f"{3:020d}.checkpoint.parquet").write_bytes(b"PAR1 not really PAR1")
    age(tmp_path, {}, default=400.0)

    with pytest.raises(CorruptLogFileError):
        clean(snapshot)

    assert versions(tmp_path) == [0, 1, 2, 3, 4]


def test_compacted_commits_go_with_the_last_version_that_they_cover(tmp_path: Path) -> None:
    snapshot = table_with(tmp_path, 6, checkpoints=(3,))
    log = tmp_path / "_delta_log"
    for start, end in ((0, 2), (2, 4)):
        (log / f"{start:020d}.{end:020d}.compacted.json").write_bytes(b"")
    age(tmp_path, dict.fromkeys(range(4), 1.0), default=-1.0)

    clean(snapshot)

    assert [n for n in names(tmp_path) if "compacted" in n] == [f"2.{4:020d}.compacted.json"]


# Sidecars.

V2 = {"checkpointPolicy": "v2"}


def sidecars(table: Path) -> set[str]:
    return {file.name for file in (table / "_delta_log" / "_sidecars").iterdir()}


def test_sidecars_go_with_the_checkpoints_that_name_them(tmp_path: Path) -> None:
    snapshot = table_with(tmp_path, 2, checkpoints=(1, 2), **V2)
    old = sidecars(tmp_path)
    write_v2_checkpoint(load_snapshot(snapshot.storage, 2))
    second_of_two = sidecars(tmp_path) - old
    (tmp_path / "_delta_log" / "_sidecars" / "orphan.parquet").write_bytes(b"")
    age(tmp_path, {}, default=400.0)

    clean(snapshot)

    left = sidecars(tmp_path)
    assert second_of_two <= left
    assert "orphan.parquet" not in left
    assert len(left) == 2
    assert paths(load_snapshot(snapshot.storage)) == ["f1", "f2"]


def test_sidecar_of_a_checkpoint_that_is_being_written_stays(tmp_path: Path) -> None:
    snapshot = table_with(tmp_path, 2, checkpoints=(2,), **V2)
    age(tmp_path, {}, default=400.0)
    fresh = tmp_path / "_delta_log" / "_sidecars" / "fresh.parquet"
    fresh.write_bytes(b"")
    os.utime(fresh, (MIDNIGHT_MS / 1000 + 1, MIDNIGHT_MS / 1000 + 1))

    clean(snapshot)

    assert "fresh.parquet" in sidecars(tmp_path)


def test_nothing_goes_if_a_sidecar_of_the_checkpoint_is_missing(tmp_path: Path) -> None:
    snapshot = table_with(tmp_path, 2, checkpoints=(2,), **V2)
    for file in (tmp_path / "_delta_log" / "_sidecars").iterdir():
        file.unlink()
    age(tmp_path, {}, default=400.0)

    assert clean(snapshot) == 0


# After a commit.


def test_log_is_cleaned_after_a_checkpoint(tmp_path: Path) -> None:
    snapshot = table_with(tmp_path, 3, checkpoints=(2,), checkpointInterval="4")
    age(tmp_path, {}, default=0.0)  # decades ago by now

    append(snapshot.storage, add("last"))

    assert versions(tmp_path) == [4]


def test_log_is_not_cleaned_where_the_table_says_so(tmp_path: Path) -> None:
    snapshot = table_with(
        tmp_path, 3, checkpoints=(2,), checkpointInterval="4", enableExpiredLogCleanup="false"
    )
    age(tmp_path, {}, default=0.0)

    append(snapshot.storage, add("last"))

    assert versions(tmp_path) == [0, 1, 2, 3, 4]
