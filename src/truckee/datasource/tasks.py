"""The tasks of a read of `format("truckee")`, and what each yields.

The rows of files that are as they are asked for are read by many tasks, each with parts of files.
Rows that are compared are read by the task that compares them, and kept in its memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import pyarrow as pa
from pyspark.sql.datasource import InputPartition

from truckee.arrow.columns import arrow_schema
from truckee.arrow.compare.engine import tables
from truckee.arrow.file_columns import TableRead
from truckee.arrow.parts import FilePart, tasks, with_true_sizes
from truckee.arrow.read import read_parts
from truckee.protocol.schema import StructType
from truckee.rows.plan import Cancelled, Net, Paired, Read, RowPlan, Union, inputs, with_inputs
from truckee.scan.scan_file import ScanFile
from truckee.storage import open_storage
from truckee.storage.base import Storage

_LARGEST_TASK = 64 << 20


class FilesPartition(InputPartition):
    """One task: parts of files, and how to read them."""

    def __init__(self, read: TableRead, parts: Sequence[FilePart]) -> None:
        super().__init__(None)
        self.read = read
        self.parts = tuple(parts)


class PlanPartition(InputPartition):
    """One task: a plan without its storage, the columns to yield, and how to open the table."""

    def __init__(
        self, plan: RowPlan, shown: StructType, url: str, store_options: Mapping[str, str]
    ) -> None:
        super().__init__(None)
        self.plan = plan
        self.shown = shown
        self.url = url
        self.store_options = store_options


def partitions(
    plan: RowPlan,
    shown: StructType,
    *,
    url: str,
    store_options: Mapping[str, str],
    zone: str = "UTC",
) -> list[InputPartition]:
    """Return the tasks of a plan, of which the columns `shown` are read."""
    if isinstance(plan, Read):
        read = TableRead(
            url=url,
            store_options=store_options,
            table=plan.table,
            is_feed=plan.is_feed,
            columns=shown.names,
            zone=zone,
        )
        files = with_true_sizes(plan.files, open_storage(url, store_options))
        return [FilesPartition(read, parts) for parts in tasks(files)]
    return [
        PlanPartition(_at(part, None, zone), shown, url, store_options) for part in _split(plan)
    ]


def rows_of_partition(partition: InputPartition) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a task."""
    match partition:
        case FilesPartition():
            yield from read_parts(partition.read, partition.parts)
        case PlanPartition():
            storage = open_storage(partition.url, partition.store_options)
            schema = arrow_schema(partition.shown)
            for rows in tables(_at(partition.plan, storage)):
                yield from rows.select(schema.names).cast(schema).to_batches()
        case _:
            # For a read without files, Spark passes a partition of its own.
            return


def _at(plan: RowPlan, storage: Storage | None, zone: str | None = None) -> RowPlan:
    """Return a plan that reads from a storage; without one, it can be sent to a task."""
    if not isinstance(plan, Read):
        return with_inputs(plan, lambda rows: _at(rows, storage, zone))
    there = replace(plan, storage=storage, missing=None)  # type: ignore[arg-type]
    return there if zone is None else replace(there, zone=zone)


def _split(plan: RowPlan) -> Iterator[RowPlan]:
    """Yield plans for tasks of their own, whose rows are together those of the plan."""
    match plan:
        case Cancelled() | Paired() | Net():
            yield plan
        case Read():
            for files in _groups(plan):
                yield replace(plan, files=files)
        case Union():
            for part in plan.parts:
                for each in _split(part):
                    yield replace(plan, parts=(each,))
        case _:
            for rows in inputs(plan):
                for each in _split(rows):
                    yield with_inputs(plan, lambda _, each=each: each)  # type: ignore[misc]


def _groups(read: Read) -> Iterator[Sequence[ScanFile]]:
    group: list[ScanFile] = []
    size = 0
    for file in read.files:
        if group and size + file.size > _LARGEST_TASK:
            yield tuple(group)
            group, size = [], 0
        group.append(file)
        size += file.size
    if group:
        yield tuple(group)
