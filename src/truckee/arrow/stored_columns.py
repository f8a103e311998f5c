"""Columns that users write, converted to those of a table's data files.

Names and types become the table's, as in SQL's INSERT: a number that does not fit is an error.
Casts that differ between Spark and Arrow, such as from a double to a string, are refused.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from truckee.arrow.columns import arrow_type, as_type, columns_in_file
from truckee.errors.commands.write_rows import NotNullViolationError
from truckee.errors.streaming import ValueDoesNotFitError
from truckee.protocol.column_metadata import PARQUET_FIELD_ID_KEY
from truckee.protocol.schema import (
    ArrayType,
    DataType,
    MapType,
    StructField,
    StructType,
    physical_schema,
    type_text,
)

_FIELD_ID = "PARQUET:field_id"
_ROW_LENGTH = 4000


def parquet_schema(schema: StructType, partition_columns: tuple[str, ...], mode: str) -> pa.Schema:
    """Return the Arrow schema of a table's data files: physical names, and ids if it has some.

    Partition columns are not in data files.
    """
    physical = physical_schema(schema, mode)
    partitions = {name.casefold() for name in partition_columns}
    fields = [
        _file_field(there)
        for here, there in zip(schema.fields, physical.fields, strict=True)
        if here.name.casefold() not in partitions
    ]
    return pa.schema(fields)


def _file_field(field: StructField) -> pa.Field:
    number = field.metadata.get(PARQUET_FIELD_ID_KEY)
    metadata = None if number is None else {_FIELD_ID: str(number)}
    return pa.field(field.name, _file_type(field.type), metadata=metadata)


def _file_type(data_type: DataType) -> pa.DataType:
    match data_type:
        case StructType(fields):
            return pa.struct([_file_field(field) for field in fields])
        case ArrayType(element_type):
            return pa.list_(pa.field("element", _file_type(element_type)))
        case MapType(key_type, value_type):
            value = pa.field("value", _file_type(value_type))
            return pa.map_(_file_type(key_type), value)
        case _:
            return arrow_type(data_type)


def table_columns(batch: pa.RecordBatch, schema: StructType) -> dict[str, pa.Array]:
    """Return the columns of a table, by logical name, from a user's batch.

    Raises `ValueDoesNotFitError` for a value that its column cannot hold, and
    `NotNullViolationError` for a null in a NOT NULL column.
    """
    columns: dict[str, pa.Array] = {}
    places = columns_in_file(batch.schema, schema.fields, "none")
    for field, place in zip(schema.fields, places, strict=True):
        if place is None:
            columns[field.name] = pa.nulls(batch.num_rows, arrow_type(field.type))
            continue
        try:
            columns[field.name] = as_type(_narrowed(batch.column(place), field), field.type, "none")
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise ValueDoesNotFitError(
                column=field.name, type=type_text(field.type), reason=str(error).partition("\n")[0]
            ) from error
    for name, at in _missing_values(columns, schema):
        raise NotNullViolationError(column=name, row=_shown(columns, at))
    return columns


def _narrowed(values: pa.Array, field: StructField) -> pa.Array:
    """Return numbers rounded as in SQL, so that only too large ones do not fit."""
    wanted = arrow_type(field.type)
    held = values.type
    if pa.types.is_integer(wanted) and (pa.types.is_floating(held) or pa.types.is_decimal(held)):
        return pc.trunc(values)
    if pa.types.is_decimal(wanted) and pa.types.is_decimal(held) and wanted.scale < held.scale:
        return pc.round(values, ndigits=wanted.scale, round_mode="half_towards_infinity")
    is_text = pa.types.is_string(wanted)
    if is_text and (pa.types.is_floating(held) or pa.types.is_timestamp(held)):
        raise pa.ArrowInvalid(f"cast {held} to string before it is written")
    return values


def _missing_values(columns: dict[str, pa.Array], schema: StructType) -> Iterator[tuple[str, int]]:
    """Yield each NOT NULL column that has a null, and the row of one such null."""
    for field in schema.fields:
        values = columns[field.name]
        if not field.nullable and values.null_count:
            yield field.name, pc.index(values.is_null(), True).as_py()
        if isinstance(field.type, StructType):
            for inner, child in zip(field.type.fields, values.flatten(), strict=True):
                wrong = pc.and_(values.is_valid(), child.is_null())
                if not inner.nullable and pc.any(wrong).as_py():
                    yield f"{field.name}.{inner.name}", pc.index(wrong, True).as_py()


def _shown(columns: dict[str, pa.Array], at: int) -> str:
    values = ((name, column[at].as_py()) for name, column in columns.items())
    text = ", ".join(f"{name}: {'NULL' if v is None else v}" for name, v in values)
    return text if len(text) <= _ROW_LENGTH else f"{text[:_ROW_LENGTH]}..."


def with_names(values: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Return the same values with the names of another type of the same shape."""
    if values.type.equals(wanted, check_metadata=True):
        return values
    if values.offset:
        values = pa.concat_arrays([values])
    if pa.types.is_struct(wanted):
        children = [
            with_names(child, wanted.field(index).type)
            for index, child in enumerate(values.flatten())
        ]
        return pa.StructArray.from_arrays(children, fields=list(wanted), mask=values.is_null())
    if pa.types.is_map(wanted):
        keys = with_names(values.keys, wanted.key_type)
        items = with_names(values.items, wanted.item_type)
        return pa.MapArray.from_arrays(
            values.offsets, keys, items, type=wanted, mask=values.is_null()
        )
    if pa.types.is_list(wanted):
        elements = with_names(values.values, wanted.value_type)
        return pa.ListArray.from_arrays(
            values.offsets, elements, type=wanted, mask=values.is_null()
        )
    return values
