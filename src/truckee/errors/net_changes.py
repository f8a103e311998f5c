"""Errors of feeds that are derived, netted or follow their columns.

DeltaError
  DeduplicationModeError             a deduplicationMode that there is not
  EmptyKeysError                     keys without a column
  UpdatesNeedCarryoversDroppedError  updates asked for among rows that were only moved
  UpdatesNeedIdentityError           updates asked for where nothing says which row is which
  ShapedFeedNotHereError             such a feed through a door that cannot compare rows
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from truckee.errors.base import DeltaError


@dataclass(eq=False, kw_only=True)
class DeduplicationModeError(DeltaError):
    """A mode that is none of those that Spark knows."""

    code: ClassVar[str] = "INVALID_CDC_OPTION.INVALID_DEDUPLICATION_MODE"
    mode: str

    def __str__(self) -> str:
        return (
            f"option deduplicationMode is {self.mode!r}, but needs to be none, dropCarryovers or "
            "netChanges\nhint: set deduplicationMode to such a value, or leave it out"
        )


@dataclass(eq=False, kw_only=True)
class EmptyKeysError(DeltaError):
    """A list of keys in which a name is missing."""

    code: ClassVar[str] = "DELTA_ILLEGAL_OPTION"
    text: str

    def __str__(self) -> str:
        return (
            f"option keys is {self.text!r}, in which the name of a column is missing\n"
            "hint: write names with commas between them, such as 'country,id', or leave keys out"
        )


@dataclass(eq=False, kw_only=True)
class UpdatesNeedCarryoversDroppedError(DeltaError):
    """Updates cannot be told from rows that a commit moved unless the latter are dropped."""

    code: ClassVar[str] = "INVALID_CDC_OPTION.UPDATE_DETECTION_REQUIRES_CARRY_OVER_REMOVAL"
    source: str

    def __str__(self) -> str:
        return (
            f"computeUpdates is true and deduplicationMode is none, but with changeFeed "
            f"{self.source} rows that a commit only moved would pass as updates\n"
            "hint: set deduplicationMode to dropCarryovers or netChanges"
        )


@dataclass(eq=False, kw_only=True)
class UpdatesNeedIdentityError(DeltaError):
    """Nothing says which deleted row is the same as which inserted row.

    `version` is the first at which rows have no ids to rely on, None if ids were not asked for.
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
    """Rows cannot be compared where each task reads its own files."""

    code: ClassVar[str] = "DELTA_FEED_OPTION_NOT_SUPPORTED"
    option: str

    def __str__(self) -> str:
        return (
            f"option {self.option} is not supported by format('truckee'), "
            "where no task sees the rows of another\n"
            "hint: read with truckee.read(spark), truckee.readStream(spark) or truckee.open(path)"
        )
