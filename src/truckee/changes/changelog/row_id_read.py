"""Row tracking in a feed: how rows of data files are read with their ids.

A moved row has its id in a hidden column of its file; the id of any other row is the file's base id
plus its position there. The base is a constant of the file, and is read like a partition column.
The same applies to the version in which the row last changed.
"""

from __future__ import annotations

from typing import TypeVar

from msgspec.structs import replace

from truckee.changes.read_schema import ReadSchema
from truckee.changes.row_identity import (
    BASE_ROW_ID,
    CONSTANT_FIELDS,
    DEFAULT_ROW_VERSION,
    HeldIds,
)
from truckee.changes.version_diff import VectorChange, VersionDiff
from truckee.protocol.actions import AddFile, RemoveFile
from truckee.protocol.schema import PrimitiveType, StructField, StructType
from truckee.protocol.table_configuration import TableConfiguration

_CONSTANTS = (BASE_ROW_ID, DEFAULT_ROW_VERSION)
File = TypeVar("File", AddFile, RemoveFile)


def held_ids(before: TableConfiguration, after: TableConfiguration) -> HeldIds | None:
    """Return the columns in which a commit stores the ids of moved rows.

    None if row tracking was off before or after it, or was dropped and enabled in between.
    """
    found = [_held(table) for table in (before, after)]
    return found[0] if found[0] == found[1] else None


def _held(table: TableConfiguration) -> HeldIds | None:
    properties = table.properties
    row_id = properties.materialized_row_id_column_name
    row_version = properties.materialized_row_commit_version_column_name
    if not properties.enable_row_tracking or properties.row_tracking_suspended:
        return None
    return None if row_id is None or row_version is None else HeldIds(row_id, row_version)


def feed_read_with_ids(era: ReadSchema, held: HeldIds) -> ReadSchema:
    """Return an era's schema with the hidden columns and the constants after its own columns."""
    stored = (name for name in (held.row_id, held.row_version) if name is not None)
    hidden = (StructField(name, PrimitiveType("long")) for name in stored)
    schema = StructType((*era.schema.fields, *hidden, *CONSTANT_FIELDS))
    table = era.configuration
    partitions = (*table.partition_columns, *_CONSTANTS)
    return ReadSchema(era.version, table.read_as(schema, partitions, table.column_mapping_mode))


def with_row_ids_of(diff: VersionDiff) -> VersionDiff:
    """Return what a commit changed, with the constants in the partition values of files."""
    return replace(
        diff,
        added=tuple(_with_constants(add) for add in diff.added),
        removed=tuple(_with_constants(remove) for remove in diff.removed),
        vector_changes=tuple(
            VectorChange(_with_constants(change.add), change.before)
            for change in diff.vector_changes
        ),
    )


def _with_constants(file: File) -> File:
    numbers = (file.base_row_id, file.default_row_commit_version)
    constants = zip(_CONSTANTS, (None if n is None else str(n) for n in numbers), strict=True)
    return replace(file, partition_values={**(file.partition_values or {}), **dict(constants)})
