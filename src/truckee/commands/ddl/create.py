"""New tables: created empty, replaced, or entered into the catalog."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from msgspec.structs import replace
from pyspark.sql import SparkSession

from truckee.commands.catalog import creation_parameters, delta_location, enter_table
from truckee.commands.schema.clustering import (
    check_clustering_request,
    check_replaced_clustering,
    clustering_columns,
    clustering_domain,
    clustering_features,
    no_clustering,
)
from truckee.commands.schema.column_mapping import with_column_mapping, without_column_mapping
from truckee.commands.schema.column_rules import check_columns, checked_partition_columns
from truckee.commands.schema.generated_columns import check_generated_columns
from truckee.commands.schema.row_tracking import with_row_tracking
from truckee.commands.table_plan import (
    TablePlan,
    existing_table,
    new_metadata,
    table_plan,
    with_kept_properties,
)
from truckee.commands.write.options import default_properties
from truckee.commands.write.overwrite import Replacement, every_file
from truckee.errors.columns import (
    AllColumnsPartitionedError,
    CatalogPartitionsError,
    CatalogPartitionTypeError,
    NoColumnsError,
    PartitionColumnTypeError,
)
from truckee.errors.commands.create import (
    NoTableLocationError,
    NotATruckeeTableError,
    PartitionedAndClusteredError,
    ReplacementOfOtherTableError,
    TableAlreadyExistsError,
    TableClusteringMismatchError,
    TableLocationMismatchError,
    TableNotFoundError,
    TablePartitioningMismatchError,
    TablePropertiesMismatchError,
    TableSchemaMismatchError,
    ViewNamedError,
)
from truckee.errors.commands.write import NonEmptyFolderError, TableAtLocationError
from truckee.errors.protocol import DuplicateListedColumnsError
from truckee.log.detail import clustering_names
from truckee.log.snapshot import Snapshot
from truckee.protocol.actions import DomainMetadata
from truckee.protocol.column_metadata import IDENTITY_HIGH_WATER_MARK_KEY, TYPE_CHANGES_KEY
from truckee.protocol.features import protocol_request
from truckee.protocol.properties import PROPERTIES, TableProperties, validated_properties
from truckee.protocol.schema import StructType, check_distinct_names, type_text
from truckee.spark.session.catalog import default_location, named_table
from truckee.spark.session.settings import session_settings, session_storage
from truckee.storage.base import Storage


class Creation(Enum):
    """What to do if the table exists, and if it does not."""

    CREATE = "create"
    CREATE_IF_NOT_EXISTS = "createIfNotExists"
    REPLACE = "replace"
    CREATE_OR_REPLACE = "createOrReplace"

    @property
    def operation(self) -> str:
        """The operation as commitInfo names it."""
        match self:
            case Creation.REPLACE:
                return "REPLACE TABLE"
            case Creation.CREATE_OR_REPLACE:
                return "CREATE OR REPLACE TABLE"
            case _:
                return "CREATE TABLE"


@dataclass(frozen=True, kw_only=True)
class TableDefinition:
    """A requested table: its columns, its location and its name."""

    schema: StructType = field(default_factory=StructType)
    partition_columns: tuple[str, ...] = ()
    cluster_by: tuple[tuple[str, ...], ...] = ()
    properties: dict[str, str] = field(default_factory=dict)
    comment: str | None = None
    location: str | None = None
    name: str | None = None


@dataclass(frozen=True)
class Place:
    """The location where a table will be created or replaced, and the table that is there now.

    `is_new_name` says that its name must still be entered into the catalog.
    """

    storage: Storage
    snapshot: Snapshot | None
    is_new_name: bool
    is_managed: bool

    @property
    def exists(self) -> bool:
        """Whether there is a table now."""
        return self.snapshot is not None


def check_creation(spark: SparkSession, definition: TableDefinition, creation: Creation) -> Place:
    """Return the place for a table with rows; raise if it may not be created or replaced."""
    storage, is_new_name = _storage(spark, definition, creation)
    snapshot = existing_table(storage)
    if snapshot is None:
        if creation is Creation.REPLACE:
            raise _not_found(definition.name or storage.root)
        check_empty(storage)
    elif creation in (Creation.CREATE, Creation.CREATE_IF_NOT_EXISTS):
        if is_new_name:
            raise TableAtLocationError(path=storage.root, found="_delta_log")
        raise TableAlreadyExistsError(table=definition.name or storage.root)
    return Place(storage, snapshot, is_new_name, _is_managed(spark, definition))


def _is_managed(spark: SparkSession, definition: TableDefinition) -> bool:
    """Return whether the catalog manages the table; one that is replaced stays what it was."""
    known = None if definition.name is None else named_table(spark, definition.name)
    return definition.location is None if known is None else known.is_managed


def create_table(spark: SparkSession, definition: TableDefinition, creation: Creation) -> Storage:
    """Create or replace a table without rows, and return its storage.

    A table that has a name is entered into Spark's catalog.
    """
    if definition.partition_columns and definition.cluster_by:
        raise PartitionedAndClusteredError
    storage, is_new_name = _storage(spark, definition, creation)
    snapshot = existing_table(storage)
    if not _creates(storage, snapshot, definition, creation, is_new_name):
        if is_new_name and definition.name is not None and snapshot is not None:
            enter_table(spark, definition.name, storage.root, comment=definition.comment)
        return storage
    table = _planned(spark, definition, storage, snapshot, creation)
    is_managed = _is_managed(spark, definition)
    _commit(table, definition, creation, is_managed=is_managed)
    if is_new_name and definition.name is not None:
        enter_table(
            spark,
            definition.name,
            storage.root,
            is_managed=is_managed,
            comment=definition.comment,
        )
    return storage


def _storage(
    spark: SparkSession, definition: TableDefinition, creation: Creation
) -> tuple[Storage, bool]:
    """Return the table's location, and whether its name must still be entered."""
    name, location = definition.name, definition.location
    if name is None:
        if location is None:
            raise NoTableLocationError
        return session_storage(spark, location), False
    if named_table(spark, name) is None:
        if creation is Creation.REPLACE:
            raise _not_found(name)
        return session_storage(spark, location or default_location(spark, name)), True
    if creation is Creation.CREATE:
        raise TableAlreadyExistsError(table=name)
    replaces = creation is not Creation.CREATE_IF_NOT_EXISTS
    try:
        storage = session_storage(spark, delta_location(spark, name))
    except NotATruckeeTableError as error:
        if isinstance(error, ViewNamedError) or not replaces:
            raise
        raise ReplacementOfOtherTableError(table=name, provider=error.provider) from None
    if replaces and location is not None:
        asked = session_storage(spark, location).root
        if asked != storage.root:
            raise TableLocationMismatchError(table=name, location=asked, found=storage.root)
    return storage, False


def _creates(
    storage: Storage,
    snapshot: Snapshot | None,
    definition: TableDefinition,
    creation: Creation,
    is_new_name: bool,
) -> bool:
    """Return whether there is anything to commit; raise if the existing table is in the way."""
    table = definition.name or storage.root
    if snapshot is None:
        if creation is Creation.REPLACE:
            raise _not_found(table)
        check_empty(storage)
        return True
    match creation:
        case Creation.CREATE:
            if not is_new_name:
                raise TableAlreadyExistsError(table=table)
            _check_same_table(snapshot, definition)
            return False
        case Creation.CREATE_IF_NOT_EXISTS:
            return False
        case _ if is_new_name:
            # The name of this table is another one, or none: nobody asked to replace it.
            if not definition.schema.fields:
                raise NoColumnsError(table=table)
            _check_same_table(snapshot, definition)
            return False
        case _:
            return True


def _not_found(table: str) -> TableNotFoundError:
    return TableNotFoundError(table=table, hint="use DeltaTable.createOrReplace to create it")


def checked_partitions(schema: StructType, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return partition columns as the schema spells them; raise as Spark's own catalog does."""
    try:
        return checked_partition_columns(schema, names)
    except AllColumnsPartitionedError as error:
        raise CatalogPartitionsError(columns=error.columns) from None
    except PartitionColumnTypeError as error:
        raise CatalogPartitionTypeError(column=error.column, type=error.type) from None


def check_empty(storage: Storage) -> None:
    """Raise NonEmptyFolderError if the folder of the new table has files."""
    for file in storage.list_tree(""):
        if file.path.rpartition("/")[2][:1] not in (".", "_"):
            raise NonEmptyFolderError(path=storage.root, found=file.path)


def _check_same_table(snapshot: Snapshot, definition: TableDefinition) -> None:
    """Raise if a definition says something else of a table than the table itself.

    One with columns tells partitions and clustering too. Properties are compared if there are any.
    """
    there = {"table": definition.name or "the table", "path": snapshot.storage.root}
    has_columns = bool(definition.schema.fields)
    if has_columns and _declared(definition.schema) != _declared(snapshot.schema):
        expected, found = type_text(definition.schema), type_text(snapshot.schema)
        others = ", with other comments or NOT NULL" if expected == found else ""
        raise TableSchemaMismatchError(
            **there, expected=f"columns {expected}", found=f"columns {found}{others}"
        )
    asked = definition.partition_columns
    if (has_columns or asked) and _lower(asked) != _lower(snapshot.partition_columns):
        raise TablePartitioningMismatchError(
            **there,
            expected=f"partition columns [{', '.join(asked)}]",
            found=f"partition columns [{', '.join(snapshot.partition_columns)}]",
        )
    asked = tuple(".".join(path) for path in definition.cluster_by)
    clustering = clustering_names(snapshot)
    if (has_columns or asked) and _lower(asked) != _lower(clustering):
        raise TableClusteringMismatchError(
            **there,
            expected=f"clustering columns [{', '.join(asked)}]",
            found=f"clustering columns [{', '.join(clustering)}]",
        )
    wanted, properties = _told(definition.properties), _told(snapshot.metadata.configuration)
    if wanted and wanted != properties:
        raise TablePropertiesMismatchError(
            **there, expected=f"properties {wanted}", found=f"properties {properties}"
        )


def _declared(schema: StructType) -> str:
    """Return columns as a statement declares them: without ids and marks, in any case."""
    fields = (
        replace(
            field,
            metadata={
                key: value
                for key, value in sorted(field.metadata.items())
                if key not in (IDENTITY_HIGH_WATER_MARK_KEY, TYPE_CHANGES_KEY)
            },
        )
        for field in without_column_mapping(schema).fields
    )
    return StructType(tuple(fields)).to_json().casefold()


def _lower(names: Iterable[str]) -> list[str]:
    return [name.casefold() for name in names]


def _told(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the properties that a user sets, apart from those of the protocol."""
    configuration = protocol_request(properties).configuration
    return {
        key: value
        for key, value in configuration.items()
        if key.lower() not in PROPERTIES or PROPERTIES[key.lower()].settable
    }


def _planned(
    spark: SparkSession,
    definition: TableDefinition,
    storage: Storage,
    snapshot: Snapshot | None,
    creation: Creation,
) -> TablePlan:
    settings = default_properties(session_settings(spark))
    configuration = with_kept_properties(
        {**settings, **validated_properties(definition.properties, settings)}, snapshot
    )
    mode = TableProperties.from_configuration(configuration).column_mapping_mode
    check_distinct_names(definition.schema, DuplicateListedColumnsError)
    check_columns(
        definition.schema,
        mapping_mode=mode,
        table=definition.name or storage.root,
        may_be_empty=creation in (Creation.CREATE, Creation.CREATE_IF_NOT_EXISTS),
    )
    partitions = checked_partitions(definition.schema, definition.partition_columns)
    check_clustering_request(definition.properties)
    check_replaced_clustering(snapshot, partitions)
    check_generated_columns(spark, definition.schema, partitions)
    metadata = with_column_mapping(
        new_metadata(
            definition.schema,
            partition_columns=partitions,
            configuration=configuration,
            description=definition.comment,
        ),
        replaced=None if snapshot is None else snapshot.metadata,
    )
    metadata = with_row_tracking(metadata)
    if snapshot is not None:
        metadata = replace(metadata, name=snapshot.metadata.name)
    plain = table_plan(storage, snapshot, metadata)
    domain = _clustering(definition, snapshot, plain)
    if domain is None:
        return plain
    return table_plan(storage, snapshot, metadata, features=clustering_features(), domains=[domain])


def _clustering(
    definition: TableDefinition, snapshot: Snapshot | None, table: TablePlan
) -> DomainMetadata | None:
    if definition.cluster_by:
        return clustering_domain(table.schema, definition.cluster_by, table.metadata)
    if snapshot is not None and clustering_columns(snapshot):
        return no_clustering()
    return None


def _commit(
    table: TablePlan, definition: TableDefinition, creation: Creation, *, is_managed: bool
) -> None:
    transaction = table.transaction()
    replaced = Replacement() if table.snapshot is None else every_file(table.snapshot)
    replaced.note(transaction)
    table.check(creation.operation, replaced.actions)
    transaction.stage(*replaced.actions)
    parameters = creation_parameters(
        table.metadata,
        cluster_by=definition.cluster_by,
        is_managed=is_managed,
    )
    transaction.commit(creation.operation, parameters=parameters)
