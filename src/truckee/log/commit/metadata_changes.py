"""Which changes of a table's metadata do not affect a running transaction: pure rules.

A transaction was planned against the metadata that it read. If another writer changes the metadata
meanwhile, the plan is usually invalid. It stays valid if the change only switched on features that
affect how the *next* commits are written, but not the files that the transaction has already
written.

| property                          | change that does not affect others                         |
|-----------------------------------|------------------------------------------------------------|
| `delta.enableDeletionVectors`     | switched on                                                |
| `delta.enableRowTracking`         | switched on, unless the transaction moves rows             |
| `delta.enableInCommitTimestamps`  | switched on, with the properties that record since when    |
| `delta.columnMapping.mode`        | `none` to `name`, physical names being the logical ones    |
| `delta.checkpointPolicy`          | any                                                        |

The high-water marks of identity columns in the schema are ignored too.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from truckee.protocol.actions import Metadata
from truckee.protocol.column_metadata import (
    COLUMN_ID_KEY,
    IDENTITY_HIGH_WATER_MARK_KEY,
    PHYSICAL_NAME_KEY,
)
from truckee.protocol.properties import TableProperties
from truckee.protocol.schema import (
    ArrayType,
    DataType,
    MapType,
    StructField,
    StructType,
    parse_schema,
)

ROW_TRACKING_KEY = TableProperties.enable_row_tracking.key
_COLUMN_MAPPING_KEY = TableProperties.column_mapping_mode.key

_MAY_BE_SWITCHED_ON = frozenset(
    {
        TableProperties.enable_deletion_vectors.key,
        TableProperties.enable_in_commit_timestamps.key,
        ROW_TRACKING_KEY,
    }
)
_MAY_CHANGE = frozenset(
    {
        TableProperties.checkpoint_policy.key,
        TableProperties.max_column_id.key,
        TableProperties.in_commit_timestamp_enablement_version.key,
        TableProperties.in_commit_timestamp_enablement_timestamp.key,
        TableProperties.materialized_row_id_column_name.key,
        TableProperties.materialized_row_commit_version_column_name.key,
    }
)


def disturbing_changes(before: Metadata, after: Metadata) -> tuple[str, ...]:
    """Return, in words, the changes that invalidate a running transaction; () if none."""
    changes = [
        words
        for words, same in (
            ("the id", before.id == after.id),
            ("the name", before.name == after.name),
            ("the description", before.description == after.description),
            ("the format", before.format == after.format),
            ("the schema", _same_schema(before, after)),
            ("the partition columns", before.partition_columns == after.partition_columns),
        )
        if not same
    ]
    names = sorted({*before.configuration, *after.configuration})
    changes += [f"the property '{name}'" for name in names if not _harmless(name, before, after)]
    return tuple(changes)


def enables_row_tracking(before: Metadata, after: Metadata) -> bool:
    """Return whether rows have to keep their ids from this change on."""
    return not _is_true(before, ROW_TRACKING_KEY) and _is_true(after, ROW_TRACKING_KEY)


def _harmless(name: str, before: Metadata, after: Metadata) -> bool:
    if before.configuration.get(name) == after.configuration.get(name) or name in _MAY_CHANGE:
        return True
    if name in _MAY_BE_SWITCHED_ON:
        return _is_true(after, name) or not _is_true(before, name)
    return name == _COLUMN_MAPPING_KEY and _maps_by_name_now(before, after)


def _is_true(metadata: Metadata, name: str) -> bool:
    return metadata.configuration.get(name, "false").strip().lower() == "true"


def _maps_by_name_now(before: Metadata, after: Metadata) -> bool:
    was = before.configuration.get(_COLUMN_MAPPING_KEY, "none").lower()
    now = after.configuration.get(_COLUMN_MAPPING_KEY, "none").lower()
    return (was, now) == ("none", "name")


def _same_schema(before: Metadata, after: Metadata) -> bool:
    if before.schema_string == after.schema_string:
        return True
    old, new = parse_schema(before.schema_string), parse_schema(after.schema_string)
    return _comparable(old) == _comparable(new)


def _comparable(data_type: DataType) -> DataType:
    """Return the type without the metadata that a harmless change may add to its fields."""
    match data_type:
        case StructType(fields):
            return StructType(tuple(_comparable_field(field) for field in fields))
        case ArrayType(element_type):
            return replace(data_type, element_type=_comparable(element_type))
        case MapType(key_type, value_type):
            key, value = _comparable(key_type), _comparable(value_type)
            return replace(data_type, key_type=key, value_type=value)
        case _:
            return data_type


def _comparable_field(field: StructField) -> StructField:
    metadata: dict[str, Any] = dict(field.metadata)
    metadata.pop(IDENTITY_HIGH_WATER_MARK_KEY, None)
    # A column whose physical name is its logical name is equal to an unmapped column.
    # One with another physical name keeps both keys, so that a rename is seen.
    if field.physical_name == field.name:
        metadata.pop(PHYSICAL_NAME_KEY, None)
        metadata.pop(COLUMN_ID_KEY, None)
    return StructField(field.name, _comparable(field.type), field.nullable, metadata)
