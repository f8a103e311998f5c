"""Fields of structs that go by their places, as the columns of an INSERT do: pure.

`INSERT INTO t VALUES (1, struct(2, 3))` has no names for what is in the struct. delta-spark goes by
places in all structs of an INSERT as soon as one of its columns cannot be stored as it is: a column
or a field has another name, or a value another type. If none is like that, it goes by names.
"""

from __future__ import annotations

from itertools import zip_longest

from msgspec.structs import replace

from truckee.commands.schema.evolution import is_number
from truckee.errors.commands.write import StructPlacedError
from truckee.protocol.schema import (
    VOID,
    ArrayType,
    DataType,
    MapType,
    StructField,
    StructType,
    type_text,
)


def fits_as_it_is(data: DataType, table: DataType) -> bool:
    """Return whether data has every field of the table's structs, by name and type.

    The order of fields does not matter, and the data may have more of them; names of the same
    letters must be in the same case.
    """
    match table, data:
        case StructType(), StructType():
            return all(
                (found := data.field(field.name)) is not None
                and found.name == field.name
                and fits_as_it_is(found.type, field.type)
                for field in table.fields
            )
        case ArrayType(), ArrayType():
            return fits_as_it_is(data.element_type, table.element_type)
        case MapType(), MapType():
            return fits_as_it_is(data.key_type, table.key_type) and fits_as_it_is(
                data.value_type, table.value_type
            )
    return data == table


def placed_type(data: DataType, table: DataType, *, keeps_types: bool) -> DataType | None:
    """Return the type of data with its fields named, by their places, as in the table.

    Simple values have the table's type, unless the data `keeps_types`; the writer casts numbers.
    Fields that the table does not have stay behind the others. Returns None if a struct has fewer
    fields than the table's; raises StructPlacedError if one of them is a struct and the table's is
    none.
    """
    match table, data:
        case StructType(), StructType():
            return _placed_struct(data, table, keeps_types=keeps_types)
        case ArrayType(), ArrayType():
            element = placed_type(data.element_type, table.element_type, keeps_types=keeps_types)
            return None if element is None else ArrayType(element)
        case MapType(), MapType():
            key = placed_type(data.key_type, table.key_type, keeps_types=keeps_types)
            value = placed_type(data.value_type, table.value_type, keeps_types=keeps_types)
            return None if key is None or value is None else MapType(key, value)
    is_kept = keeps_types or (is_number(data) and is_number(table))
    return data if is_kept and data != VOID else table


def _placed_struct(data: StructType, table: StructType, *, keeps_types: bool) -> StructType | None:
    placed = []
    for given, field in zip_longest(data.fields, table.fields):
        if given is None:
            return None
        if field is None:
            placed.append(replace(given, nullable=True))
            continue
        if isinstance(given.type, StructType) and not isinstance(field.type, StructType):
            raise StructPlacedError(column=field.name, type=type_text(field.type))
        kind = placed_type(given.type, field.type, keeps_types=keeps_types)
        if kind is None:
            return None
        placed.append(StructField(field.name, kind))
    return StructType(tuple(placed))
