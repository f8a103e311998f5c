"""CONVERT TO DELTA: a folder of Parquet files becomes a table in place, in one commit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType as SparkStruct

from truckee.commands.catalog import enter_table
from truckee.commands.ddl.convert_files import (
    converted_files,
    folder_partition_names,
    visible_files,
)
from truckee.commands.schema.column_mapping import with_column_mapping
from truckee.commands.schema.column_rules import check_columns, checked_partition_columns
from truckee.commands.schema.evolution import stored_schema
from truckee.commands.schema.row_tracking import with_row_tracking
from truckee.commands.table_plan import existing_table, new_metadata, table_plan
from truckee.commands.write.options import default_properties
from truckee.errors.base import DeltaError
from truckee.errors.commands.create import (
    ConversionError,
    EmptyFolderError,
    NoFormatError,
    NotParquetError,
    PartitionCountError,
    PartitionNameError,
    TableNotFoundError,
    ViewConversionError,
)
from truckee.log.running_command import running
from truckee.protocol.actions import AddFile, Metadata
from truckee.protocol.paths import is_absolute
from truckee.protocol.properties import TableProperties
from truckee.protocol.schema import StructType
from truckee.spark.read.parquet_folder import parquet_folder_schema
from truckee.spark.schema_conversion import from_spark
from truckee.spark.session.arguments import PathLike, checked_path, checked_session
from truckee.spark.session.catalog import (
    DELTA_PROVIDERS,
    NamedTable,
    drop_entry,
    named_table,
    table_name_parts,
)
from truckee.spark.session.job_descriptions import job_description
from truckee.spark.session.settings import session_settings, session_storage, session_zone
from truckee.storage.base import FileInfo, Storage

# Of a table that is one already, it is found out later that there is nothing to do.
_PROVIDERS = DELTA_PROVIDERS | {"parquet"}
_PATH_IDENTIFIER = re.compile(r"parquet\.`(?P<path>.+)`", re.IGNORECASE | re.DOTALL)


def convert_to_delta(
    spark: SparkSession,
    identifier: PathLike,
    partition_schema: str | SparkStruct | None = None,
    *,
    collect_stats: bool = True,
) -> Storage:
    """Make a table of Parquet files, and return its storage.

    `identifier` is a path as ``parquet.`/data/t` ``, or the name of a Parquet table of the catalog,
    managed or not; the new table takes over that name. `partition_schema` gives the types of
    partition columns, as `day date, n int`; without it they are inferred from the folders. If there
    is a Delta table already, nothing is done.
    """
    checked_session(spark)
    named = _named_table(spark, identifier)
    path = _path(identifier) if named is None else named.location
    assert path is not None
    storage = session_storage(spark, path)
    if existing_table(storage) is not None:
        return storage
    found = parquet_table(spark, storage, partition_schema, named)
    configuration = default_properties(session_settings(spark))
    metadata = found.metadata(configuration)
    mapped = with_column_mapping(metadata, keep_names=True)
    table = table_plan(storage, None, with_row_tracking(mapped))
    table.check("CONVERT")
    adds = found.adds(
        table.properties, collect_stats=collect_stats, session_zone=session_zone(spark)
    )
    # Of a table of the catalog, delta-spark records only what the statement says.
    is_told = named is None or partition_schema is not None
    transaction = table.transaction()
    transaction.stage(*adds)
    transaction.commit(
        "CONVERT",
        parameters={
            "numFiles": len(adds),
            "partitionedBy": list(found.partitions.names) if is_told else [],
            "collectStats": collect_stats,
            **({} if named is None else {"catalogTable": named.quoted_name}),
            "sourceFormat": "parquet",
        },
        metrics={"numConvertedFiles": len(adds)},
        is_blind_append=False,
    )
    if named is not None:
        # Otherwise Spark would continue to read all files in the folder, whatever the log says.
        drop_entry(spark, named.quoted_name)
        enter_table(spark, named.quoted_name, storage.root, is_managed=named.is_managed)
    return storage


@dataclass(frozen=True)
class ParquetTable:
    """A folder of Parquet files as a table: its columns, the last of which are its partitions'."""

    storage: Storage
    schema: StructType
    partitions: StructType
    files: Sequence[FileInfo]

    def metadata(self, configuration: dict[str, str]) -> Metadata:
        """Return the metadata of a new table with these columns; raise if it cannot have them."""
        mode = TableProperties.from_configuration(configuration).column_mapping_mode
        check_columns(self.schema, mapping_mode=mode, table=self.storage.root)
        return new_metadata(
            self.schema,
            partition_columns=checked_partition_columns(self.schema, self.partitions.names),
            configuration=configuration,
        )

    def adds(
        self, properties: TableProperties, *, collect_stats: bool, session_zone: str
    ) -> list[AddFile]:
        """Return the files as files of a table below the same root."""
        return converted_files(
            self.storage,
            self.files,
            self.schema,
            self.partitions,
            properties,
            collect_stats=collect_stats,
            session_zone=session_zone,
        )


def parquet_table(
    spark: SparkSession,
    storage: Storage,
    partition_schema: str | SparkStruct | None = None,
    named: NamedTable | None = None,
) -> ParquetTable:
    """Return the Parquet files of a folder as a table; raise ConversionError if they are none.

    `named` is the table of the catalog that they are; it then gives the types of partitions.
    """
    files = visible_files(storage)
    if not files:
        raise EmptyFolderError(
            path=storage.root, reason="there are none", hint="name a folder with Parquet files"
        )
    schema = _schema(spark, storage)
    if named is not None and partition_schema is None:
        names = {name.casefold() for name in folder_partition_names(files)}
        known = spark.table(named.quoted_name).schema.fields
        partition_schema = SparkStruct([f for f in known if f.name.casefold() in names])
    partitions = _partition_schema(schema, files, partition_schema, storage.root)
    return ParquetTable(storage, _with_partitions(schema, partitions), partitions, files)


def _named_table(spark: SparkSession, identifier: PathLike) -> NamedTable | None:
    """Return the table of the catalog that is meant, None if a path is meant."""
    if not isinstance(identifier, str) or _path_match(identifier) is not None:
        return None
    found = named_table(spark, identifier)
    hint = "name a Parquet table of the catalog, or write the path as parquet.`/data/t`"
    if found is None:
        raise _absent(spark, identifier, hint)
    if found.is_view:
        raise ViewConversionError(path=identifier, reason="that is a view", hint=hint)
    if found.provider not in _PROVIDERS or found.location is None:
        reason = f"that is a {found.provider} table"
        raise NotParquetError(path=identifier, reason=reason, hint=hint)
    return found


def _absent(spark: SparkSession, identifier: str, hint: str) -> DeltaError:
    """Return the error for a name that the catalog does not have, which may be meant as a path."""
    *formats, path = table_name_parts(spark, identifier)
    if not is_absolute(path):
        return TableNotFoundError(table=identifier, hint=hint)
    if not formats:
        return NoFormatError(path=path, reason="their format is not given", hint=hint)
    return NotParquetError(path=path, reason=f"their format is {formats[0]}", hint=hint)


def _path(identifier: PathLike) -> str:
    match = _path_match(identifier) if isinstance(identifier, str) else None
    return checked_path(identifier) if match is None else match["path"]


def _path_match(identifier: str) -> re.Match[str] | None:
    return _PATH_IDENTIFIER.fullmatch(identifier.strip())


def _schema(spark: SparkSession, storage: Storage) -> StructType:
    """Return the columns of all files, then those of the folders, as Spark infers them."""
    with running("CONVERT", storage.root), job_description(spark, "reading the columns of files"):
        found = parquet_folder_schema(spark, storage.root)
    if isinstance(found, str):
        raise ConversionError(
            path=storage.root,
            reason=found,
            hint="see that all files are Parquet, and have columns that go together",
        )
    return stored_schema(found)


def _partition_schema(
    schema: StructType,
    files: list[FileInfo],
    given: str | SparkStruct | None,
    path: str,
) -> StructType:
    """Return the partition columns, as given or as inferred from the folders."""
    names = folder_partition_names(files)
    if given is None:
        found = (schema.field(name) for name in names)
        return StructType(tuple(field for field in found if field is not None))
    wanted = SparkStruct.fromDDL(given) if isinstance(given, str) else given
    assert isinstance(wanted, SparkStruct)
    asked = stored_schema(from_spark(wanted))
    if [n.casefold() for n in asked.names] != [n.casefold() for n in names]:
        kind = PartitionNameError if len(asked.names) == len(names) else PartitionCountError
        raise kind(
            path=path,
            reason=f"the partition schema names [{', '.join(asked.names)}], but the folders are "
            f"partitioned by [{', '.join(names)}]",
            hint="name the columns of the folders, in their order, in the partition schema",
        )
    return asked


def _with_partitions(schema: StructType, partitions: StructType) -> StructType:
    names = {name.casefold() for name in partitions.names}
    data = (field for field in schema.fields if field.name.casefold() not in names)
    return StructType((*data, *partitions.fields))
