"""The sink of the fast lane: batches of a stream written by Spark's own writer, each exactly once.

    df.writeStream.foreachBatch(write_batch("/data/t")).option("checkpointLocation", ...).start()

Each batch commits its rows together with the id of the query and the number of the batch. If Spark
runs a batch again after a restart, the batch is found in the table, and nothing is written.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from pyspark.sql import DataFrame

from truckee.commands.after_commit import rows_committed
from truckee.commands.care.auto_compact import enable_auto_compaction
from truckee.commands.schema.evolution import is_parsed
from truckee.errors.options import IllegalOptionError
from truckee.errors.streaming import (
    CheckpointNotKeptError,
    NullTypeInStreamError,
    UnsupportedOutputModeError,
)
from truckee.options.text import Options, warn_of_unknown
from truckee.protocol.schema import VOID, StructType, nested_fields
from truckee.spark.jvm.projection import column
from truckee.spark.read.stream_source import ending_with_its_error, has_temporary_checkpoint
from truckee.spark.schema_conversion import from_spark, spark_type
from truckee.spark.session.arguments import PathLike, checked_path
from truckee.spark.session.settings import session_settings, session_storage
from truckee.spark.write.incoming_rows import rows_to_write
from truckee.spark.write.session_copy import COLUMN_SETTINGS, on_session
from truckee.spark.write.writer import write_files
from truckee.storage.urls import hadoop_url
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

    The query needs a `checkpointLocation`: its progress is there, and the id by which a restarted
    query finds its batches in the table. Without one, `CheckpointNotKeptError` is raised before
    anything is written. A query with a new checkpoint is a new query, which writes all rows again.

    `outputMode` is append, or complete to replace the rows of the table by those of the batch.
    Options are those of `truckee.write`. A batch is identified by the id of its query, which a
    classic session knows. Over Spark Connect, `queryId` must give it: a name that stays the same as
    long as the checkpoint does; there, the checkpoint is not checked.
    Raises `UnsupportedOutputModeError` for other modes.
    """
    sink = BatchSink(
        path, outputMode=outputMode, partitionBy=partitionBy, queryId=queryId, options=options
    )
    return ending_with_its_error(sink.write)


class BatchSink:
    """A table that batches of a stream are written to; arguments are those of `write_batch`.

    `cluster_by` are the paths of the columns by which a table that it creates is clustered.
    """

    def __init__(
        self,
        path: PathLike,
        *,
        outputMode: str,
        partitionBy: str | tuple[str, ...] | list[str] | None,
        options: Mapping[str, Any],
        queryId: str | None = None,
        cluster_by: tuple[tuple[str, ...], ...] = (),
    ) -> None:
        self._path, self._mode = checked_path(path), outputMode.lower()
        if self._mode not in _MODES:
            raise UnsupportedOutputModeError(mode=outputMode)
        warn_of_unknown(Options(options), SINK_OPTIONS, what="a write")
        self._partition_by = _names(partitionBy)
        self._cluster_by = cluster_by
        self._query = queryId
        self._options = options

    def write(self, batch: DataFrame, number: int, tables_read: Collection[str] = ()) -> None:
        """Write a batch, unless it is part of the table.

        `tables_read` are URLs of the tables that the query reads, as far as they are known. If the
        table itself is one of them, any change of its data is a conflict.
        """
        running = _running_query(batch)
        if running is not None and has_temporary_checkpoint(batch.sparkSession, running):
            raise CheckpointNotKeptError(table=self._path)
        query = self._query or running
        if query is None:
            needs = "a name for the query, since no id of one is known here"
            raise IllegalOptionError(option="queryId", value="", needs=needs)
        given: Mapping[str, Any] = {**self._options, "txnAppId": query, "txnVersion": number}
        given = _with_partitions(given, self._partition_by)
        if _is_remote(batch):
            _write_remotely(batch, self._path, self._mode, given)
        else:
            _write(batch, self._path, self._mode, given, tables_read, self._cluster_by)


def _write(
    batch: DataFrame,
    path: str,
    mode: str,
    given: Mapping[str, Any],
    tables_read: Collection[str],
    cluster_by: tuple[tuple[str, ...], ...],
) -> None:
    spark, text = batch.sparkSession, Options(given)
    data = from_spark(batch.schema)
    for chain in nested_fields(data):
        if chain.field.type == VOID:
            raise NullTypeInStreamError(column=".".join(chain.path))
    storage = session_storage(spark, path, text)
    query, number = text["txnAppId"], int(text["txnVersion"])
    planned = write_plan(
        given,
        data,
        is_overwrite=_MODES[mode] == "Overwrite",
        storage=storage,
        settings=session_settings(spark),
        parses_text=True,
        cluster_by=cluster_by,
    )
    if is_committed(planned, storage, (query, number)):
        return
    schema = planned.target.table.schema
    rows = rows_to_write(_with_parsed_text(batch, schema), schema)
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
        reads_table=hadoop_url(storage.root) in tables_read,
    )
    if version is not None:
        rows_committed(spark, storage, version, planned.target.table.metadata)


def _with_parsed_text(batch: DataFrame, schema: StructType) -> DataFrame:
    """Return the rows of a batch with columns of text parsed as the types that the table has.

    A text that is no such value is an error when the rows are computed, whatever the session says.
    """
    given = {field.name.casefold(): field for field in from_spark(batch.schema).fields}
    parsed = {
        given[name].name: spark_type(field.type)
        for field in schema.fields
        if (name := field.name.casefold()) in given and is_parsed(given[name].type, field.type)
    }
    if not parsed:
        return batch
    strict = on_session(batch, {**COLUMN_SETTINGS, "spark.sql.ansi.enabled": "true"})
    return strict.withColumns({name: column(name).cast(to) for name, to in parsed.items()})


def _write_remotely(batch: DataFrame, path: str, mode: str, given: Mapping[str, Any]) -> None:
    """Write through the Python data source, the only way over Spark Connect."""
    batch.write.format("truckee").mode(_MODES[mode].lower()).options(**given).save(path)


def _with_partitions(
    given: Mapping[str, Any], partition_by: tuple[str, ...] | None
) -> Mapping[str, Any]:
    if not partition_by:
        return given
    return {**given, "partitionBy": ",".join(f"`{name}`" for name in partition_by)}


def _running_query(batch: DataFrame) -> str | None:
    """Return the id of the query that a batch belongs to, None if this session does not say."""
    if _is_remote(batch):
        return None
    return batch.sparkSession.sparkContext.getLocalProperty(_QUERY_ID)


def _is_remote(batch: DataFrame) -> bool:
    return type(batch).__module__.startswith("pyspark.sql.connect")


def _names(partition_by: str | tuple[str, ...] | list[str] | None) -> tuple[str, ...] | None:
    if partition_by is None:
        return None
    return (partition_by,) if isinstance(partition_by, str) else tuple(partition_by)
