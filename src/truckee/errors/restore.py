"""Refused restores; nothing was written.

DeltaError
├── RestoreVersionError              a version that does not exist, or not any more
├── RestoreTimestampEarlierError     a time before the first restorable version
├── RestoreTimestampGreaterError     a time after the latest version
└── RestoreMissingFilesError         files of the version were deleted by a vacuum
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from truckee.errors.base import DeltaError
from truckee.errors.log import utc_text


@dataclass(eq=False, kw_only=True)
class RestoreVersionError(DeltaError):
    """The version does not exist, or not any more."""

    code: ClassVar[str] = "DELTA_CANNOT_RESTORE_TABLE_VERSION"
    table: str
    version: int
    earliest: int
    latest: int

    def __str__(self) -> str:
        return (
            f"the table {self.table} cannot be restored to version {self.version}: it has the "
            f"versions {self.earliest} to {self.latest}\nhint: choose one of these"
        )


@dataclass(eq=False, kw_only=True)
class RestoreTimestampEarlierError(DeltaError):
    """The time is before the first version that can be restored."""

    code: ClassVar[str] = "DELTA_CANNOT_RESTORE_TIMESTAMP_EARLIER"
    table: str
    timestamp_ms: int
    earliest_ms: int

    def __str__(self) -> str:
        return (
            f"the table {self.table} cannot be restored to {utc_text(self.timestamp_ms)}: its "
            f"earliest version is from {utc_text(self.earliest_ms)}\n"
            "hint: choose that time or a later one"
        )


@dataclass(eq=False, kw_only=True)
class RestoreTimestampGreaterError(DeltaError):
    """The time is after the latest version."""

    code: ClassVar[str] = "DELTA_CANNOT_RESTORE_TIMESTAMP_GREATER"
    table: str
    timestamp_ms: int
    latest_ms: int

    def __str__(self) -> str:
        return (
            f"the table {self.table} cannot be restored to {utc_text(self.timestamp_ms)}: its "
            f"latest version is from {utc_text(self.latest_ms)}\n"
            "hint: choose that time or an earlier one"
        )


@dataclass(eq=False, kw_only=True)
class RestoreMissingFilesError(DeltaError):
    """Files of the version to be restored are gone."""

    code: ClassVar[str] = "DELTA_RESTORE_MISSING_FILES"
    table: str
    version: int
    count: int
    paths: tuple[str, ...]

    def __str__(self) -> str:
        shown = "".join(f"\n  {path}" for path in self.paths)
        return (
            f"version {self.version} of the table {self.table} needs {self.count} files that are "
            f"gone, most likely deleted by a vacuum:{shown}\n"
            "hint: restore a later version; spark.sql.files.ignoreMissingFiles restores what is "
            "left, without the rows of these files"
        )
