"""INSERT, DELETE, UPDATE, MERGE and TRUNCATE, parsed by Spark and run by our commands."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from truckee.commands.ddl.truncate import truncate_table
from truckee.commands.dml.delete import delete
from truckee.commands.dml.update import update
from truckee.commands.merge.builder import DeltaMergeBuilder, merge_builder
from truckee.commands.write.options import (
    WRITE_OPTIONS,
    is_dynamic_overwrite,
    matching_option,
    write_options,
)
from truckee.commands.write.plan import Write
from truckee.commands.write.write import check_write, write_table
from truckee.doors.inserted_rows import named_rows, partition_field
from truckee.doors.tables import table_storage_of
from truckee.errors.commands.dml import GeneratedColumnViewError
from truckee.errors.commands.write_rows import ReplaceUsingPositionError
from truckee.errors.sql import StatementNotAllowedError
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.options.text import Options, warn_of_unknown
from truckee.protocol.column_metadata import (
    CURRENT_DEFAULT_KEY,
    GENERATION_EXPRESSION_KEY,
    IDENTITY_STEP_KEY,
)
from truckee.protocol.schema import find_column
from truckee.spark.dml.expressions import resolved_condition
from truckee.spark.dml.merge_source import kept_rows
from truckee.spark.dml.statements import (
    ClauseSpec,
    InsertSpec,
    delete_condition,
    insert_spec,
    merge_clauses,
    merge_condition,
    merge_evolves,
    update_condition,
    update_values,
)
from truckee.spark.jvm.projection import quoted
from truckee.spark.read.frames import snapshot_frame
from truckee.spark.schema_conversion import spark_type
from truckee.spark.session.catalog_tables import java_frame, text_list
from truckee.spark.session.doors import Question
from truckee.spark.session.settings import session_settings


def delete_rows_of(question: Question) -> Any:
    """Run a DELETE, and answer with the number of rows."""
    spark, plan = question.spark, question.objects[0]
    storage = table_storage_of(question)
    condition = delete_condition(spark, plan)
    return java_frame(delete(spark, storage, condition, alias=_alias(question)))


def update_rows_of(question: Question) -> Any:
    """Run an UPDATE, and answer with the number of rows."""
    spark, plan = question.spark, question.objects[0]
    storage = table_storage_of(question)
    snapshot = load_snapshot(storage)
    _check_view(question, snapshot, "UPDATE")
    values = update_values(spark, plan, _defaults(snapshot))
    condition = update_condition(spark, plan)
    return java_frame(update(spark, storage, condition, values, alias=_alias(question)))


def merge_rows_of(question: Question) -> Any:
    """Run a MERGE, and answer with the numbers of rows."""
    spark, plan = question.spark, question.objects[0]
    storage = table_storage_of(question)
    snapshot = load_snapshot(storage)
    _check_view(question, snapshot, "MERGE")
    matched, of_source, of_target = merge_clauses(spark, plan, _defaults(snapshot))
    builder = merge_builder(
        spark,
        storage,
        question.frame(1),
        merge_condition(spark, plan),
        alias=_alias(question),
    )
    if merge_evolves(plan):
        builder = builder.withSchemaEvolution()
    for clause in matched:
        builder = _with_matched(builder, clause)
    for clause in of_source:
        builder = _with_insert(builder, clause)
    for clause in of_target:
        builder = _with_unmatched(builder, clause)
    return java_frame(builder.execute())


def default_texts(question: Question) -> Any:
    """Answer with the default, as SQL, of each column for which an INSERT has a value.

    Raises if the word DEFAULT stands for a column whose values are computed, since it has none.
    """
    snapshot = load_snapshot(table_storage_of(question))
    names = question.about["columns"] or snapshot.schema.names
    defaulted = set(question.about["defaulted"])
    found = []
    for index, name in enumerate(names):
        chain = find_column(snapshot.schema, (name,))
        metadata = {} if chain is None else chain.field.metadata
        is_computed = IDENTITY_STEP_KEY in metadata or GENERATION_EXPRESSION_KEY in metadata
        if is_computed and str(index) in defaulted:
            raise StatementNotAllowedError(
                operation=f"DEFAULT for the column {name}, whose values are computed",
                hint="list the other columns, and leave this one out",
            )
        found.append(str(metadata.get(CURRENT_DEFAULT_KEY, "NULL")))
    return text_list(question.spark, found)


def truncate(question: Question) -> None:
    """Run TRUNCATE TABLE."""
    truncate_table(table_storage_of(question))


def insert(question: Question) -> None:
    """Run an INSERT, or a write of a DataFrame to a table by its name."""
    write_table(*_insertion(question))


def check_insert(question: Question) -> None:
    """Raise what one of several inserts of a statement would raise before it writes."""
    check_write(*_insertion(question._replace(kind="InsertIntoStatement")))


def _insertion(question: Question) -> tuple[DataFrame, Write]:
    spark = question.spark
    spec = insert_spec(spark, question.kind, question.objects[0])
    storage = table_storage_of(question)
    snapshot = load_snapshot(storage)
    given = {**question.about.get("options", {}), **spec.options}
    options = Options(given)
    warn_of_unknown(options, WRITE_OPTIONS, what="a write")
    settings = session_settings(spark)
    if spec.condition is not None or not is_dynamic_overwrite(options, settings):
        # A dynamic overwrite replaces partitions that get rows, whichever the statement names.
        options = _with_condition(spark, options, spec, snapshot)
    parsed = write_options(options, settings)
    parsed = replace(parsed, merge_schema=parsed.merge_schema or spec.evolves_schema)
    if spec.is_dynamic is not None:
        is_dynamic = spec.is_dynamic or (spec.condition is None and parsed.dynamic_overwrite)
        parsed = replace(parsed, dynamic_overwrite=is_dynamic)
    given_rows = question.frame(1)
    matched_by = None
    if matching_option(parsed) is not None:
        # They are read twice, and the condition knows them by the names that they have here.
        matched_by = given_rows = kept_rows(given_rows)
        if not spec.by_name:
            _check_places(parsed.replace_using, given_rows, snapshot)
    by_names = spec.by_name and question.kind != "InsertIntoStatement"
    rows = named_rows(
        given_rows, snapshot, spec, adds_columns=parsed.merge_schema, nests_by_name=by_names
    )
    mode = "Overwrite" if spec.overwrites else "Append"
    return rows, Write(storage=storage, mode=mode, options=parsed, matched_by=matched_by)


def _check_places(names: tuple[str, ...], rows: DataFrame, snapshot: Snapshot) -> None:
    """Raise if columns that must be equal are at other places, where columns go by their places."""
    given = [name.casefold() for name in rows.columns]
    known = [name.casefold() for name in snapshot.schema.names]
    there = (name.casefold() for name in names if name.casefold() in known)
    moved = tuple(n for n in there if n in given and given.index(n) != known.index(n))
    if moved:
        raise ReplaceUsingPositionError(columns=moved)


def _with_condition(
    spark: SparkSession, options: Options, spec: InsertSpec, snapshot: Snapshot
) -> Options:
    """Return the options, with the condition of the statement on the rows to replace."""
    static = {name: text for name, text in spec.partition.items() if text is not None}
    if spec.condition is not None:
        rows = snapshot_frame(spark, snapshot)
        found = resolved_condition(rows, spec.condition, what="the condition of REPLACE WHERE")
        return Options({**options, "replaceWhere": found.sql})
    if not static or not spec.overwrites:
        return options
    parts = []
    for name, text in static.items():
        field = partition_field(snapshot, name)
        kind = spark_type(field.type).simpleString()
        escaped = text.replace("\\", "\\\\").replace("'", "\\'")
        parts.append(f"{quoted(field.name)} <=> CAST('{escaped}' AS {kind})")
    rows = snapshot_frame(spark, snapshot)
    found = resolved_condition(rows, " AND ".join(parts), what="the PARTITION of INSERT")
    return Options({**options, "replaceWhere": found.sql})


def _with_matched(builder: DeltaMergeBuilder, clause: ClauseSpec) -> DeltaMergeBuilder:
    if clause.does == "delete":
        return builder.whenMatchedDelete(clause.condition)
    if clause.values is None:
        return builder.whenMatchedUpdateAll(clause.condition)
    return builder.whenMatchedUpdate(clause.condition, clause.values)


def _with_insert(builder: DeltaMergeBuilder, clause: ClauseSpec) -> DeltaMergeBuilder:
    if clause.values is None:
        return builder.whenNotMatchedInsertAll(clause.condition)
    return builder.whenNotMatchedInsert(clause.condition, clause.values)


def _with_unmatched(builder: DeltaMergeBuilder, clause: ClauseSpec) -> DeltaMergeBuilder:
    if clause.does == "delete":
        return builder.whenNotMatchedBySourceDelete(clause.condition)
    return builder.whenNotMatchedBySourceUpdate(clause.condition, clause.values)


def _check_view(question: Question, snapshot: Snapshot, operation: str) -> None:
    is_view = question.about.get("is_view", False)
    if is_view and any(GENERATION_EXPRESSION_KEY in f.metadata for f in snapshot.schema.fields):
        raise GeneratedColumnViewError(operation=operation)


def _alias(question: Question) -> str | None:
    about = question.about
    if "alias" in about or "parts" not in about:
        alias: str | None = about.get("alias")
        return alias
    return str(about["parts"][-1])


def _defaults(snapshot: Snapshot) -> dict[str, str]:
    return {
        field.name.casefold(): field.metadata[CURRENT_DEFAULT_KEY]
        for field in snapshot.schema.fields
        if CURRENT_DEFAULT_KEY in field.metadata
    }
