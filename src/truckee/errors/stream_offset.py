"""Errors of a stream's offsets, and of the checkpoint that stores them.

DeltaError
  InvalidOffsetFormatError         a checkpoint's offset that cannot be read
  InvalidOffsetVersionError        an offset in an unknown format
  NewerOffsetError                 an offset in a format newer than this release
  DifferentTableError              a checkpoint of another table, or a recreated table
  OffsetWentBackError              a table that ends before the stream's position
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from truckee.errors.base import DeltaError


@dataclass(eq=False, kw_only=True)
class InvalidOffsetFormatError(DeltaError):
    """An offset is not the JSON of a stream's offset."""

    code: ClassVar[str] = "DELTA_INVALID_SOURCE_OFFSET_FORMAT"
    offset: str
    reason: str

    def __str__(self) -> str:
        return (
            f"the offset {self.offset} is not one of a Delta stream: {self.reason}\n"
            "hint: use the checkpoint that the query was started with, or a new one"
        )


@dataclass(eq=False, kw_only=True)
class InvalidOffsetVersionError(DeltaError):
    """An offset has a `sourceVersion` that no release has written."""

    code: ClassVar[str] = "DELTA_INVALID_SOURCE_VERSION"
    source_version: int

    def __str__(self) -> str:
        return (
            f"the offset has sourceVersion {self.source_version}, expected 1 or 3\n"
            "hint: the checkpoint is broken; start the query with a new one"
        )


@dataclass(eq=False, kw_only=True)
class NewerOffsetError(DeltaError):
    """An offset was written by a later release."""

    code: ClassVar[str] = "DELTA_INVALID_FORMAT_FROM_SOURCE_VERSION"
    source_version: int

    def __str__(self) -> str:
        return (
            f"the offset has sourceVersion {self.source_version}, but the newest known one is 3\n"
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
            "hint: the table was recreated, or the checkpoint belongs to another table; start the "
            "query with a new checkpoint"
        )


@dataclass(eq=False, kw_only=True)
class OffsetWentBackError(DeltaError):
    """The next offset would be before the one that the stream has reached."""

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
