"""What can go wrong with the offsets of a stream, and with the checkpoint that keeps them.

DeltaError
  InvalidOffsetFormatError         a checkpoint's offset that cannot be read
  InvalidOffsetVersionError        an offset in a format that never was
  NewerOffsetError                 an offset in a format that is newer than this release
  DifferentTableError              a checkpoint of another table, or a table that was made anew
  OffsetWentBackError              a table that is shorter than what the stream has read of it
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from truckee.errors.base import DeltaError


@dataclass(eq=False, kw_only=True)
class InvalidOffsetFormatError(DeltaError):
    """An offset that is no JSON object of a stream's offset."""

    code: ClassVar[str] = "DELTA_INVALID_SOURCE_OFFSET_FORMAT"
    offset: str
    reason: str

    def __str__(self) -> str:
        return (
            f"the offset {self.offset} is not one of a Delta stream: {self.reason}\n"
            "hint: give the query the checkpoint that it was started with, or a new one"
        )


@dataclass(eq=False, kw_only=True)
class InvalidOffsetVersionError(DeltaError):
    """An offset whose `sourceVersion` no release has ever written."""

    code: ClassVar[str] = "DELTA_INVALID_SOURCE_VERSION"
    source_version: int

    def __str__(self) -> str:
        return (
            f"the offset has sourceVersion {self.source_version}, expected 1 or 3\n"
            "hint: the checkpoint is broken; start the query with a new one"
        )


@dataclass(eq=False, kw_only=True)
class NewerOffsetError(DeltaError):
    """An offset that a later release has written."""

    code: ClassVar[str] = "DELTA_INVALID_FORMAT_FROM_SOURCE_VERSION"
    source_version: int

    def __str__(self) -> str:
        return (
            f"the offset has sourceVersion {self.source_version}, and 3 is the newest known here\n"
            "hint: upgrade truckee, or start the query with a new checkpoint"
        )


@dataclass(eq=False, kw_only=True)
class DifferentTableError(DeltaError):
    """The checkpoint belongs to a table with another id."""

    code: ClassVar[str] = "DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE"
    table: str
    expected: str
    found: str

    def __str__(self) -> str:
        return (
            f"the stream has read the table with id {self.expected}, but the one at {self.table} "
            f"has id {self.found}\n"
            "hint: the table was made anew, or the checkpoint belongs to another table; start the "
            "query with a new checkpoint"
        )


@dataclass(eq=False, kw_only=True)
class OffsetWentBackError(DeltaError):
    """The next offset would lie before the one that the stream has reached."""

    code: ClassVar[str] = "DELTA_STREAM_OFFSET_WENT_BACK"
    table: str
    previous: str
    found: str

    def __str__(self) -> str:
        return (
            f"the stream of {self.table} has reached {self.previous}, but the table now ends at "
            f"{self.found}\n"
            "hint: files of _delta_log may have been deleted; restore them, or start the query "
            "with a new checkpoint"
        )
