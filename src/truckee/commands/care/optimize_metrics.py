"""The metrics of OPTIMIZE and REORG: in the commit, and for the caller."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from truckee.care.cubes import cube_id, is_of
from truckee.commands.care.optimize_plan import OptimizePlan, OptimizeRequest
from truckee.commands.care.rewrite import Rewritten
from truckee.protocol.actions import AddFile
from truckee.protocol.properties import TableProperties
from truckee.spark.local_frames import local_frame, result_frame

_LONG = pa.int64()
_SIZES = pa.struct(
    [
        ("min", _LONG),
        ("max", _LONG),
        ("avg", pa.float64()),
        ("totalFiles", _LONG),
        ("totalSize", _LONG),
    ]
)
_NUM = pa.struct([("num", _LONG), ("size", _LONG)])
_NUM_FILES = pa.struct([("numFiles", _LONG), ("size", _LONG)])
_METRICS = pa.struct(
    [
        ("numFilesAdded", _LONG),
        ("numFilesRemoved", _LONG),
        ("filesAdded", _SIZES),
        ("filesRemoved", _SIZES),
        ("partitionsOptimized", _LONG),
        (
            "zOrderStats",
            pa.struct(
                [
                    ("strategyName", pa.string()),
                    ("inputCubeFiles", _NUM),
                    ("inputOtherFiles", _NUM),
                    ("inputNumCubes", _LONG),
                    ("mergedFiles", _NUM),
                    ("numOutputCubes", _LONG),
                    ("mergedNumCubes", _LONG),
                ]
            ),
        ),
        (
            "clusteringStats",
            pa.struct(
                [
                    ("inputZCubeFiles", _NUM_FILES),
                    ("inputOtherFiles", _NUM_FILES),
                    ("inputNumZCubes", _LONG),
                    ("mergedFiles", _NUM_FILES),
                    ("numOutputZCubes", _LONG),
                ]
            ),
        ),
        ("numBins", _LONG),
        ("numBatches", _LONG),
        ("totalConsideredFiles", _LONG),
        ("totalFilesSkipped", _LONG),
        ("preserveInsertionOrder", pa.bool_()),
        ("numFilesSkippedToReduceWriteAmplification", _LONG),
        ("numBytesSkippedToReduceWriteAmplification", _LONG),
        ("startTimeMs", _LONG),
        ("endTimeMs", _LONG),
        ("totalClusterParallelism", _LONG),
        ("totalScheduledTasks", _LONG),
        (
            "autoCompactParallelismStats",
            pa.struct(
                [
                    ("maxClusterActiveParallelism", _LONG),
                    ("minClusterActiveParallelism", _LONG),
                    ("maxSessionActiveParallelism", _LONG),
                    ("minSessionActiveParallelism", _LONG),
                ]
            ),
        ),
        (
            "deletionVectorStats",
            pa.struct(
                [
                    ("numDeletionVectorsRemoved", _LONG),
                    ("numDeletionVectorRowsRemoved", _LONG),
                ]
            ),
        ),
        ("numTableColumns", _LONG),
        ("numTableColumnsWithStats", _LONG),
    ]
)
_SQL_NAMES = {_LONG: "bigint", pa.float64(): "double", pa.bool_(): "boolean"}


def _sql_type(kind: pa.DataType) -> str:
    if not pa.types.is_struct(kind):
        return _SQL_NAMES.get(kind, "string")
    return f"struct<{','.join(f'{each.name}:{_sql_type(each.type)}' for each in kind)}>"


METRICS_TYPE = _sql_type(_METRICS)
"""The type of the column `metrics` as SQL writes it."""


@dataclass
class OptimizeOutcome:
    """The totals of all commits."""

    start_ms: int
    considered: int = 0
    added: list[AddFile] = field(default_factory=list)
    removed: list[AddFile] = field(default_factory=list)
    partitions: set[object] = field(default_factory=set)
    num_bins: int = 0
    num_batches: int = 0
    versions: list[int] = field(default_factory=list)

    def note(self, done: Rewritten, version: int) -> None:
        """Add a commit."""
        self.added += done.adds
        self.removed += done.removed
        self.partitions |= {each.old.partition for each in done.bins}
        self.num_bins += len(done.bins)
        self.versions.append(version)


def commit_metrics(done: Rewritten) -> dict[str, object]:
    """Return the metrics of one commit."""
    sizes = sorted(add.size for add in done.adds)
    count = len(sizes)
    return {
        "numAddedFiles": count,
        "numRemovedFiles": len(done.removed),
        "numAddedBytes": sum(sizes),
        "numRemovedBytes": sum(file.size for file in done.removed),
        "minFileSize": sizes[0] if sizes else 0,
        "p25FileSize": sizes[count // 4] if sizes else 0,
        "p50FileSize": sizes[count // 2] if sizes else 0,
        "p75FileSize": sizes[3 * count // 4] if sizes else 0,
        "maxFileSize": sizes[-1] if sizes else 0,
        "numDeletionVectorsRemoved": sum(f.deletion_vector is not None for f in done.removed),
    }


def outcome_frame(
    spark: SparkSession, outcome: OptimizeOutcome, plan: OptimizePlan, request: OptimizeRequest
) -> DataFrame:
    """Return one row: the table's path, and the metrics as delta-spark has them."""
    metrics = {
        **_counts(outcome, plan),
        "zOrderStats": _zorder_stats(outcome) if request.zorder_by else None,
        "clusteringStats": _cube_stats(outcome, plan, full=request.full),
        "deletionVectorStats": _vector_stats(outcome.removed),
        "totalClusterParallelism": spark.sparkContext.defaultParallelism,
    }
    table = pa.table(
        {
            "path": pa.array([plan.snapshot.storage.root], pa.string()),
            "metrics": pa.array([metrics], _METRICS),
        }
    )
    return result_frame(local_frame(spark, table))


def _counts(outcome: OptimizeOutcome, plan: OptimizePlan) -> dict[str, Any]:
    snapshot = plan.snapshot
    num_columns = len(snapshot.schema.fields)
    return {
        "numFilesAdded": len(outcome.added),
        "numFilesRemoved": len(outcome.removed),
        "filesAdded": _sizes(outcome.added),
        "filesRemoved": _sizes(outcome.removed),
        "partitionsOptimized": len(outcome.partitions),
        "numBins": outcome.num_bins,
        "numBatches": outcome.num_batches,
        "totalConsideredFiles": outcome.considered,
        "totalFilesSkipped": outcome.considered - len(outcome.removed),
        "preserveInsertionOrder": False,
        "numFilesSkippedToReduceWriteAmplification": 0,
        "numBytesSkippedToReduceWriteAmplification": 0,
        "startTimeMs": outcome.start_ms,
        "endTimeMs": 0,
        "totalScheduledTasks": 0,
        "numTableColumns": num_columns,
        "numTableColumnsWithStats": _with_stats(snapshot.properties, num_columns),
    }


def _with_stats(properties: TableProperties, num_columns: int) -> int:
    return min(properties.data_skipping_num_indexed_cols, num_columns)


def _sizes(files: Sequence[AddFile]) -> dict[str, Any]:
    sizes = [file.size for file in files]
    return {
        "min": min(sizes, default=None),
        "max": max(sizes, default=None),
        "avg": sum(sizes) / len(sizes) if sizes else 0.0,
        "totalFiles": len(sizes),
        "totalSize": sum(sizes),
    }


def _zorder_stats(outcome: OptimizeOutcome) -> dict[str, Any]:
    merged = {"num": len(outcome.removed), "size": sum(f.size for f in outcome.removed)}
    return {
        "strategyName": "all",
        "inputCubeFiles": {"num": 0, "size": 0},
        "inputOtherFiles": merged,
        "inputNumCubes": 0,
        "mergedFiles": merged,
        "numOutputCubes": len(outcome.partitions),
        "mergedNumCubes": None,
    }


def _cube_stats(
    outcome: OptimizeOutcome, plan: OptimizePlan, *, full: bool
) -> dict[str, Any] | None:
    columns = None if plan.curve is None else plan.curve.cube
    if columns is None:
        return None
    cubes = [f for f in plan.considered if is_of(f, columns) or (full and cube_id(f) is not None)]
    inside = {file.path for file in cubes}
    return {
        "inputZCubeFiles": _num_files(cubes),
        "inputOtherFiles": _num_files(f for f in plan.considered if f.path not in inside),
        "inputNumZCubes": len({cube_id(file) for file in cubes}),
        "mergedFiles": _num_files(outcome.removed),
        "numOutputZCubes": outcome.num_bins,
    }


def _num_files(files: Iterable[AddFile]) -> dict[str, int]:
    sizes = [file.size for file in files]
    return {"numFiles": len(sizes), "size": sum(sizes)}


def _vector_stats(removed: Iterable[AddFile]) -> dict[str, int] | None:
    vectors = [file.deletion_vector for file in removed if file.deletion_vector is not None]
    if not vectors:
        return None
    return {
        "numDeletionVectorsRemoved": len(vectors),
        "numDeletionVectorRowsRemoved": sum(vector.cardinality for vector in vectors),
    }
