"""What a stream passes over, what it refuses, and what it says then."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from changes.tables import PROTOCOL, Table, add, cdc, mapped, metadata, remove, vector
from streaming.streams import batches, feed, stream
from truckee.errors import DeltaError
from truckee.errors.changes import ChangeDataNotRecordedError
from truckee.errors.log import NotADeltaTableError, TimestampTooLateError, VersionNotFoundError
from truckee.errors.protocol import UnsupportedReaderFeaturesError
from truckee.errors.stream_schema import (
    NonAdditiveSchemaChangeError,
    SchemaNotSetError,
    StreamSchemaChangedError,
    StreamSchemaChangedSinceStartError,
)
from truckee.errors.streaming import (
    DifferentTableError,
    MissingCommitsError,
    SourceRowsChangedError,
    SourceRowsDeletedError,
    StreamedFeedOffError,
    StreamLogFileNotFoundError,
    TrailingCommitMissingError,
)
from truckee.protocol.actions import Action, CommitInfo, Protocol
from truckee.protocol.paths import commit_path
from truckee.storage.local import LocalStorage
from truckee.storage.memory import MemoryStorage
from truckee.streaming.offset import StreamOffset
from truckee.streaming.table_stream import TableStream
from values import simple_schema


def table(*commits: tuple[Action, ...]) -> Table:
    first, *others = commits
    return Table().commit(PROTOCOL, metadata(), *first).commits(*others)


def cut(of: TableStream) -> list[list[str]]:
    return [batch.paths for batch in batches(of)]


def paths(of: TableStream) -> list[str]:
    return [path for batch in batches(of) for path in batch.paths]


def message(error: pytest.ExceptionInfo[DeltaError]) -> str:
    return error.value.sentence()


UPDATE = (CommitInfo(operation="UPDATE"), remove("a"), add("b"), cdc("c"))
DELETE = (remove("a"),)
VECTOR = (CommitInfo(operation="DELETE"), remove("a"), add("a", dv=vector(1)))
OPTIMIZE = (remove("a", data_change=False), add("b", data_change=False))


def test_rewritten_rows_are_refused_by_name_of_the_operation() -> None:
    of = stream(table((add("a"),), UPDATE).storage, startingVersion=0)

    with pytest.raises(SourceRowsChangedError) as raised:
        paths(of)

    assert raised.value.code == "DELTA_SOURCE_TABLE_IGNORE_CHANGES"
    assert message(raised) == (
        f"Detected a data update (UPDATE) at version 1 of {of.storage.root}, but a stream of a "
        "table only shows appended rows\n"
        "hint: read its changes with readChangeFeed, skip such commits with skipChangeCommits, "
        "or set ignoreChanges to get rewritten rows again"
    )


def test_deleted_files_are_refused_by_their_path() -> None:
    of = stream(table((add("a"),), DELETE).storage, startingVersion=0)

    with pytest.raises(SourceRowsDeletedError) as raised:
        paths(of)

    assert raised.value.code == "DELTA_SOURCE_IGNORE_DELETE"
    assert message(raised) == (
        f"Detected deleted data (a) in version 1 of {of.storage.root}, but a stream of a table "
        "only shows appended rows\n"
        "hint: read its changes with readChangeFeed, or set ignoreDeletes or skipChangeCommits "
        "to skip such commits"
    )


def test_a_vector_counts_as_rewritten_rows() -> None:
    of = stream(table((add("a"),), VECTOR).storage, startingVersion=0, ignoreDeletes=True)

    with pytest.raises(SourceRowsChangedError):
        paths(of)


@pytest.mark.parametrize(
    ("commit", "option", "expected"),
    [
        (OPTIMIZE, "failOnDataLoss", ["a", "z"]),
        (DELETE, "ignoreDeletes", ["a", "z"]),
        (DELETE, "ignoreChanges", ["a", "z"]),
        (DELETE, "ignoreFileDeletion", ["a", "z"]),
        (DELETE, "skipChangeCommits", ["a", "z"]),
        (UPDATE, "ignoreChanges", ["a", "b", "z"]),
        (UPDATE, "ignoreFileDeletion", ["a", "b", "z"]),
        (UPDATE, "skipChangeCommits", ["a", "z"]),
        (VECTOR, "ignoreChanges", ["a", "a", "z"]),
        (VECTOR, "skipChangeCommits", ["a", "z"]),
    ],
)
def test_what_options_let_pass(
    commit: tuple[Action, ...], option: str, expected: list[str]
) -> None:
    of = stream(
        table((add("a"),), commit, (add("z"),)).storage, startingVersion=0, **{option: True}
    )

    assert paths(of) == expected


def test_surviving_rows_of_a_file_with_a_vector_come_again() -> None:
    made = table((add("a"),), VECTOR)
    of = stream(made.storage, startingVersion=1, ignoreChanges=True)

    (batch,) = batches(of)

    assert [file.rows.without for file in batch.files] == [vector(1)]


def test_none_of_these_options_is_for_the_feed() -> None:
    made = table((add("a"),), UPDATE, DELETE)
    of = feed(made.storage, startingVersion=0, skipChangeCommits=True, ignoreDeletes=True)

    assert paths(of) == ["a", "c", "a"]


def test_the_latest_version_is_looked_up_once_and_put_on_record() -> None:
    made = table((add("a"),))
    of = stream(made.storage, startingVersion="latest")
    made.commit(add("b"))

    first = of.latest_offset(None)
    assert first == StreamOffset(table_id="t", version=1)
    assert of.plan(None, first) == []

    made.commit(add("c"))
    again = stream(made.storage, startingVersion="latest")
    assert again.plan(None, first) == []
    assert [batch.paths for batch in batches(again, first)] == [["b", "c"]]


def test_latest_with_nothing_new_waits() -> None:
    made = table((add("a"),))
    of = stream(made.storage, startingVersion="latest")
    first = of.latest_offset(None)

    assert of.latest_offset(first) == first

    made.commit(add("b"))
    assert [batch.paths for batch in batches(of, first)] == [["b"]]


def test_a_start_at_a_time_is_the_first_commit_at_or_after_it(tmp_path: Path) -> None:
    made = Table(LocalStorage(str(tmp_path)))
    made.commit(PROTOCOL, metadata(), add("a"), at_ms=10_000)
    made.commit(add("b"), at_ms=20_000)

    of = stream(made.storage, startingTimestamp="1970-01-01T00:00:11Z")

    assert paths(of) == ["b"]


def test_a_start_after_the_latest_commit(tmp_path: Path) -> None:
    made = Table(LocalStorage(str(tmp_path)))
    made.commit(PROTOCOL, metadata(), add("a"), at_ms=10_000)
    late = "1970-01-01T00:00:11Z"

    with pytest.raises(TimestampTooLateError) as raised:
        stream(made.storage, startingTimestamp=late).latest_offset(None)

    assert raised.value.code == "DELTA_TIMESTAMP_GREATER_THAN_COMMIT"
    relaxed = {"changeDataFeed.timestampOutOfRange.enabled": True}
    of = stream(made.storage, startingTimestamp=late, **relaxed)
    assert of.latest_offset(None) is None
    made.commit(add("b"), at_ms=20_000)
    assert paths(of) == ["b"]


def test_a_start_at_a_version_that_is_not_there() -> None:
    made = table((add("a"),))

    with pytest.raises(VersionNotFoundError) as raised:
        stream(made.storage, startingVersion=7).latest_offset(None)

    assert message(raised) == (
        f"Cannot time travel Delta table to version 7: it is not available in "
        f"{made.storage.root}\nhint: the log has version 0"
    )
    relaxed = {"changeDataFeed.timestampOutOfRange.enabled": True}
    assert stream(made.storage, startingVersion=7, **relaxed).latest_offset(None) is None


def test_a_checkpoint_knows_better_than_the_starting_options() -> None:
    of = stream(table((add("a"),), (add("b"),)).storage, startingVersion=99)
    at = StreamOffset(table_id="t", version=1)

    assert [batch.paths for batch in batches(of, at)] == [["b"]]


def test_commits_that_were_cleaned_up() -> None:
    made = table((add("a"),), (add("b"),), (add("c"),), (add("d"),))
    of = stream(made.storage)
    made.storage.delete(commit_path(1))
    made.storage.delete(commit_path(2))
    at = StreamOffset(table_id="t", version=1)

    with pytest.raises(MissingCommitsError) as raised:
        of.latest_offset(at)

    assert raised.value.code == "DELTA_MISSING_FILES_UNEXPECTED_VERSION"
    assert message(raised) == (
        f"the stream expected version 1 of {made.storage.root} next, but the log continues with "
        "version 3: the commits between were cleaned up\n"
        "hint: start the query with a new checkpoint, or set failOnDataLoss to false to skip "
        "them"
    )


@pytest.mark.parametrize("start_stream", [stream, feed])
def test_without_the_check_for_data_loss_a_stream_goes_on(
    start_stream: type, caplog: pytest.LogCaptureFixture
) -> None:
    made = table((add("a"),), (add("b"),), (add("c"),), (add("d"),))
    of = start_stream(made.storage, failOnDataLoss=False)
    made.storage.delete(commit_path(1))
    made.storage.delete(commit_path(2))

    found = [b.paths for b in batches(of, StreamOffset(table_id="t", version=1))]

    assert found == [["d"]]
    assert caplog.messages[0] == (
        f"the stream of {made.storage.root} goes on without the versions 1 to 2, which are gone"
    )


def test_a_planned_batch_whose_last_commit_is_gone() -> None:
    made = table((add("a"),), (add("b"),), (add("c"),))
    made.storage.delete(commit_path(2))
    of = stream(made.storage, startingVersion=0)

    with pytest.raises(TrailingCommitMissingError) as raised:
        of.plan(None, StreamOffset(table_id="t", version=3))

    assert raised.value.code == "DELTA_STREAMING_TRAILING_COMMIT_MISSING"
    assert message(raised) == (
        f"the batch needs the commits of {made.storage.root} up to version 2, but the log ends "
        "at version 1\n"
        "hint: restore the files of _delta_log, or start the query with a new checkpoint"
    )


def test_an_initial_snapshot_that_can_no_longer_be_rebuilt() -> None:
    made = table((add("a"), add("b")), (add("c"),))
    of = stream(made.storage, maxFilesPerTrigger=1)
    middle = StreamOffset(table_id="t", version=0, index=0, is_initial=True)
    made.storage.delete(commit_path(0))

    with pytest.raises(StreamLogFileNotFoundError) as raised:
        of.latest_offset(middle)

    assert raised.value.code == "DELTA_LOG_FILE_NOT_FOUND_FOR_STREAMING_SOURCE"
    assert message(raised) == (
        f"version 0 of {made.storage.root}, which the stream starts from, cannot be rebuilt: "
        f"the log of {made.storage.root} starts at version 1, and no complete checkpoint "
        "replaces the earlier versions\n"
        "hint: the log was cleaned up meanwhile; start the query with a new checkpoint"
    )


def test_a_table_that_was_made_anew_in_mid_stream() -> None:
    made = table((add("a"),))
    of = stream(made.storage, startingVersion=0)
    made.commit(replace(metadata(), id="new"))

    with pytest.raises(DifferentTableError) as raised:
        paths(of)

    assert (raised.value.expected, raised.value.found) == ("t", "new")


def test_a_table_that_is_not_there() -> None:
    with pytest.raises(NotADeltaTableError):
        stream(MemoryStorage("memory://nothing"))


def test_a_table_without_columns() -> None:
    made = Table().commit(
        PROTOCOL, replace(metadata(), schema_string='{"type":"struct","fields":[]}')
    )

    with pytest.raises(SchemaNotSetError) as raised:
        stream(made.storage)

    assert message(raised) == (
        f"{made.storage.root} has no columns yet, so its rows cannot be read\n"
        "hint: read it again after a commit has set its schema"
    )


def test_a_protocol_that_becomes_too_much() -> None:
    made = table((add("a"),))
    of = stream(made.storage, startingVersion=0)
    unknown = Protocol(
        min_reader_version=3,
        min_writer_version=7,
        reader_features=("teleport",),
        writer_features=("teleport",),
    )
    made.commit(unknown)

    with pytest.raises(UnsupportedReaderFeaturesError):
        paths(of)


def test_the_feed_was_off_where_the_stream_starts() -> None:
    made = Table().commit(PROTOCOL, metadata(feed="false"), add("a")).commit(metadata())

    with pytest.raises(ChangeDataNotRecordedError) as raised:
        paths(feed(made.storage, startingVersion=0))

    assert (raised.value.version, raised.value.start) == (0, 0)
    assert cut(feed(made.storage, startingVersion=1)) == [[]]


def test_what_was_recorded_before_the_feed_was_switched_off_is_delivered() -> None:
    made = table((add("a"),), (add("b"),), (metadata(feed="false"),), (add("c"),))
    of = feed(made.storage, startingVersion=0)

    reached = of.latest_offset(None)
    assert reached is not None
    delivered = [file.path for file in of.plan(None, reached)]
    with pytest.raises(StreamedFeedOffError) as raised:
        of.latest_offset(reached)
    with pytest.raises(StreamedFeedOffError):
        feed(made.storage, startingVersion=0).latest_offset(reached)

    assert (delivered, reached.version) == (["a", "b"], 2)
    assert message(raised) == (
        "no change data was recorded at version 2: the change feed was off; the stream ends before "
        "this version\n"
        "hint: start it again with the option changeFeed set to auto, which derives these changes "
        "from the table's files; or leave them out, by a stream that starts after "
        "delta.enableChangeDataFeed is true again, and a new checkpoint"
    )


def test_the_error_of_a_feed_that_was_off_says_where_a_stream_can_go_on() -> None:
    off, on = (metadata(feed="false"),), (metadata(),)
    made = table((add("a"),), off, on, off, (add("b"),), on, (add("c"),))

    with pytest.raises(StreamedFeedOffError) as raised:
        paths(feed(made.storage, startingVersion=0))
    later = paths(feed(made.storage, startingVersion=5))

    assert (raised.value.version, raised.value.resumes) == (1, 5)
    assert "by a stream with startingVersion 5, from where on the feed is on" in message(raised)
    assert later == ["c"]


def test_a_stream_goes_on_from_its_checkpoint_where_the_feed_was_off() -> None:
    made = table((add("a"),), (metadata(feed="false"),), (add("c"),))
    reached = feed(made.storage, startingVersion=0).latest_offset(None)
    assert reached is not None

    again = feed(made.storage, startingVersion=0, changeFeed="auto")
    end = again.latest_offset(reached)
    assert end is not None
    planned = again.changelog_batch(reached, end)

    assert (reached.version, end.version) == (1, 3)
    assert planned is not None


def test_an_initial_snapshot_of_the_feed_needs_it_to_be_on() -> None:
    made = Table().commit(PROTOCOL, metadata(feed="false"), add("a"))

    with pytest.raises(ChangeDataNotRecordedError):
        paths(feed(made.storage))


def test_a_new_column_stops_the_stream_until_it_is_started_again() -> None:
    made = table((add("a"),))
    of = stream(made.storage)
    made.commit(metadata("id long", "name string"), add("b"))

    with pytest.raises(StreamSchemaChangedError) as raised:
        paths(of)

    assert raised.value.code == "DELTA_SCHEMA_CHANGED_WITH_VERSION"
    assert raised.value.is_retryable
    assert message(raised) == (
        f"version 1 of {made.storage.root} has the schema struct<id:bigint,name:string>, which "
        "cannot be read as struct<id:bigint>, the schema of the stream\n"
        "hint: load the stream again and restart the query; it then has the new schema"
    )
    again = stream(made.storage)
    assert [b.paths for b in batches(again, StreamOffset(table_id="t", version=1))] == [["b"]]


def test_rows_of_older_versions_are_read_with_the_newer_schema() -> None:
    made = table((add("a"),), (metadata("id long", "name string"), add("b")))

    assert paths(stream(made.storage, startingVersion=0)) == ["a", "b"]


def test_another_type_before_the_start_cannot_be_waited_out() -> None:
    made = Table().commit(PROTOCOL, metadata("id string"), add("a"))
    made.commit(metadata("id long"), add("b"))

    with pytest.raises(StreamSchemaChangedSinceStartError) as raised:
        paths(stream(made.storage, startingVersion=0))

    assert raised.value.code == "DELTA_SCHEMA_CHANGED_WITH_STARTING_OPTIONS"
    assert message(raised) == (
        f"version 0 of {made.storage.root} has the schema struct<id:string>, which cannot be read "
        "as struct<id:bigint>, the schema of the stream\n"
        "hint: start the query with a new checkpoint, and with startingVersion or "
        "startingTimestamp after version 0"
    )


def test_nulls_that_become_allowed_stop_the_stream_and_those_forbidden_do_not() -> None:
    strict = Table().commit(PROTOCOL, metadata("id long not null"), add("a"))
    of = stream(strict.storage)
    strict.commit(metadata("id long"))

    with pytest.raises(StreamSchemaChangedError) as raised:
        paths(of)
    assert raised.value.is_retryable

    loose = table((add("a"),))
    of = stream(loose.storage)
    loose.commit(metadata("id long not null"), add("b"))
    assert sorted(paths(of)) == ["a", "b"]


def test_other_partition_columns_stop_the_stream() -> None:
    made = Table().commit(PROTOCOL, metadata("id long", "day string"), add("a"))
    of = stream(made.storage)
    made.commit(metadata("id long", "day string", partition_by=("day",)))

    with pytest.raises(StreamSchemaChangedError) as raised:
        paths(of)

    assert message(raised).startswith(
        f"version 1 of {made.storage.root} has the schema struct<id:bigint,day:string> "
        "partitioned by (day), which cannot be read as struct<id:bigint,day:string>, "
    )


def test_properties_and_comments_do_not_matter() -> None:
    made = table((add("a"),), (metadata(comment="x"),), (add("b"),))

    assert paths(stream(made.storage, startingVersion=0)) == ["a", "b"]


def test_a_renamed_column_needs_a_schema_log() -> None:
    made = Table.created(mapped("id", "long", 1), mapped("x", "long", 2), mapping="name")
    of = stream(made.storage)
    made.commit(metadata(mapped("id", "long", 1), mapped("y", "long", 2), mapping="name"))

    with pytest.raises(NonAdditiveSchemaChangeError) as raised:
        paths(of)

    assert raised.value.code == "DELTA_STREAMING_INCOMPATIBLE_SCHEMA_CHANGE_USE_SCHEMA_LOG"
    assert message(raised) == (
        f"version 1 of {made.storage.root} has the schema struct<id:bigint,y:bigint>, and the "
        "stream struct<id:bigint,x:bigint>: column x was renamed\n"
        "hint: set schemaTrackingLocation to a folder below the checkpoint, so that the stream "
        "follows such changes, or start the query with a new checkpoint"
    )


def test_a_dropped_column_needs_a_schema_log_from_either_side() -> None:
    made = Table.created(mapped("id", "long", 1), mapped("x", "long", 2), mapping="name")
    of = stream(made.storage)
    made.commit(metadata(mapped("id", "long", 1), mapping="name"))

    with pytest.raises(NonAdditiveSchemaChangeError, match="column x was dropped"):
        paths(of)
    with pytest.raises(NonAdditiveSchemaChangeError, match="column x was dropped"):
        paths(stream(made.storage, startingVersion=0))


def test_a_type_that_is_widened_while_a_stream_runs_needs_a_schema_log_or_a_restart() -> None:
    made = Table().commit(PROTOCOL, metadata("id integer"), add("a"))
    of = stream(made.storage)
    (field,) = simple_schema("id long").fields
    changed = replace(field, metadata={"delta.typeChanges": [{"fromType": "integer"}]})
    made.commit(metadata(changed, enableTypeWidening="true")).commit(add("b"))

    with pytest.raises(NonAdditiveSchemaChangeError, match="column id has another type"):
        paths(of)
    assert paths(stream(made.storage, startingVersion=0)) == ["a", "b"]
