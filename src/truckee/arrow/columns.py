"""Columns of a data file as columns of the table: from Arrow's types to ours.

A file may have been written when the table had fewer columns, narrower types or other names. So
every column is looked up and converted to the table's current type:

| in the table           | in the file                          | is read as                    |
|------------------------|--------------------------------------|-------------------------------|
| a column               | nothing under its name or id         | null                          |
| a struct               | a struct with other fields           | field by field                |
| a wider type           | the narrower one                     | the same value                |
| timestamp              | INT96, milli-, micro-, nanoseconds   | microseconds in UTC           |
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa

from truckee.arrow.variants import VARIANT
from truckee.errors.protocol import DuplicateColumnsError, InvalidSchemaError
from truckee.protocol.schema import (
    VOID,
    ArrayType,
    DataType,
    DecimalType,
    MapType,
    PrimitiveType,
    StructField,
    StructType,
    UserDefinedType,
    type_text,
)

_FIELD_ID = b"PARQUET:field_id"

_PRIMITIVES: Mapping[str, pa.DataType] = {
    "boolean": pa.bool_(),
    "byte": pa.int8(),
    "short": pa.int16(),
    "integer": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "void": pa.null(),
    "variant": VARIANT,
}


def arrow_schema(schema: StructType) -> pa.Schema:
    """Return a schema in Arrow, as Spark has it, with timestamps in UTC.

    Raises DuplicateColumnsError for two columns of the same name. Names that differ in case are
    allowed: a case-sensitive session can create them.
    """
    return pa.schema(_arrow_fields(schema.fields))


def _arrow_fields(fields: Sequence[StructField]) -> list[pa.Field]:
    names = {field.name for field in fields}
    if len(names) < len(fields):
        counts = Counter(field.name for field in fields)
        raise DuplicateColumnsError(column=counts.most_common(1)[0][0])
    return [_arrow_field(field) for field in fields]


def _arrow_field(field: StructField) -> pa.Field:
    return pa.field(field.name, arrow_type(field.type), nullable=field.nullable)


def arrow_type(data_type: DataType) -> pa.DataType:
    """Return a type in Arrow, as Spark has it."""
    match data_type:
        case StructType(fields):
            return pa.struct(_arrow_fields(fields))
        case ArrayType(element_type, contains_null):
            element = pa.field("element", arrow_type(element_type), nullable=contains_null)
            return pa.list_(element)
        case MapType(key_type, value_type, value_contains_null):
            if key_type == VOID:
                raise InvalidSchemaError(text=type_text(data_type), why="no key of a map is null")
            key = pa.field("key", arrow_type(key_type), nullable=False)
            value = pa.field("value", arrow_type(value_type), nullable=value_contains_null)
            return pa.map_(key, value)
        case DecimalType(precision, scale):
            return pa.decimal128(precision, scale)
        case UserDefinedType(sql_type):
            return arrow_type(sql_type)
        case PrimitiveType(name):
            # Values of char(n) and varchar(n) are strings.
            return _PRIMITIVES.get(name, pa.string())


def columns_in_file(
    file: pa.Schema | pa.StructType, columns: Iterable[StructField], mode: str
) -> list[int | None]:
    """Return the field of a file that has each column of the table, None where there is none.

    `mode` is the column mapping: by logical name, by physical name, or by id. The first of several
    fields wins, and a name in the same case wins over one in another.
    """
    count = len(file) if isinstance(file, pa.Schema) else file.num_fields
    ids: dict[bytes, int] = {}
    names: dict[str, int] = {}
    folded: dict[str, int] = {}
    for index in range(count):
        field = file.field(index)
        names.setdefault(field.name, index)
        folded.setdefault(field.name.casefold(), index)
        if mode == "id" and field.metadata and _FIELD_ID in field.metadata:
            ids.setdefault(field.metadata[_FIELD_ID], index)

    def place(column: StructField) -> int | None:
        if mode == "id" and column.column_id is not None:
            return ids.get(str(column.column_id).encode())
        name = column.name if mode == "none" else column.physical_name
        return names.get(name, folded.get(name.casefold()))

    return [place(column) for column in columns]


def as_type(values: pa.Array, data_type: DataType, mode: str) -> pa.Array:
    """Return values of a file as values of a type of the table."""
    wanted = arrow_type(data_type)
    if values.type.equals(wanted):
        return values
    if isinstance(values, pa.DictionaryArray):
        values = values.dictionary_decode()
    if values.offset:
        values = pa.concat_arrays([values])
    match data_type:
        case StructType() if pa.types.is_struct(values.type):
            return _as_struct(values, data_type, mode)
        case ArrayType(element_type) if pa.types.is_list(values.type):
            elements = as_type(values.values, element_type, mode)
            return pa.ListArray.from_arrays(
                values.offsets, elements, type=wanted, mask=values.is_null()
            )
        case MapType(key_type, value_type) if pa.types.is_map(values.type):
            keys = as_type(values.keys, key_type, mode)
            items = as_type(values.items, value_type, mode)
            return pa.MapArray.from_arrays(
                values.offsets, keys, items, type=wanted, mask=values.is_null()
            )
        case PrimitiveType("variant") if pa.types.is_struct(values.type):
            return _as_variant(values)
        case _:
            return _as_primitive(values, wanted)


def _as_struct(values: pa.StructArray, struct: StructType, mode: str) -> pa.Array:
    flattened = values.flatten()
    children = []
    places = columns_in_file(values.type, struct.fields, mode)
    for field, place in zip(struct.fields, places, strict=True):
        if place is None:
            children.append(pa.nulls(len(values), arrow_type(field.type)))
        else:
            children.append(as_type(flattened[place], field.type, mode))
    fields = [_arrow_field(field) for field in struct.fields]
    return pa.StructArray.from_arrays(children, fields=fields, mask=values.is_null())


def _as_variant(values: pa.StructArray) -> pa.Array:
    if values.type.get_field_index("typed_value") >= 0:
        raise pa.ArrowInvalid("its variants are shredded into columns, which only Spark can read")
    if any(values.type.get_field_index(field.name) < 0 for field in VARIANT):
        raise pa.ArrowInvalid(f"it has {values.type} where the table has variants")
    children = [values.field(field.name) for field in VARIANT]
    return pa.StructArray.from_arrays(children, fields=list(VARIANT), mask=values.is_null())


def _as_primitive(values: pa.Array, wanted: pa.DataType) -> pa.Array:
    if pa.types.is_timestamp(values.type) and pa.types.is_timestamp(wanted):
        # Nanoseconds are truncated to microseconds; a time without a zone is in UTC.
        return values.cast(pa.timestamp("us", tz=values.type.tz), safe=False).cast(wanted)
    if pa.types.is_integer(values.type) and pa.types.is_decimal(wanted):
        return values.cast(pa.decimal128(38, 0)).cast(wanted)
    return values.cast(wanted)
