"""Errors of the transaction log.

DeltaError
  NotADeltaTableError            no commit and no checkpoint where a table was expected
    TablePathError                 to read a path that does not exist
    NoTableAtPathError             to read a path that exists
    StreamedPathError              to stream a path
    NoHistoryError                 to describe the history of a path
    ReorgPathError                 to REORG a path
    NamedPathError                 the path that the catalog has for a name
    NothingToReplaceError          replaceUsing or replaceOn without a table
  LogFileNotFoundError           a file that the log names is gone
  CorruptLogFileError            a log file that cannot be read
  TruncatedLogError              the first commits are gone, and no checkpoint replaces them
  VersionsNotContiguousError     a commit in the middle is gone
  VersionNotFoundError           no such version, or not any more
  StateNotRecoverableError       no protocol or no metadata in the whole log
  TimestampTooEarlyError         before the first commit that still exists
  TimestampTooLateError          after the last commit
  ChecksumMismatchError          a version's checksum and its state disagree
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from typing import ClassVar, TypeVar

from truckee.errors.base import DeltaError

_NoTable = TypeVar("_NoTable", bound="NotADeltaTableError")


@dataclass(eq=False, kw_only=True)
class NotADeltaTableError(DeltaError):
    """There is no commit and no checkpoint where a table was expected."""

    code: ClassVar[str] = "DELTA_MISSING_DELTA_TABLE"
    table: str
    found: str = "it has no _delta_log with a commit or a checkpoint"
    hint: str = "give the folder that holds _delta_log"

    def __str__(self) -> str:
        return f"{self.table} is not a Delta table: {self.found}\nhint: {self.hint}"

    def told_as(self, kind: type[_NoTable]) -> _NoTable:
        """Return the same as another error of this family, which has another error class."""
        return kind(table=self.table, found=self.found, hint=self.hint)


@dataclass(eq=False, kw_only=True)
class TablePathError(NotADeltaTableError):
    """Rows were to be read or changed at a path at which there is nothing at all."""

    code: ClassVar[str] = "PATH_NOT_FOUND"

    def __str__(self) -> str:
        # Programs look for "Path does not exist" to create a table at the first run.
        return (
            f"Path does not exist: {self.table} is not a Delta table\n"
            "hint: give the folder that holds _delta_log"
        )


@dataclass(eq=False, kw_only=True)
class NoTableAtPathError(NotADeltaTableError):
    """Rows were to be read or changed at a path that exists, but has no table."""

    code: ClassVar[str] = "DELTA_TABLE_NOT_FOUND"


@dataclass(eq=False, kw_only=True)
class StreamedPathError(NotADeltaTableError):
    """A path without a table was to be read as a stream."""

    code: ClassVar[str] = "DELTA_SCHEMA_NOT_SET"


@dataclass(eq=False, kw_only=True)
class NoHistoryError(NotADeltaTableError):
    """A statement about a table names a path without one; only some statements say it so."""

    code: ClassVar[str] = "DELTA_TABLE_ONLY_OPERATION"


@dataclass(eq=False, kw_only=True)
class ReorgPathError(NotADeltaTableError):
    """REORG names a path without a table."""

    code: ClassVar[str] = "DELTA_ONLY_OPERATION"


@dataclass(eq=False, kw_only=True)
class NamedPathError(NotADeltaTableError):
    """The catalog knows a name, but the path that it has for it has no table any more."""

    code: ClassVar[str] = "DELTA_PATH_DOES_NOT_EXIST"


@dataclass(eq=False, kw_only=True)
class NothingToReplaceError(NotADeltaTableError):
    """Rows that match those of the data were to be replaced where there is no table."""

    code: ClassVar[str] = "DELTA_PATH_DOES_NOT_EXIST"
    option: str

    def __str__(self) -> str:
        return (
            f"{self.table} is not a Delta table, so {self.option} has nothing to replace\n"
            f"hint: create the table first, or write without {self.option}"
        )


@dataclass(eq=False, kw_only=True)
class NoCommitsFoundError(DeltaError):
    """Commits are needed, but only checkpoints are left."""

    code: ClassVar[str] = "DELTA_NO_COMMITS_FOUND"
    table: str

    def __str__(self) -> str:
        return (
            f"the log of {self.table} has no commit left, only checkpoints"
            "\nhint: read the table by version; its commits and their times are gone"
        )


@dataclass(eq=False, kw_only=True)
class MissingCheckpointError(DeltaError):
    """`_last_checkpoint` names a checkpoint, but the log has neither it nor any commit."""

    code: ClassVar[str] = "DELTA_MISSING_PART_FILES"
    table: str
    version: int

    def __str__(self) -> str:
        return (
            f"_last_checkpoint of {self.table} names a checkpoint of version {self.version}, "
            "but the log has neither that checkpoint nor any commit"
            "\nhint: restore the files of _delta_log from a copy"
        )


@dataclass(eq=False, kw_only=True)
class LogFileNotFoundError(DeltaError):
    """A file that the log names is gone."""

    code: ClassVar[str] = "DELTA_LOG_FILE_NOT_FOUND"
    table: str
    path: str

    def __str__(self) -> str:
        return (
            f"{self.path} of {self.table} is gone, but the log needs it"
            "\nhint: a log cleanup may have deleted it meanwhile; open the table again"
        )


@dataclass(eq=False, kw_only=True)
class CorruptLogFileError(DeltaError):
    """A log file cannot be read. `line` counts from 1; 0 if the file has no lines."""

    code: ClassVar[str] = "DELTA_LOG_FILE_MALFORMED"
    table: str
    path: str
    line: int = 0
    reason: str

    def __str__(self) -> str:
        where = f"line {self.line} of {self.path}" if self.line else self.path
        return (
            f"{where} of {self.table} cannot be read: {self.reason}"
            "\nhint: the file may be incomplete; restore it from a copy"
        )


@dataclass(eq=False, kw_only=True)
class TruncatedLogError(DeltaError):
    """The first commits are gone, and no complete checkpoint replaces them."""

    code: ClassVar[str] = "DELTA_TRUNCATED_TRANSACTION_LOG"
    table: str
    first: int

    def __str__(self) -> str:
        return (
            f"the log of {self.table} starts at version {self.first}, and no complete checkpoint "
            "replaces the earlier versions"
            "\nhint: restore the earlier commits or a checkpoint"
        )


@dataclass(eq=False, kw_only=True)
class VersionsNotContiguousError(DeltaError):
    """A commit in the middle of the log is gone."""

    code: ClassVar[str] = "DELTA_VERSIONS_NOT_CONTIGUOUS"
    table: str
    missing: int
    found: int

    def __str__(self) -> str:
        return (
            f"the log of {self.table} has a gap: version {self.missing} is missing, "
            f"but version {self.found} exists"
            f"\nhint: restore _delta_log/{self.missing:020d}.json"
        )


@dataclass(eq=False, kw_only=True)
class VersionNotFoundError(DeltaError):
    """A version does not exist, or not any more. The bounds are the versions of the log.

    VACUUM may have deleted data files of some of them, which only a read finds out.
    """

    code: ClassVar[str] = "DELTA_VERSION_NOT_FOUND"
    table: str
    version: int
    earliest: int
    latest: int

    def __str__(self) -> str:
        one = self.earliest == self.latest
        known = f"version {self.latest}" if one else f"versions {self.earliest} to {self.latest}"
        return f"version {self.version} of {self.table} is not available\nhint: the log has {known}"


@dataclass(eq=False, kw_only=True)
class StateNotRecoverableError(DeltaError):
    """The whole log has no protocol, or no metadata."""

    code: ClassVar[str] = "DELTA_STATE_RECOVER_ERROR"
    table: str
    version: int
    missing: str

    def __str__(self) -> str:
        return (
            f"version {self.version} of {self.table} has no {self.missing} action in its log"
            "\nhint: files of _delta_log may have been deleted by hand; restore them"
        )


@dataclass(eq=False, kw_only=True)
class TimestampTooEarlyError(DeltaError):
    """The timestamp is before the earliest commit that can still be read."""

    code: ClassVar[str] = "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION"
    table: str
    timestamp_ms: int
    earliest_ms: int
    earliest: int

    def __str__(self) -> str:
        return (
            f"timestamp {utc_text(self.timestamp_ms)} is before the earliest version of "
            f"{self.table} that can be read, version {self.earliest} at "
            f"{utc_text(self.earliest_ms)}"
            "\nhint: use that time or a later one"
        )


@dataclass(eq=False, kw_only=True)
class TimestampTooLateError(DeltaError):
    """The timestamp is after the latest commit."""

    code: ClassVar[str] = "DELTA_TIMESTAMP_GREATER_THAN_COMMIT"
    table: str
    timestamp_ms: int
    latest_ms: int
    latest: int

    def __str__(self) -> str:
        return (
            f"timestamp {utc_text(self.timestamp_ms)} is after the latest version of "
            f"{self.table}, version {self.latest} at {utc_text(self.latest_ms)}"
            "\nhint: use that time or an earlier one"
        )


@dataclass(eq=False, kw_only=True)
class ChecksumMismatchError(DeltaError):
    """A version's checksum file and the state replayed from its log disagree."""

    code: ClassVar[str] = "DELTA_TXN_LOG_FAILED_INTEGRITY"
    table: str
    version: int
    differences: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"version {self.version} of {self.table} disagrees with its checksum: "
            f"{'; '.join(self.differences)}"
            "\nhint: the log or the checksum was changed after it was written; compare with a copy"
        )


def utc_text(timestamp_ms: int) -> str:
    """Return a timestamp as ISO 8601 text: `2024-01-02T03:04:05.678Z`.

    A timestamp outside of the years 1 to 9999 is shown in milliseconds.
    """
    try:
        moment = datetime.fromtimestamp(timestamp_ms // 1000, tz=timezone.utc)
    except (ValueError, OverflowError, OSError):
        return f"{timestamp_ms} ms"
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{timestamp_ms % 1000:03d}Z"
