"""Arrow columns of one schema as columns of another: renamed, widened, with other fields."""

from __future__ import annotations

import pyarrow as pa

from truckee.arrow.columns import arrow_type, as_type
from truckee.changes.changelog.column_history import field_key
from truckee.protocol.schema import ArrayType, DataType, MapType, StructType, UserDefinedType


def array_in_type(values: pa.Array, own: DataType, mode: str, wanted: DataType) -> pa.Array:
    """Return values of a type as values of another type.

    Fields of structs are matched by their keys: `own` has the names of a table with a column
    mapping mode, `wanted` has keys as physical names. A missing field is null.
    """
    kind = arrow_type(wanted)
    if values.type.equals(kind):
        return values
    if values.offset:
        values = pa.concat_arrays([values])
    if isinstance(own, UserDefinedType):
        own = own.sql_type
    match own, wanted:
        case StructType(), StructType():
            return _struct_in_type(values, own, mode, wanted)
        case ArrayType(), ArrayType():
            inner = own.element_type, mode, wanted.element_type
            elements = array_in_type(values.values, *inner)
            return pa.ListArray.from_arrays(
                values.offsets, elements, type=kind, mask=values.is_null()
            )
        case MapType(), MapType():
            keys = array_in_type(values.keys, own.key_type, mode, wanted.key_type)
            items = array_in_type(values.items, own.value_type, mode, wanted.value_type)
            return pa.MapArray.from_arrays(
                values.offsets, keys, items, type=kind, mask=values.is_null()
            )
        case _:
            return as_type(values, wanted, "none")


def _struct_in_type(
    values: pa.StructArray, own: StructType, mode: str, wanted: StructType
) -> pa.Array:
    flattened = values.flatten()
    places = {field_key(field, mode): place for place, field in enumerate(own.fields)}
    children = []
    for field in wanted.fields:
        place = places.get(field.physical_name)
        if place is None:
            children.append(pa.nulls(len(values), arrow_type(field.type)))
        else:
            inner = own.fields[place].type, mode, field.type
            children.append(array_in_type(flattened[place], *inner))
    fields = list(arrow_type(wanted))
    return pa.StructArray.from_arrays(children, fields=fields, mask=values.is_null())
