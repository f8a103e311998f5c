"""DeltaMergeBuilder: builds a MERGE clause by clause, with delta-spark's names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession

from truckee.commands.dml.assignments import check_condition_type, check_values
from truckee.commands.dml.command import run_command
from truckee.commands.dml.outcome import DmlPlan
from truckee.commands.dml.settings import dml_settings
from truckee.commands.merge.clauses import Clause, ClauseKind, Does
from truckee.commands.merge.merge import Merge, check_merge, merge_plan
from truckee.errors.options import ArgumentValueError, NoAssignmentsError
from truckee.log.snapshot import Snapshot
from truckee.options.delta_settings import warn_of_unused_settings
from truckee.spark.dml.frame_columns import ShownColumns
from truckee.spark.local_frames import metrics_frame
from truckee.spark.session.arguments import checked_frame
from truckee.spark.session.settings import session_settings
from truckee.storage.base import Storage

Condition = str | Column | None
Values = Mapping[str, str | Column] | None

_ALIAS = "truckee_target"
_RESULTS = ("num_affected_rows", "num_updated_rows", "num_deleted_rows", "num_inserted_rows")


class DeltaMergeBuilder:
    """A builder of a merge; each call returns a new builder.

    Clauses of a kind are tried in the order in which they were given. The first one whose condition
    is true for a row applies to it. Only the last clause of a kind may have no condition.
    """

    def __init__(
        self, spark: SparkSession, storage: Storage, merge: Merge, shown: ShownColumns
    ) -> None:
        self._spark = spark
        self._storage = storage
        self._merge = merge
        self._shown = shown

    def __repr__(self) -> str:
        number = len(self._merge.clauses)
        return f"DeltaMergeBuilder({self._storage.root!r}, {number} clause{'s' * (number != 1)})"

    def whenMatchedUpdate(
        self,
        condition: Condition = None,
        set: Values = None,  # noqa: A002  delta-spark's name
    ) -> DeltaMergeBuilder:
        """Give new values to target rows that match; values may use both sides."""
        return self._with_values(ClauseKind.MATCHED, Does.UPDATE, condition, set)

    def whenMatchedUpdateAll(self, condition: Condition = None) -> DeltaMergeBuilder:
        """Give every column of target rows that match the value of the source's column."""
        return self._with(Clause(ClauseKind.MATCHED, Does.UPDATE, condition))

    def whenMatchedDelete(self, condition: Condition = None) -> DeltaMergeBuilder:
        """Delete target rows that match."""
        return self._with(Clause(ClauseKind.MATCHED, Does.DELETE, condition))

    def whenNotMatchedInsert(
        self, condition: Condition = None, values: Values = None
    ) -> DeltaMergeBuilder:
        """Insert rows made of source rows that match nothing; values may use the source."""
        return self._with_values(ClauseKind.NOT_MATCHED, Does.INSERT, condition, values)

    def whenNotMatchedInsertAll(self, condition: Condition = None) -> DeltaMergeBuilder:
        """Insert source rows that match nothing, column by column."""
        return self._with(Clause(ClauseKind.NOT_MATCHED, Does.INSERT, condition))

    def whenNotMatchedBySourceUpdate(
        self,
        condition: Condition = None,
        set: Values = None,  # noqa: A002  delta-spark's name
    ) -> DeltaMergeBuilder:
        """Give new values to target rows that no source row matches; they may use the target."""
        return self._with_values(ClauseKind.NOT_MATCHED_BY_SOURCE, Does.UPDATE, condition, set)

    def whenNotMatchedBySourceDelete(self, condition: Condition = None) -> DeltaMergeBuilder:
        """Delete target rows that no source row matches."""
        return self._with(Clause(ClauseKind.NOT_MATCHED_BY_SOURCE, Does.DELETE, condition))

    def withSchemaEvolution(self) -> DeltaMergeBuilder:
        """Add columns of the source that clauses use and that the table does not have."""
        return self._of(replace(self._merge, evolves_schema=True))

    def execute(self) -> DataFrame:
        """Merge, and return one row with the numbers of rows updated, deleted and inserted.

        Raises the errors of `truckee.errors.commands.dml` before anything is written, those of
        `truckee.errors.commands.write_rows` if new rows break a rule of the table, and those of
        `truckee.errors.transaction` if others changed the same rows meanwhile.
        """
        check_merge(self._merge)
        given = session_settings(self._spark)
        warn_of_unused_settings(given)
        settings = dml_settings("merge", given)

        def prepare(snapshot: Snapshot) -> DmlPlan:
            return merge_plan(self._spark, snapshot, self._merge, settings=settings)

        removes_rows = self._merge.removes_rows
        done = run_command(
            self._spark, self._storage, "MERGE", prepare, settings, removes_rows=removes_rows
        )
        return metrics_frame(self._spark, done, _RESULTS)

    def _with_values(
        self, kind: ClauseKind, does: Does, condition: Condition, values: Values
    ) -> DeltaMergeBuilder:
        clause = Clause(kind, does, condition, values)
        check_values(values, what=clause.name)
        check_condition_type(condition, what=f"the condition of {clause.name}")
        if not values:
            raise NoAssignmentsError(what=clause.name)
        values = {
            name: self._by_name(value, f"the value of {name} in {clause.name}")
            for name, value in values.items()
        }
        return self._with(replace(clause, values=values))

    def _with(self, clause: Clause) -> DeltaMergeBuilder:
        what = f"the condition of {clause.name}"
        check_condition_type(clause.condition, what=what)
        condition = self._by_name(clause.condition, what)
        clauses = (*self._merge.clauses, replace(clause, condition=condition))
        return self._of(replace(self._merge, clauses=clauses))

    def _of(self, merge: Merge) -> DeltaMergeBuilder:
        return DeltaMergeBuilder(self._spark, self._storage, merge, self._shown)

    def _by_name(self, given: Any, what: str) -> Any:
        merge = self._merge
        return self._shown.by_name(self._spark, given, merge.alias, what=what, source=merge.source)


def merge_builder(
    spark: SparkSession,
    storage: Storage,
    source: DataFrame | None,
    condition: str | Column | None,
    *,
    alias: str | None = None,
    shown: ShownColumns | None = None,
) -> DeltaMergeBuilder:
    """Return a merge of a source into a table, with no clause yet.

    Conditions and values may use columns of the table's DataFrames, which `shown` remembers.
    """
    if source is None or condition is None:
        missing = "source" if source is None else "condition"
        raise ArgumentValueError(
            what=f"the {missing} of MERGE", needs="be given and cannot be None", found="None"
        )
    checked_frame(source, what="the source of MERGE")
    check_condition_type(condition, what="the condition of MERGE")
    if shown and alias is None:
        # A column of the table given by name alone could also be one of the source.
        alias = _ALIAS
    shown = shown or ShownColumns()
    on = shown.by_name(spark, condition, alias, what="the condition of MERGE", source=source)
    merge = Merge(source=source, condition=on, clauses=(), alias=alias)
    return DeltaMergeBuilder(spark, storage, merge, shown)
