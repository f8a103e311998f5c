"""Errors of a stream of a table, or of its change feed.

Errors of a stream's offsets, and of the checkpoint that stores them.
"""

from __future__ import annotations

from truckee.errors.base import DeltaError
from truckee.errors.changes import ChangeDataNotRecordedError

_WHERE_NAMES_WORK = (
    "in a session of truckee.session() or truckee.enable(spark); over Spark Connect, on a server "
    "started by truckee serve"
)


class TwoStartsError(
    DeltaError,
    code="DELTA_STARTING_VERSION_AND_TIMESTAMP_BOTH_SET",
    state="42613",
    spark="IllegalArgumentException",
):
    """A stream starts at a version or at a time, not at both."""

    text = "both startingVersion and startingTimestamp are set, expected one of them"
    hint = "leave out startingVersion or startingTimestamp"


class TimeTravelOfStreamError(
    DeltaError, code="DELTA_UNSUPPORTED_TIME_TRAVEL_VIEWS", state="0AKDC", spark="AnalysisException"
):
    """A time travel option was given for a stream."""

    option: str
    text = "option {option} is set, but a stream cannot be read as of a version"
    hint = "set startingVersion or startingTimestamp to say where the stream starts"


class SourceRowsChangedError(
    DeltaError,
    code="DELTA_SOURCE_TABLE_IGNORE_CHANGES",
    state="0A000",
    spark="UnsupportedOperationException",
):
    """A commit rewrote rows. `change` is its operation, or the first file that it removed."""

    table: str
    version: int
    change: str
    text = (
        "Detected a data update ({change}) at version {version} of {table}, but a stream of a "
        "table only shows appended rows"
    )
    hint = (
        "read its changes with readChangeFeed, skip such commits with skipChangeCommits, or set "
        "ignoreChanges to get rewritten rows again"
    )


class SourceRowsDeletedError(
    DeltaError,
    code="DELTA_SOURCE_IGNORE_DELETE",
    state="0A000",
    spark="UnsupportedOperationException",
):
    """A commit deleted rows. `change` is its operation, or the first file that it removed."""

    table: str
    version: int
    change: str
    text = (
        "Detected deleted data ({change}) in version {version} of {table}, but a stream of a table "
        "only shows appended rows"
    )
    hint = (
        "read its changes with readChangeFeed, or set ignoreDeletes or skipChangeCommits to skip "
        "such commits"
    )


class MissingCommitsError(DeltaError, code="DELTA_MISSING_FILES_UNEXPECTED_VERSION", state="42K03"):
    """The next commits of the stream are gone."""

    table: str
    expected: int
    found: int
    text = (
        "the stream expected version {expected} of {table} next, but the log continues with "
        "version {found}: the commits between were cleaned up"
    )
    hint = "start the query with a new checkpoint, or set failOnDataLoss to false to skip them"


class TrailingCommitMissingError(
    DeltaError, code="DELTA_STREAMING_TRAILING_COMMIT_MISSING", state="42K03"
):
    """A batch was planned up to a version whose commit is gone."""

    table: str
    expected: int
    last: int | None

    def sentence(self) -> str:
        found = "has none of them" if self.last is None else f"ends at version {self.last}"
        return (
            f"the batch needs the commits of {self.table} up to version {self.expected}, but "
            f"the log {found}\n"
            "hint: restore the files of _delta_log, or start the query with a new checkpoint"
        )


class StreamLogFileNotFoundError(
    DeltaError, code="DELTA_LOG_FILE_NOT_FOUND_FOR_STREAMING_SOURCE", state="42K03"
):
    """A log file that the stream needs for the table's state is gone."""

    table: str
    version: int
    reason: str
    text = "version {version} of {table}, which the stream starts from, cannot be rebuilt: {reason}"
    hint = "the log was cleaned up meanwhile; start the query with a new checkpoint"


class StreamedFeedOffError(ChangeDataNotRecordedError):
    """A stream of a feed has reached a version at which the feed was off.

    The versions before it were delivered. `resumes` is the first later version from which the feed
    is on up to the latest version, None if it is off there.
    """

    resumes: int | None = None

    def sentence(self) -> str:
        again = (
            f"a stream with startingVersion {self.resumes}, from where on the feed is on"
            if self.resumes is not None
            else "a stream that starts after delta.enableChangeDataFeed is true again"
        )
        return (
            f"no change data was recorded at version {self.version}: the change feed was off; the "
            "stream ends before this version\n"
            "hint: start it again with the option changeFeed set to auto, which derives these "
            f"changes from the table's files; or leave them out, by {again}, and a new checkpoint"
        )


class UnsupportedOutputModeError(
    DeltaError, code="DELTA_UNSUPPORTED_OUTPUT_MODE", state="0AKDC", spark="AnalysisException"
):
    """The output mode of a stream into a table is neither append nor complete."""

    mode: str
    text = "output mode {mode} is not supported, expected append or complete"
    hint = "to update rows, merge each batch in foreachBatch"


class CheckpointNotKeptError(
    DeltaError, code="DELTA_STREAM_CHECKPOINT_NOT_KEPT", state="42616", spark="AnalysisException"
):
    """A stream writes to a table, but its checkpoint is deleted when it ends."""

    table: str
    text = (
        "the query that writes to {table} has no checkpointLocation: Spark deletes its progress "
        "when it ends, and a restarted query would write all rows again"
    )
    hint = (
        'give the query option("checkpointLocation", ...), or, if rows may be written again, write '
        "with truckee.write in a foreachBatch function of your own"
    )


class NullTypeInStreamError(
    DeltaError,
    code="DELTA_NULL_SCHEMA_IN_STREAMING_WRITE",
    state="42P18",
    spark="AnalysisException",
):
    """A column has only nulls and no type."""

    column: str
    text = "column {column} has no type, only nulls"
    hint = "cast it to the intended type"


class ValueDoesNotFitError(
    DeltaError,
    code="DELTA_CAST_OVERFLOW_IN_TABLE_WRITE",
    state="22003",
    spark="ArithmeticException",
):
    """A value cannot be cast to the type of its column."""

    column: str
    type: str
    reason: str
    text = "a value does not fit column {column} of type {type}: {reason}"
    hint = "cast the column before it is written, or leave such rows out"


class NativeWriterNeededError(
    DeltaError,
    code="DELTA_UNSUPPORTED_PYTHON_DATA_SOURCE_WRITE",
    state="0A000",
    spark="UnsupportedOperationException",
):
    """The write needs SQL to be evaluated, which Python workers cannot do."""

    table: str
    reason: str
    text = '{table} cannot be written by format("truckee"): {reason}'
    hint = (
        "write with truckee.write(df) in a classic session, in foreachBatch for a stream; over "
        "Spark Connect, use a server started by truckee serve"
    )


class NoPathToReadError(
    DeltaError, code="DELTA_OPERATION_NOT_ALLOWED", state="0AKDC", spark="AnalysisException"
):
    """A read by a Python data source gives no path; for a table by name, Spark passes it none."""

    text = (
        "no path is given to read; of a table by name, Spark does not tell a Python data source "
        "where it is"
    )
    hint = "give one path to load, or read by name " + _WHERE_NAMES_WORK


class NoPathToWriteError(
    DeltaError, code="DELTA_OPERATION_NOT_ALLOWED", state="0AKDC", spark="AnalysisException"
):
    """A write by a Python data source gives no path; for a name, Spark passes it only the rows."""

    text = (
        "no path is given to write to; for a table by name, Spark passes a Python data source only "
        "the rows"
    )
    hint = "give a path to save or start, or write by name " + _WHERE_NAMES_WORK


class InvalidOffsetFormatError(
    DeltaError, code="DELTA_INVALID_SOURCE_OFFSET_FORMAT", state="XXKDS"
):
    """An offset is not the JSON of a stream's offset."""

    offset: str
    reason: str
    text = "the offset {offset} is not one of a Delta stream: {reason}"
    hint = "use the checkpoint that the query was started with, or a new one"


class InvalidOffsetVersionError(DeltaError, code="DELTA_INVALID_SOURCE_VERSION", state="XXKDS"):
    """An offset has a `sourceVersion` that no release has written."""

    source_version: int
    text = "the offset has sourceVersion {source_version}, expected 1 or 3"
    hint = "the checkpoint is broken; start the query with a new one"


class NewerOffsetError(DeltaError, code="DELTA_INVALID_FORMAT_FROM_SOURCE_VERSION", state="XXKDS"):
    """An offset was written by a later release."""

    source_version: int
    text = "the offset has sourceVersion {source_version}, but the newest known one is 3"
    hint = "upgrade truckee, or start the query with a new checkpoint"


class DifferentTableError(
    DeltaError, code="DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE", state="55019"
):
    """The checkpoint belongs to a table with another id."""

    table: str
    expected: str
    found: str
    text = "the stream has read the table with id {expected}, but the one at {table} has id {found}"
    hint = (
        "the table was recreated, or the checkpoint belongs to another table; start the query with "
        "a new checkpoint"
    )


class OffsetWentBackError(DeltaError, code="DELTA_STREAM_OFFSET_WENT_BACK", state="XXKDS"):
    """The next offset would be before the one that the stream has reached."""

    table: str
    previous: str
    found: str
    text = "the stream of {table} has reached {previous}, but the table now ends at {found}"
    hint = (
        "files of _delta_log may have been deleted; restore them, or start the query with a new "
        "checkpoint"
    )
