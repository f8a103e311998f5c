"""Whether the rows of a commit can be read with the stream's schema; checks all metadata changes.

| difference of the commit                    | result                                          |
|---------------------------------------------|-------------------------------------------------|
| properties, comments                        | read                                            |
| the stream has more columns                 | read, with nulls for them                       |
| a column is NOT NULL in the commit only     | read                                            |
| the stream has a wider type                 | read as the wider type                          |
| the commit has more columns, other types    | refused; starting the query again may help      |
| other partition columns                     | refused                                         |
| renamed or dropped columns, and those that  | refused, and a schema log would help            |
| were widened after the stream was started   |                                                 |
"""

from __future__ import annotations

from truckee.changes.read_schema import ReadSchema, mapped_schema
from truckee.errors.stream_schema import (
    NonAdditiveSchemaChangeError,
    StreamSchemaChangedError,
    StreamSchemaChangedSinceStartError,
)
from truckee.errors.streaming import DifferentTableError, StreamedFeedOffError
from truckee.log.files.commits import read_commits
from truckee.protocol.column_metadata import TYPE_CHANGES_KEY
from truckee.protocol.properties import TableProperties
from truckee.protocol.schema import (
    FieldChain,
    StructType,
    leaf_columns,
    type_text,
)
from truckee.protocol.schema_compatibility import (
    ColumnMappingChange,
    MappedSchema,
    can_read,
    column_mapping_change,
)
from truckee.storage.base import Storage

_CHANGES = {
    ColumnMappingChange.RENAMED: "column {} was renamed",
    ColumnMappingChange.DROPPED: "column {} was dropped",
    ColumnMappingChange.REPARTITIONED: "it was partitioned by {}",
    ColumnMappingChange.UNMAPPED: "column mapping was switched off",
}


def check_table(read: ReadSchema, data: ReadSchema, *, table: str) -> None:
    """Raise `DifferentTableError` if the metadata is that of another table."""
    expected, found = read.metadata.id, data.metadata.id
    if found != expected:
        raise DifferentTableError(table=table, expected=expected, found=found)


def check_feed_is_on(storage: Storage, data: ReadSchema, *, start: int) -> None:
    """Raise `StreamedFeedOffError` if the feed was off at a version of the stream."""
    if not data.configuration.properties.enable_change_data_feed:
        version = data.version
        resumes = _feed_is_on_from(storage, version + 1)
        raise StreamedFeedOffError(version=version, start=start, end=version, resumes=resumes)


def _feed_is_on_from(storage: Storage, version: int) -> int | None:
    """Return the first version from which the feed is on up to the latest, None if it is off."""
    found: int | None = None
    for commit in read_commits(storage, version):
        if commit.metadata is None:
            continue
        is_on = TableProperties.from_configuration(
            commit.metadata.configuration
        ).enable_change_data_feed
        found = (commit.version if found is None else found) if is_on else None
    return found


def check_schema(
    read: ReadSchema, data: ReadSchema, *, table: str, has_start: bool = False
) -> None:
    """Raise unless rows of a version can be read with the stream's schema.

    `has_start` says that the user chose where the stream starts. Raises
    `NonAdditiveSchemaChangeError` or `StreamSchemaChangedError`.
    """
    version = data.version
    ours, theirs = mapped_schema(read.configuration), mapped_schema(data.configuration)
    reason = non_additive_change(ours, theirs, is_newer=version > read.version)
    if reason is not None:
        raise NonAdditiveSchemaChangeError(
            table=table,
            version=version,
            stream_schema=type_text(ours.schema),
            schema=type_text(theirs.schema),
            reason=reason,
        )
    same_partitions = ours.partition_columns == theirs.partition_columns
    if same_partitions and can_read(ours.schema, theirs.schema, widening=True):
        return
    error = StreamSchemaChangedSinceStartError if has_start else StreamSchemaChangedError
    raise error(
        table=table,
        version=version,
        stream_schema=_described(ours),
        schema=_described(theirs),
        is_retryable=version > read.version and can_read(theirs.schema, ours.schema),
    )


def non_additive_change(ours: MappedSchema, theirs: MappedSchema, *, is_newer: bool) -> str | None:
    """Return the change that needs a schema log, None if there is none.

    That is a renamed or dropped column or another partitioning in a table with column mapping, or a
    type that was widened after the stream's schema was read. `is_newer` says that `theirs` came
    later.
    """
    old, new = (ours, theirs) if is_newer else (theirs, ours)
    change = column_mapping_change(old, new)
    if change is not None:
        kind, name = change
        return _CHANGES[kind].format(name)
    widened = widened_column(old.schema, new.schema) if is_newer else None
    return None if widened is None else f"{widened} has another type"


def widened_column(old: StructType, new: StructType) -> str | None:
    """Return the first column whose type was widened between two schemas, None if none was."""
    # By physical paths, which a renamed column keeps.
    before = {chain.physical_path: chain.field for chain in leaf_columns(old)}
    for chain in leaf_columns(new):
        known = before.get(chain.physical_path)
        if known is not None and known.type != chain.field.type and _has_type_changes(chain):
            return f"column {'.'.join(chain.path)}"
    return None


def _has_type_changes(chain: FieldChain) -> bool:
    return any(TYPE_CHANGES_KEY in field.metadata for field in chain.fields)


def _described(mapped: MappedSchema) -> str:
    text = type_text(mapped.schema)
    if not mapped.partition_columns:
        return text
    return f"{text} partitioned by ({', '.join(mapped.partition_columns)})"
