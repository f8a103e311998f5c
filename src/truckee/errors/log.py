"""Errors of the transaction log."""

from __future__ import annotations

from typing import TypeVar

from truckee.errors.base import DeltaError

_NoTable = TypeVar("_NoTable", bound="NotADeltaTableError")


class NotADeltaTableError(
    DeltaError, code="DELTA_MISSING_DELTA_TABLE", state="42P01", spark="AnalysisException"
):
    """There is no commit and no checkpoint where a table was expected."""

    table: str
    found: str = "it has no _delta_log with a commit or a checkpoint"
    hint: str = "give the folder that holds _delta_log"
    text = "{table} is not a Delta table: {found}"

    def told_as(self, kind: type[_NoTable]) -> _NoTable:
        """Return the same as another error of this family, which has another error class."""
        return kind(table=self.table, found=self.found, hint=self.hint)


class TablePathError(NotADeltaTableError, code="PATH_NOT_FOUND", state="42K03"):
    """Rows were to be read or changed at a path at which there is nothing at all."""

    text = "Path does not exist: {table} is not a Delta table"
    hint = "give the folder that holds _delta_log"


class NoTableAtPathError(NotADeltaTableError, code="DELTA_TABLE_NOT_FOUND"):
    """Rows were to be read or changed at a path that exists, but has no table."""


class StreamedPathError(NotADeltaTableError, code="DELTA_SCHEMA_NOT_SET", state="KD008"):
    """A path without a table was to be read as a stream."""


class NoHistoryError(NotADeltaTableError, code="DELTA_TABLE_ONLY_OPERATION", state="0AKDD"):
    """A statement about a table names a path without one; only some statements say it so."""


class ReorgPathError(NotADeltaTableError, code="DELTA_ONLY_OPERATION", state="0AKDD"):
    """REORG names a path without a table."""


class NamedPathError(NotADeltaTableError, code="DELTA_PATH_DOES_NOT_EXIST", state="42K03"):
    """The catalog knows a name, but the path that it has for it has no table any more."""


class NothingToReplaceError(NotADeltaTableError, code="DELTA_PATH_DOES_NOT_EXIST", state="42K03"):
    """Rows that match those of the data were to be replaced where there is no table."""

    option: str
    text = "{table} is not a Delta table, so {option} has nothing to replace"
    hint = "create the table first, or write without {option}"


class NoCommitsFoundError(
    DeltaError, code="DELTA_NO_COMMITS_FOUND", state="KD006", spark="AnalysisException"
):
    """Commits are needed, but only checkpoints are left."""

    table: str
    text = "the log of {table} has no commit left, only checkpoints"
    hint = "read the table by version; its commits and their times are gone"


class MissingCheckpointError(DeltaError, code="DELTA_MISSING_PART_FILES", state="42KD6"):
    """`_last_checkpoint` names a checkpoint, but the log has neither it nor any commit."""

    table: str
    version: int
    text = (
        "_last_checkpoint of {table} names a checkpoint of version {version}, but the log has "
        "neither that checkpoint nor any commit"
    )
    hint = "restore the files of _delta_log from a copy"


class LogFileNotFoundError(DeltaError, code="DELTA_LOG_FILE_NOT_FOUND", state="42K03"):
    """A file that the log names is gone."""

    table: str
    path: str
    text = "{path} of {table} is gone, but the log needs it"
    hint = "a log cleanup may have deleted it meanwhile; open the table again"


class CorruptLogFileError(DeltaError, code="DELTA_LOG_FILE_MALFORMED", state="XXKDS"):
    """A log file cannot be read. `line` counts from 1; 0 if the file has no lines."""

    table: str
    path: str
    line: int = 0
    reason: str

    def sentence(self) -> str:
        where = f"line {self.line} of {self.path}" if self.line else self.path
        return (
            f"{where} of {self.table} cannot be read: {self.reason}"
            "\nhint: the file may be incomplete; restore it from a copy"
        )


class TruncatedLogError(DeltaError, code="DELTA_TRUNCATED_TRANSACTION_LOG", state="42K03"):
    """The first commits are gone, and no complete checkpoint replaces them."""

    table: str
    first: int
    text = (
        "the log of {table} starts at version {first}, and no complete checkpoint replaces the "
        "earlier versions"
    )
    hint = "restore the earlier commits or a checkpoint"


class VersionsNotContiguousError(DeltaError, code="DELTA_VERSIONS_NOT_CONTIGUOUS", state="KD00C"):
    """A commit in the middle of the log is gone."""

    table: str
    missing: int
    found: int
    text = "the log of {table} has a gap: version {missing} is missing, but version {found} exists"
    hint = "restore _delta_log/{missing:020d}.json"


class VersionNotFoundError(
    DeltaError, code="DELTA_VERSION_NOT_FOUND", state="22003", spark="AnalysisException"
):
    """A version does not exist, or not any more. The bounds are the versions of the log.

    VACUUM may have deleted data files of some of them, which only a read finds out.
    """

    table: str
    version: int
    earliest: int
    latest: int

    def sentence(self) -> str:
        one = self.earliest == self.latest
        known = f"version {self.latest}" if one else f"versions {self.earliest} to {self.latest}"
        return (
            f"Cannot time travel Delta table to version {self.version}: it is not available in "
            f"{self.table}\nhint: the log has {known}"
        )


class StateNotRecoverableError(DeltaError, code="DELTA_STATE_RECOVER_ERROR", state="XXKDS"):
    """The whole log has no protocol, or no metadata."""

    table: str
    version: int
    missing: str
    text = "version {version} of {table} has no {missing} action in its log"
    hint = "files of _delta_log may have been deleted by hand; restore them"


class TimestampTooEarlyError(
    DeltaError,
    code="DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION",
    state="42816",
    spark="AnalysisException",
):
    """The timestamp is before the earliest commit that can still be read."""

    table: str
    timestamp_ms: int
    earliest_ms: int
    earliest: int
    text = (
        "timestamp {timestamp_ms!t} is before the earliest version of {table} that can be read, "
        "version {earliest} at {earliest_ms!t}"
    )
    hint = "use that time or a later one"


class TimestampTooLateError(
    DeltaError, code="DELTA_TIMESTAMP_GREATER_THAN_COMMIT", state="42816", spark="AnalysisException"
):
    """The timestamp is after the latest commit."""

    table: str
    timestamp_ms: int
    latest_ms: int
    latest: int
    text = (
        "timestamp {timestamp_ms!t} is after the latest version of {table}, version {latest} at "
        "{latest_ms!t}"
    )
    hint = "use that time or an earlier one"


class ChecksumMismatchError(DeltaError, code="DELTA_TXN_LOG_FAILED_INTEGRITY", state="XXKDS"):
    """A version's checksum file and the state replayed from its log disagree."""

    table: str
    version: int
    differences: tuple[str, ...]

    def sentence(self) -> str:
        return (
            f"version {self.version} of {self.table} disagrees with its checksum: "
            f"{'; '.join(self.differences)}"
            "\nhint: the log or the checksum was changed after it was written; compare with a copy"
        )


class FileLiveTwiceError(DeltaError, code="DELTA_DUPLICATE_ACTIONS_FOUND", state="2D521"):
    """A version has one data file twice, with different deletion vectors."""

    table: str
    path: str
    text = (
        "the table {table} has the file '{path}' twice, with different deletion vectors, so that "
        "its rows would be read twice"
    )
    hint = (
        "a writer has added the file with a new vector without removing it with the old one; "
        "read a version before that"
    )
