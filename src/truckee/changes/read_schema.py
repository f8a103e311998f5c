"""The one schema that a feed is read with, and whether it fits every version of the range.

A table without column mapping is read with the schema that it had when the feed was opened. With
column mapping, a column can be renamed or dropped without changing a file, so the default is the
schema at the end of the range. If no schema can read the whole range, the error names the parts of
it that can be read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec import Struct
from msgspec.structs import replace

from truckee.changes.columns import FEED_FIELDS
from truckee.log.snapshot import Snapshot
from truckee.options.feed import SchemaMode
from truckee.protocol.actions import Metadata
from truckee.protocol.schema import (
    ArrayType,
    DataType,
    MapType,
    StructType,
    type_text,
)
from truckee.protocol.schema_compatibility import (
    ColumnMappingChange,
    MappedSchema,
    can_read,
    column_mapping_change,
)
from truckee.protocol.table_configuration import TableConfiguration

_REASONS = {
    ColumnMappingChange.RENAMED: "column {} has another name",
    ColumnMappingChange.DROPPED: "column {} is not in both",
    ColumnMappingChange.REPARTITIONED: "its partitioning by {} is another",
    ColumnMappingChange.UNMAPPED: "column mapping is on in one of them only",
}


class ReadSchema(Struct, frozen=True):
    """The configuration of the table with which all files of a feed are read, and its version."""

    version: int
    configuration: TableConfiguration

    @property
    def metadata(self) -> Metadata:
        """The table's metadata at this version."""
        return self.configuration.metadata

    @property
    def schema(self) -> StructType:
        """The table's columns, without those of the feed."""
        return self.configuration.schema


def feed_schema(schema: StructType) -> StructType:
    """Return the table's columns followed by the feed's."""
    return StructType((*schema.fields, *FEED_FIELDS))


def read_schema(
    mode: SchemaMode,
    *,
    start: Snapshot | ReadSchema,
    end: Snapshot | ReadSchema,
    analyzed: Snapshot | ReadSchema,
) -> ReadSchema:
    """Return the schema to read a range with.

    `mode` applies only if column mapping is on at the start, at the end or in the analyzed
    snapshot, which is the latest one unless the user chose another. If columns became NOT NULL
    after the end of the range, they may still be null here.
    """
    is_mapped = any(at.configuration.column_mapping_mode != "none" for at in (start, end, analyzed))
    if is_mapped and mode is SchemaMode.END_VERSION:
        return ReadSchema(end.version, end.configuration)
    read = ReadSchema(analyzed.version, analyzed.configuration)
    if analyzed.version <= end.version:
        return read
    relaxed = ReadSchema(analyzed.version, _with_nulls(analyzed.configuration))
    fits, would_fit = (
        incompatibility(candidate, ReadSchema(start.version, start.configuration)) is None
        for candidate in (read, relaxed)
    )
    return relaxed if would_fit and not fits else read


def incompatibility(read: ReadSchema, data: ReadSchema) -> str | None:
    """Return why data of one version cannot be read with the schema of another, None if it can.

    The newer of the two may have added columns. Renamed or dropped columns, other types, and
    columns that may be null only in the data are not compatible. A version without a schema has no
    data either.
    """
    if not data.configuration.has_schema:
        return None
    is_newer = data.version > read.version
    ours, theirs = mapped_schema(read.configuration), mapped_schema(data.configuration)
    change = (
        column_mapping_change(ours, theirs) if is_newer else column_mapping_change(theirs, ours)
    )
    if change is not None:
        kind, name = change
        return _REASONS[kind].format(name)
    if can_read(ours.schema, theirs.schema, data_is_newer=is_newer):
        return None
    found = type_text(theirs.schema)
    if found == type_text(ours.schema):
        return "in which columns may be null that are NOT NULL here"
    return f"it is {found}"


def mapped_schema(table: TableConfiguration) -> MappedSchema:
    """Return the schema of a table with its column mapping mode and partition columns."""
    return MappedSchema(table.schema, table.partition_columns, table.column_mapping_mode)


def _with_nulls(table: TableConfiguration) -> TableConfiguration:
    schema = nullable_everywhere(table.schema)
    assert isinstance(schema, StructType)
    return table.with_schema(schema)


def nullable_everywhere(data_type: DataType) -> DataType:
    """Return the type with nulls allowed everywhere in it."""
    match data_type:
        case StructType(fields):
            return StructType(
                tuple(replace(f, type=nullable_everywhere(f.type), nullable=True) for f in fields)
            )
        case ArrayType(element_type):
            return ArrayType(nullable_everywhere(element_type), True)
        case MapType(key_type, value_type):
            return MapType(nullable_everywhere(key_type), nullable_everywhere(value_type), True)
        case _:
            return data_type


@dataclass(frozen=True)
class SchemaChoice:
    """The choice of the schema for a range: the mode, and the version analyzed.

    Unless the user chose it, the version analyzed is the latest one whenever a feed is opened.
    """

    mode: SchemaMode
    analyzed: ReadSchema
    is_chosen: bool = False

    def anew(self, latest: ReadSchema) -> SchemaChoice:
        """Return the choice for the next time that a feed is opened."""
        if self.is_chosen or latest.version <= self.analyzed.version:
            return self
        return SchemaChoice(self.mode, latest)


def readable_ranges(
    history: Sequence[ReadSchema], end: int, choice: SchemaChoice
) -> tuple[tuple[int, int], ...]:
    """Return the fewest ranges up to `end` that can each be read by itself.

    `history` is the metadata at the start, and each later one. The ranges have no gap between them,
    and the last one ends at `end`; versions before the first range cannot be read in this way. With
    a column renamed at version 2, the parts of 0..3 are 0..1 and 2..3.
    """
    ranges: list[tuple[int, int]] = []
    choice = choice.anew(history[-1])
    left = [at for at in history if at.version <= end]
    while left:
        first = _first_readable(left, end, choice)
        if first is None:
            break
        ranges.insert(0, (left[first].version, end))
        end = left[first].version - 1
        left = left[:first]
    return tuple(ranges)


def _first_readable(history: Sequence[ReadSchema], end: int, choice: SchemaChoice) -> int | None:
    """Return the start of the longest readable range that ends here, None if there is none."""
    found = None
    for index in reversed(range(len(history))):
        if not _is_readable(history[index:], end, choice):
            break
        found = index
    return found


def _is_readable(history: Sequence[ReadSchema], end: int, choice: SchemaChoice) -> bool:
    last = ReadSchema(end, history[-1].configuration)
    read = read_schema(choice.mode, start=history[0], end=last, analyzed=choice.analyzed)
    return all(
        at.configuration.properties.enable_change_data_feed and incompatibility(read, at) is None
        for at in history
    )
