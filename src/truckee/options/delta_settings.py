"""Settings of a session that begin with `spark.databricks.delta.`: those that have an effect.

Spark accepts any name, so a setting that is misspelled, that only Databricks knows, or that truckee
has no use for would be ignored without a word. Each of them is told once, unless its value is what
truckee does anyway, or it makes something cheap that costs truckee nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from difflib import get_close_matches

PREFIX = "spark.databricks.delta."

USED_SETTINGS = (
    "alterLocation.bypassSchemaCheck",
    "autoCompact.enabled",
    "autoCompact.maxFileSize",
    "autoCompact.maxNumModifiedPartitions",
    "autoCompact.minFileSize",
    "autoCompact.minNumFiles",
    "changeDataFeed.allowTimeTravelOptionsForSchema",
    "changeDataFeed.defaultSchemaModeForColumnMappingTable",
    "changeDataFeed.timestampOutOfRange.enabled",
    "changeDataFeed.unsafeBatchReadOnIncompatibleSchemaChanges.enabled",
    "columnMapping.allowRemoval",
    "commitInfo.userMetadata",
    "delete.allowExistsSubquery",
    "delete.deletionVectors.persistent",
    "lastCommitVersionInSession",
    "merge.deletionVectors.persistent",
    "merge.materializeSource",
    "optimize.batchSize",
    "optimize.clustering.mergeStrategy.minCubeSize.targetCubeSize",
    "optimize.clustering.mergeStrategy.minCubeSize.threshold",
    "optimize.maxDeletedRowsRatio",
    "optimize.maxFileSize",
    "optimize.minFileSize",
    "optimize.zorder.checkStatsCollection.enabled",
    "optimizeWrite.binSize",
    "optimizeWrite.enabled",
    "replaceWhere.constraintCheck.enabled",
    "restore.protocolDowngradeAllowed",
    "retentionDurationCheck.enabled",
    "schema.autoMerge.enabled",
    "streaming.allowSourceColumnDrop",
    "streaming.allowSourceColumnRename",
    "streaming.allowSourceColumnRenameAndDrop",
    "streaming.allowSourceColumnTypeChange",
    "update.deletionVectors.persistent",
    "vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration",
    "vacuum.lite.enabled",
    "vacuum.logging.enabled",
    "vacuum.parallelDelete.enabled",
    "vacuum.parallelDelete.parallelism",
    "vacuum.retentionWindowIgnore.enabled",
    "write.txnAppId",
    "write.txnVersion",
    "write.txnVersion.autoReset.enabled",
)
"""Names without the prefix. Defaults of table properties have effects too, by a prefix."""

_DEFAULTS = "properties.defaults."

FIXED_SETTINGS = {
    "dynamicPartitionOverwrite.enabled": ("true", "dynamic overwrites are always possible"),
    "formatCheck.enabled": ("false", "reads of other formats are not checked"),
    "identityColumn.enabled": ("true", "identity columns are always possible"),
    "merge.optimizeInsertOnlyMerge.enabled": ("true", "rows that are only inserted never rewrite"),
    "merge.repartitionBeforeWrite.enabled": ("true", "rows always go to tasks by partition"),
    "replaceWhere.dataColumns.enabled": ("true", "replaceWhere takes any column"),
    "resolveMergeUpdateStructsByName.enabled": ("true", "fields of structs go by name"),
    "stats.collect": ("true", "statistics are always collected"),
    "stats.skipping": ("true", "statistics are always used"),
    "writeChecksumFile.enabled": ("true", "checksum files are always written"),
}
"""What truckee does, whatever the setting says: its value, and the reason."""

UNUSED_SETTINGS = {
    "checkpoint.partSize": "a checkpoint is one file",
    "merge.enableLowShuffle": "only Databricks has it",
    "merge.enableLowShuffle.enabled": "only Databricks has it",
    "preview.enabled": "only Databricks has it",
    "retryWriteConflict.enabled": "only Databricks has it",
}
"""Those that people set most, and why they have no effect. There are many more."""

NEEDLESS_SETTINGS = {
    "snapshotPartitions": "the log is read without Spark, so in no partitions",
    "stalenessLimit": "looking for newer commits takes no job of Spark",
}
"""What makes delta-spark read its log with less work: test suites set it, and nothing is lost."""


class UnusedSettingWarning(UserWarning):
    """A setting that has no effect: one of Delta on truckee, or of Spark on a running session."""


def unused_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of Delta that have no effect, each with what to say about it."""
    known = {name.lower(): name for name in USED_SETTINGS}
    found = {}
    for key, value in settings.items():
        if not key.startswith(PREFIX):
            continue
        name = key[len(PREFIX) :]
        if name.lower() in known or name in NEEDLESS_SETTINGS or name.startswith(_DEFAULTS):
            continue
        always, reason = FIXED_SETTINGS.get(name, ("", UNUSED_SETTINGS.get(name, "")))
        if always and always == value.strip().lower():
            continue
        found[key] = reason or _nearest(name.lower(), known)
    return found


def warn_of_unused_settings(settings: Mapping[str, str]) -> None:
    """Warn of each setting of Delta that has no effect; Python shows a warning once."""
    for key, reason in unused_settings(settings).items():
        said = f": {reason}" if reason else ""
        text = f"setting {key} has no effect on truckee{said}"
        # It is about the session and not about the line that runs, so it is told of this line.
        warnings.warn(text, UnusedSettingWarning, stacklevel=1)


def _nearest(name: str, known: Mapping[str, str]) -> str:
    near = get_close_matches(name, known, n=1)
    return f"did you mean {PREFIX}{known[near[0]]}?" if near else ""
