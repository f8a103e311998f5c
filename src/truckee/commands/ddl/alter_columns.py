"""ADD, RENAME, DROP and CHANGE COLUMN: the schema changes, no data file does."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from msgspec.structs import replace
from pyspark.sql import SparkSession
from pyspark.sql.types import DataType as SparkType
from pyspark.sql.types import StructField as SparkField
from pyspark.sql.types import StructType as SparkStruct

from truckee.commands.ddl.table_builder import spark_type_of
from truckee.commands.schema.clustering import clustering_columns
from truckee.commands.schema.column_mapping import with_column_mapping
from truckee.commands.schema.column_rules import check_columns
from truckee.commands.schema.edits import (
    ColumnPath,
    changed_column,
    column_at,
    moved_column,
    with_column,
    with_type,
    without_column,
)
from truckee.commands.table_plan import table_plan
from truckee.errors.commands.alter import (
    ClusteringColumnDropError,
    ColumnChangeError,
    ColumnMappingRequiredError,
    DependentColumnError,
    DropNeedsColumnMappingError,
    GeneratedFromColumnError,
    NotNullColumnError,
    PartitionColumnDropError,
    TypeChangeError,
)
from truckee.errors.commands.dml import InvalidExpressionError
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.protocol.actions import Metadata
from truckee.protocol.column_metadata import (
    CHAR_VARCHAR_KEY,
    COMMENT_KEY,
    CURRENT_DEFAULT_KEY,
    GENERATION_EXPRESSION_KEY,
    IDENTITY_HIGH_WATER_MARK_KEY,
    TYPE_CHANGES_KEY,
)
from truckee.protocol.property_kinds import parse_column_names
from truckee.protocol.schema import (
    DataType,
    DecimalType,
    PrimitiveType,
    StructField,
    StructType,
    find_column,
)
from truckee.protocol.stats_columns import with_dropped_stats, with_renamed_stats
from truckee.spark.schema_conversion import from_spark
from truckee.spark.write.char_columns import declared_field
from truckee.spark.write.condition_checks import parse_expression
from truckee.spark.write.table_sql import check_default
from truckee.storage.base import Storage

# What a commit has found out of a column, and nobody said of it.
_NOT_SHOWN = frozenset({TYPE_CHANGES_KEY, IDENTITY_HIGH_WATER_MARK_KEY})
_LENGTH = re.compile(r"(char|varchar)\((\d+)\)")
_STRING = PrimitiveType("string")


@dataclass(frozen=True, kw_only=True)
class NewColumn:
    """A column to be added: `name` may be a field of a struct, as in `s.x`.

    `position` is `first`, `after <column>`, or None for the end.
    """

    name: str
    type: str | SparkType
    nullable: bool = True
    comment: str | None = None
    position: str | None = None


def add_columns(storage: Storage, columns: Sequence[NewColumn]) -> int:
    """Add columns, which are null in existing rows; return the version that has them."""
    snapshot = load_snapshot(storage)
    schema = snapshot.schema
    shown = []
    for column in columns:
        path = _path(column.name)
        if not column.nullable:
            raise NotNullColumnError(
                column=column.name,
                reason="it is NOT NULL, and rows that are there have no value for it",
                hint="add it as a column that may be null",
            )
        field = new_field(path[-1], column)
        schema = with_column(schema, path, field, column.position)
        shown.append(_shown(path, field, column.position))
    return commit_schema(snapshot, schema, "ADD COLUMNS", {"columns": shown})


def rename_column(spark: SparkSession, storage: Storage, column: str, new_name: str) -> int:
    """Rename a column, and return the version in which it has its new name."""
    snapshot = load_snapshot(storage)
    _require_mapping(snapshot, "renamed")
    path = _path(column)
    check_independent(spark, snapshot, path, "renamed")
    schema = changed_column(snapshot.schema, path, lambda field: replace(field, name=new_name))
    new_path = (*path[:-1], new_name)
    metadata = replace(
        snapshot.metadata,
        partition_columns=[
            new_name if len(path) == 1 and name.casefold() == path[0].casefold() else name
            for name in snapshot.partition_columns
        ],
        configuration=with_renamed_stats(snapshot.configuration, path, new_path),
    )
    parameters = {"oldColumnPath": ".".join(path), "newColumnPath": ".".join(new_path)}
    return commit_schema(snapshot, schema, "RENAME COLUMN", parameters, metadata)


def drop_columns(spark: SparkSession, storage: Storage, columns: Iterable[str]) -> int:
    """Drop columns, and return the version without them; data files keep their values."""
    snapshot = load_snapshot(storage)
    _require_mapping(snapshot, "dropped")
    schema = snapshot.schema
    names = list(columns)
    for path in map(_path, names):
        check_not_in_layout(snapshot, path)
        check_independent(spark, snapshot, path, "dropped")
        schema = without_column(schema, path)
    shown = [".".join(_path(name)) for name in names]
    kept = with_dropped_stats(snapshot.configuration, map(_path, names))
    metadata = replace(snapshot.metadata, configuration=kept)
    return commit_schema(snapshot, schema, "DROP COLUMNS", {"columns": shown}, metadata)


@dataclass(frozen=True, kw_only=True)
class ColumnChange:
    """What changes about a column; None for what stays.

    A type can only become wider. NOT NULL can be dropped, not set. `default` is SQL, and needs the
    feature allowColumnDefaults; an empty string drops the default. `position` is `first`, or
    `after <column>`.
    """

    name: str
    type: str | SparkType | None = None
    nullable: bool | None = None
    comment: str | None = None
    default: str | None = None
    position: str | None = None


def change_columns(spark: SparkSession, storage: Storage, changes: Sequence[ColumnChange]) -> int:
    """Change columns, one after the other, in one commit; return its version."""
    snapshot = load_snapshot(storage)
    schema = snapshot.schema
    shown = []
    for change in changes:
        path = _path(change.name)
        schema = changed_column(schema, path, partial(_changed, spark, snapshot, path, change))
        if change.position is not None:
            schema = moved_column(schema, path, change.position)
        changed = column_at(schema, path)
        assert changed is not None  # changed_column has found it
        shown.append(_shown((*path[:-1], changed.name), changed, change.position))
    if len(shown) == 1:
        return commit_schema(snapshot, schema, "CHANGE COLUMN", shown[0])
    columns = [{**one.pop("column"), **one} for one in shown]
    return commit_schema(snapshot, schema, "CHANGE COLUMNS", {"columns": columns})


def _changed(
    spark: SparkSession,
    snapshot: Snapshot,
    path: ColumnPath,
    change: ColumnChange,
    field: StructField,
) -> StructField:
    if change.type is not None:
        check_independent(spark, snapshot, path, "changed")
        wanted = new_field(field.name, NewColumn(name=field.name, type=change.type))
        if len(path) > 1:
            _check_no_lengths(snapshot.schema, path, wanted)
        widening = snapshot.properties.enable_type_widening
        field = _with_length(with_type(field, wanted.type, widening=widening), wanted)
    field = replace(field, nullable=_nullable(field, change.nullable))
    return replace(field, metadata=_metadata(field, change.comment, change.default))


def _path(column: str) -> ColumnPath:
    try:
        paths = parse_column_names(column)
    except ValueError:
        return (column,)
    return paths[0] if len(paths) == 1 else (column,)


def new_field(name: str, column: NewColumn) -> StructField:
    """Return a column as the schema of a table has it."""
    given = SparkField(name, spark_type_of(column.type), column.nullable)
    field = from_spark(SparkStruct([declared_field(given)])).fields[0]
    if column.comment is None:
        return field
    return replace(field, metadata={**field.metadata, COMMENT_KEY: column.comment})


def _with_length(field: StructField, wanted: StructField) -> StructField:
    """Return a column whose texts have the declared length of another column, or none."""
    old, new = (each.metadata.get(CHAR_VARCHAR_KEY) for each in (field, wanted))
    if old == new:
        return field
    if new is not None and not _is_longer(old, new):
        raise TypeChangeError(
            column=field.name,
            reason=f"{old or 'string'} cannot become {new}",
            hint="give a longer varchar, or string",
        )
    metadata = {key: value for key, value in field.metadata.items() if key != CHAR_VARCHAR_KEY}
    return replace(field, metadata=metadata if new is None else {**metadata, CHAR_VARCHAR_KEY: new})


def _is_longer(old: str | None, new: str) -> bool:
    before, after = _LENGTH.fullmatch(old or ""), _LENGTH.fullmatch(new)
    if before is None or after is None or after[1] != "varchar":
        return False
    return int(before[2]) <= int(after[2])


def _check_no_lengths(schema: StructType, path: ColumnPath, wanted: StructField) -> None:
    """Raise if a change of type is about the declared length of texts inside a column.

    The metadata of the whole column tells it, which a change of a part of it does not reach.
    """
    whole = column_at(schema, path[:1])
    is_declared = whole is not None and CHAR_VARCHAR_KEY in whole.metadata
    if CHAR_VARCHAR_KEY in wanted.metadata or (is_declared and wanted.type == _STRING):
        raise TypeChangeError(
            column=".".join(path),
            reason="the length of texts inside a column cannot change",
            hint="rewrite the table with overwriteSchema",
        )


def _nullable(field: StructField, wanted: bool | None) -> bool:
    if wanted is False and field.nullable:
        raise ColumnChangeError(
            column=field.name,
            reason="rows that are there may have no value for it, so it cannot become NOT NULL",
            hint=f"add a constraint such as {field.name} IS NOT NULL instead",
        )
    return field.nullable if wanted is None else wanted


def _metadata(field: StructField, comment: str | None, default: str | None) -> dict[str, Any]:
    metadata = dict(field.metadata)
    if comment is not None:
        metadata[COMMENT_KEY] = comment
    if default == "":
        metadata.pop(CURRENT_DEFAULT_KEY, None)
    elif default is not None:
        check_default(field.name, default)
        metadata[CURRENT_DEFAULT_KEY] = default
    return metadata


def _require_mapping(snapshot: Snapshot, action: str) -> None:
    if snapshot.properties.column_mapping_mode == "none":
        is_drop = action == "dropped"
        kind = DropNeedsColumnMappingError if is_drop else ColumnMappingRequiredError
        raise kind(action=action)


def check_not_in_layout(snapshot: Snapshot, path: ColumnPath) -> None:
    """Raise if a table is partitioned or clustered by a column, or by a field of it."""
    chain = find_column(snapshot.schema, path)
    if chain is None:
        return
    column = ".".join(path)
    if len(path) == 1 and chain.field.name in snapshot.partition_columns:
        used = ("the partitioning of the table",)
        raise PartitionColumnDropError(action="dropped", column=column, dependents=used)
    clustered = clustering_columns(snapshot) or ()
    if any(other[: len(path)] == chain.physical_path for other in clustered):
        used = ("the clustering of the table",)
        raise ClusteringColumnDropError(action="dropped", column=column, dependents=used)


def check_independent(
    spark: SparkSession, snapshot: Snapshot, path: ColumnPath, action: str
) -> None:
    """Raise if a constraint or a generated column reads the column, or any field of it."""
    expressions = {
        f"the constraint {name} ({sql})": sql
        for name, sql in snapshot.properties.constraints.items()
    }
    for field in snapshot.schema.fields:
        sql = field.metadata.get(GENERATION_EXPRESSION_KEY)
        if sql is not None:
            expressions[f"the generated column {field.name} ({sql})"] = sql
    used = [
        shown
        for shown, sql in expressions.items()
        if _reads(spark, snapshot.schema, sql, path[0].casefold())
    ]
    if used:
        by_constraint = any(shown.startswith("the constraint") for shown in used)
        kind = DependentColumnError if by_constraint else GeneratedFromColumnError
        raise kind(action=action, column=".".join(path), dependents=tuple(used))


def _reads(spark: SparkSession, schema: StructType, sql: str, column: str) -> bool:
    found = parse_expression(spark, sql, schema, what="an expression")
    if isinstance(found, InvalidExpressionError):
        return column in sql.casefold()
    return column in {name.casefold() for name in found.columns}


def commit_schema(
    snapshot: Snapshot,
    schema: StructType,
    operation: str,
    parameters: Mapping[str, Any],
    metadata: Metadata | None = None,
) -> int:
    """Check and commit a new schema of a table; return the version."""
    storage = snapshot.storage
    mode = snapshot.properties.column_mapping_mode
    check_columns(schema, mapping_mode=mode, table=storage.root)
    changed = replace(metadata or snapshot.metadata, schema_string=schema.to_json())
    table = table_plan(storage, snapshot, with_column_mapping(changed))
    table.check(operation)
    return table.transaction().commit(operation, parameters=parameters)


def _shown(path: ColumnPath, field: StructField, position: str | None) -> dict[str, Any]:
    column = {**commit_info_field(field), "name": ".".join(path)}
    shown = _shown_position(position)
    return {"column": column} | ({} if shown is None else {"position": shown})


def _shown_position(position: str | None) -> str | None:
    """Return a position as commitInfo shows it: a word in capitals, and a name as it was given."""
    if position is None:
        return None
    word, _, name = position.partition(" ")
    return f"{word.upper()} {name}" if name else word.upper()


def commit_info_field(field: StructField) -> dict[str, Any]:
    """Return a column as commitInfo shows it."""
    kind = field.type
    return {
        "name": field.name,
        "type": kind.name if isinstance(kind, PrimitiveType | DecimalType) else _kind(kind),
        "nullable": field.nullable,
        "metadata": {k: v for k, v in field.metadata.items() if k not in _NOT_SHOWN},
    }


def _kind(data_type: DataType) -> str:
    """Return `struct`, `array` or `map`."""
    return type(data_type).__name__.removesuffix("Type").lower()
