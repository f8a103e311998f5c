"""Append and overwrite: rows of a DataFrame become rows of a table, in one commit.

    options  ->  schema after the write  ->  checks  ->  data files  ->  commit
                 (schema_merge)              (planned)   (spark.writer)   (log.transaction)

Everything that can be told from the schema and the options is told before a file is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import msgspec
from msgspec.structs import replace
from pyspark.sql import DataFrame

from truckee.commands.clustering import clustering_domain, clustering_features, kept_clustering
from truckee.commands.column_mapping import with_column_mapping
from truckee.commands.column_rules import check_columns, checked_partition_columns
from truckee.commands.commit import commit_files, discarding
from truckee.commands.overwrite import Replaced, every_file, files_beside, files_where
from truckee.commands.planned import PlannedTable, existing_table, new_metadata, planned_table
from truckee.commands.removed import all_removed, num_rows
from truckee.commands.row_tracking import with_row_tracking
from truckee.commands.schema_merge import merged_schema, stored_schema
from truckee.commands.write_options import WriteOptions, default_properties
from truckee.errors.write import (
    DataChangeWithMetadataError,
    OverwriteOptionError,
    PartitioningMismatchError,
    StreamingFrameError,
    TableExistsError,
)
from truckee.log.snapshot import Snapshot
from truckee.log.transaction import Transaction
from truckee.protocol.actions import Metadata, RemoveFile
from truckee.protocol.properties import TableProperties
from truckee.protocol.schema import StructType, check_distinct_names
from truckee.spark.conf import session_settings
from truckee.spark.constraints import replace_where_rule
from truckee.spark.rows_to_write import RowsToWrite, rows_to_write
from truckee.spark.types import from_spark
from truckee.spark.writer import WrittenFiles, write_files
from truckee.spark.writer_conditions import Condition, parse_condition
from truckee.spark.writer_identity import IDENTITY_HIGH_WATER_MARK_KEY
from truckee.storage.base import Storage


@dataclass(frozen=True, kw_only=True)
class Write:
    """One write: to which table, in which mode (as commitInfo names it), and how.

    `partition_by` is None where nothing was said, and () where no partitions were asked for.
    `operation` and `parameters` are what commitInfo will say, WRITE if nothing is given.
    """

    storage: Storage
    mode: str = "ErrorIfExists"
    partition_by: tuple[str, ...] | None = None
    cluster_by: tuple[tuple[str, ...], ...] = ()
    options: WriteOptions = field(default_factory=WriteOptions)
    operation: str = "WRITE"
    parameters: Mapping[str, Any] | None = None

    @property
    def is_overwrite(self) -> bool:
        """Whether rows that are there now are replaced."""
        return self.mode == "Overwrite"


def write_table(df: DataFrame, write: Write) -> int | None:
    """Write the rows of `df`, and return the version that has them.

    None means that nothing was written: the table was there and the mode says to leave it, or this
    very write was committed before, told by `txnAppId` and `txnVersion`.
    """
    snapshot = existing_table(write.storage)
    if snapshot is not None and write.mode == "Ignore":
        return None
    _check_request(df, write, snapshot)
    data = from_spark(df.schema)
    check_distinct_names(data)
    table = _planned(df, write, snapshot, data)
    transaction = table.transaction()
    if not _is_news(transaction, write.options):
        return None

    condition = _replace_where(df, write, table)
    replaced = _replaced_before(df, write, snapshot, condition)
    removes = _removes(replaced, write)
    table.check(write.operation, removes or _sample_removes(write, snapshot))
    rows = rows_to_write(df, table.schema)
    written = _write_files(rows, write, table, condition)
    if snapshot is not None and _is_dynamic(write, snapshot):
        with discarding(written):
            replaced = files_beside(df.sparkSession, snapshot, written.adds)
            removes = _removes(replaced, write)
    return _commit(transaction, write, table, written, replaced, removes)


def _check_request(df: DataFrame, write: Write, snapshot: Snapshot | None) -> None:
    if df.isStreaming:
        raise StreamingFrameError
    if snapshot is not None and write.mode == "ErrorIfExists":
        raise TableExistsError(path=write.storage.root)
    if write.options.replace_where is not None and not write.is_overwrite:
        raise OverwriteOptionError(option="replaceWhere", mode=write.mode.lower())


def _planned(
    df: DataFrame, write: Write, snapshot: Snapshot | None, data: StructType
) -> PlannedTable:
    """Return the table as it will be after the write."""
    if snapshot is None:
        configuration = {
            **default_properties(session_settings(df.sparkSession)),
            **write.options.properties,
        }
        return _created(write, None, new_metadata(data, configuration=configuration), data)
    if write.is_overwrite and write.options.overwrite_schema:
        return _created(write, snapshot, _without_schema(snapshot, write), data)
    _check_partitioning(write, snapshot)
    schema = merged_schema(
        snapshot.schema,
        data,
        add_columns=write.options.merge_schema,
        name=write.storage.root,
    )
    if schema == snapshot.schema:
        return planned_table(write.storage, snapshot, snapshot.metadata)
    if not write.options.data_change:
        raise DataChangeWithMetadataError(table=write.storage.root)
    metadata = replace(snapshot.metadata, schema_string=schema.to_json())
    return _checked_plan(write, snapshot, with_column_mapping(metadata))


def _created(
    write: Write, snapshot: Snapshot | None, metadata: Metadata, data: StructType
) -> PlannedTable:
    """Return the plan of a table whose schema is that of the data."""
    if not write.options.data_change and snapshot is not None:
        raise DataChangeWithMetadataError(table=write.storage.root)
    partition_by = checked_partition_columns(data, write.partition_by or ())
    metadata = with_column_mapping(
        replace(
            metadata,
            schema_string=stored_schema(data).to_json(),
            partition_columns=list(partition_by),
        )
    )
    return _checked_plan(write, snapshot, with_row_tracking(metadata))


def _checked_plan(write: Write, snapshot: Snapshot | None, metadata: Metadata) -> PlannedTable:
    table = planned_table(write.storage, snapshot, metadata)
    properties = TableProperties.from_configuration(metadata.configuration)
    check_columns(
        table.schema, mapping_mode=properties.column_mapping_mode, table=write.storage.root
    )
    domain = (
        clustering_domain(table.schema, write.cluster_by, table.metadata)
        if write.cluster_by
        else kept_clustering(snapshot, table.schema)
    )
    if domain is None:
        return table
    return planned_table(
        write.storage, snapshot, metadata, features=clustering_features(), domains=[domain]
    )


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


def _is_news(transaction: Transaction, options: WriteOptions) -> bool:
    if options.txn_app_id is None or options.txn_version is None:
        return True
    return transaction.set_transaction(options.txn_app_id, options.txn_version)


def _replace_where(df: DataFrame, write: Write, table: PlannedTable) -> Condition | None:
    sql = write.options.replace_where
    if sql is None:
        return None
    return parse_condition(df.sparkSession, sql, table.schema, what="replaceWhere")


def _is_dynamic(write: Write, snapshot: Snapshot | None) -> bool:
    return (
        snapshot is not None
        and write.is_overwrite
        and write.options.dynamic_overwrite
        and bool(snapshot.partition_columns)
    )


def _replaced_before(
    df: DataFrame, write: Write, snapshot: Snapshot | None, condition: Condition | None
) -> Replaced | None:
    """Return the files that give way, None if there are none or only the new data will tell."""
    if snapshot is None or not write.is_overwrite or _is_dynamic(write, snapshot):
        return None
    if condition is not None:
        return files_where(df.sparkSession, snapshot, condition)
    return every_file(snapshot)


def _sample_removes(write: Write, snapshot: Snapshot | None) -> list[RemoveFile]:
    """Return the removal of one file, if only the new data will tell which files go."""
    if snapshot is None or not _is_dynamic(write, snapshot):
        return []
    return all_removed(islice(snapshot.files(), 1), data_change=write.options.data_change)


def _removes(replaced: Replaced | None, write: Write) -> list[RemoveFile]:
    files = () if replaced is None else replaced.files
    return all_removed(files, data_change=write.options.data_change)


def _write_files(
    rows: RowsToWrite, write: Write, table: PlannedTable, condition: Condition | None
) -> WrittenFiles:
    rules = []
    if condition is not None and write.options.check_replace_where:
        rules = [replace_where_rule(condition.sql)]
    return write_files(
        rows.df,
        storage=table.storage,
        metadata=table.metadata,
        protocol=table.protocol,
        options=write.options.files,
        data_change=write.options.data_change,
        rules=rules,
        computed=rows.computed,
        identities=rows.identities,
    )


def _commit(
    transaction: Transaction,
    write: Write,
    table: PlannedTable,
    written: WrittenFiles,
    replaced: Replaced | None,
    removes: Iterable[RemoveFile],
) -> int:
    if written.identity_marks:
        transaction.set_metadata(_with_identity_marks(table, written.identity_marks))
    if replaced is not None:
        replaced.note(transaction)
    transaction.stage(*written.adds, *removes)
    return commit_files(
        transaction,
        written,
        write.operation,
        parameters=write.parameters if write.parameters is not None else _parameters(write),
        metrics=_metrics(write, written, replaced),
        user_metadata=write.options.user_metadata,
    )


def _with_identity_marks(table: PlannedTable, marks: Mapping[str, int]) -> Metadata:
    fields = tuple(
        replace(
            field,
            metadata={**field.metadata, IDENTITY_HIGH_WATER_MARK_KEY: marks[field.physical_name]},
        )
        if field.physical_name in marks
        else field
        for field in table.schema.fields
    )
    return replace(table.metadata, schema_string=StructType(fields).to_json())


def _parameters(write: Write) -> dict[str, Any]:
    options = write.options
    return {
        "mode": write.mode,
        "partitionBy": msgspec.json.encode(list(write.partition_by or ())).decode(),
        "predicate": options.replace_where,
        "isDynamicPartitionOverwrite": True if options.dynamic_overwrite else None,
        "canOverwriteSchema": True if options.overwrite_schema and write.is_overwrite else None,
        "canMergeSchema": True if options.merge_schema else None,
    }


def _metrics(write: Write, written: WrittenFiles, replaced: Replaced | None) -> dict[str, object]:
    metrics: dict[str, object] = {
        "numFiles": len(written.adds),
        "numOutputRows": written.num_rows,
        "numOutputBytes": written.num_bytes,
    }
    if replaced is None:
        return metrics
    metrics["numRemovedFiles"] = len(replaced.files)
    metrics["numRemovedBytes"] = sum(file.size for file in replaced.files)
    if write.options.replace_where is not None:
        metrics["numAddedChangeFiles"] = 0
        deleted = num_rows(replaced.files)
        if deleted is not None:
            metrics |= {"numDeletedRows": deleted, "numCopiedRows": 0}
    return metrics
