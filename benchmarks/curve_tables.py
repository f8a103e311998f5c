"""Tables that grow in one direction: files with vectors, deleted rows, or versions.

The files of a table are hard links to one, so that a large table takes little room and is made in
seconds.
"""

from __future__ import annotations

import json
import os
from array import array
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

from benchmarks.data_tables import TableWriter, marked_file

ROWS_A_FILE = 100
LARGE_FILES, LARGE_ROWS = 10, 20_000_000
# Values of the column `r` of large files; each has about one row in so many.
VALUES = 2048
_LINKS = 20_000  # of one file; file systems allow some 65,000


def files_with_vectors(files: int, workdir: Path) -> dict[str, Any]:
    """Make a table of small files of which each has a vector since version 1."""
    writer = TableWriter(workdir / "table")
    adds = _linked_files(writer, files)
    writer.commit([{"add": add} for add in adds])
    writer.mark(adds, ([0] for _ in adds))
    return {
        "table": str(writer.table),
        "sum": files * sum(range(1, ROWS_A_FILE)),
        "condition": "id = 7",
        "deleted": files,
        "start": 1,
        "changes": files,
    }


def deleted_rows(rows: int, workdir: Path) -> dict[str, Any]:
    """Make a table of 200 M rows of which so many are deleted in version 1, in every file.

    `plain` is the same table without the vectors, in which the condition is true of as many rows.
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    from truckee.deletion_vectors.bitmap import RowBitmap

    writer, plain = (
        TableWriter(workdir / name, {"id": "long", "r": "integer"}) for name in ("table", "plain")
    )
    origin = workdir.parent / "large.parquet"
    values = np.random.default_rng(7).integers(0, VALUES, LARGE_ROWS, dtype=np.int32)
    if not origin.exists():
        ones = pa.array(np.ones(LARGE_ROWS, dtype=np.int64))
        staged = origin.with_suffix(".tmp")
        pq.write_table(pa.table({"id": ones, "r": values}), staged, row_group_size=2_000_000)
        staged.replace(origin)
    adds = []
    for number in range(LARGE_FILES):
        name = f"part-{number:02}.parquet"
        os.link(origin, writer.table / name)
        os.link(origin, plain.table / name)
        bounds = {"minValues": {"r": 0}, "maxValues": {"r": VALUES - 1}, "nullCount": {"r": 0}}
        adds.append(_add(name, origin.stat().st_size, LARGE_ROWS, bounds))
    for each in (writer, plain):
        each.commit([{"add": add} for add in adds])
    below = max(1, round(rows * VALUES / (LARGE_FILES * LARGE_ROWS)))
    gone = np.flatnonzero(values < below).astype(np.uint64)
    marks = RowBitmap(array("Q", gone.tobytes()))
    writer.mark(adds, (marks for _ in adds))
    deleted = LARGE_FILES * len(gone)
    return {
        "table": str(writer.table),
        "plain": str(plain.table),
        "sum": LARGE_FILES * LARGE_ROWS - deleted,
        "condition": f"r < {below}",
        "deleted": deleted,
        "start": 1,
        "changes": deleted,
    }


def vector_versions(versions: int, workdir: Path) -> dict[str, Any]:
    """Make a table of one file, of which each version deletes one row more; no checkpoint."""
    import msgspec

    from truckee.deletion_vectors.bitmap import RowBitmap
    from truckee.deletion_vectors.store import write_deletion_vectors
    from truckee.storage.base import Storage

    writer = TableWriter(workdir / "table")
    rows = 60_000
    add = writer.data_file("part-00000.parquet", 0, rows)
    writer.commit([{"add": add}])
    bitmaps = [RowBitmap(range(version + 1)) for version in range(versions)]
    files = cast("Storage", _PlainFiles(writer.table))
    # A file for each version, as writers make them that commit one by one.
    for vector in write_deletion_vectors(files, bitmaps, target_file_size=1):
        add, actions = marked_file(add, msgspec.to_builtins(vector))
        writer.commit(actions, "DELETE")
    return {
        "table": str(writer.table),
        "sum": sum(range(versions, rows)),
        "condition": f"id = {rows - 1}",
        "deleted": 1,
        "start": 1,
        "changes": versions,
    }


def appended_versions(versions: int, workdir: Path) -> dict[str, Any]:
    """Make a table that gets one small file a version."""
    writer = TableWriter(workdir / "table")
    for add in _linked_files(writer, versions):
        writer.commit([{"add": add}])
    return {"table": str(writer.table), "rows": versions * ROWS_A_FILE}


def no_table(files: int, workdir: Path) -> dict[str, Any]:
    """Make nothing but the folder that a table is written to."""
    workdir.mkdir(parents=True, exist_ok=True)
    return {"table": str(workdir / "table"), "files": files, "rows": files * ROWS_A_FILE}


def kept(name: str, make: Callable[[int, Path], dict[str, Any]], x: int, cache: Path) -> Any:
    """Return the parameters of a table, made unless a former run has left it."""
    workdir = cache / "data" / "curves" / f"{name}-{x}"
    ready = workdir / "ready.json"
    if not ready.exists():
        workdir.mkdir(parents=True, exist_ok=True)
        ready.write_text(json.dumps(make(x, workdir)))
    return json.loads(ready.read_text())


def _linked_files(writer: TableWriter, files: int) -> list[dict[str, Any]]:
    adds: list[dict[str, Any]] = []
    for number in range(files):
        name = f"part-{number:05}.parquet"
        if number % _LINKS == 0:
            adds.append(writer.data_file(name, 0, ROWS_A_FILE))
            origin = writer.table / name
            continue
        os.link(origin, writer.table / name)
        adds.append({**adds[-1], "path": name})
    return adds


def _add(name: str, size: int, rows: int, bounds: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "path": name,
        "partitionValues": {},
        "size": size,
        "modificationTime": 1_700_000_000_000,
        "dataChange": True,
        "stats": json.dumps({"numRecords": rows, **bounds}),
    }


class _PlainFiles:
    """Writes files as they come; to make each of them durable would take minutes."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def put_if_absent(self, path: str, data: bytes) -> None:
        (self._root / path).write_bytes(data)
