"""Whether rows of one schema can be read with another: two checks for two schemas of a table.

`can_read` compares names and types. `column_mapping_change` follows columns by their physical
names, and so distinguishes a rename from a drop. A change feed makes both checks for every schema
in its range of versions. `is_wider` tells which types hold every value of another (protocol: Type
Widening).
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from msgspec import Struct

from truckee.protocol.schema import (
    VOID,
    ArrayType,
    DataType,
    DecimalType,
    MapType,
    PrimitiveType,
    StructType,
    nested_fields,
)


def can_read(
    reader: StructType, data: StructType, *, data_is_newer: bool = False, widening: bool = False
) -> bool:
    """Return whether rows written with schema `data` can be read with schema `reader`.

    The newer of the two must have every column of the older, with the same name (also in case)
    and type, at every depth; it may have more. `void` may have become any type. Either way the
    reader must not promise NOT NULL where the data allows null, for columns, array elements and
    map values alike. With `widening`, the reader may also have a wider type than the data. With
    reader (id) and data (id, x): False, unless the data is newer.
    """
    return _readable(reader, data, data_is_newer, widening)


def _readable(reader: DataType, data: DataType, data_is_newer: bool, widening: bool) -> bool:
    newer, older = (data, reader) if data_is_newer else (reader, data)
    match reader, data:
        case StructType(), StructType():
            return _readable_struct(reader, data, data_is_newer, widening)
        case ArrayType(), ArrayType():
            return (reader.contains_null or not data.contains_null) and _readable(
                reader.element_type, data.element_type, data_is_newer, widening
            )
        case MapType(), MapType():
            return (
                (reader.value_contains_null or not data.value_contains_null)
                and _readable(reader.key_type, data.key_type, data_is_newer, widening)
                and _readable(reader.value_type, data.value_type, data_is_newer, widening)
            )
        case _:
            return older == VOID or newer == older or (widening and is_wider(data, reader))


def _readable_struct(
    reader: StructType, data: StructType, data_is_newer: bool, widening: bool
) -> bool:
    newer, older = (data, reader) if data_is_newer else (reader, data)
    if not set(older.names) <= set(newer.names):
        return False
    in_reader = {field.name: field for field in reader.fields}
    in_data = {field.name: field for field in data.fields}
    return all(
        (in_reader[name].nullable or not in_data[name].nullable)
        and _readable(in_reader[name].type, in_data[name].type, data_is_newer, widening)
        for name in older.names
    )


class MappedSchema(Struct, frozen=True):
    """A schema with its column mapping mode and partition columns."""

    schema: StructType
    partition_columns: tuple[str, ...] = ()
    mode: str = "none"

    def names_by_physical_path(self) -> dict[tuple[str, ...], tuple[str, ...]]:
        """Return the logical path of every column at every depth by its physical path."""
        mapped = self.mode != "none"
        return {
            chain.physical_path if mapped else chain.path: chain.path
            for chain in nested_fields(self.schema)
        }

    def physical_partitions(self) -> tuple[str, ...]:
        """Return the keys of partition values, in order."""
        fields = [self.schema.field(name) for name in self.partition_columns]
        return tuple(field.physical_name for field in fields if field is not None)


class ColumnMappingChange(Enum):
    """A change that physical names cannot follow from an older schema to a newer one."""

    RENAMED = "renamed"
    DROPPED = "dropped"
    REPARTITIONED = "repartitioned"
    UNMAPPED = "unmapped"


def column_mapping_change(
    old: MappedSchema, new: MappedSchema
) -> tuple[ColumnMappingChange, str] | None:
    """Return the first of `column_mapping_changes`, None if there is none."""
    return next(column_mapping_changes(old, new), None)


def column_mapping_changes(
    old: MappedSchema, new: MappedSchema
) -> Iterator[tuple[ColumnMappingChange, str]]:
    """Yield each rename, drop and change of partitioning from old to new.

    Between two schemas without column mapping there are none. If it was switched on, the older
    schema's physical names are its logical ones. Switching it off is itself a change.
    """
    if new.mode == "none":
        if old.mode != "none":
            yield ColumnMappingChange.UNMAPPED, "the table"
        return
    before, after = old.names_by_physical_path(), new.names_by_physical_path()
    for physical, logical in before.items():
        if physical not in after:
            yield ColumnMappingChange.DROPPED, ".".join(logical)
        elif after[physical] != logical:
            yield ColumnMappingChange.RENAMED, ".".join(logical)
    if old.mode != "none" and old.physical_partitions() != new.physical_partitions():
        yield ColumnMappingChange.REPARTITIONED, ", ".join(old.partition_columns)


_WIDER = {
    "byte": ("short", "integer", "long", "double"),
    "short": ("integer", "long", "double"),
    "integer": ("long", "double"),
    "float": ("double",),
    "date": ("timestamp_ntz",),
}
_DIGITS = {"byte": 10, "short": 10, "integer": 10, "long": 20}


def is_wider(old: DataType, new: DataType) -> bool:
    """Return whether one type can hold every value of another."""
    name = old.name if isinstance(old, PrimitiveType) else ""
    if isinstance(new, DecimalType):
        if isinstance(old, DecimalType):
            whole = new.precision - new.scale >= old.precision - old.scale
            return whole and new.scale >= old.scale
        return new.precision - new.scale >= _DIGITS.get(name, 99)
    return isinstance(new, PrimitiveType) and new.name in _WIDER.get(name, ())
