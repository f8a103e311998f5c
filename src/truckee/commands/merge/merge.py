"""MERGE: matches rows of a source with rows of a table; clauses say what happens to them.

source kept and counted  ->  bitmaps of rows, one for each clause  ->  one write  ->  commit
(spark.dml.merge_source)     (matched_rows)                            (new_files)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from truckee.commands.dml.file_fates import fates
from truckee.commands.dml.matched_files import touched_files
from truckee.commands.dml.outcome import DmlPlan, RowChanges, row_changes
from truckee.commands.dml.settings import DmlSettings
from truckee.commands.merge.clauses import Clause, ClauseKind, Does, check_clauses
from truckee.commands.merge.matched_rows import MergeRows, ResolvedMerge, merge_rows
from truckee.commands.merge.new_files import MergeOutput, write_merge
from truckee.commands.merge.resolution import MergeNames, evolved_schema
from truckee.commands.schema.column_mapping import with_column_mapping
from truckee.commands.schema.column_rules import check_columns
from truckee.commands.table_plan import TablePlan, table_plan
from truckee.deletion_vectors.store import part_files
from truckee.errors.columns import MergedVoidColumnError
from truckee.errors.commands.dml import StreamingSourceError
from truckee.log.snapshot import Snapshot
from truckee.protocol.schema import find_column, void_columns
from truckee.spark.dml.merge_source import Source, merge_source
from truckee.spark.dml.target import Target
from truckee.spark.read.row_id_columns import check_row_ids
from truckee.spark.schema_conversion import from_spark

_ROWS = "numTargetRows"


@dataclass(frozen=True, kw_only=True)
class Merge:
    """A merge as it was given."""

    source: DataFrame
    condition: str | Column
    clauses: tuple[Clause, ...]
    alias: str | None = None
    evolves_schema: bool = False

    @property
    def removes_rows(self) -> bool:
        """Whether rows of the target may be changed or deleted."""
        return any(clause.does is not Does.INSERT for clause in self.clauses)


def check_merge(merge: Merge) -> None:
    """Raise if a merge is wrong for any table."""
    check_clauses(merge.clauses)
    if merge.source.isStreaming:
        raise StreamingSourceError


def merge_plan(
    spark: SparkSession, snapshot: Snapshot, merge: Merge, *, settings: DmlSettings
) -> DmlPlan:
    """Return a MERGE with all its files written, ready to be committed."""
    start = time.monotonic()
    resolved = _resolved(spark, snapshot, merge, settings)
    target = resolved.target
    source = merge_source(
        merge.source,
        target.rows,
        resolved.on.column,
        materialize=settings.materialize_source,
        brings_rows=resolved.brings_rows,
    )
    begun = time.monotonic()
    with part_files(snapshot.storage) as parts:
        rows = merge_rows(resolved, source, parts)
        scanned = time.monotonic()
        fate = fates(
            snapshot,
            touched_files(target, rows.all_taken),
            settings,
            operation="MERGE",
            rewrites_by_cost=_may_rewrite_by_cost(resolved, rows),
        )
        output = write_merge(resolved, source, rows, fate)
        touched = touched_files(target, rows.all_that_matter)
        changes = row_changes(target, touched, fate, output.written, parts)
    times = {
        "materializeSourceTimeMs": source.materialize_ms,
        "scanTimeMs": int(1000 * (scanned - begun)),
        "rewriteTimeMs": int(1000 * (time.monotonic() - scanned)),
    }
    return DmlPlan(
        operation="MERGE",
        parameters=_parameters(resolved),
        changes=changes,
        metrics=_metrics(rows, source, output, times, start),
        affected=_affected(rows, output),
        matching=_matching(merge, resolved),
        metadata=output.metadata,
    )


def _resolved(
    spark: SparkSession, snapshot: Snapshot, merge: Merge, settings: DmlSettings
) -> ResolvedMerge:
    if any(clause.does is Does.UPDATE for clause in merge.clauses):
        check_row_ids(snapshot, "MERGE")
    evolves = merge.evolves_schema or settings.merges_schema
    table = _planned(snapshot, merge, evolves)
    target = Target(spark, snapshot, merge.alias, schema=table.schema)
    names = MergeNames(target, merge.source, alias=merge.alias, evolves=evolves)
    return ResolvedMerge(
        target=target,
        table=table,
        source=merge.source,
        on=names.on(merge.condition),
        clauses=tuple(names.clause(clause) for clause in merge.clauses),
    )


def _planned(snapshot: Snapshot, merge: Merge, evolves: bool) -> TablePlan:
    storage, metadata = snapshot.storage, snapshot.metadata
    if not evolves:
        return TablePlan(storage, snapshot, snapshot.configuration)
    data = from_spark(merge.source.schema)
    schema = evolved_schema(
        snapshot.schema,
        data,
        merge.clauses,
        table=storage.root,
        alias=merge.alias,
        widening=snapshot.properties.enable_type_widening,
    )
    if schema == snapshot.schema:
        return TablePlan(storage, snapshot, snapshot.configuration)
    for chain in void_columns(schema):
        if find_column(snapshot.schema, chain.path) is None:
            raise MergedVoidColumnError(column=".".join(chain.path))
    evolved = with_column_mapping(replace(metadata, schema_string=schema.to_json()))
    table = table_plan(storage, snapshot, evolved)
    check_columns(
        table.schema, mapping_mode=table.configuration.column_mapping_mode, table=storage.root
    )
    table.check("MERGE")
    return table


def _may_rewrite_by_cost(merge: ResolvedMerge, rows: MergeRows) -> bool:
    # Rows that are only marked in a vector cost the feed nothing.
    has_feed = merge.table.properties.enable_change_data_feed
    return not has_feed or bool(rows.taken(Does.UPDATE))


def _parameters(merge: ResolvedMerge) -> dict[str, Any]:
    def predicates(kind: ClauseKind) -> list[dict[str, str]]:
        return [
            {
                **({} if each.condition is None else {"predicate": each.condition.sql}),
                "actionType": each.clause.does.value,
            }
            for each in merge.of_kind(kind)
        ]

    return {
        "predicate": [merge.on.sql],
        "matchedPredicates": predicates(ClauseKind.MATCHED),
        "notMatchedPredicates": predicates(ClauseKind.NOT_MATCHED),
        "notMatchedBySourcePredicates": predicates(ClauseKind.NOT_MATCHED_BY_SOURCE),
    }


def _affected(rows: MergeRows, output: MergeOutput) -> dict[str, int]:
    updated, deleted = rows.count(Does.UPDATE), rows.count(Does.DELETE)
    return {
        "num_affected_rows": updated + deleted + output.num_inserted,
        "num_updated_rows": updated,
        "num_deleted_rows": deleted,
        "num_inserted_rows": output.num_inserted,
    }


def _metrics(
    rows: MergeRows, source: Source, output: MergeOutput, times: Mapping[str, int], start: float
) -> Callable[[RowChanges], dict[str, object]]:
    def metrics(changes: RowChanges) -> dict[str, object]:
        vectors = changes.vectors
        updated, by_source = rows.count(Does.UPDATE), ClauseKind.NOT_MATCHED_BY_SOURCE
        return {
            "numSourceRows": source.num_rows,
            f"{_ROWS}Inserted": output.num_inserted,
            f"{_ROWS}Updated": updated,
            f"{_ROWS}Deleted": rows.count(Does.DELETE),
            f"{_ROWS}Copied": output.num_copied,
            f"{_ROWS}MatchedUpdated": rows.count(Does.UPDATE, ClauseKind.MATCHED),
            f"{_ROWS}MatchedDeleted": rows.count(Does.DELETE, ClauseKind.MATCHED),
            f"{_ROWS}NotMatchedBySourceUpdated": rows.count(Does.UPDATE, by_source),
            f"{_ROWS}NotMatchedBySourceDeleted": rows.count(Does.DELETE, by_source),
            "numOutputRows": updated + output.num_inserted + output.num_copied,
            "numTargetFilesAdded": len(changes.adds),
            "numTargetFilesRemoved": len(changes.removed),
            "numTargetBytesAdded": sum(add.size for add in changes.adds),
            "numTargetBytesRemoved": sum(file.size for file in changes.removed),
            "numTargetChangeFilesAdded": changes.num_change_files,
            "numTargetDeletionVectorsAdded": vectors.added,
            "numTargetDeletionVectorsRemoved": vectors.removed,
            "numTargetDeletionVectorsUpdated": vectors.updated,
            "executionTimeMs": int(1000 * (time.monotonic() - start)),
            **times,
        }

    return metrics


def _matching(merge: Merge, resolved: ResolvedMerge) -> Callable[[DataFrame], DataFrame]:
    """Return a function that filters rows of the table for those the merge depends on."""
    on = F.expr(merge.condition) if isinstance(merge.condition, str) else merge.condition
    by_source = resolved.of_kind(ClauseKind.NOT_MATCHED_BY_SOURCE)

    def matching(rows: DataFrame) -> DataFrame:
        named = rows if merge.alias is None else rows.alias(merge.alias)
        found = named.join(merge.source, on, "left_semi")
        for each in by_source:
            given = each.clause.condition
            found = found.unionAll(named if given is None else named.where(given))
        return found

    return matching
