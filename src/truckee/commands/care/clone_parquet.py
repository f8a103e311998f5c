"""SHALLOW CLONE of Parquet files: a Delta table that names the files of a folder elsewhere.

The folder stays what it is. As in delta-spark, no statistics are collected, so that no file is
opened but for its columns, and the protocol is the lowest there is.
"""

from __future__ import annotations

from msgspec.structs import replace
from pyspark.sql import DataFrame, SparkSession

from truckee.care.clone_plan import cloned_metadata, shared_files
from truckee.commands.care.clone import (
    CLONE_RESULT_COLUMNS,
    CloneRequest,
    check_clone_existing,
    check_clone_folder,
    check_clone_target,
    commit_clone,
    place_text,
)
from truckee.commands.ddl.convert import ParquetTable, parquet_table
from truckee.commands.table_plan import existing_table
from truckee.log.commit.conflicts import IsolationLevel
from truckee.log.commit.transaction import Transaction
from truckee.log.running_command import running
from truckee.log.snapshot import Snapshot
from truckee.protocol.actions import Protocol
from truckee.protocol.features import protocol_request, upgraded_protocol
from truckee.protocol.properties import TableProperties, validated_properties
from truckee.spark.local_frames import metrics_frame
from truckee.spark.session.catalog import NamedTable
from truckee.spark.session.settings import session_storage, session_zone
from truckee.storage.base import Storage

_LOWEST = Protocol(min_reader_version=1, min_writer_version=1)
_NO_VERSION = -1


def clone_parquet(
    spark: SparkSession,
    source: Storage,
    target: str,
    request: CloneRequest,
    named: NamedTable | None = None,
) -> DataFrame:
    """Clone a folder of Parquet files, and return delta-spark's row of numbers.

    `named` is the table of the catalog that the files are. Partitions of a folder without a name
    are inferred from it.
    """
    check_clone_target(target)
    place = session_storage(spark, target)
    with running("CLONE", place.root):
        existing = existing_table(place)
        check_clone_existing(existing, place, request)
        found = parquet_table(spark, source, named=named)
        transaction = _transaction(found, place, existing, request)
        properties = TableProperties.from_configuration(transaction.metadata.configuration)
        zone = session_zone(spark)
        adds = found.adds(properties, collect_stats=False, session_zone=zone)
        files = shared_files(adds, source.root)
        if existing is None:
            check_clone_folder(place, files)
        name = f"parquet.`{place_text(source)}`" if named is None else named.name
        parameters = {"source": name, "sourceVersion": _NO_VERSION}
        counts = commit_clone(transaction, files, parameters)
    return metrics_frame(spark, counts, CLONE_RESULT_COLUMNS)


def _transaction(
    source: ParquetTable, target: Storage, existing: Snapshot | None, request: CloneRequest
) -> Transaction:
    before = None if existing is None else existing.metadata
    properties = validated_properties(request.properties, {})
    metadata = cloned_metadata(source.metadata({}), before, properties.items())
    transaction = Transaction(
        target, existing, isolation=IsolationLevel.SERIALIZABLE, max_attempts=1
    )
    transaction.read_whole_table()
    transaction.set_metadata(metadata)
    asked = protocol_request(metadata.configuration)
    stored = replace(metadata, configuration=dict(asked.configuration))
    start = _LOWEST if existing is None else existing.protocol
    transaction.set_protocol(upgraded_protocol(start, stored, sorted(asked.features)))
    return transaction
