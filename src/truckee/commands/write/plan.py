"""What a table will be after a write: its columns, its partitions and its properties."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from msgspec.structs import replace
from pyspark.sql import DataFrame

from truckee.commands.schema.clustering import (
    check_clustering_request,
    check_replaced_clustering,
    clustered_columns,
    clustering_columns,
    clustering_domain,
    clustering_features,
    kept_clustering,
    no_clustering,
)
from truckee.commands.schema.column_mapping import with_column_mapping
from truckee.commands.schema.column_rules import check_columns, checked_partition_columns
from truckee.commands.schema.evolution import has_own_value, merged_schema, stored_schema
from truckee.commands.schema.row_tracking import with_row_tracking
from truckee.commands.table_plan import (
    TablePlan,
    new_metadata,
    table_plan,
    with_kept_properties,
)
from truckee.commands.write.options import WriteOptions, default_properties
from truckee.errors.columns import PartitionColumnNotFoundError
from truckee.errors.commands.write import (
    ClusteringMismatchError,
    DataChangeWithMetadataError,
    PartitioningMismatchError,
)
from truckee.errors.protocol import DuplicateDataColumnsError, DuplicateNewColumnsError
from truckee.log.snapshot import Snapshot
from truckee.protocol.actions import DomainMetadata, Metadata
from truckee.protocol.features import protocol_request
from truckee.protocol.properties import TableProperties
from truckee.protocol.schema import StructType, check_distinct_names, nested_fields
from truckee.storage.base import Storage


@dataclass(frozen=True, kw_only=True)
class Write:
    """One write: the table, the mode (as commitInfo names it), and the options.

    `partition_by` is None if it was not given, and () if no partitions were requested. `operation`
    is the name in commitInfo; a write that creates or replaces a table by name has its own.
    `is_managed` says whether the catalog manages the table. A write that `replaces` a table keeps
    only its history; `description` is for a new table. `matched_by` has the rows under the names
    that replaceOn and replaceUsing use, if they differ from those that are written. A write that
    `cuts_off` may drop fractions and times of day, as SQL's INSERT does. One that `parses_text` may
    have text for columns of numbers, dates and timestamps.
    """

    storage: Storage
    mode: str = "ErrorIfExists"
    partition_by: tuple[str, ...] | None = None
    cluster_by: tuple[tuple[str, ...], ...] = ()
    options: WriteOptions = field(default_factory=WriteOptions)
    operation: str = "WRITE"
    is_managed: bool | None = None
    replaces: bool = False
    description: str | None = None
    matched_by: DataFrame | None = None
    cuts_off: bool = True
    parses_text: bool = False

    @property
    def is_overwrite(self) -> bool:
        """Whether existing rows are replaced."""
        return self.mode == "Overwrite"


def table_after(
    write: Write, data: StructType, snapshot: Snapshot | None, settings: Mapping[str, str]
) -> TablePlan:
    """Return the table as it will be after the write; `snapshot` is the table now.

    `data` are the columns of the rows, and `settings` those of the session. Raises if something is
    wrong with the columns or the requested partitions.
    """
    is_new_schema = write.is_overwrite and write.options.overwrite_schema
    if snapshot is not None and is_new_schema:
        check_distinct_names(data, DuplicateNewColumnsError)
    check_distinct_names(data, DuplicateDataColumnsError)
    if snapshot is None or write.replaces:
        configuration = with_kept_properties(
            {**default_properties(settings), **write.options.properties}, snapshot
        )
        metadata = new_metadata(
            data,
            configuration=configuration,
            description=write.description,
            name=None if snapshot is None else snapshot.metadata.name,
        )
        return _created(write, snapshot, metadata, data)
    if is_new_schema:
        return _created(write, snapshot, _without_schema(snapshot, write), data)
    _check_partitioning(write, snapshot)
    _check_clustering(write, snapshot)
    _check_partitions_given(write, snapshot, data)
    schema = merged_schema(
        snapshot.schema,
        data,
        add_columns=write.options.merge_schema,
        name=write.storage.root,
        widening=snapshot.properties.enable_type_widening,
        cuts_off=write.cuts_off,
        parses_text=write.parses_text,
        is_overwrite=write.is_overwrite,
    )
    if schema == snapshot.schema:
        return table_plan(write.storage, snapshot, snapshot.metadata)
    if not write.options.data_change:
        raise DataChangeWithMetadataError(table=write.storage.root)
    metadata = replace(snapshot.metadata, schema_string=schema.to_json())
    return _checked_plan(write, snapshot, with_column_mapping(metadata))


def _created(
    write: Write, snapshot: Snapshot | None, metadata: Metadata, data: StructType
) -> TablePlan:
    """Return the plan of a table whose schema is that of the data."""
    if not write.options.data_change and snapshot is not None:
        raise DataChangeWithMetadataError(table=write.storage.root)
    partition_by = checked_partition_columns(data, write.partition_by or ())
    check_clustering_request(write.options.properties)
    check_replaced_clustering(snapshot, partition_by)
    asked = protocol_request(metadata.configuration).features
    known = () if snapshot is None else snapshot.configuration.features
    has_defaults = "allowColumnDefaults" in (*asked, *known)
    metadata = with_column_mapping(
        replace(
            metadata,
            schema_string=stored_schema(data, has_defaults=has_defaults).to_json(),
            partition_columns=list(partition_by),
        ),
        replaced=None if snapshot is None else snapshot.metadata,
    )
    return _checked_plan(write, snapshot, with_row_tracking(metadata))


def _checked_plan(write: Write, snapshot: Snapshot | None, metadata: Metadata) -> TablePlan:
    table = table_plan(write.storage, snapshot, metadata)
    properties = TableProperties.from_configuration(metadata.configuration)
    check_columns(
        table.schema, mapping_mode=properties.column_mapping_mode, table=write.storage.root
    )
    domain = _clustering(write, snapshot, table)
    if domain is None:
        return table
    return table_plan(
        write.storage, snapshot, metadata, features=clustering_features(), domains=[domain]
    )


def _clustering(write: Write, snapshot: Snapshot | None, table: TablePlan) -> DomainMetadata | None:
    if write.cluster_by:
        return clustering_domain(table.schema, write.cluster_by, table.metadata)
    if write.replaces and snapshot is not None:
        return no_clustering() if clustering_columns(snapshot) else None
    return kept_clustering(snapshot, table.schema)


def _without_schema(snapshot: Snapshot, write: Write) -> Metadata:
    configuration = {**snapshot.metadata.configuration, **write.options.properties}
    return replace(snapshot.metadata, configuration=configuration)


def _check_partitioning(write: Write, snapshot: Snapshot) -> None:
    asked = write.partition_by
    if asked is None or not asked:
        return
    if [n.casefold() for n in asked] != [n.casefold() for n in snapshot.partition_columns]:
        raise PartitioningMismatchError(
            table=write.storage.root, expected=snapshot.partition_columns, found=asked
        )


def _check_partitions_given(write: Write, snapshot: Snapshot, data: StructType) -> None:
    """Raise if a DataFrame lacks a partition column that does not compute itself.

    INSERT, and an append to a table by name, may leave out any column.
    """
    saves_over = write.is_managed is not None and write.is_overwrite
    if write.cuts_off and not saves_over:
        return
    for name in snapshot.partition_columns:
        field = snapshot.schema.field(name)
        if data.field(name) is None and field is not None and not has_own_value(field):
            raise PartitionColumnNotFoundError(column=name, columns=data.names)


def _check_clustering(write: Write, snapshot: Snapshot) -> None:
    if not write.cluster_by:
        return
    asked = clustered_columns(
        clustering_domain(snapshot.schema, write.cluster_by, snapshot.metadata)
    )
    there = clustering_columns(snapshot) or ()
    if asked != there:
        raise ClusteringMismatchError(
            table=write.storage.root,
            expected=tuple(".".join(path) for path in _logical(snapshot.schema, there)),
            found=tuple(".".join(path) for path in write.cluster_by),
        )


def _logical(schema: StructType, columns: Iterable[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """Yield paths by the names that columns have in the schema, not in data files."""
    known = {chain.physical_path: chain.path for chain in nested_fields(schema)}
    return (known[path] for path in columns if path in known)
