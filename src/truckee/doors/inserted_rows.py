"""The rows of an INSERT as its table names and types them, and the partition columns it gives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import AtomicType, NullType, NumericType
from pyspark.sql.types import DataType as SparkType

from truckee.commands.write.placed_rows import placed_rows
from truckee.errors.commands.dml import MissingColumnError
from truckee.errors.commands.write import (
    ColumnCountError,
    ExtraColumnsError,
    TooFewValuesError,
    TooManyValuesError,
)
from truckee.errors.protocol import (
    DuplicateColumnsError,
    DuplicateInsertedColumnsError,
    DuplicateListedColumnsError,
)
from truckee.errors.sql import (
    IfNotExistsError,
    NotAPartitionColumnError,
    TableOperationError,
)
from truckee.log.snapshot import Snapshot
from truckee.protocol.schema import StructField, find_column
from truckee.spark.dml.statements import InsertSpec
from truckee.spark.jvm.projection import quoted
from truckee.spark.schema_conversion import spark_type
from truckee.spark.write.session_copy import on_session
from truckee.spark.write.store_assignment import (
    StoreAssignment,
    check_up_cast,
    store_assignment,
)


def named_rows(
    rows: DataFrame,
    snapshot: Snapshot,
    spec: InsertSpec,
    *,
    adds_columns: bool,
    nests_by_name: bool,
) -> DataFrame:
    """Return the rows of an INSERT with the table's column names and static partition values.

    In structs, fields go by their names if the rows can be stored as they are, or the statement
    `nests_by_name`; else, and if the statement lists columns, by their places. Raises
    ColumnCountError if the number of columns or fields does not match.
    """
    if spec.only_new_partitions:
        raise IfNotExistsError(
            operation="INSERT ... IF NOT EXISTS", hint="use MERGE to insert what is missing"
        )
    if spec.replaces_by_match:
        raise TableOperationError(
            operation="INSERT ... REPLACE ON or REPLACE USING",
            hint="use the option replaceOn or replaceUsing of df.write, or REPLACE WHERE, or MERGE",
        )
    static = {name: text for name, text in spec.partition.items() if text is not None}
    fields = {name: partition_field(snapshot, name) for name in spec.partition}
    given = tuple(rows.columns)
    if spec.by_name:
        _check_distinct(rows.columns, DuplicateInsertedColumnsError)
    else:
        rows = _by_position(rows, snapshot, spec, static, adds_columns=adds_columns)
    # As in delta-spark, a list of columns is about the columns alone, even if it is in their order.
    by_place = bool(spec.columns) or (not spec.by_name and given != tuple(rows.columns))
    if not nests_by_name:
        rows = placed_rows(rows, snapshot.schema, by_place=by_place, keeps_types=adds_columns)
    if not adds_columns:
        rows = _assigned(rows, snapshot)
    values = {
        fields[name].name: F.lit(text).cast(spark_type(fields[name].type))
        for name, text in static.items()
    }
    return rows.withColumns(values) if values else rows


def _assigned(rows: DataFrame, snapshot: Snapshot) -> DataFrame:
    """Return the rows with values cast to the types of the table, as SQL assigns them.

    A text becomes a number, where a write of a DataFrame would refuse it. What does not fit is an
    error, whatever the session says of casts elsewhere, unless it has another policy for them (see
    `store_assignment`). Values of nested types stay as they are.
    """
    policy = store_assignment(rows.sparkSession)
    found = {field.name.casefold(): field for field in snapshot.schema.fields}
    casts = {}
    for given in rows.schema.fields:
        field = found.get(given.name.casefold())
        kind = None if field is None else spark_type(field.type)
        if kind is not None and _is_of_another_kind(given.dataType, kind):
            casts[given.name] = F.col(quoted(given.name)).cast(kind)  # Spark's error is the one
            continue
        is_value = isinstance(kind, AtomicType) and isinstance(given.dataType, AtomicType)
        if kind is None or not is_value or kind == given.dataType:
            continue
        if policy is StoreAssignment.STRICT:
            what = f"the value of {given.name} in INSERT"
            check_up_cast(rows.sparkSession, given.dataType, kind, what=what)
        are_numbers = isinstance(kind, NumericType) and isinstance(given.dataType, NumericType)
        # The writer casts numbers, with Spark's own error for one that does not fit.
        if policy is StoreAssignment.LEGACY or not are_numbers:
            casts[given.name] = F.col(quoted(given.name)).cast(kind)
    return on_session(rows, policy.cast_settings).withColumns(casts) if casts else rows


def _is_of_another_kind(given: SparkType, kind: SparkType) -> bool:
    """Return whether one type is nested and the other not, or not in the same way."""
    if isinstance(given, NullType) or type(given) is type(kind):
        return False
    return not (isinstance(given, AtomicType) and isinstance(kind, AtomicType))


def _by_position(
    rows: DataFrame,
    snapshot: Snapshot,
    spec: InsertSpec,
    static: Mapping[str, str],
    *,
    adds_columns: bool,
) -> DataFrame:
    taken = {name.casefold() for name in static}
    names = spec.columns or tuple(
        name for name in snapshot.schema.names if name.casefold() not in taken
    )
    found = tuple(rows.columns)
    extra = found[len(names) :]
    _check_listed(spec.columns, snapshot)
    if spec.columns and len(found) != len(names):
        kind = TooManyValuesError if extra else TooFewValuesError
        raise kind(table=snapshot.storage.root, expected=names, found=found)
    if len(found) < len(names):
        raise ColumnCountError(table=snapshot.storage.root, expected=names, found=found)
    if extra and not adds_columns:
        raise ExtraColumnsError(table=snapshot.storage.root, expected=names, found=found)
    return rows.toDF(*names, *extra)


def _check_distinct(names: Iterable[str], kind: type[DuplicateColumnsError]) -> None:
    """Raise an error of this kind if a name is there twice, ignoring case."""
    seen: set[str] = set()
    for name in names:
        if name.casefold() in seen:
            raise kind(column=name)
        seen.add(name.casefold())


def _check_listed(names: tuple[str, ...], snapshot: Snapshot) -> None:
    """Raise if an INSERT lists a column twice, or one that the table does not have."""
    _check_distinct(names, DuplicateListedColumnsError)
    for name in names:
        if find_column(snapshot.schema, (name,)) is None:
            raise MissingColumnError(
                what="the list of columns of INSERT",
                expression=", ".join(names),
                column=quoted(name),
                columns=snapshot.schema.names,
            )


def partition_field(snapshot: Snapshot, name: str) -> StructField:
    """Return a partition column that a statement names; raises if the table has none of it."""
    found = find_column(snapshot.schema, (name,))
    known = {column.casefold() for column in snapshot.partition_columns}
    if found is None or name.casefold() not in known:
        raise NotAPartitionColumnError(
            operation=f"PARTITION ({name})",
            hint=f"the table is partitioned by [{', '.join(snapshot.partition_columns)}]",
        )
    return found.field
