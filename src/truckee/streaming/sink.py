"""The sink of the fast lane: batches of a stream written by Spark's own writer, each exactly once.

    df.writeStream.foreachBatch(write_batch("/data/t")).option("checkpointLocation", ...).start()

Each batch commits its rows together with the id of the query and the number of the batch. If Spark
runs a batch again after a restart, the batch is found in the table, and nothing is written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pyspark.sql import DataFrame

from truckee.commands.after_commit import rows_committed
from truckee.commands.care.auto_compact import enable_auto_compaction
from truckee.errors.options import IllegalOptionError
from truckee.errors.streaming import NullTypeInStreamError, UnsupportedOutputModeError
from truckee.options.text import Options, warn_of_unknown
from truckee.protocol.schema import VOID, nested_fields
from truckee.spark.read.stream_source import ending_with_its_error
from truckee.spark.schema_conversion import from_spark
from truckee.spark.session.arguments import PathLike, checked_path
from truckee.spark.session.settings import session_settings, session_storage
from truckee.spark.write.incoming_rows import rows_to_write
from truckee.spark.write.writer import write_files
from truckee.streaming.write_commit import (
    STREAM_OPERATION,
    commit_write,
    is_committed,
    stream_parameters,
)
from truckee.streaming.write_plan import SINK_OPTIONS, write_plan

enable_auto_compaction()

_MODES = {"append": "Append", "complete": "Overwrite"}
# The local property in which Spark stores the id of a thread's query.
_QUERY_ID = "sql.streaming.queryId"


def write_batch(
    path: PathLike,
    *,
    outputMode: str = "append",
    partitionBy: str | tuple[str, ...] | list[str] | None = None,
    queryId: str | None = None,
    **options: Any,
) -> Callable[[DataFrame, int], None]:
    """Return a function for `foreachBatch` that writes each batch to the table at a path, once.

    `outputMode` is append, or complete to replace the rows of the table by those of the batch.
    Options are those of `truckee.write`. A batch is identified by the id of its query, which a
    classic session knows. Over Spark Connect, `queryId` must give it: any name that stays the same.
    Raises `UnsupportedOutputModeError` for other modes.
    """
    place, mode = checked_path(path), outputMode.lower()
    if mode not in _MODES:
        raise UnsupportedOutputModeError(mode=outputMode)

    warn_of_unknown(Options(options), SINK_OPTIONS, what="a write")

    def write(batch: DataFrame, number: int) -> None:
        query = queryId or _query_id(batch)
        given = {**options, "txnAppId": query, "txnVersion": number}
        if _is_remote(batch):
            _write_remotely(batch, place, mode, _names(partitionBy), given)
        else:
            _write(batch, place, mode, _names(partitionBy), given)

    return ending_with_its_error(write)


def _write(
    batch: DataFrame,
    path: str,
    mode: str,
    partition_by: tuple[str, ...] | None,
    given: Mapping[str, Any],
) -> None:
    spark, text = batch.sparkSession, Options(given)
    data = from_spark(batch.schema)
    for chain in nested_fields(data):
        if chain.field.type == VOID:
            raise NullTypeInStreamError(column=".".join(chain.path))
    storage = session_storage(spark, path, text)
    query, number = text["txnAppId"], int(text["txnVersion"])
    planned = write_plan(
        _with_partitions(given, partition_by),
        data,
        is_overwrite=_MODES[mode] == "Overwrite",
        storage=storage,
        settings=session_settings(spark),
    )
    if is_committed(planned, storage, (query, number)):
        return
    rows = rows_to_write(batch, planned.target.table.schema)
    written = write_files(
        rows.df,
        storage=storage,
        table=planned.target.table,
        options=planned.files,
        computed=rows.computed,
        identities=rows.identities,
    )
    version = commit_write(
        planned,
        written.adds,
        written,
        storage=storage,
        operation=STREAM_OPERATION,
        parameters=stream_parameters(mode.capitalize(), query, number),
        txn=(query, number),
        identity_marks=written.identity_marks,
    )
    if version is not None:
        rows_committed(spark, storage, version, planned.target.table.metadata)


def _write_remotely(
    batch: DataFrame,
    path: str,
    mode: str,
    partition_by: tuple[str, ...] | None,
    given: Mapping[str, Any],
) -> None:
    """Write through the Python data source, the only way over Spark Connect."""
    options = _with_partitions(given, partition_by)
    batch.write.format("truckee").mode(_MODES[mode].lower()).options(**options).save(path)


def _with_partitions(
    given: Mapping[str, Any], partition_by: tuple[str, ...] | None
) -> Mapping[str, Any]:
    if not partition_by:
        return given
    return {**given, "partitionBy": ",".join(f"`{name}`" for name in partition_by)}


def _query_id(batch: DataFrame) -> str:
    found = None
    if not _is_remote(batch):
        found = batch.sparkSession.sparkContext.getLocalProperty(_QUERY_ID)
    if found is None:
        needs = "a name for the query, since no id of one is known here"
        raise IllegalOptionError(option="queryId", value="", needs=needs)
    return str(found)


def _is_remote(batch: DataFrame) -> bool:
    return type(batch).__module__.startswith("pyspark.sql.connect")


def _names(partition_by: str | tuple[str, ...] | list[str] | None) -> tuple[str, ...] | None:
    if partition_by is None:
        return None
    return (partition_by,) if isinstance(partition_by, str) else tuple(partition_by)
