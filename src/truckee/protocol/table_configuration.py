"""TableConfiguration: what a table is at one version, apart from its files.

The log has three kinds of actions for this: metadata, protocol and domain metadata. They are parsed
here, once for each snapshot, and stay together: pruning, scans, writers, commands and conflict
checks all take this one value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from msgspec.structs import replace as msgspec_replace

from truckee.errors.columns import AllVoidColumnsError, AllVoidFieldsError
from truckee.protocol.actions import DomainMetadata, Metadata, Protocol
from truckee.protocol.features import supported_features
from truckee.protocol.properties import TableProperties
from truckee.protocol.schema import (
    VOID,
    PrimitiveType,
    StructField,
    StructType,
    parse_schema,
    void_columns,
)

CLUSTERING_DOMAIN = "delta.clustering"
ROW_TRACKING_DOMAIN = "delta.rowTracking"
PRESERVED_ROW_IDS_TAG = "delta.rowTracking.preserved"
"""The tag of a commit whose writer kept the ids of all rows that it moved to other files."""


class RowIdColumns(NamedTuple):
    """Row tracking: the columns of data files that hold the ids of rows from other files.

    The id of a row is `base_row_id` of its file plus its position there, unless the file has a
    column for ids that is not null in that row. The same holds for the version in which the row
    last changed. The properties of the table name these two columns; no schema shows them.
    """

    row_id: str
    commit_version: str

    def added_to(self, schema: StructType) -> StructType:
        """Return a schema with the two columns added at the end."""
        return StructType((*schema.fields, *(StructField(name, _LONG) for name in self)))


_LONG = PrimitiveType("long")


@dataclass(frozen=True)
class TableConfiguration:
    """The schema, partitioning, column mapping, properties, features and domains of a table.

    Metadata without a schema means that the table has no columns yet.
    """

    metadata: Metadata
    protocol: Protocol
    domains: Mapping[str, DomainMetadata] = field(default_factory=dict)

    @cached_property
    def schema(self) -> StructType:
        """The columns, by their logical names."""
        return parse_schema(self.metadata.schema_string)

    @property
    def has_schema(self) -> bool:
        """Whether the table has been given a schema."""
        return self.metadata.schema_string is not None

    @property
    def partition_columns(self) -> tuple[str, ...]:
        """The logical names of the partition columns, in order."""
        return tuple(self.metadata.partition_columns)

    @cached_property
    def partition_fields(self) -> tuple[StructField, ...]:
        """The partition columns, in order."""
        fields = (self.schema.field(name) for name in self.metadata.partition_columns)
        return tuple(found for found in fields if found is not None)

    @cached_property
    def properties(self) -> TableProperties:
        """The `delta.*` properties."""
        return TableProperties.from_configuration(self.metadata.configuration)

    @cached_property
    def column_mapping_mode(self) -> str:
        """How columns are found in data files: `none`, `name` or `id`."""
        return self.properties.column_mapping_mode

    @cached_property
    def features(self) -> frozenset[str]:
        """The features that the protocol lists, or implies by its versions."""
        return supported_features(self.protocol)

    @property
    def row_id_columns(self) -> RowIdColumns | None:
        """The columns that store row ids; None if row tracking is off or has no such columns."""
        row_id = self.properties.materialized_row_id_column_name
        commit_version = self.properties.materialized_row_commit_version_column_name
        if not self.properties.enable_row_tracking or row_id is None or commit_version is None:
            return None
        return RowIdColumns(row_id, commit_version)

    @cached_property
    def stored(self) -> TableConfiguration:
        """The table with the columns that its new data files have: all but those of type `void`.

        A column gets this type where nobody has said what it holds, as in `SELECT NULL AS n`. The
        first write that knows better, with `mergeSchema`, gives it another one. Files from before
        lack the column, so it is null in them, as any column that was added later.

        Raises if no column would be left, or if a struct would be left without fields.
        """
        if not any(void_columns(self.schema)):
            return self
        fields = tuple(_stored(self.schema.fields, ()))
        partitions = {name.casefold() for name in self.partition_columns}
        if all(column.name.casefold() in partitions for column in fields):
            raise AllVoidColumnsError
        return self.with_schema(StructType(fields))

    @property
    def tight_bounds(self) -> bool | None:
        """The `tightBounds` of new files' statistics: true with deletion vectors, else left out."""
        return True if "deletionVectors" in self.features else None

    def stored_name(self, column: StructField) -> str:
        """Return the name of a column in data files, statistics and partition values."""
        return column.name if self.column_mapping_mode == "none" else column.physical_name

    def after(self, metadata: Metadata | None, protocol: Protocol | None) -> TableConfiguration:
        """Return the configuration after a commit; None for what the commit does not change."""
        if metadata is None and protocol is None:
            return self
        return replace(self, metadata=metadata or self.metadata, protocol=protocol or self.protocol)

    def with_schema(self, schema: StructType) -> TableConfiguration:
        """Return the configuration with other columns."""
        return self.after(msgspec_replace(self.metadata, schema_string=schema.to_json()), None)

    def read_as(
        self, schema: StructType, partition_columns: Iterable[str], column_mapping_mode: str
    ) -> TableConfiguration:
        """Return the configuration for files with other columns or another column mapping."""
        mode_key = TableProperties.column_mapping_mode.key
        metadata = msgspec_replace(
            self.metadata,
            schema_string=schema.to_json(),
            partition_columns=list(partition_columns),
            configuration={**self.metadata.configuration, mode_key: column_mapping_mode},
        )
        return self.after(metadata, None)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without the parsed values; they are parsed again on first use."""
        return TableConfiguration, (self.metadata, self.protocol, self.domains)


def _stored(fields: tuple[StructField, ...], above: tuple[str, ...]) -> Iterator[StructField]:
    for column in fields:
        path = (*above, column.name)
        if isinstance(column.type, StructType):
            inner = StructType(tuple(_stored(column.type.fields, path)))
            if column.type.fields and not inner.fields:
                raise AllVoidFieldsError(column=".".join(path))
            yield msgspec_replace(column, type=inner)
        elif column.type != VOID:
            yield column
