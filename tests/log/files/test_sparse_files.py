"""Files of a log that say they have a terabyte are not read: an error, or as if there were none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from staging import add, append, create_table, metadata
from truckee.errors.storage import StorageError
from truckee.log.files.history import history
from truckee.log.snapshot import load_snapshot
from truckee.log.upkeep.checkpoint_writer import write_checkpoint
from truckee.log.upkeep.checksum import verify_checksum
from truckee.protocol.paths import LAST_CHECKPOINT_PATH, checksum_path, commit_path
from truckee.storage import LocalStorage, open_storage

_TERABYTE = 1 << 40


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    storage = LocalStorage(str(tmp_path))
    create_table(storage, metadata())
    append(storage, add("a"))
    write_checkpoint(load_snapshot(storage))
    append(storage, add("b"))
    return storage


def blow_up(storage: LocalStorage, path: str) -> None:
    """Make a file a terabyte long; on the disk it takes no more than before."""
    os.truncate(Path(storage.root, path), _TERABYTE)


def test_a_huge_hint_counts_as_none(storage: LocalStorage) -> None:
    blow_up(storage, LAST_CHECKPOINT_PATH)

    assert [file.path for file in load_snapshot(storage).files()] == ["a", "b"]
    assert append(storage, add("c")) == 3


# Invariant 68.
def test_a_huge_commit_is_refused_in_one_sentence(storage: LocalStorage) -> None:
    blow_up(storage, commit_path(2))

    with pytest.raises(StorageError) as raised:
        load_snapshot(storage)

    assert raised.value.sentence() == (
        f"cannot read {storage.root}/{commit_path(2)}: it has 1099511627776 bytes, more than "
        "spark.truckee.storage.largestRead allows (2147483648)"
    )
    assert [entry.version for entry in history(storage)] == [2, 1, 0]


def test_a_huge_checksum_is_refused_and_stops_no_commit(
    storage: LocalStorage, caplog: pytest.LogCaptureFixture
) -> None:
    blow_up(storage, checksum_path(2))

    with pytest.raises(StorageError, match="1099511627776 bytes"):
        verify_checksum(load_snapshot(storage))
    assert append(storage, add("c")) == 3
    assert caplog.messages == []


def test_the_largest_file_is_a_setting(storage: LocalStorage) -> None:
    narrow = open_storage(storage.root, {"spark.truckee.storage.largestRead": "100"})

    with pytest.raises(StorageError, match=r"largestRead allows \(100\)"):
        load_snapshot(narrow)
