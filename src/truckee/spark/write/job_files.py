"""The files of a write job: what its tasks report, and how to delete those of a failed job.

Tasks report a line for each file (see `TruckeeCommit.java`):

| field of a line | meaning                                                                    |
|-----------------|----------------------------------------------------------------------------|
| 1               | the path below the table's root, UTF-8 in base 64                          |
| 2, 3            | size in bytes, time in milliseconds                                        |
| 4               | the number of rows of each row group, separated by commas                  |
| 5 and on        | one wanted column each: a chunk for each row group, separated by bars      |

A chunk is `nulls,values,least,greatest`, with `-` for what the footer does not say; bounds are in
Parquet's plain encoding, in base 64. A single `-` is a chunk without statistics.
"""

from __future__ import annotations

import logging
import os
import struct
import time
from base64 import b64decode
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from truckee.errors.base import DeltaError
from truckee.errors.storage import StorageError, StoragePermissionError
from truckee.protocol.paths import CHANGE_DATA_DIRECTORY
from truckee.protocol.schema import DataType, DecimalType
from truckee.scan.footer_statistics import Footer, FooterColumn, column_bounds
from truckee.spark.jvm.bridge import compiled
from truckee.spark.jvm.classes import maker
from truckee.storage.base import FileInfo, Storage

_log = logging.getLogger(__name__)

_WAIT_SECONDS = 30.0

TRUCKEE_COMMIT = "truckee.TruckeeCommit"
"""The class that decides where files of a job are written; Spark finds it by name."""

TRUCKEE_FORMAT = "truckee.TruckeeCommit$Format"
"""The class that writes Parquet files, and remembers their footers for the commit."""


def job_message(spark: SparkSession, token: str) -> str:
    """Return what the tasks of a finished job sent back; it can be asked for only once."""
    message = compiled(spark, "TruckeeCommit").take(token)
    assert message is not None, "a write job has ended without a message"
    return str(message)


def check_folder_writable(root: str) -> None:
    """Raise StorageError if a local folder cannot be made or written to.

    For an object store, the write itself finds out.
    """
    if not root.startswith("/"):
        return
    place = next(path for path in (Path(root), *Path(root).parents) if path.exists())
    if not place.is_dir():
        reason = f"{place} is a file, and no folder"
        raise StorageError(action="write to", path=root, reason=reason)
    if not os.access(place, os.W_OK | os.X_OK):
        reason = f"{place} is read-only"
        raise StoragePermissionError(action="write to", path=root, reason=reason)


def is_stopped(spark: SparkSession) -> bool:
    """Return whether the session was stopped, or is being stopped."""
    context = spark.sparkContext._jsc
    return context is None or bool(context.sc().isStopped())


def delete_job_files(spark: SparkSession, root: str, paths: Sequence[str]) -> None:
    """Delete files below a table's root; it is no error if there are none.

    Hadoop also deletes what it keeps beside a file, such as its checksum.
    """
    if not paths:
        return
    # This also works if the session was stopped meanwhile and left files behind.
    settings = spark._jsparkSession.sessionState().newHadoopConf()
    maker(spark.sparkContext, "TruckeeCommit").delete(settings, root, "\n".join(paths))


def delete_by_token(
    spark: SparkSession, storage: Storage, token: str, *, has_folders: bool
) -> None:
    """Delete the files of a failed job, which are recognised by the token in their names.

    Tasks that fail delete what they wrote, but a task whose process died cannot. So the folders
    that may hold files are listed: all folders of the table if it has partitions. Errors here are
    only logged, since the error of the job is the one to raise.
    """
    try:
        found = [file.path for file in _listed(storage, has_folders) if token in file.path]
        delete_job_files(spark, storage.root, found)
    except (DeltaError, OSError, Py4JError):
        _log.warning(
            "files with %s in their names could not be deleted from %s; a VACUUM will delete them",
            token,
            storage.root,
            exc_info=True,
        )


def _listed(storage: Storage, has_folders: bool) -> Iterable[FileInfo]:
    if has_folders:
        return storage.list_tree("")
    return chain(storage.list_from("part-"), storage.list_from(f"{CHANGE_DATA_DIRECTORY}/cdc-"))


def end_tasks(spark: SparkSession, tag: str) -> None:
    """Cancel the jobs with a tag, and wait until their last task has ended.

    A job fails as soon as one of its tasks does, while others still write. Files that they write
    after the job's files were deleted would stay forever.
    """
    if is_stopped(spark):
        return
    spark.sparkContext.cancelJobsWithTag(tag)
    deadline = time.monotonic() + _WAIT_SECONDS
    while time.monotonic() < deadline and _active_tasks(spark, tag):
        time.sleep(0.05)


def _active_tasks(spark: SparkSession, tag: str) -> int:
    tracker = spark.sparkContext.statusTracker()
    tagged = spark.sparkContext._jsc.sc().statusTracker().getJobIdsForTag(tag)
    jobs = [tracker.getJobInfo(job) for job in tagged]
    stages = [tracker.getStageInfo(stage) for job in jobs if job for stage in job.stageIds]
    return sum(stage.numActiveTasks for stage in stages if stage)


_INT32, _INT64 = struct.Struct("<i"), struct.Struct("<q")
_NUMBERS = {
    "byte": _INT32,
    "short": _INT32,
    "integer": _INT32,
    "date": _INT32,
    "long": _INT64,
    "timestamp": _INT64,
    "timestamp_ntz": _INT64,
    "float": struct.Struct("<f"),
    "double": struct.Struct("<d"),
}


class TaskFile(NamedTuple):
    """A file that a task wrote, and what its footer tells."""

    file: FileInfo
    footer: Footer


def wanted_leaves(columns: Sequence[FooterColumn]) -> list[int]:
    """Return the numbers of the file's columns to ask for, in the order of the answer."""
    return [leaf for column in columns for leaf in range(column.first, column.last + 1)]


def task_files(message: str, columns: Sequence[FooterColumn]) -> Iterator[TaskFile]:
    """Yield the files of a job whose tasks were asked for `wanted_leaves(columns)`."""
    for line in message.splitlines():
        path, size, time_ms, rows, *chunks = line.split("\t")
        file = FileInfo(b64decode(path).decode(), int(size), int(time_ms))
        counts = [int(count) for count in rows.split(",")]
        yield TaskFile(file, _footer(counts, chunks, columns))


def _footer(counts: Sequence[int], chunks: list[str], columns: Sequence[FooterColumn]) -> Footer:
    leaves = iter(chunks)
    bounds = {}
    for column in columns:
        own = [next(leaves).split("|") for _ in range(column.first, column.last + 1)]
        groups = [
            [_chunk(leaf, column.type) for leaf in group]
            for count, group in zip(counts, zip(*own, strict=True), strict=True)
            if count
        ]
        bounds[column.path] = column_bounds(column, groups)
    return Footer(sum(counts), bounds)


@dataclass(frozen=True)
class _Chunk:
    """Statistics of one column of one row group, as `column_bounds` asks for them."""

    type: DataType
    nulls: int | None
    num_values: int
    least: bytes | None
    greatest: bytes | None

    @property
    def has_null_count(self) -> bool:
        return self.nulls is not None

    @property
    def null_count(self) -> int:
        return self.nulls or 0

    @property
    def has_min_max(self) -> bool:
        return self.least is not None and self.greatest is not None

    @property
    def min_raw(self) -> Any:
        return _value(self.least, self.type)

    @property
    def max_raw(self) -> Any:
        return _value(self.greatest, self.type)

    min = min_raw
    max = max_raw


def _chunk(text: str, data_type: DataType) -> _Chunk | None:
    if text == "-":
        return None
    nulls, values, least, greatest = text.split(",")
    return _Chunk(
        data_type,
        None if nulls == "-" else int(nulls),
        int(values),
        None if least == "-" else b64decode(least),
        None if greatest == "-" else b64decode(greatest),
    )


def _value(data: bytes | None, data_type: DataType) -> Any:
    assert data is not None
    if isinstance(data_type, DecimalType):
        return _decimal(data, data_type)
    number = _NUMBERS.get(getattr(data_type, "name", ""))
    return data if number is None else number.unpack(data)[0]


def _decimal(data: bytes, data_type: DecimalType) -> Decimal:
    if data_type.precision <= 18:
        unscaled = (_INT32 if data_type.precision <= 9 else _INT64).unpack(data)[0]
    else:
        unscaled = int.from_bytes(data, "big", signed=True)
    digits = tuple(int(digit) for digit in str(abs(unscaled)))
    return Decimal((int(unscaled < 0), digits, -data_type.scale))
