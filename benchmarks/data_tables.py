"""Tables with real data files, written by pyarrow and committed line by line, for any engine."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

_START_MS = 1_700_000_000_000
_COLUMNS = {"id": "long", "x": "long", "s": "string", "f": "double", "k": "integer"}
_PROTOCOL = {
    "minReaderVersion": 3,
    "minWriterVersion": 7,
    "readerFeatures": ["deletionVectors"],
    "writerFeatures": ["deletionVectors", "changeDataFeed", "appendOnly", "invariants"],
}


class TableWriter:
    """Writes a table commit by commit; vectors and the change feed are on."""

    def __init__(self, table: Path, columns: Mapping[str, str] = _COLUMNS) -> None:
        self.table = table
        self._columns = columns
        self._log = table / "_delta_log"
        self._log.mkdir(parents=True)
        self._version = 0

    def commit(self, actions: list[dict[str, Any]], operation: str = "WRITE") -> None:
        """Add one version with these actions; the first one creates the table."""
        moment = _START_MS + 1000 * self._version
        info = {"timestamp": moment, "operation": operation, "operationParameters": {}}
        lines: list[dict[str, Any]] = [{"commitInfo": info}]
        if self._version == 0:
            lines += [{"protocol": _PROTOCOL}, {"metaData": _metadata(self._columns)}]
        text = "\n".join(json.dumps(line, separators=(",", ":")) for line in lines + actions)
        (self._log / f"{self._version:020}.json").write_text(text + "\n")
        self._version += 1

    def data_file(self, name: str, start: int, rows: int) -> dict[str, Any]:
        """Write a file with rows numbered from `start` on, and return its `add`."""
        return self.file_of(name, range(start, start + rows))

    def file_of(self, name: str, ids: Sequence[int], step: int = 0) -> dict[str, Any]:
        """Write a file with these rows, `x` of which is larger by a step; return its `add`."""
        path = self.table / name
        pq.write_table(_rows(ids, step), path, compression="snappy")
        stats = {
            "numRecords": len(ids),
            "minValues": {"id": min(ids)},
            "maxValues": {"id": max(ids)},
            "nullCount": {"id": 0},
        }
        return {
            "path": name,
            "partitionValues": {},
            "size": path.stat().st_size,
            "modificationTime": _START_MS,
            "dataChange": True,
            "stats": json.dumps(stats, separators=(",", ":")),
        }

    def change_file(self, name: str, ids: Sequence[int], step: int) -> dict[str, Any]:
        """Write a change file that updates `x` of these rows by a step; return its `cdc`."""
        path = self.table / name
        path.parent.mkdir(exist_ok=True)
        images = [
            rows.append_column("_change_type", pa.repeat(kind, len(ids)))
            for rows, kind in (
                (_rows(ids, 0), "update_preimage"),
                (_rows(ids, step), "update_postimage"),
            )
        ]
        pq.write_table(pa.concat_tables(images), path, compression="snappy")
        size = path.stat().st_size
        return {"path": name, "partitionValues": {}, "size": size, "dataChange": False}

    def mark(
        self,
        adds: list[dict[str, Any]],
        rows: Iterator[Any],
        others: Sequence[dict[str, Any]] = (),
        operation: str = "DELETE",
    ) -> list[dict[str, Any]]:
        """Commit vectors of these rows, one a file, and other actions; return the new adds."""
        import msgspec

        from truckee.deletion_vectors.bitmap import RowBitmap
        from truckee.deletion_vectors.store import write_deletion_vectors
        from truckee.storage import open_storage

        storage = open_storage(str(self.table))
        bitmaps = [each if isinstance(each, RowBitmap) else RowBitmap(each) for each in rows]
        actions: list[dict[str, Any]] = []
        marked = []
        for add, vector in zip(adds, write_deletion_vectors(storage, bitmaps), strict=True):
            new, changed = marked_file(add, msgspec.to_builtins(vector))
            actions += changed
            marked.append(new)
        self.commit([*actions, *others], operation)
        return marked


def marked_file(
    add: dict[str, Any], vector: dict[str, Any]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a file with a vector as its new `add`, and the two actions that put it in place."""
    stats = {**json.loads(add["stats"]), "tightBounds": False}
    new = {
        **add,
        "stats": json.dumps(stats, separators=(",", ":")),
        "deletionVector": vector,
    }
    return new, [{"add": new}, {"remove": _remove(add)}]


def _rows(ids: Sequence[int], step: int) -> pa.Table:
    numbers = pa.array(ids, pa.int64())
    return pa.table(
        {
            "id": numbers,
            "x": pc.add(pc.multiply(numbers, 2), step),
            "s": pc.cast(numbers, pa.string()),
            "f": pc.divide(pc.cast(numbers, pa.float64()), 7.0),
            "k": pc.cast(
                pc.subtract(numbers, pc.multiply(pc.divide(numbers, 100), 100)), pa.int32()
            ),
        }
    )


def _remove(add: dict[str, Any]) -> dict[str, Any]:
    kept = ("path", "partitionValues", "size", "deletionVector")
    return {
        **{key: add[key] for key in kept if key in add},
        "deletionTimestamp": _START_MS,
        "dataChange": True,
        "extendedFileMetadata": True,
    }


def _metadata(columns: Mapping[str, str]) -> dict[str, Any]:
    fields = [
        {"name": name, "type": kind, "nullable": True, "metadata": {}}
        for name, kind in columns.items()
    ]
    return {
        "id": "1d3f6c0e-8f2b-4d7a-9c5e-6a7b8c9d0e1f",
        "format": {"provider": "parquet", "options": {}},
        "schemaString": json.dumps({"type": "struct", "fields": fields}),
        "partitionColumns": [],
        "configuration": {
            "delta.enableChangeDataFeed": "true",
            "delta.enableDeletionVectors": "true",
        },
        "createdTime": _START_MS,
    }
