"""What is known of a table without reading its rows, as DataFrames with Delta's columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from truckee.log.detail import table_detail
from truckee.log.files.history import HistoryEntry
from truckee.log.snapshot import Snapshot
from truckee.protocol.json_text import LAST_MOMENT_MS
from truckee.spark.local_frames import local_frame, result_frame

_JOB = ("jobId", "jobName", "jobRunId", "runId", "jobOwnerId", "triggerType")
DETAIL_COLUMNS = (
    "format string, id string, name string, description string, location string, "
    "createdAt timestamp, lastModified timestamp, partitionColumns array<string>, "
    "clusteringColumns array<string>, numFiles bigint, sizeInBytes bigint, "
    "properties map<string,string>, minReaderVersion int, minWriterVersion int, "
    "tableFeatures array<string>"
)
HISTORY_COLUMNS = (
    "version bigint, timestamp timestamp, userId string, userName string, operation string, "
    "operationParameters map<string,string>, "
    f"job struct<{','.join(f'{name}:string' for name in _JOB)}>, "
    "notebook struct<notebookId:string>, clusterId string, "
    "readVersion bigint, isolationLevel string, isBlindAppend boolean, "
    "operationMetrics map<string,string>, userMetadata string, engineInfo string"
)
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def detail_frame(spark: SparkSession, snapshot: Snapshot, *, name: str | None = None) -> DataFrame:
    """Return one row that describes a version of a table; `name` is what the catalog calls it."""
    detail = table_detail(snapshot)
    row = (
        "delta",
        detail.id,
        name or detail.name,
        detail.description,
        # Spark spells local paths as URLs.
        f"file:{detail.location}" if detail.location.startswith("/") else detail.location,
        _moment(detail.created_at_ms),
        _moment(detail.last_modified_ms),
        list(detail.partition_columns),
        list(detail.clustering_columns),
        detail.num_files,
        detail.size_in_bytes,
        dict(detail.properties),
        detail.min_reader_version,
        detail.min_writer_version,
        list(detail.table_features),
    )
    return result_frame(local_frame(spark, [row], DETAIL_COLUMNS))


def foreign_detail_frame(spark: SparkSession, known: Mapping[str, Any]) -> DataFrame:
    """Return one row about a table of another format, with null for what is not known."""
    empty = local_frame(spark, [], DETAIL_COLUMNS)
    return local_frame(spark, [tuple(map(known.get, empty.columns))], empty.schema)


def history_frame(spark: SparkSession, entries: Sequence[HistoryEntry]) -> DataFrame:
    """Return one row for each commit, in the order given."""
    rows = [
        (
            entry.version,
            _moment(entry.timestamp_ms),
            entry.user_id,
            entry.user_name,
            entry.operation,
            _texts(entry.operation_parameters),
            _fields(entry.job, _JOB),
            _fields(entry.notebook, ("notebookId",)),
            entry.cluster_id,
            entry.read_version,
            entry.isolation_level,
            entry.is_blind_append,
            _texts(entry.operation_metrics),
            entry.user_metadata,
            entry.engine_info,
        )
        for entry in entries
    ]
    return result_frame(local_frame(spark, rows, HISTORY_COLUMNS))


def _moment(timestamp_ms: int | None) -> datetime | None:
    if timestamp_ms is None or not 0 <= timestamp_ms <= LAST_MOMENT_MS:
        return None
    return _EPOCH + timedelta(milliseconds=timestamp_ms)


def _texts(values: Any) -> dict[str, str | None] | None:
    return None if values is None else dict(values)


def _fields(values: Any, names: Sequence[str]) -> dict[str, str | None] | None:
    if values is None:
        return None
    return {name: None if values.get(name) is None else str(values[name]) for name in names}
