"""Features of a table that cannot be dropped, or not yet.

DeltaError
├── HistoryTruncationError          history needs truncation only for reader features
├── CheckpointProtectionDropError   history must be truncated to drop this feature
├── FeatureRetentionError           a version that needs the feature is too young to be deleted
├── HistoricalVersionsError         the same, on a later attempt
├── CheckpointProtectionWaitError   protected versions are too young to be deleted
└── FeatureDropError                a feature that cannot be dropped
    ├── UnknownFeatureDropError     a feature that truckee does not know
    └── AbsentFeatureDropError      a feature that the table does not have
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from truckee.errors.base import DeltaError


@dataclass(eq=False, kw_only=True)
class HistoryTruncationError(DeltaError):
    """History need not be truncated to drop this feature."""

    code: ClassVar[str] = "DELTA_FEATURE_DROP_HISTORY_TRUNCATION_NOT_ALLOWED"
    feature: str

    def __str__(self) -> str:
        return (
            f"the feature {self.feature} does not affect readers, so history need not be "
            "truncated\nhint: drop it without truncateHistory"
        )


@dataclass(eq=False, kw_only=True)
class CheckpointProtectionDropError(DeltaError):
    """Older versions of the table depend on checkpoint protection."""

    code: ClassVar[str] = (
        "DELTA_FEATURE_CAN_ONLY_DROP_CHECKPOINT_PROTECTION_WITH_HISTORY_TRUNCATION"
    )

    def __str__(self) -> str:
        return (
            "the feature checkpointProtection cannot be dropped, since older versions of the table "
            "depend on it\nhint: pass truncateHistory=True to delete these versions"
        )


@dataclass(eq=False, kw_only=True)
class FeatureRetentionError(DeltaError):
    """A version that needs the feature is too young to be deleted; the table is prepared."""

    code: ClassVar[str] = "DELTA_FEATURE_DROP_WAIT_FOR_RETENTION_PERIOD"
    feature: str
    version: int
    hours: int

    def __str__(self) -> str:
        return (
            f"the feature {self.feature} cannot be dropped yet: version {self.version} needs it, "
            f"and history is kept for {self.hours} hours\n"
            f"hint: the table is prepared; try again in {self.hours} hours"
        )


@dataclass(eq=False, kw_only=True)
class HistoricalVersionsError(DeltaError):
    """A version that needs the feature is still too young to be deleted."""

    code: ClassVar[str] = "DELTA_FEATURE_DROP_HISTORICAL_VERSIONS_EXIST"
    feature: str
    version: int
    hours: int

    def __str__(self) -> str:
        return (
            f"the feature {self.feature} cannot be dropped yet: version {self.version} needs it, "
            f"and history is kept for {self.hours} hours\n"
            "hint: try again when that version is older, or lower the table property "
            "'delta.dropFeatureTruncateHistory.retentionDuration'"
        )


@dataclass(eq=False, kw_only=True)
class CheckpointProtectionWaitError(DeltaError):
    """Protected versions are too young to be deleted."""

    code: ClassVar[str] = "DELTA_FEATURE_DROP_CHECKPOINT_PROTECTION_WAIT_FOR_RETENTION_PERIOD"
    before: int
    earliest: int
    hours: int

    def __str__(self) -> str:
        return (
            "the feature checkpointProtection cannot be dropped yet: it protects the versions "
            f"before {self.before}, and the log still has version {self.earliest}\n"
            f"hint: history is kept for {self.hours} hours; try again after that"
        )


@dataclass(eq=False, kw_only=True)
class FeatureDropError(DeltaError):
    """A feature that the table does not have, still uses, or cannot lose."""

    code: ClassVar[str] = "DELTA_FEATURE_DROP_NONREMOVABLE_FEATURE"
    feature: str
    reason: str
    hint: str

    def __str__(self) -> str:
        return f"the feature {self.feature} cannot be dropped: {self.reason}\nhint: {self.hint}"


@dataclass(eq=False, kw_only=True)
class UnknownFeatureDropError(FeatureDropError):
    """truckee does not know the feature to drop."""

    code: ClassVar[str] = "DELTA_FEATURE_DROP_UNSUPPORTED_CLIENT_FEATURE"


@dataclass(eq=False, kw_only=True)
class AbsentFeatureDropError(FeatureDropError):
    """The table does not have the feature to drop."""

    code: ClassVar[str] = "DELTA_FEATURE_DROP_FEATURE_NOT_PRESENT"
