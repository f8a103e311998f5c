"""Writes Arrow batches to data files of a table with pyarrow, on an executor.

Each task writes its own files into the folder of the write, one or more per partition. A file is
built in memory and stored as a whole, and its statistics come from its footer.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from msgspec import Struct

from truckee.arrow.stored_columns import parquet_schema, table_columns, with_names
from truckee.arrow.texts import plain_values
from truckee.protocol.actions import AddFile
from truckee.protocol.partition_values import format as partition_text
from truckee.protocol.paths import decode_path, encode_path, partition_directory
from truckee.protocol.schema import StructField
from truckee.protocol.stats import encode_stats
from truckee.protocol.table_configuration import TableConfiguration
from truckee.scan.footer_statistics import (
    Bounds,
    Footer,
    FooterColumn,
    file_stats,
    indexed_columns,
    read_footer,
)
from truckee.storage import open_storage
from truckee.storage.base import Storage

_ROW_GROUP_BYTES = 32 << 20
_FILE_BYTES = 128 << 20


class WriteTarget(Struct, frozen=True, kw_only=True):
    """What executors need to write files of a table. It is sent with each task."""

    url: str
    store_options: Mapping[str, str]
    folder: str
    table: TableConfiguration
    data_change: bool = True
    compression: str = "snappy"
    max_rows: int | None = None


def write_batches(target: WriteTarget, batches: Iterable[pa.RecordBatch]) -> list[AddFile]:
    """Write rows to files, and return the actions that add them to the table.

    If anything fails, the files that were written so far are deleted.
    """
    writer = _Writer(target)
    try:
        for batch in batches:
            writer.take(batch)
        return writer.finish()
    except BaseException:
        discard(target, writer.adds)
        raise


def discard(target: WriteTarget, adds: Iterable[AddFile]) -> None:
    """Delete files that no commit will name."""
    storage = open_storage(target.url, target.store_options)
    for add in adds:
        storage.delete(decode_path(add.path))


_Key = tuple[str | None, ...]


class _Writer:
    """All files that one task writes, the open ones by partition."""

    def __init__(self, target: WriteTarget) -> None:
        self._target = target
        self._storage = open_storage(target.url, target.store_options)
        self._layout = _Layout(target.table.stored)
        self._open: dict[_Key, _OpenFile] = {}
        self.adds: list[AddFile] = []

    def take(self, batch: pa.RecordBatch) -> None:
        columns = table_columns(batch, self._layout.schema)
        for key, rows in self._layout.parted(columns, batch.num_rows):
            file = self._open.get(key)
            if file is None:
                file = self._open[key] = _OpenFile(self._layout.file_schema, self._target)
            for piece in _pieces(rows, file, self._target.max_rows):
                file.take(piece)
                if file.is_full:
                    self._close(key)
                    file = self._open[key] = _OpenFile(self._layout.file_schema, self._target)

    def finish(self) -> list[AddFile]:
        for key in list(self._open):
            self._close(key)
        return self.adds

    def _close(self, key: _Key) -> None:
        file = self._open.pop(key)
        if not file.num_rows:
            return
        layout, target = self._layout, self._target
        values = dict(zip(layout.partition_names, key, strict=True))
        name = f"part-{uuid4()}.c000.{target.compression}.parquet"
        folder = partition_directory(layout.partition_names, values)
        path = "/".join(part for part in (target.folder, folder, name) if part)
        data = file.finish()
        self._storage.write(path, data)
        self.adds.append(_add(self._storage, target, layout, path, len(data), values, file.nans))


def _pieces(
    rows: pa.RecordBatch, file: _OpenFile, max_rows: int | None
) -> Iterator[pa.RecordBatch]:
    """Yield rows in pieces, so that no file exceeds its limit."""
    if max_rows is None:
        yield rows
        return
    first = max_rows - file.num_rows
    yield rows.slice(0, first)
    for start in range(first, rows.num_rows, max_rows):
        yield rows.slice(start, max_rows)


class _Layout:
    """The layout of a table's rows in its files."""

    def __init__(self, table: TableConfiguration) -> None:
        self.table = table
        self.schema = table.schema
        self.file_schema = parquet_schema(
            table.schema, table.partition_columns, table.column_mapping_mode
        )
        self._partitions = table.partition_fields
        self.partition_names = [table.stored_name(field) for field in self._partitions]
        partitions = {field.name for field in self._partitions}
        self._data = [f.name for f in self.schema.fields if f.name not in partitions]

    @cached_property
    def indexed(self) -> list[FooterColumn]:
        """The columns with statistics."""
        return indexed_columns(self.table)

    def parted(
        self, columns: Mapping[str, pa.Array], num_rows: int
    ) -> Iterator[tuple[_Key, pa.RecordBatch]]:
        """Yield the rows of each partition, without their partition columns."""
        arrays = [
            with_names(columns[name], field.type)
            for name, field in zip(self._data, self.file_schema, strict=True)
        ]
        rows = pa.RecordBatch.from_arrays(arrays, schema=self.file_schema)
        if not self._partitions:
            yield (), rows
            return
        texts = [self._texts(columns[field.name], field) for field in self._partitions]
        keys = pa.table(texts, names=[str(number) for number in range(len(texts))])
        places = keys.append_column("row", pa.array(range(num_rows), pa.int64()))
        groups = places.group_by(keys.column_names).aggregate([("row", "list")])
        for group in groups.to_pylist():
            key = tuple(group[name] for name in keys.column_names)
            yield key, rows.take(pa.array(group["row_list"], pa.int64()))

    def _texts(self, values: pa.Array, field: StructField) -> pa.Array:
        """Return partition values as texts for the log."""
        encoded = values.dictionary_encode()
        texts = [partition_text(v, field.type) for v in plain_values(encoded.dictionary)]
        return pa.array(texts, pa.string()).take(encoded.indices)


class _OpenFile:
    """A file that grows in memory."""

    def __init__(self, schema: pa.Schema, target: WriteTarget) -> None:
        self._schema = schema
        self._max_rows = target.max_rows
        self._sink = pa.BufferOutputStream()
        self._writer = pq.ParquetWriter(
            self._sink,
            schema,
            compression=target.compression,
            store_schema=False,
            write_page_checksum=True,
        )
        self._waiting: list[pa.RecordBatch] = []
        self._waiting_bytes = 0
        self.num_rows = 0
        self.nans: set[str] = set()

    @property
    def is_full(self) -> bool:
        """Whether the next rows belong into another file."""
        is_long = self._max_rows is not None and self.num_rows >= self._max_rows
        return is_long or self._sink.tell() >= _FILE_BYTES

    def take(self, rows: pa.RecordBatch) -> None:
        """Add rows."""
        for name, values in zip(rows.schema.names, rows.columns, strict=True):
            if _has_nan(values):
                self.nans.add(name)
        self._waiting.append(rows)
        self._waiting_bytes += rows.nbytes
        self.num_rows += rows.num_rows
        if self._waiting_bytes >= _ROW_GROUP_BYTES:
            self._flush()

    def finish(self) -> bytes:
        """Return the complete file."""
        self._flush()
        self._writer.close()
        return bytes(self._sink.getvalue())

    def _flush(self) -> None:
        if self._waiting:
            self._writer.write_table(pa.Table.from_batches(self._waiting, self._schema))
        self._waiting, self._waiting_bytes = [], 0


def _has_nan(values: pa.Array) -> bool:
    if pa.types.is_struct(values.type):
        return any(_has_nan(child) for child in values.flatten())
    return pa.types.is_floating(values.type) and bool(pc.any(pc.is_nan(values)).as_py())


def _add(
    storage: Storage,
    target: WriteTarget,
    layout: _Layout,
    path: str,
    size: int,
    values: Mapping[str, str | None],
    nans: set[str],
) -> AddFile:
    footer = _without_bounds(read_footer(storage, path, layout.indexed), nans)
    stats = file_stats(
        footer,
        layout.indexed,
        prefix_length=layout.table.properties.data_skipping_string_prefix_length,
        tight_bounds=target.table.tight_bounds,
    )
    return AddFile(
        path=encode_path(path),
        partition_values=dict(values),
        size=size,
        modification_time=time.time_ns() // 1_000_000,
        data_change=target.data_change,
        stats=encode_stats(stats),
    )


def _without_bounds(footer: Footer, nans: set[str]) -> Footer:
    """Return the footer without bounds of columns with NaN, because Arrow's bounds ignore NaN."""
    bounds = {
        path: Bounds(None, None, found.nulls) if path[0] in nans else found
        for path, found in footer.bounds.items()
    }
    return footer._replace(bounds=bounds)
