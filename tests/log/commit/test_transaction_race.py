"""Lost races: who may follow, what is worked out anew, and answers that get lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from staging import VECTORS_ON, add, append, create_table, metadata, paths, remove, vector
from truckee.errors.commit import NoVersionLeftError
from truckee.errors.storage import StorageError, WriteOutcomeUnknownError
from truckee.errors.transaction import (
    ConcurrentAppendException,
    ConcurrentTransactionException,
    ConcurrentWriteException,
    MaxCommitRetriesExceededError,
    ProtocolChangedException,
)
from truckee.log.commit.transaction import Transaction
from truckee.log.files.commits import read_commit
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.log.upkeep.checkpoint_writer import write_checkpoint
from truckee.protocol.actions import AddFile, DomainMetadata
from truckee.protocol.paths import LARGEST_VERSION, checkpoint_path, commit_path
from truckee.protocol.predicates import ALWAYS_TRUE
from truckee.storage import LocalStorage, MemoryStorage


def test_append_that_comes_second_takes_the_next_version() -> None:
    storage = MemoryStorage()
    snapshot = create_table(storage)
    transaction = Transaction(storage, snapshot)
    transaction.stage(add("mine"))
    for name in ("first", "second", "third"):
        append(storage, add(name))

    version = transaction.commit("WRITE")

    assert version == 4
    assert paths(load_snapshot(storage)) == ["first", "mine", "second", "third"]
    found = read_commit(storage, 4).commit_info
    assert found is not None
    assert found.read_version == 0


def test_the_log_tells_at_debug_by_whom_a_version_was_taken(
    caplog: pytest.LogCaptureFixture,
) -> None:
    storage = MemoryStorage()
    transaction = Transaction(storage, create_table(storage))
    transaction.stage(add("mine"))
    append(storage, add("first"))
    caplog.set_level("DEBUG", logger="truckee.log.commit.race")

    transaction.commit("STREAMING UPDATE")

    assert [
        (r.levelname, r.message) for r in caplog.records if r.name == "truckee.log.commit.race"
    ] == [("DEBUG", "STREAMING UPDATE: version 1 was taken, by WRITE; checking for conflicts")]


def test_conflict_with_any_of_the_winners_leaves_nothing_behind() -> None:
    storage = MemoryStorage()
    snapshot = create_table(storage)
    transaction = Transaction(storage, snapshot)
    transaction.read_whole_table()
    transaction.stage(add("mine"))
    append(storage, add("first"))

    with pytest.raises(ConcurrentAppendException) as raised:
        transaction.commit("WRITE")

    assert raised.value.sentence() == (
        "version 1 (WRITE) added the file 'first' to the table, which this transaction has read\n"
        "hint: read the table again and repeat the operation"
    )
    assert paths(load_snapshot(storage)) == ["first"]


def test_two_that_create_one_table_make_one() -> None:
    storage = MemoryStorage()
    late = Transaction(storage, None)
    late.set_metadata(metadata())
    create_table(storage)

    with pytest.raises(ProtocolChangedException) as raised:
        late.commit("CREATE TABLE")

    assert raised.value.sentence() == (
        "version 0 (CREATE TABLE) created the table at the same time\n"
        "hint: create the table before several writers write to it"
    )
    assert load_snapshot(storage).version == 0


def test_one_write_of_an_application_wins() -> None:
    storage = MemoryStorage()
    snapshot = create_table(storage)
    racers = [Transaction(storage, snapshot), Transaction(storage, snapshot)]
    for racer in racers:
        racer.set_transaction("app", 1)
        racer.stage(add("a"))
    racers[0].commit("WRITE")

    with pytest.raises(ConcurrentTransactionException):
        racers[1].commit("WRITE")


def test_row_ids_are_given_anew_after_the_winners() -> None:
    storage = MemoryStorage()
    snapshot = create_table(storage, metadata(properties={"delta.enableRowTracking": "true"}))
    transaction = Transaction(storage, snapshot)
    transaction.stage(add("mine", rows=2))
    append(storage, add("theirs", rows=7))

    transaction.commit("WRITE")

    after = load_snapshot(storage)
    ids = {f.path: (f.base_row_id, f.default_row_commit_version) for f in after.files()}
    assert ids == {"theirs": (0, 1), "mine": (7, 2)}
    assert after.domain_metadata["delta.rowTracking"] == DomainMetadata(
        domain="delta.rowTracking", configuration='{"rowIdHighWaterMark":8}'
    )


def test_abilities_that_the_winner_switched_on_are_used_at_once() -> None:
    storage = MemoryStorage()
    snapshot = create_table(storage)
    transaction = Transaction(storage, snapshot)
    transaction.stage(add("mine", rows=2))
    winner = Transaction(storage, snapshot)
    winner.set_metadata(
        metadata(
            properties={
                "delta.enableRowTracking": "true",
                "delta.enableInCommitTimestamps": "true",
            }
        )
    )
    winner.commit("SET TBLPROPERTIES")

    transaction.commit("WRITE")

    first, second = (read_commit(storage, version).commit_info for version in (1, 2))
    assert first is not None
    assert second is not None
    assert (second.in_commit_timestamp or 0) > (first.in_commit_timestamp or 0) > 0
    (file,) = load_snapshot(storage).files()
    assert (file.base_row_id, file.default_row_commit_version) == (0, 2)


def test_in_commit_timestamps_that_are_switched_on_late_count_from_the_version_they_get() -> None:
    storage = MemoryStorage()
    snapshot = create_table(storage)
    transaction = Transaction(storage, snapshot)
    transaction.set_metadata(metadata(properties={"delta.enableInCommitTimestamps": "true"}))
    append(storage, add("theirs"))

    transaction.commit("SET TBLPROPERTIES")

    configuration = load_snapshot(storage).metadata.configuration
    assert configuration["delta.inCommitTimestampEnablementVersion"] == "2"


def test_winners_that_are_gone_from_the_log_cannot_be_followed() -> None:
    storage = MemoryStorage()
    snapshot = create_table(storage)
    transaction = Transaction(storage, snapshot, max_attempts=3)
    transaction.stage(add("mine"))
    append(storage, add("b"))
    append(storage, add("c"))

    class CleanedMeanwhile(MemoryStorage):
        def put_if_absent(self, path: str, data: bytes) -> None:
            try:
                super().put_if_absent(path, data)
            finally:
                self.delete(commit_path(1))

    transaction.storage = CleanedMeanwhile(files=storage._files)
    with pytest.raises(ConcurrentWriteException) as raised:
        transaction.commit("WRITE")

    assert raised.value.code == "DELTA_CONCURRENT_WRITE"
    assert raised.value.sentence() == (
        "the table was read at version 0, but version 1, which was committed since, is no "
        "longer in the log\n"
        "hint: read the table again and repeat the operation"
    )


class AlwaysSecond(MemoryStorage):
    """Somebody else is always faster."""

    def put_if_absent(self, path: str, data: bytes) -> None:
        if path.endswith(".json") and not path.endswith("0.json"):
            append(MemoryStorage(files=self._files), add(path.rpartition("/")[2]))
        super().put_if_absent(path, data)


def test_writer_that_always_comes_second_gives_up_in_the_end() -> None:
    storage = AlwaysSecond()
    transaction = Transaction(storage, create_table(storage), max_attempts=3)
    transaction.stage(add("mine"), add("mine too"))

    with pytest.raises(MaxCommitRetriesExceededError) as raised:
        transaction.commit("WRITE")

    assert raised.value.code == "DELTA_MAX_COMMIT_RETRIES_EXCEEDED"
    raised.value.seconds = 0.25
    assert raised.value.sentence() == (
        "the commit was tried 3 times, for versions 1 to 3, with 2 actions, in 0.2 s, and "
        "another writer was faster each time\n"
        "hint: use fewer concurrent writers for this table, or let each commit less often"
    )


# Answers that get lost.


class LosesAnswers(MemoryStorage):
    """Writes the commit, or another writer's, and does not say so."""

    def __init__(self, *, answer: Exception | None, first: AddFile | None = None) -> None:
        super().__init__()
        self.answer = answer
        self.first = first
        self.is_written = True

    def put_if_absent(self, path: str, data: bytes) -> None:
        if path != commit_path(1) or self.answer is None:
            return super().put_if_absent(path, data)
        answer, self.answer = self.answer, None
        if self.first is not None:
            append(MemoryStorage(files=self._files), self.first)
        if self.is_written:
            super().put_if_absent(path, data)
        raise answer


UNKNOWN_OUTCOME = WriteOutcomeUnknownError(action="write", path="p", reason="the line is dead")


@pytest.mark.parametrize("answer", [UNKNOWN_OUTCOME, FileExistsError()])
def test_commit_whose_answer_got_lost_is_recognised_by_its_id(answer: Exception) -> None:
    storage = LosesAnswers(answer=answer)
    transaction = Transaction(storage, create_table(storage))
    transaction.stage(add("mine"))

    assert transaction.commit("WRITE") == 1
    assert load_snapshot(storage).version == 1


def test_commit_whose_answer_got_lost_may_also_have_lost_the_race() -> None:
    storage = LosesAnswers(answer=UNKNOWN_OUTCOME, first=add("theirs"))
    storage.is_written = False
    transaction = Transaction(storage, create_table(storage))
    transaction.stage(add("mine"))

    assert transaction.commit("WRITE") == 2
    assert paths(load_snapshot(storage)) == ["mine", "theirs"]


def test_commit_that_was_not_written_is_an_error() -> None:
    storage = LosesAnswers(answer=StorageError(action="write", path="p", reason="disk full"))
    storage.is_written = False
    transaction = Transaction(storage, create_table(storage))
    transaction.stage(add("mine"))

    with pytest.raises(StorageError, match="cannot write p: disk full"):
        transaction.commit("WRITE")

    assert load_snapshot(storage).version == 0


# Two deletion vectors of one file.

OLD = add("f")


def deleting(storage: MemoryStorage, snapshot: Snapshot, name: str) -> Transaction:
    """Return a transaction that gives the file of a table a vector."""
    transaction = Transaction(storage, snapshot)
    transaction.read_partitions(ALWAYS_TRUE)
    transaction.read_files([OLD])
    transaction.stage(add("f", vector=vector(name)), remove(OLD))
    return transaction


def test_a_folder_with_the_name_of_the_next_commit_is_an_error(tmp_path: Path) -> None:
    storage = LocalStorage(str(tmp_path))
    transaction = Transaction(storage, create_table(storage))
    (tmp_path / commit_path(1)).mkdir()
    transaction.stage(add("mine"))

    with pytest.raises(StorageError) as raised:
        transaction.commit("WRITE")

    where = tmp_path / commit_path(1)
    assert raised.value.sentence() == f"cannot read {where}: is a directory"


def test_a_broken_link_with_the_name_of_the_next_commit_is_an_error(tmp_path: Path) -> None:
    storage = LocalStorage(str(tmp_path))
    transaction = Transaction(storage, create_table(storage))
    (tmp_path / commit_path(1)).symlink_to(tmp_path / "nowhere")
    transaction.stage(add("mine"))

    with pytest.raises(StorageError) as raised:
        transaction.commit("WRITE")

    assert raised.value.sentence() == (
        f"cannot write {tmp_path / commit_path(1)}: its name is taken, but not by a file that can "
        "be read"
    )


def test_there_is_no_version_after_the_last_one() -> None:
    storage = MemoryStorage("memory://t")
    snapshot = create_table(storage)
    write_checkpoint(snapshot)
    checkpoint = storage.read(checkpoint_path(0))
    storage.write(checkpoint_path(LARGEST_VERSION), checkpoint)
    transaction = Transaction(storage, load_snapshot(storage))
    transaction.stage(add("mine"))
    before = [file.path for file in storage.list_from("_delta_log/")]

    with pytest.raises(NoVersionLeftError) as raised:
        transaction.commit("WRITE")

    assert raised.value.sentence() == (
        "the table memory://t is at version 9223372036854775807, after which there is no other\n"
        "hint: a file of its log has a wrong version in its name; remove it"
    )
    assert [file.path for file in storage.list_from("_delta_log/")] == before


def test_two_vectors_of_one_file_are_a_conflict() -> None:
    storage = MemoryStorage()
    snapshot = create_table(storage, metadata(properties=VECTORS_ON), OLD)
    mine = deleting(storage, snapshot, "mine")
    deleting(storage, snapshot, "theirs").commit("DELETE")

    with pytest.raises(ConcurrentAppendException):
        mine.commit("DELETE")

    assert load_snapshot(storage).version == 1
