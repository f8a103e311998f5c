"""Table properties that are kept for other engines, and that have no effect on truckee.

Setting one is allowed, because another engine may use the table too, but truckee warns about it.
When a property begins to have an effect, remove it from the list.
"""

from __future__ import annotations

from collections.abc import Iterable

from truckee.errors.caller_lines import warn_caller

UNUSED_PROPERTIES: dict[str, str] = {
    "delta.castIcebergTimeType": "Iceberg tables are not converted",
    "delta.checkpointRetentionDuration": "checkpoints are deleted with the log",
    "delta.coordinatedCommits.commitCoordinatorConf-preview": "commits are not coordinated",
    "delta.coordinatedCommits.tableConf-preview": "commits are not coordinated",
    "delta.enableFullRetentionRollback": "only the age of log files decides how long they are kept",
    "delta.enableMaterializePartitionColumnsFeature": (
        "partition columns are not written to data files"
    ),
    "delta.ignoreIcebergBucketPartition": "Iceberg tables are not converted",
    "delta.parquet.format.version": "Spark chooses the Parquet version",
    "delta.randomPrefixLength": "files are written without a random prefix",
    "delta.randomizeFilePrefixes": "files are written without a random prefix",
    "delta.redirectReaderWriter-preview": "tables are not redirected",
    "delta.sampleRetentionDuration": "samples are not kept",
    "delta.universalFormat.enabledFormats": "metadata of other formats is not written",
    "delta.universalFormat.iceberg.atomicConversion.supported": (
        "metadata of other formats is not written"
    ),
    "delta.writePartitionColumnsToParquet": "partition columns are not written to data files",
}
"""Why each of them has no effect."""


class UnusedPropertyWarning(UserWarning):
    """A table property was set that has no effect on truckee."""


def warn_of_unused(keys: Iterable[str]) -> None:
    """Warn of each property, by its canonical name, that has no effect."""
    for key in keys:
        if key in UNUSED_PROPERTIES:
            text = f"table property {key} has no effect on truckee: {UNUSED_PROPERTIES[key]}"
            warn_caller(text, UnusedPropertyWarning)
