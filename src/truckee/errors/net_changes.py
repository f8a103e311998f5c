"""Errors of feeds that are derived from snapshots, netted, or follow column renames.

DeltaError
  DeduplicationModeError             an unknown deduplicationMode
  EmptyKeysError                     keys without a column
  UpdatesNeedCarryoversDroppedError  computeUpdates, but moved rows are not dropped
  UpdatesNeedIdentityError           computeUpdates, but nothing identifies a row
  ShapedFeedNotHereError             such a feed in format("truckee")
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from truckee.errors.base import DeltaError


@dataclass(eq=False, kw_only=True)
class DeduplicationModeError(DeltaError):
    """An unknown value of deduplicationMode."""

    code: ClassVar[str] = "INVALID_CDC_OPTION.INVALID_DEDUPLICATION_MODE"
    mode: str

    def __str__(self) -> str:
        return (
            f"option deduplicationMode is {self.mode!r}, but needs to be none, dropCarryovers or "
            "netChanges\nhint: set deduplicationMode to such a value, or leave it out"
        )


@dataclass(eq=False, kw_only=True)
class EmptyKeysError(DeltaError):
    """A list of keys with an empty name."""

    code: ClassVar[str] = "DELTA_ILLEGAL_OPTION"
    text: str

    def __str__(self) -> str:
        return (
            f"option keys is {self.text!r}, which has an empty column name\n"
            "hint: write names with commas between them, such as 'country,id', or leave keys out"
        )


@dataclass(eq=False, kw_only=True)
class UpdatesNeedCarryoversDroppedError(DeltaError):
    """computeUpdates needs moved rows to be dropped first."""

    code: ClassVar[str] = "INVALID_CDC_OPTION.UPDATE_DETECTION_REQUIRES_CARRY_OVER_REMOVAL"
    source: str

    def __str__(self) -> str:
        return (
            f"computeUpdates is true and deduplicationMode is none, but with changeFeed "
            f"{self.source} rows that a commit only moved would look like updates\n"
            "hint: set deduplicationMode to dropCarryovers or netChanges"
        )


@dataclass(eq=False, kw_only=True)
class UpdatesNeedIdentityError(DeltaError):
    """computeUpdates has nothing that pairs deleted rows with inserted rows.

    `version` is the first one at which rows have no ids, None if ids were not asked for.
    """

    code: ClassVar[str] = "DELTA_UPDATES_NEED_IDENTITY"
    table: str
    version: int | None
    reason: str

    def __str__(self) -> str:
        at = "" if self.version is None else f" at version {self.version}"
        return (
            f"computeUpdates is true, but nothing identifies the rows of {self.table}{at}: "
            f"{self.reason}\n"
            "hint: name the columns that identify a row with keys, or leave out computeUpdates "
            "to see updates as deleted and inserted rows"
        )


@dataclass(eq=False, kw_only=True)
class ShapedFeedNotHereError(DeltaError):
    """`format("truckee")` does not compare rows, because each task reads its own files."""

    code: ClassVar[str] = "DELTA_FEED_OPTION_NOT_SUPPORTED"
    option: str

    def __str__(self) -> str:
        return (
            f"option {self.option} is not supported by format('truckee'), "
            "where no task sees the rows of another\n"
            "hint: read with truckee.read(spark), truckee.readStream(spark) or truckee.open(path)"
        )
