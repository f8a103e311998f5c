"""The ScanFiles to read for a version of a table and a predicate."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from truckee.log.snapshot import Snapshot
from truckee.protocol.deletion_vector import DeletionVectorDescriptor
from truckee.protocol.paths import decode_path
from truckee.protocol.predicates import Predicate
from truckee.scan.pruning import PruningFilter
from truckee.scan.scan_file import ALL_ROWS, RowSelection, ScanFile


def scan_files(
    snapshot: Snapshot, predicate: Predicate | None = None, *, session_zone: str = "UTC"
) -> list[ScanFile]:
    """Return the files of a snapshot that may have rows that match a predicate.

    Files are in the order of `files_table`; without a predicate, all of them. Each file's `rows`
    exclude the rows that its deletion vector marks.
    """
    if predicate is None:
        return scan_files_of(snapshot.files_table(), snapshot.version)
    wanted = PruningFilter(snapshot.configuration, predicate, session_zone=session_zone)
    return scan_files_of(snapshot.files_wanted(wanted), snapshot.version)


def scan_files_of(files: pa.Table, version: int) -> list[ScanFile]:
    """Return rows of a snapshot's `files_table` as files to read for a version."""
    columns = zip(
        files.column("path").to_pylist(),
        files.column("size").to_pylist(),
        files.column("modification_time").to_pylist(),
        files.column("partition_values").to_pylist(),
        files.column("stats").to_pylist(),
        files.column("deletion_vector").to_pylist(),
        _numbers(files, "base_row_id"),
        _numbers(files, "default_row_commit_version"),
        strict=True,
    )
    return [
        ScanFile(
            path=decode_path(path),
            size=size,
            modification_time=modification_time,
            partition_values=dict(partition_values or ()),
            version=version,
            rows=_rows(vector),
            stats=stats,
            base_row_id=base,
            default_row_commit_version=last,
        )
        for path, size, modification_time, partition_values, stats, vector, base, last in columns
    ]


def _numbers(files: pa.Table, name: str) -> list[int | None]:
    column = files.column(name)
    if column.null_count == len(column):
        return [None] * len(column)
    return list(column.to_pylist())


def _rows(vector: dict[str, Any] | None) -> RowSelection:
    if vector is None:
        return ALL_ROWS
    return RowSelection(without=DeletionVectorDescriptor(**vector))
