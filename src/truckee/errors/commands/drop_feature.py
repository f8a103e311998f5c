"""Features of a table that cannot be dropped, or not yet."""

from __future__ import annotations

from truckee.errors.base import DeltaError


class HistoryTruncationError(
    DeltaError, code="DELTA_FEATURE_DROP_HISTORY_TRUNCATION_NOT_ALLOWED", state="42000"
):
    """History need not be truncated to drop this feature."""

    feature: str
    text = "the feature {feature} does not affect readers, so history need not be truncated"
    hint = "drop it without truncateHistory"


class CheckpointProtectionDropError(
    DeltaError,
    code="DELTA_FEATURE_CAN_ONLY_DROP_CHECKPOINT_PROTECTION_WITH_HISTORY_TRUNCATION",
    state="55000",
):
    """Older versions of the table depend on checkpoint protection."""

    text = (
        "the feature checkpointProtection cannot be dropped, since older versions of the table "
        "depend on it"
    )
    hint = "pass truncateHistory=True to delete these versions"


class FeatureRetentionError(
    DeltaError, code="DELTA_FEATURE_DROP_WAIT_FOR_RETENTION_PERIOD", state="22KD0"
):
    """A version that needs the feature is too young to be deleted; the table is prepared."""

    feature: str
    version: int
    hours: int
    text = (
        "the feature {feature} cannot be dropped yet: version {version} needs it, and history is "
        "kept for {hours} hours"
    )
    hint = "the table is prepared; try again in {hours} hours"


class HistoricalVersionsError(
    DeltaError, code="DELTA_FEATURE_DROP_HISTORICAL_VERSIONS_EXIST", state="22KD0"
):
    """A version that needs the feature is still too young to be deleted."""

    feature: str
    version: int
    hours: int
    text = (
        "the feature {feature} cannot be dropped yet: version {version} needs it, and history is "
        "kept for {hours} hours"
    )
    hint = (
        "try again when that version is older, or lower the table property "
        "'delta.dropFeatureTruncateHistory.retentionDuration'"
    )


class CheckpointProtectionWaitError(
    DeltaError,
    code="DELTA_FEATURE_DROP_CHECKPOINT_PROTECTION_WAIT_FOR_RETENTION_PERIOD",
    state="22KD0",
):
    """Protected versions are too young to be deleted."""

    before: int
    earliest: int
    hours: int
    text = (
        "the feature checkpointProtection cannot be dropped yet: it protects the versions before "
        "{before}, and the log still has version {earliest}"
    )
    hint = "history is kept for {hours} hours; try again after that"


class FeatureDropError(DeltaError, code="DELTA_FEATURE_DROP_NONREMOVABLE_FEATURE", state="0AKDC"):
    """A feature that the table does not have, still uses, or cannot lose."""

    feature: str
    reason: str
    hint: str
    text = "the feature {feature} cannot be dropped: {reason}"


class UnknownFeatureDropError(
    FeatureDropError, code="DELTA_FEATURE_DROP_UNSUPPORTED_CLIENT_FEATURE"
):
    """truckee does not know the feature to drop."""


class AbsentFeatureDropError(
    FeatureDropError, code="DELTA_FEATURE_DROP_FEATURE_NOT_PRESENT", state="55000"
):
    """The table does not have the feature to drop."""
