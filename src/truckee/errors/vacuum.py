"""Refused vacuums; no file was deleted.

DeltaError
├── RetentionTooShortError     files would be deleted that the table promises to keep
├── NegativeRetentionError     a negative retention
├── VacuumLiteError            the log does not reach back far enough for LITE
├── InventoryError             an inventory without the columns it needs
└── ConsumerNotFoundError      a consumer to protect that cannot be found
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from truckee.errors.base import DeltaError

RETENTION_CHECK = "spark.databricks.delta.retentionDurationCheck.enabled"


@dataclass(eq=False, kw_only=True)
class RetentionTooShortError(DeltaError):
    """A vacuum was asked to delete files that the table promises to keep."""

    code: ClassVar[str] = "DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT"
    hours: int
    least_hours: int

    def __str__(self) -> str:
        return (
            f"a retention of {self.hours} hours is shorter than the {self.least_hours} hours for "
            "which the table keeps deleted files; running readers and writers, and time travel, "
            "may need them\n"
            f"hint: retain at least {self.least_hours} hours, or, if nobody uses the table, set "
            f"{RETENTION_CHECK} to false"
        )


@dataclass(eq=False, kw_only=True)
class NegativeRetentionError(DeltaError):
    """A retention below zero."""

    code: ClassVar[str] = "DELTA_VACUUM_RETENTION_PERIOD_NEGATIVE"
    hours: int

    def __str__(self) -> str:
        return f"a retention of {self.hours} hours is negative\nhint: pass 0 hours or more"


@dataclass(eq=False, kw_only=True)
class VacuumLiteError(DeltaError):
    """VACUUM LITE needs commits that are gone."""

    code: ClassVar[str] = "DELTA_CANNOT_VACUUM_LITE"
    table: str
    first: int

    def __str__(self) -> str:
        return (
            f"VACUUM LITE of the table {self.table} needs the commits before version {self.first}, "
            "which the log no longer has\nhint: run a full vacuum once"
        )


@dataclass(eq=False, kw_only=True)
class InventoryError(DeltaError):
    """An inventory of files without the columns that a vacuum needs."""

    code: ClassVar[str] = "DELTA_INVALID_INVENTORY_SCHEMA"
    found: str
    expected: str

    def __str__(self) -> str:
        return (
            f"the inventory has the columns {self.found}\n"
            f"hint: it needs the columns {self.expected}, in this order"
        )


@dataclass(eq=False, kw_only=True)
class ConsumerNotFoundError(DeltaError):
    """A consumer whose files a vacuum should keep cannot be found."""

    code: ClassVar[str] = "DELTA_VACUUM_CONSUMER_NOT_FOUND"
    consumer: str
    reason: str

    def __str__(self) -> str:
        return (
            f"the files that {self.consumer} needs cannot be kept: {self.reason}\n"
            "hint: name the checkpoint folder of a stream that reads this table, or a version"
        )
