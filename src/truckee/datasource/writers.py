"""The writers of `format("truckee")`: executors write files, the driver commits them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.datasource import (
    DataSourceArrowWriter,
    DataSourceStreamArrowWriter,
    WriterCommitMessage,
)
from pyspark.sql.types import StructType

from truckee.arrow.write import discard, write_batches
from truckee.datasource.query_id import recorded_query_id
from truckee.errors.streaming import NullTypeInStreamError
from truckee.options.text import Options, warn_of_unknown
from truckee.protocol.actions import AddFile
from truckee.protocol.schema import VOID, nested_fields
from truckee.spark.schema_conversion import from_spark
from truckee.streaming.write_commit import (
    STREAM_OPERATION,
    commit_arrow_files,
    stream_parameters,
)
from truckee.streaming.write_plan import (
    SINK_OPTIONS,
    WritePlan,
    write_plan,
)

# The local property in which Spark tells a task its streaming query.
_QUERY_ID = "sql.streaming.queryId"


class SourceWriter(DataSourceArrowWriter):
    """A batch write. Spark keeps this object from planning to commit."""

    def __init__(self, options: Mapping[str, str], schema: StructType, overwrite: bool) -> None:
        warn_of_unknown(Options(options), SINK_OPTIONS, what="a write")
        self._planned = write_plan(options, from_spark(schema), is_overwrite=overwrite)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """Write the rows of a task."""
        return TaskFiles(self._planned, write_batches(self._planned.target, iterator))

    def commit(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        """Make the files of all tasks part of the table."""
        commit_arrow_files(self._planned, _adds(messages))

    def abort(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        """Delete the files of all tasks."""
        discard(self._planned.target, _adds(messages))


class StreamWriter(DataSourceStreamArrowWriter):
    """The sink of a stream: each batch is one commit, and is committed once.

    Spark makes one writer to plan a batch and another to commit it, so the plan is sent along with
    the files. The planning writer is the one that is pickled for executors, and it reads the table
    at that moment. A batch is identified by the id of its query, which survives restarts, and by
    its number.
    """

    def __init__(self, options: Mapping[str, str], schema: StructType, overwrite: bool) -> None:
        self._options = dict(options)
        self._schema = schema
        self._overwrite = overwrite
        self._planned: WritePlan | None = None

    def __getstate__(self) -> dict[str, Any]:
        if self._planned is None:
            self._planned = self._plan()
        return self.__dict__

    def _plan(self) -> WritePlan:
        warn_of_unknown(Options(self._options), SINK_OPTIONS, what="a write")
        data = from_spark(self._schema)
        for chain in nested_fields(data):
            if chain.field.type == VOID:
                raise NullTypeInStreamError(column=".".join(chain.path))
        return write_plan(self._options, data, is_overwrite=self._overwrite)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """Write the rows of a task."""
        assert self._planned is not None
        context = TaskContext.get()
        query = None if context is None else context.getLocalProperty(_QUERY_ID)
        adds = write_batches(self._planned.target, iterator)
        return TaskFiles(self._planned, adds, query)

    def commit(self, messages: Sequence[WriterCommitMessage | None], batchId: int) -> None:
        """Make the files of all tasks part of the table, unless this batch is part of it."""
        written = [message for message in messages if isinstance(message, TaskFiles)]
        planned, query = written[0].planned, written[0].query
        query = query or recorded_query_id(self._options)
        mode = "Complete" if self._overwrite else "Append"
        commit_arrow_files(
            planned,
            _adds(messages),
            operation=STREAM_OPERATION,
            parameters=stream_parameters(mode, query, batchId),
            txn=(query, batchId),
        )

    def abort(self, messages: Sequence[WriterCommitMessage | None], batchId: int) -> None:  # noqa: ARG002
        """Delete the files of all tasks."""
        for message in messages:
            if isinstance(message, TaskFiles):
                discard(message.planned.target, message.adds)


class TaskFiles(WriterCommitMessage):
    """What one task has written, on its way to the driver."""

    def __init__(
        self, planned: WritePlan, adds: Sequence[AddFile], query: str | None = None
    ) -> None:
        self.planned = planned
        self.adds = tuple(adds)
        self.query = query


def _adds(messages: Sequence[WriterCommitMessage | None]) -> list[AddFile]:
    return [add for message in messages if isinstance(message, TaskFiles) for add in message.adds]
