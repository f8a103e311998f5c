"""A file that a version has twice, with different deletion vectors, is refused in every read."""

from __future__ import annotations

import pyarrow as pa
import pytest

from staging import VECTORS_ON, add, append, create_table, metadata, paths, remove, vector
from truckee.errors.log import FileLiveTwiceError
from truckee.log.checkpoint.schema import file_rows
from truckee.log.snapshot import load_snapshot, update_snapshot
from truckee.log.upkeep.checkpoint_writer import write_checkpoint
from truckee.protocol.actions import Action, AddFile, encode_actions
from truckee.protocol.paths import commit_path
from truckee.scan.snapshot_scan import scan_files
from truckee.storage.base import Storage
from truckee.storage.memory import MemoryStorage
from values import compare

ONE = add("a%20b", vector=vector("one"))
OTHER = add("a b", vector=vector("other"))
BARE = add("a b")


def table(*files: AddFile) -> Storage:
    storage = MemoryStorage("memory://t")
    create_table(storage, metadata(properties=VECTORS_ON), *files)
    return storage


def put(storage: Storage, version: int, *actions: Action) -> None:
    """Commit what no writer of ours would."""
    storage.write(commit_path(version), encode_actions(actions))


# Invariant 64.
@pytest.mark.parametrize("second", [OTHER, BARE], ids=["another vector", "no vector"])
@pytest.mark.parametrize("checkpoint", ["before", "between", "none"])
def test_two_commits_that_make_a_file_live_twice_are_refused(
    second: AddFile, checkpoint: str
) -> None:
    storage = table(*(add(f"f{n}") for n in range(20)))
    if checkpoint == "before":
        write_checkpoint(load_snapshot(storage))
    append(storage, ONE)
    known = load_snapshot(storage)
    assert len(paths(known)) == 21
    if checkpoint == "between":
        write_checkpoint(known)
    put(storage, 2, second)

    for latest in (lambda: load_snapshot(storage), lambda: update_snapshot(known)):
        with pytest.raises(FileLiveTwiceError) as raised:
            latest().files_table()
        assert raised.value.path == "a b"
    assert raised.value.sentence().startswith(
        "the table memory://t has the file 'a b' twice, with different deletion vectors"
    )


@pytest.mark.parametrize("others", [1, 40], ids=["many vectors", "few vectors"])
def test_a_checkpoint_that_has_a_file_twice_is_refused(others: int) -> None:
    storage = table(ONE, *(add(f"f{n}") for n in range(others)))
    snapshot = load_snapshot(storage)
    snapshot.__dict__["_files"] = pa.Table.from_batches([file_rows([*snapshot.files(), OTHER])])
    write_checkpoint(snapshot)

    with pytest.raises(FileLiveTwiceError):
        load_snapshot(storage).files_table()


@pytest.mark.parametrize("in_checkpoint", [True, False])
def test_a_large_checkpoint_of_which_a_part_is_read_is_no_exception(
    in_checkpoint: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = table(ONE, *(add(f"f{n}") for n in range(20)))
    snapshot = load_snapshot(storage)
    if in_checkpoint:
        files = [*snapshot.files(), OTHER]
        snapshot.__dict__["_files"] = pa.Table.from_batches([file_rows(files)])
    write_checkpoint(snapshot)
    if not in_checkpoint:
        put(storage, 1, OTHER)
    monkeypatch.setattr("truckee.log.snapshot.LARGE_CHECKPOINT", 0)

    with pytest.raises(FileLiveTwiceError):
        scan_files(load_snapshot(storage), compare("id", ">", 0))
    if not in_checkpoint:
        with pytest.raises(FileLiveTwiceError):
            _ = load_snapshot(storage).num_files


def test_a_file_that_gets_another_vector_is_live_once() -> None:
    storage = table(ONE, add("f"))
    write_checkpoint(load_snapshot(storage))
    known = load_snapshot(storage)
    known.files_table()
    put(storage, 1, remove(ONE), OTHER)
    put(storage, 2, remove(OTHER), ONE)

    for snapshot in (load_snapshot(storage), update_snapshot(known)):
        assert paths(snapshot) == ["a%20b", "f"]
    assert [file.deletion_vector for file in load_snapshot(storage, 1).files() if file.path != "f"]
