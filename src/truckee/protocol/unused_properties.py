"""Table properties that are kept for other engines, and that nothing here acts on.

Setting one is allowed, for the table may be another engine's too, and warned of. Whoever makes one
of them do something takes it out of the list.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable

UNUSED_PROPERTIES: dict[str, str] = {
    "delta.castIcebergTimeType": "Iceberg tables are not converted",
    "delta.checkpointRetentionDuration": "old checkpoints go with the log files of their version",
    "delta.coordinatedCommits.commitCoordinatorConf-preview": "commits are not coordinated",
    "delta.coordinatedCommits.tableConf-preview": "commits are not coordinated",
    "delta.enableFullRetentionRollback": "log files are kept by their age alone",
    "delta.enableMaterializePartitionColumnsFeature": (
        "partition columns are not written to data files"
    ),
    "delta.ignoreIcebergBucketPartition": "Iceberg tables are not converted",
    "delta.parquet.format.version": "Spark chooses the version of Parquet",
    "delta.randomPrefixLength": "files lie in the folder of their write",
    "delta.randomizeFilePrefixes": "files lie in the folder of their write",
    "delta.redirectReaderWriter-preview": "tables are not redirected",
    "delta.sampleRetentionDuration": "samples are not kept",
    "delta.universalFormat.enabledFormats": "metadata of other formats is not written",
    "delta.universalFormat.iceberg.atomicConversion.supported": (
        "metadata of other formats is not written"
    ),
    "delta.writePartitionColumnsToParquet": "partition columns are not written to data files",
}
"""Why each of them does nothing."""


class UnusedPropertyWarning(UserWarning):
    """A table property was set that changes nothing here."""


def warn_of_unused(keys: Iterable[str]) -> None:
    """Warn of each property, by its canonical name, that nothing here acts on."""
    for key in keys:
        if key in UNUSED_PROPERTIES:
            text = f"table property {key} has no effect on truckee: {UNUSED_PROPERTIES[key]}"
            warnings.warn(text, UnusedPropertyWarning, stacklevel=4)
