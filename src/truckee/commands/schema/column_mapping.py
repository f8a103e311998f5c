"""Ids and physical names for the columns of a table with column mapping: pure.

A column gets the next free id and a random physical name, which never change. So it can be renamed
or dropped without touching a data file. If a table with files turns on column mapping, its names
become the physical names, since its files have these. A table that replaces another one under the
same mode keeps the ids and physical names of columns that stay what they are, and its other
columns get ids that the old table never had.

| field               | id | physical name, new table | physical name, table with files |
|---------------------|----|--------------------------|---------------------------------|
| `id`                | 1  | `col-<uuid>`             | `id`                            |
| `s`                 | 2  | `col-<uuid>`             | `s`                             |
| `s.x`               | 3  | `col-<uuid>`             | `x`                             |
"""

from __future__ import annotations

from uuid import uuid4

from msgspec.structs import replace

from truckee.commands.schema.edits import with_edited_fields, without_metadata
from truckee.protocol.actions import Metadata
from truckee.protocol.column_metadata import COLUMN_ID_KEY, PHYSICAL_NAME_KEY
from truckee.protocol.json_text import LARGEST_INT32, whole_number
from truckee.protocol.properties import TableProperties
from truckee.protocol.schema import (
    ArrayType,
    DataType,
    MapType,
    StructField,
    StructType,
    nested_fields,
    parse_schema,
    type_text,
)

MODE_KEY = TableProperties.column_mapping_mode.key
MAX_ID_KEY = TableProperties.max_column_id.key


def with_column_mapping(
    metadata: Metadata, *, keep_names: bool = False, replaced: Metadata | None = None
) -> Metadata:
    """Return the metadata with an id and a physical name for every column that has none.

    `keep_names` makes the names that columns have now their physical names. `replaced` is the
    metadata of the table that this one replaces. Without column mapping the metadata is returned
    as it is.
    """
    properties = TableProperties.from_configuration(metadata.configuration)
    if properties.column_mapping_mode == "none":
        return metadata
    schema = parse_schema(metadata.schema_string)
    last = properties.max_column_id
    if replaced is not None:
        before = TableProperties.from_configuration(replaced.configuration)
        last = max(last, before.max_column_id)
        if before.column_mapping_mode == properties.column_mapping_mode:
            schema = _with_kept_ids(schema, parse_schema(replaced.schema_string))
    known = [chain.field.metadata for chain in nested_fields(schema)]
    used = [_checked_id(each[COLUMN_ID_KEY]) for each in known if COLUMN_ID_KEY in each]
    ids = _Ids(
        max([whole_number(MAX_ID_KEY, last, least=0, most=LARGEST_INT32), *used]), keep_names
    )
    mapped = ids.struct(schema)
    whole_number(MAX_ID_KEY, ids.last, least=0, most=LARGEST_INT32)
    configuration = {**metadata.configuration, MAX_ID_KEY: str(ids.last)}
    return replace(metadata, schema_string=mapped.to_json(), configuration=configuration)


def _checked_id(found: object) -> int:
    # The ids of Parquet's columns have 32 bits.
    return whole_number(COLUMN_ID_KEY, found, least=0, most=LARGEST_INT32)


def _with_kept_ids(schema: StructType, before: StructType) -> StructType:
    """Return a schema with the ids and names of the columns of the same path and type before."""
    known = {
        chain.path: chain.field
        for chain in nested_fields(before)
        if chain.field.column_id is not None
    }

    def field_at(path: tuple[str, ...], field: StructField) -> StructField:
        here = (*path, field.name)
        old = known.get(here)
        metadata = dict(field.metadata)
        if old is not None and type_text(old.type) == type_text(field.type):
            metadata[COLUMN_ID_KEY] = old.column_id
            metadata[PHYSICAL_NAME_KEY] = old.physical_name
        return replace(field, metadata=metadata, type=type_at(here, field.type))

    def type_at(path: tuple[str, ...], data_type: DataType) -> DataType:
        match data_type:
            case StructType(fields):
                return StructType(tuple(field_at(path, field) for field in fields))
            case ArrayType(element_type):
                return replace(data_type, element_type=type_at((*path, "element"), element_type))
            case MapType(key_type, value_type):
                return replace(
                    data_type,
                    key_type=type_at((*path, "key"), key_type),
                    value_type=type_at((*path, "value"), value_type),
                )
            case _:
                return data_type

    kept = type_at((), schema)
    assert isinstance(kept, StructType)
    return kept


def without_column_mapping(schema: StructType) -> StructType:
    """Return the schema with neither ids nor physical names."""
    return without_metadata(schema, {COLUMN_ID_KEY, PHYSICAL_NAME_KEY})


class _Ids:
    """Ids handed out in the order of columns, parents first."""

    def __init__(self, last: int, keep_names: bool) -> None:
        self.last = last
        self._keep_names = keep_names

    def struct(self, struct: StructType) -> StructType:
        return with_edited_fields(struct, self._field)

    def _field(self, field: StructField) -> StructField:
        metadata = dict(field.metadata)
        if field.column_id is None:
            self.last += 1
            metadata[COLUMN_ID_KEY] = self.last
        if PHYSICAL_NAME_KEY not in metadata:
            new = field.name if self._keep_names else f"col-{uuid4()}"
            metadata[PHYSICAL_NAME_KEY] = new
        return replace(field, metadata=metadata)
