"""The request of an OPTIMIZE or REORG, checked, and the files that it will rewrite."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pyspark.sql import SparkSession

from truckee.care.bins import (
    Bin,
    PartitionKey,
    PartitionOf,
    compaction_bins,
    packed_bins,
    partition_of,
    whole_partitions,
)
from truckee.care.cubes import CubeSizes, column_names, cube_bins
from truckee.care.narrow_files import narrow_files
from truckee.care.purge_candidates import files_to_purge
from truckee.commands.care.optimize_settings import OptimizeSettings
from truckee.commands.care.rewrite import Curve
from truckee.commands.schema.clustering import clustering_columns
from truckee.errors.commands.care import (
    ConditionOnClusteredTableError,
    FullOptimizeNotSupportedError,
    NonPartitionColumnError,
    PartitionSubqueryError,
    ZOrderColumnNotFoundError,
    ZOrderOnClusteredTableError,
    ZOrderOnPartitionColumnError,
    ZOrderWithoutStatisticsError,
)
from truckee.errors.commands.dml import MissingColumnError, SubqueryNotSupportedError
from truckee.errors.commands.expressions import PredicateSyntaxError, UnparsedExpressionError
from truckee.log.snapshot import Snapshot
from truckee.protocol.actions import AddFile
from truckee.protocol.features import check_writable
from truckee.protocol.property_kinds import parse_column_names
from truckee.protocol.schema import FieldChain, StructField, find_column, nested_fields
from truckee.protocol.stats import has_bounds, stats_columns
from truckee.spark.dml.target import Target
from truckee.spark.read.partition_conditions import files_of_partitions
from truckee.spark.read.row_id_columns import check_row_ids
from truckee.spark.session.settings import session_zone
from truckee.spark.write.condition_checks import unresolved_text


@dataclass(frozen=True, kw_only=True)
class OptimizeRequest:
    """What to do: compact, Z-order by columns, recluster (`full`), purge, or widen.

    Purging rewrites files with deleted rows or dropped columns, widening those that have columns
    of narrower types than the table.
    A partition is chosen if all conditions in `where` are true for it. If `partitions` is not None,
    only these are considered.
    """

    where: tuple[str, ...] = ()
    zorder_by: tuple[str, ...] = ()
    full: bool = False
    purges: bool = False
    widens: bool = False
    is_auto: bool = False
    partitions: frozenset[PartitionKey] | None = None

    @property
    def operation(self) -> str:
        """The name of the operation in commitInfo."""
        return "REORG" if self.reorganizes else "OPTIMIZE"

    @property
    def reorganizes(self) -> bool:
        """Whether files are rewritten for what is in them, and not for their size or order."""
        return self.purges or self.widens


@dataclass(frozen=True, kw_only=True)
class OptimizePlan:
    """Which files were considered, which are rewritten together, and the order of their rows."""

    snapshot: Snapshot
    considered: tuple[AddFile, ...]
    bins: tuple[Bin, ...]
    curve: Curve | None = None
    predicates: tuple[str, ...] = ()


def optimize_plan(
    spark: SparkSession, snapshot: Snapshot, request: OptimizeRequest, settings: OptimizeSettings
) -> OptimizePlan:
    """Return what to rewrite; raises the errors of `truckee.errors.commands.care`."""
    table = snapshot.storage.root
    check_writable(snapshot.protocol, snapshot.metadata, table)
    check_row_ids(snapshot, request.operation)
    clustered = _clustering_chains(snapshot)
    _check_clustering(snapshot, request, clustered)
    zorder = _checked_zorder(snapshot, request.zorder_by, settings)
    considered, predicates = _considered(spark, snapshot, request.where)
    of = partition_of(partition_fields(snapshot), session_zone(spark))
    if request.partitions is not None:
        considered = [file for file in considered if of(file) in request.partitions]
    curve = None
    if clustered and not request.reorganizes:
        names = column_names(chain.path for chain in clustered)
        curve = Curve(columns=clustered, num_ranges=settings.num_ranges, cube=names)
    elif zorder:
        curve = Curve(columns=zorder, num_ranges=settings.num_ranges)
    return OptimizePlan(
        snapshot=snapshot,
        considered=tuple(considered),
        bins=tuple(_bins(snapshot, considered, of, request, settings, curve)),
        curve=curve,
        predicates=predicates,
    )


def _bins(
    snapshot: Snapshot,
    files: list[AddFile],
    of: PartitionOf,
    request: OptimizeRequest,
    settings: OptimizeSettings,
    curve: Curve | None,
) -> list[Bin]:
    largest = settings.max_file_size
    if request.reorganizes:
        find = narrow_files if request.widens else files_to_purge
        return packed_bins(find(snapshot, files), of, max_size=largest)
    if curve is not None and curve.cube is not None:
        sizes = CubeSizes(
            sealed=settings.sealed_cube_size,
            target=settings.target_cube_size,
            max_file_size=largest,
        )
        return cube_bins(files, curve.cube, sizes, full=request.full)
    if curve is not None:
        return whole_partitions(files, of, max_size=largest)
    return compaction_bins(
        files,
        of,
        min_size=settings.min_file_size,
        max_size=largest,
        max_deleted=settings.max_deleted_ratio,
    )


def _clustering_chains(snapshot: Snapshot) -> tuple[FieldChain, ...]:
    paths = clustering_columns(snapshot) or ()
    known = {chain.physical_path: chain for chain in nested_fields(snapshot.schema)}
    return tuple(known[path] for path in paths if path in known)


def _check_clustering(
    snapshot: Snapshot, request: OptimizeRequest, columns: tuple[FieldChain, ...]
) -> None:
    table = snapshot.storage.root
    if request.full and not columns:
        raise FullOptimizeNotSupportedError(table=table)
    if "clustering" not in snapshot.configuration.features:
        return
    if request.zorder_by:
        raise ZOrderOnClusteredTableError(table=table)
    if request.where:
        condition = " AND ".join(request.where)
        raise ConditionOnClusteredTableError(table=table, condition=condition)


def _checked_zorder(
    snapshot: Snapshot, names: Iterable[str], settings: OptimizeSettings
) -> tuple[FieldChain, ...]:
    partitions = {name.casefold() for name in snapshot.partition_columns}
    indexed = {
        chain.path
        for chain in stats_columns(snapshot.schema, snapshot.partition_columns, snapshot.properties)
        if has_bounds(chain.field.type)
    }
    found: list[FieldChain] = []
    for name in names:
        chain = _column(snapshot, name)
        if chain.path[0].casefold() in partitions:
            raise ZOrderOnPartitionColumnError(column=name)
        found.append(chain)
    without = tuple(".".join(chain.path) for chain in found if chain.path not in indexed)
    if without and (settings.checks_statistics or not _are_ordered(found)):
        raise ZOrderWithoutStatisticsError(columns=without)
    return tuple(found)


def _are_ordered(chains: Iterable[FieldChain]) -> bool:
    return all(has_bounds(chain.field.type) for chain in chains)


def _column(snapshot: Snapshot, name: str) -> FieldChain:
    unknown = ZOrderColumnNotFoundError(column=name, columns=snapshot.schema.names)
    try:
        [path] = parse_column_names(name)
    except ValueError:
        raise unknown from None
    chain = find_column(snapshot.schema, path)
    if chain is None:
        raise unknown
    return chain


def _considered(
    spark: SparkSession, snapshot: Snapshot, where: tuple[str, ...]
) -> tuple[list[AddFile], tuple[str, ...]]:
    """Return the files of the partitions for which all conditions are true, and the conditions."""
    if not where:
        return list(snapshot.files()), ()
    target = Target(spark, snapshot)
    texts = []
    for condition in where:
        try:
            found = target.condition(condition, what="the condition of OPTIMIZE")
        except SubqueryNotSupportedError:
            raise PartitionSubqueryError(condition=condition) from None
        except UnparsedExpressionError as error:
            raise PredicateSyntaxError(
                what=error.what, expression=condition, reason=error.reason
            ) from None
        except MissingColumnError as error:
            raise NonPartitionColumnError(
                condition=condition,
                columns=(error.column.replace("`", ""),),
                partition_columns=snapshot.partition_columns,
            ) from None
        partitions = {name.casefold() for name in snapshot.partition_columns}
        others = sorted(name for name in found.columns if name.casefold() not in partitions)
        if others or not partitions:
            raise NonPartitionColumnError(
                condition=condition,
                columns=tuple(others),
                partition_columns=snapshot.partition_columns,
            )
        texts.append(unresolved_text(spark, condition))
    both = " AND ".join(f"({condition})" for condition in where)
    return files_of_partitions(spark, snapshot, both), tuple(texts)


def partition_fields(snapshot: Snapshot) -> list[StructField]:
    """Return the partition columns of a table, in order."""
    fields = (snapshot.schema.field(name) for name in snapshot.partition_columns)
    return [field for field in fields if field is not None]
