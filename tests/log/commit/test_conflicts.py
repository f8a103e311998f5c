"""May this transaction land after that commit? One test for each cell of the matrix."""

from __future__ import annotations

import pickle
from datetime import date, datetime, timezone

import pytest

from staging import BASIC, add, check, commit, metadata, remove, vector
from truckee.errors.transaction import (
    ConcurrentAppendException,
    ConcurrentDeleteDeleteException,
    ConcurrentDeleteReadException,
    ConcurrentDomainMetadataException,
    ConcurrentTransactionException,
    DeltaConcurrentModificationException,
    ProtocolChangedException,
)
from truckee.log.commit.conflicts import Candidate, IsolationLevel, Reads
from truckee.log.files.commits import Commit
from truckee.protocol.actions import (
    Action,
    DomainMetadata,
    Metadata,
    Protocol,
    SetTransaction,
)
from truckee.protocol.predicates import UNKNOWN, Column, Comparison, IsNull, Predicate, all_of
from truckee.protocol.table_configuration import TableConfiguration

BY_DAY = metadata("id long", "day date", partitioned_by=("day",))
FIRST = {"day": "2024-01-01"}
SECOND = {"day": "2024-01-02"}
ON_FIRST = Comparison("=", Column(("day",)), date(2024, 1, 1))

SERIALIZABLE = IsolationLevel.SERIALIZABLE
WRITE_SERIALIZABLE = IsolationLevel.WRITE_SERIALIZABLE
SNAPSHOT = IsolationLevel.SNAPSHOT_ISOLATION


def mine(
    *actions: Action,
    reads: Reads | None = None,
    isolation: IsolationLevel = SERIALIZABLE,
    table: Metadata = BY_DAY,
    protocol: Protocol = BASIC,
    operation: str = "DELETE",
) -> Candidate:
    return Candidate(
        reads=reads or Reads(),
        actions=actions,
        isolation=isolation,
        operation=operation,
        before=TableConfiguration(table, protocol),
    )


def searched(*predicates: Predicate, files: tuple[str, ...] = ()) -> Reads:
    return Reads(predicates=predicates, paths=frozenset(files))


def conflict(candidate: Candidate, winner: Commit) -> DeltaConcurrentModificationException:
    with pytest.raises(DeltaConcurrentModificationException) as raised:
        check(candidate, winner)
    return raised.value


# Blind appends.


@pytest.mark.parametrize(
    "winner",
    [
        commit(5, add("w", partition=FIRST), blind=True),
        commit(5, remove(add("w", partition=FIRST)), add("v", partition=FIRST), blind=False),
        commit(5, add("w", partition=FIRST, data_change=False), operation="OPTIMIZE"),
    ],
    ids=["append", "update", "optimize"],
)
def test_blind_append_follows_any_change_of_data(winner: Commit) -> None:
    check(mine(add("m", partition=FIRST)), winner)


# New files of the winner.


def test_file_added_to_a_partition_that_was_read_is_a_conflict() -> None:
    winner = commit(5, add("day=2024-01-01/w", partition=FIRST), blind=True)

    error = conflict(mine(reads=searched(ON_FIRST)), winner)

    assert isinstance(error, ConcurrentAppendException)
    assert error.code == "DELTA_CONCURRENT_APPEND"
    assert error.sentence() == (
        "version 5 (WRITE) added the file 'day=2024-01-01/w' to partition [day=2024-01-01], "
        "which this transaction has read\n"
        "hint: read the table again and repeat the operation; a condition on the partition "
        "columns keeps writers of other partitions apart"
    )


def test_file_added_to_another_partition_is_none() -> None:
    check(mine(reads=searched(ON_FIRST)), commit(5, add("w", partition=SECOND)))


def test_file_added_to_the_null_partition_does_not_match_an_equality() -> None:
    check(mine(reads=searched(ON_FIRST)), commit(5, add("w", partition={"day": None})))


def test_null_partition_is_named_in_the_error() -> None:
    reads = searched(IsNull(Column(("day",))))

    error = conflict(mine(reads=reads), commit(5, add("w", partition={"day": None})))

    assert "to partition [day=null]," in error.sentence()


def test_condition_on_other_columns_counts_as_a_match() -> None:
    on_data = Comparison(">", Column(("id",)), 7)

    error = conflict(mine(reads=searched(on_data)), commit(5, add("w", partition=FIRST)))

    assert isinstance(error, ConcurrentAppendException)


def test_condition_on_other_columns_beside_one_on_the_partition_keeps_partitions_apart() -> None:
    reads = searched(all_of(ON_FIRST, UNKNOWN))

    check(mine(reads=reads), commit(5, add("w", partition=SECOND)))


def test_one_of_several_reads_is_enough() -> None:
    other = Comparison("=", Column(("day",)), date(2024, 1, 2))

    error = conflict(mine(reads=searched(other, ON_FIRST)), commit(5, add("w", partition=FIRST)))

    assert isinstance(error, ConcurrentAppendException)


def test_any_new_file_is_a_conflict_where_the_whole_table_was_read() -> None:
    error = conflict(mine(reads=Reads(whole_table=True)), commit(5, add("w", partition=FIRST)))

    assert isinstance(error, ConcurrentAppendException)


def test_any_new_file_is_a_conflict_where_a_table_without_partitions_was_read() -> None:
    predicate = Comparison("=", Column(("id",)), 7)

    error = conflict(mine(reads=searched(predicate), table=metadata()), commit(5, add("w")))

    assert error.sentence() == (
        "version 5 (WRITE) added the file 'w' to the table, which this transaction has read\n"
        "hint: read the table again and repeat the operation"
    )


def test_partition_values_of_mapped_columns_go_by_physical_names() -> None:
    schema = BY_DAY.schema_string.replace(
        '"name":"day","type":"date","nullable":true,"metadata":{}',
        '"name":"day","type":"date","nullable":true,"metadata":'
        '{"delta.columnMapping.id":2,"delta.columnMapping.physicalName":"col-7"}',
    )
    table = Metadata(id="t", schema_string=schema, partition_columns=["day"])

    check(
        mine(reads=searched(ON_FIRST), table=table),
        commit(5, add("w", partition={"col-7": "2024-01-02"})),
    )
    error = conflict(
        mine(reads=searched(ON_FIRST), table=table),
        commit(5, add("w", partition={"col-7": "2024-01-01"})),
    )

    assert "partition [day=2024-01-01]" in error.sentence()


def test_partition_timestamp_without_a_zone_could_be_any_time() -> None:
    table = metadata("id long", "at timestamp", partitioned_by=("at",))
    noon = datetime(2024, 1, 1, 12, tzinfo=timezone.utc)
    reads = searched(Comparison("=", Column(("at",)), noon))

    check(
        mine(reads=reads, table=table),
        commit(5, add("w", partition={"at": "2024-01-01T11:00:00.000000Z"})),
    )
    error = conflict(
        mine(reads=reads, table=table), commit(5, add("w", partition={"at": "2024-01-01 11:00:00"}))
    )

    assert isinstance(error, ConcurrentAppendException)


def test_partition_value_that_cannot_be_parsed_counts_as_a_match() -> None:
    error = conflict(mine(reads=searched(ON_FIRST)), commit(5, add("w", partition={"day": "soon"})))

    assert isinstance(error, ConcurrentAppendException)


# Isolation levels.


@pytest.mark.parametrize(
    ("level", "blind", "conflicts"),
    [
        (SERIALIZABLE, True, True),
        (SERIALIZABLE, False, True),
        (SERIALIZABLE, None, True),
        (WRITE_SERIALIZABLE, True, False),
        (WRITE_SERIALIZABLE, False, True),
        (WRITE_SERIALIZABLE, None, True),
        (SNAPSHOT, True, False),
        (SNAPSHOT, False, False),
    ],
)
def test_isolation_level_decides_which_new_files_matter(
    level: IsolationLevel, blind: bool | None, conflicts: bool
) -> None:
    winner = commit(5, add("w", partition=FIRST), blind=blind)
    candidate = mine(reads=searched(ON_FIRST), isolation=level)

    if conflicts:
        assert isinstance(conflict(candidate, winner), ConcurrentAppendException)
    else:
        check(candidate, winner)


def test_blind_appends_matter_to_whoever_changes_metadata() -> None:
    winner = commit(5, add("w", partition=FIRST), blind=True)

    error = conflict(mine(BY_DAY, reads=searched(ON_FIRST), isolation=WRITE_SERIALIZABLE), winner)

    assert isinstance(error, ConcurrentAppendException)


def test_compaction_by_the_winner_is_a_conflict_where_its_files_were_read() -> None:
    old = add("old", partition=FIRST)
    winner = commit(
        5,
        add("new", partition=FIRST, data_change=False),
        remove(old, data_change=False),
        operation="OPTIMIZE",
        blind=False,
    )

    serializable = conflict(mine(reads=searched(ON_FIRST, files=("old",))), winner)
    optimizing = conflict(
        mine(
            remove(old, data_change=False),
            reads=searched(ON_FIRST, files=("old",)),
            isolation=SNAPSHOT,
        ),
        winner,
    )

    assert isinstance(serializable, ConcurrentAppendException)
    assert isinstance(optimizing, ConcurrentDeleteReadException)


@pytest.mark.parametrize("side", ["mine", "winner"])
def test_new_files_do_not_matter_beside_a_backfill_of_row_ids(side: str) -> None:
    backfill = "ROW TRACKING BACKFILL"
    winner = commit(
        5, add("w", partition=FIRST), operation=backfill if side == "winner" else "WRITE"
    )

    check(
        mine(reads=searched(ON_FIRST), operation=backfill if side == "mine" else "DELETE"), winner
    )


@pytest.mark.parametrize("operation", ["ROW TRACKING BACKFILL", "COMPUTE STATS"])
def test_a_file_that_was_added_again_does_not_get_other_row_ids(operation: str) -> None:
    backfill = mine(add("f"), reads=searched(files=("f",)), operation="ROW TRACKING BACKFILL")

    check(backfill, commit(5, add("g"), operation=operation))
    error = conflict(backfill, commit(5, add("f"), operation=operation))

    assert isinstance(error, ConcurrentAppendException)
    assert error.path == "f"


# Files that the winner removed.


def test_removal_of_a_file_that_was_read_is_a_conflict() -> None:
    winner = commit(5, remove(add("f", partition=FIRST)), operation="DELETE", blind=False)

    error = conflict(mine(reads=searched(files=("f",))), winner)

    assert isinstance(error, ConcurrentDeleteReadException)
    assert error.code == "DELTA_CONCURRENT_DELETE_READ"
    assert error.sentence() == (
        "version 5 (DELETE) removed the file 'f' from partition [day=2024-01-01], and this "
        "transaction has read it\nhint: read the table again and repeat the operation"
    )


def test_removal_of_a_file_that_was_not_read_is_none() -> None:
    check(
        mine(reads=searched(ON_FIRST, files=("f",))), commit(5, remove(add("g", partition=FIRST)))
    )


def test_any_removal_is_a_conflict_where_the_whole_table_was_read() -> None:
    error = conflict(mine(reads=Reads(whole_table=True)), commit(5, remove(add("f"))))

    assert isinstance(error, ConcurrentDeleteReadException)


def test_removal_of_a_file_that_is_removed_here_too_is_a_conflict() -> None:
    file = add("f")
    winner = commit(5, remove(file), operation="DELETE")

    error = conflict(mine(remove(file), table=metadata()), winner)

    assert isinstance(error, ConcurrentDeleteDeleteException)
    assert error.code == "DELTA_CONCURRENT_DELETE_DELETE"
    assert error.sentence() == (
        "version 5 (DELETE) removed the file 'f' from the table, and this transaction removes it "
        "too\nhint: read the table again and repeat the operation"
    )


def test_two_spellings_of_a_path_are_one_file() -> None:
    winner = commit(5, remove(add("day=2024-01-01/a%20b", partition=FIRST)))

    error = conflict(mine(remove(add("day=2024-01-01/a b", partition=FIRST))), winner)

    assert isinstance(error, ConcurrentDeleteDeleteException)


def test_two_deletion_vectors_of_one_file_conflict() -> None:
    before = add("f")
    theirs = commit(5, add("f", vector=vector("theirs")), remove(before), operation="DELETE")
    ours = mine(
        add("f", vector=vector("ours")),
        remove(before),
        reads=searched(files=("f",)),
        isolation=WRITE_SERIALIZABLE,
        table=metadata(),
    )

    assert isinstance(conflict(ours, theirs), ConcurrentDeleteReadException)


# Applications and domains.


def test_transaction_of_an_application_that_was_read_is_a_conflict() -> None:
    winner = commit(5, SetTransaction(app_id="app", version=7), operation="STREAMING UPDATE")

    error = conflict(mine(reads=Reads(app_ids=frozenset({"app"}))), winner)

    assert isinstance(error, ConcurrentTransactionException)
    assert error.code == "DELTA_CONCURRENT_TRANSACTION"
    assert error.sentence() == (
        "version 5 (STREAMING UPDATE) recorded a transaction of application 'app', which this "
        "transaction depends on\n"
        "hint: make sure that no two writers, or two runs of one streaming query, share an "
        "application id or a checkpoint location"
    )


def test_transaction_of_another_application_is_none() -> None:
    winner = commit(5, SetTransaction(app_id="other", version=7))

    check(mine(reads=Reads(app_ids=frozenset({"app"}))), winner)


def test_domain_that_both_write_is_a_conflict() -> None:
    domain = DomainMetadata(domain="delta.clustering", configuration="{}")

    error = conflict(mine(domain), commit(5, domain, operation=None))

    assert isinstance(error, ConcurrentDomainMetadataException)
    assert isinstance(error, ConcurrentTransactionException)
    assert error.sentence() == (
        "version 5 (an operation without a name) wrote the metadata domain 'delta.clustering', "
        "which this transaction writes too\n"
        "hint: read the table again and repeat the operation"
    )


def test_domain_of_row_tracking_is_merged_rather_than_a_conflict() -> None:
    domain = DomainMetadata(domain="delta.rowTracking", configuration='{"rowIdHighWaterMark":9}')

    check(mine(domain), commit(5, domain))


# Protocol.


def test_protocol_that_only_the_winner_changes_is_followed() -> None:
    check(mine(), commit(5, Protocol(min_reader_version=1, min_writer_version=4)))


def test_protocol_that_both_change_is_a_conflict() -> None:
    newer = Protocol(min_reader_version=1, min_writer_version=4)

    error = conflict(mine(newer), commit(5, newer, operation="UPGRADE PROTOCOL"))

    assert isinstance(error, ProtocolChangedException)
    assert error.code == "DELTA_PROTOCOL_CHANGED"
    assert error.sentence() == (
        "version 5 (UPGRADE PROTOCOL) changed the protocol of the table, and this transaction "
        "changes it too\nhint: read the table again and repeat the operation"
    )


def test_protocol_that_cannot_be_written_is_a_conflict() -> None:
    newer = Protocol(min_reader_version=1, min_writer_version=7, writer_features=("flyingCars",))

    error = conflict(
        mine(protocol=Protocol(min_reader_version=1, min_writer_version=1)),
        commit(5, newer, operation="UPGRADE PROTOCOL"),
    )

    assert "and this writer does not support the new protocol\n" in error.sentence()
    assert "flyingCars" in str(error.__cause__)


def test_protocol_that_lost_a_feature_is_a_conflict() -> None:
    old = Protocol(
        min_reader_version=3,
        min_writer_version=7,
        reader_features=("deletionVectors",),
        writer_features=("deletionVectors", "appendOnly"),
    )
    new = Protocol(min_reader_version=1, min_writer_version=7, writer_features=("appendOnly",))

    error = conflict(mine(protocol=old), commit(5, new, operation="DROP FEATURE"))

    assert error.sentence() == (
        "version 5 (DROP FEATURE) changed the protocol of the table, and dropped deletionVectors "
        "from it\nhint: read the table again and repeat the operation"
    )


def test_two_that_create_one_table_conflict() -> None:
    candidate = Candidate(reads=Reads(), actions=(BASIC, BY_DAY))

    error = conflict(candidate, commit(0, BASIC, BY_DAY, operation="CREATE TABLE"))

    assert isinstance(error, ProtocolChangedException)
    assert error.sentence() == (
        "version 0 (CREATE TABLE) created the table at the same time\n"
        "hint: create the table before several writers write to it"
    )


def test_conflicts_survive_being_pickled() -> None:
    error = conflict(mine(reads=searched(ON_FIRST)), commit(5, add("w", partition=FIRST)))

    again = pickle.loads(pickle.dumps(error))

    assert again.sentence() == error.sentence()
    assert again.path == "w"
