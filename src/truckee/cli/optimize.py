"""`truckee optimize`: Spark compacts, Z-orders, clusters or purges files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from truckee.cli.inspect import AsJson, TablePath
from truckee.cli.render import print_json, print_table, words
from truckee.cli.row_options import checked_condition
from truckee.cli.table_layout import Heading

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from truckee.commands.care.optimize_plan import OptimizePlan, OptimizeRequest
    from truckee.storage.base import Storage

Partitions = Annotated[
    str | None,
    typer.Option(
        "--where",
        metavar="SQL",
        parser=checked_condition,
        help="Only partitions that this is true of.",
    ),
]
ZOrderBy = Annotated[
    str | None,
    typer.Option(
        "--zorder-by", metavar="COLUMNS", help="Put rows in Z-order by columns, as in a,b."
    ),
]
Purge = Annotated[
    bool, typer.Option("--purge", help="Rewrite files with deleted rows or dropped columns.")
]
Full = Annotated[
    bool, typer.Option("--full", help="Cluster again what is clustered by other columns.")
]
_DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show what would be rewritten, and change nothing.")
]


def optimize(
    path: TablePath,
    where: Partitions = None,
    zorder_by: ZOrderBy = None,
    purge: Purge = False,
    full: Full = False,
    dry_run: _DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Combine small files into larger ones; the rows do not change.

    A clustered table is clustered by its clustering columns.

    Example: truckee optimize /data/orders --where "day = '2024-01-02'" --zorder-by customer,item
    """
    from truckee.cli.spark import spark_session
    from truckee.commands.care.optimize_plan import OptimizeRequest
    from truckee.spark.session.settings import session_storage

    if sum((zorder_by is not None, purge, full)) > 1:
        raise typer.BadParameter("--zorder-by, --purge and --full exclude each other")
    request = OptimizeRequest(
        where=() if where is None else (where,),
        zorder_by=() if zorder_by is None else _columns(zorder_by),
        purges=purge,
        full=full,
    )
    with spark_session() as (spark, status):
        storage = session_storage(spark, path)
        status.update("looking at the files of the table")
        if dry_run:
            found = _planned(spark, storage, request)
        else:
            status.update(f"{request.operation.lower()} of {path}")
            found = _done(spark, storage, request)
    if as_json:
        print_json(found)
        return
    print_table(("what", Heading.number("value")), [(name, value) for name, value in found.items()])
    if dry_run:
        words("nothing was changed: this was a dry run")


def _columns(text: str) -> tuple[str, ...]:
    from truckee.protocol.property_kinds import parse_column_names

    try:
        paths = parse_column_names(text)
    except ValueError:
        problem = f"{text!r} is not a list of column names"
        raise typer.BadParameter(problem, param_hint="--zorder-by") from None
    return tuple(".".join(f"`{part.replace('`', '``')}`" for part in path) for path in paths)


def _planned(spark: SparkSession, storage: Storage, request: OptimizeRequest) -> dict[str, Any]:
    from truckee.commands.care.optimize import latest_optimize_plan

    plan: OptimizePlan = latest_optimize_plan(spark, storage, request)
    return {
        "version": plan.snapshot.version,
        "filesConsidered": len(plan.considered),
        "filesToRewrite": sum(len(each.files) for each in plan.bins),
        "bytesToRewrite": sum(each.size for each in plan.bins),
        "filesAfterwards": len(plan.considered)
        - sum(len(each.files) - each.num_outputs for each in plan.bins),
        "partitions": len({each.partition for each in plan.bins}),
    }


def _done(spark: SparkSession, storage: Storage, request: OptimizeRequest) -> dict[str, Any]:
    from truckee.commands.care.optimize import run_optimize
    from truckee.log.files.history import latest_version

    [row] = run_optimize(spark, storage, request).collect()
    metrics = row.metrics
    return {
        "version": latest_version(storage),
        "filesConsidered": metrics.totalConsideredFiles,
        "filesRemoved": metrics.numFilesRemoved,
        "bytesRemoved": metrics.filesRemoved.totalSize,
        "filesAdded": metrics.numFilesAdded,
        "bytesAdded": metrics.filesAdded.totalSize,
        "partitions": metrics.partitionsOptimized,
    }
