"""Ids and physical names for the columns of a table with column mapping: pure.

A column gets the next free id and a random physical name, which never change. So it can be renamed
or dropped without touching a data file. If a table with files turns on column mapping, its names
become the physical names, since its files have these.

| field               | id | physical name, new table | physical name, table with files |
|---------------------|----|--------------------------|---------------------------------|
| `id`                | 1  | `col-<uuid>`             | `id`                            |
| `s`                 | 2  | `col-<uuid>`             | `s`                             |
| `s.x`               | 3  | `col-<uuid>`             | `x`                             |
"""

from __future__ import annotations

from uuid import uuid4

from msgspec.structs import replace

from truckee.protocol.actions import Metadata
from truckee.protocol.column_metadata import COLUMN_ID_KEY, PHYSICAL_NAME_KEY
from truckee.protocol.properties import TableProperties
from truckee.protocol.schema import (
    ArrayType,
    DataType,
    MapType,
    StructField,
    StructType,
    nested_fields,
    parse_schema,
)

MODE_KEY = TableProperties.column_mapping_mode.key
MAX_ID_KEY = TableProperties.max_column_id.key


def with_column_mapping(metadata: Metadata, *, keep_names: bool = False) -> Metadata:
    """Return the metadata with an id and a physical name for every column that has none.

    `keep_names` makes the names that columns have now their physical names. Without column mapping
    the metadata is returned as it is.
    """
    properties = TableProperties.from_configuration(metadata.configuration)
    if properties.column_mapping_mode == "none":
        return metadata
    schema = parse_schema(metadata.schema_string)
    used = [chain.field.column_id or 0 for chain in nested_fields(schema)]
    ids = _Ids(max(properties.max_column_id, *used), keep_names)
    mapped = ids.struct(schema)
    configuration = {**metadata.configuration, MAX_ID_KEY: str(ids.last)}
    return replace(metadata, schema_string=mapped.to_json(), configuration=configuration)


def without_column_mapping(schema: StructType) -> StructType:
    """Return the schema with neither ids nor physical names."""
    return _Ids(0, True).struct(schema, forget=True)


class _Ids:
    """Ids handed out in the order of columns, parents first."""

    def __init__(self, last: int, keep_names: bool) -> None:
        self.last = last
        self._keep_names = keep_names

    def struct(self, struct: StructType, *, forget: bool = False) -> StructType:
        return StructType(tuple(self._field(field, forget) for field in struct.fields))

    def _field(self, field: StructField, forget: bool) -> StructField:
        metadata = dict(field.metadata)
        if forget:
            metadata.pop(COLUMN_ID_KEY, None)
            metadata.pop(PHYSICAL_NAME_KEY, None)
        else:
            if field.column_id is None:
                self.last += 1
                metadata[COLUMN_ID_KEY] = self.last
            if PHYSICAL_NAME_KEY not in metadata:
                new = field.name if self._keep_names else f"col-{uuid4()}"
                metadata[PHYSICAL_NAME_KEY] = new
        return replace(field, metadata=metadata, type=self._type(field.type, forget))

    def _type(self, data_type: DataType, forget: bool) -> DataType:
        match data_type:
            case StructType():
                return self.struct(data_type, forget=forget)
            case ArrayType(element_type):
                return replace(data_type, element_type=self._type(element_type, forget))
            case MapType(key_type, value_type):
                return replace(
                    data_type,
                    key_type=self._type(key_type, forget),
                    value_type=self._type(value_type, forget),
                )
            case _:
                return data_type
