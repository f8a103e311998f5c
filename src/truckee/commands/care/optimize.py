"""OPTIMIZE and REORG ... APPLY (PURGE): the same rows in other files.

| verb                         | files that are rewritten                                       |
|------------------------------|----------------------------------------------------------------|
| OPTIMIZE                     | small ones, and those with many deleted rows, by partition     |
| OPTIMIZE ... ZORDER BY       | all in the requested partitions, rows in the order of a curve  |
| OPTIMIZE of clustered tables | those not clustered yet, and those of cubes that are too small |
| OPTIMIZE FULL                | also those that are clustered by other columns                 |
| REORG ... APPLY (PURGE)      | those with deleted rows or dropped columns                     |

No row changes, so `dataChange` is false: the feed shows nothing, and streams pass over the commit.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec
from pyspark.sql import DataFrame, SparkSession

from truckee.care.bins import batches
from truckee.commands.care.optimize_metrics import (
    OptimizeOutcome,
    commit_metrics,
    outcome_frame,
)
from truckee.commands.care.optimize_plan import OptimizePlan, OptimizeRequest, optimize_plan
from truckee.commands.care.optimize_settings import OptimizeSettings, optimize_settings
from truckee.commands.care.rewrite import rewrite_bins
from truckee.commands.care.rewrite_commit import CommittedBins, commit_bins
from truckee.errors.base import DeltaError
from truckee.log.commit.race import now_ms
from truckee.log.running_command import running
from truckee.log.snapshot import load_snapshot
from truckee.spark.session.settings import session_settings
from truckee.storage.base import Storage

_log = logging.getLogger(__name__)


def optimize(
    spark: SparkSession,
    storage: Storage,
    *,
    where: Sequence[str] = (),
    zorder_by: Sequence[str] = (),
    full: bool = False,
) -> DataFrame:
    """Compact, Z-order or cluster a table; return delta-spark's row of path and metrics.

    The conditions in `where` are about partition columns. Raises the errors of
    `truckee.errors.commands.care` before anything is written, and those of
    `truckee.errors.transaction` if other writers keep removing the same files.
    """
    request = OptimizeRequest(where=tuple(where), zorder_by=tuple(zorder_by), full=full)
    return run_optimize(spark, storage, request)


def purge(spark: SparkSession, storage: Storage, *, where: Sequence[str] = ()) -> DataFrame:
    """Rewrite files with deleted rows or dropped columns; return the same as `optimize`.

    The old files stay until they are vacuumed.
    """
    return run_optimize(spark, storage, OptimizeRequest(where=tuple(where), purges=True))


def widen_files(spark: SparkSession, storage: Storage) -> DataFrame:
    """Rewrite files that have columns of narrower types than the table; return as `optimize`."""
    return run_optimize(spark, storage, OptimizeRequest(widens=True))


def run_optimize(
    spark: SparkSession,
    storage: Storage,
    request: OptimizeRequest,
    settings: OptimizeSettings | None = None,
) -> DataFrame:
    """Do what is requested, and return what was done; if nothing is to do, there is no commit."""
    with running(request.operation, storage.root):
        return _optimized(spark, storage, request, settings)


def _optimized(
    spark: SparkSession,
    storage: Storage,
    request: OptimizeRequest,
    settings: OptimizeSettings | None,
) -> DataFrame:
    outcome = OptimizeOutcome(now_ms())
    plan = latest_optimize_plan(spark, storage, request, settings)
    first = plan
    settings = settings or optimize_settings(session_settings(spark), plan.snapshot.properties)
    outcome.considered = len(plan.considered)
    outcome.num_batches = len(list(batches(plan.bins, settings.batch_size)))
    if settings.batch_size is None:
        outcome.num_batches = 1
    for reruns_left in range(settings.max_reruns, -1, -1):
        lost, conflict = _run(spark, plan, request, settings, outcome)
        if not lost:
            break
        if reruns_left == 0:
            assert conflict is not None
            raise conflict
        _log.info("%s: %d bins are tried again", request.operation, len(lost))
        again = request if plan.curve is not None and plan.curve.cube else _only(request, lost)
        plan = latest_optimize_plan(spark, storage, again, settings)
    return outcome_frame(spark, outcome, first, request)


def latest_optimize_plan(
    spark: SparkSession,
    storage: Storage,
    request: OptimizeRequest,
    settings: OptimizeSettings | None = None,
) -> OptimizePlan:
    """Return what would be rewritten in the latest version; nothing is done."""
    snapshot = load_snapshot(storage)
    settings = settings or optimize_settings(session_settings(spark), snapshot.properties)
    plan = optimize_plan(spark, snapshot, request, settings)
    _log.info(
        "%s: %d of %d files (%d bytes) to be rewritten, in %d bins",
        request.operation,
        sum(len(each.files) for each in plan.bins),
        len(plan.considered),
        sum(each.size for each in plan.bins),
        len(plan.bins),
    )
    return plan


def _run(
    spark: SparkSession,
    plan: OptimizePlan,
    request: OptimizeRequest,
    settings: OptimizeSettings,
    outcome: OptimizeOutcome,
) -> tuple[list[object], DeltaError | None]:
    """Rewrite the bins of a plan and commit them; return the partitions of lost bins."""
    lost: list[object] = []
    conflict: DeltaError | None = None
    for batch in batches(plan.bins, settings.batch_size):
        found = _committed(spark, plan, batch, request, settings)
        if found.version is not None:
            outcome.note(found.done, found.version)
        lost += [each.old.partition for each in found.lost]
        conflict = found.conflict or conflict
    return lost, conflict


def _committed(
    spark: SparkSession,
    plan: OptimizePlan,
    batch: Sequence[Any],
    request: OptimizeRequest,
    settings: OptimizeSettings,
) -> CommittedBins:
    done = rewrite_bins(spark, plan.snapshot, batch, curve=plan.curve, operation=request.operation)
    return commit_bins(
        spark,
        done,
        request.operation,
        parameters=_parameters(plan, request),
        metrics=commit_metrics,
        user_metadata=settings.user_metadata,
    )


def _only(request: OptimizeRequest, partitions: Sequence[Any]) -> OptimizeRequest:
    return replace(request, partitions=frozenset(partitions))


def _parameters(plan: OptimizePlan, request: OptimizeRequest) -> dict[str, Any]:
    predicate = _json(plan.predicates)
    if request.reorganizes:
        return {"predicate": predicate, "applyPurge": True}
    is_clustered = plan.curve is not None and plan.curve.cube is not None
    columns = () if plan.curve is None else [".".join(c.path) for c in plan.curve.columns]
    return {
        "predicate": predicate,
        "zOrderBy": _json(() if is_clustered else columns),
        "clusterBy": _json(columns if is_clustered else ()),
        "auto": request.is_auto,
        "isFull": request.full if is_clustered else None,
    }


def _json(texts: Sequence[str]) -> str:
    return msgspec.json.encode(list(texts)).decode()
