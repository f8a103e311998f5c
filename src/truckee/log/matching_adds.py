"""Files of a large checkpoint that a filter wants, with as little of the rest read as possible.

A checkpoint of a million files takes seconds to decode, and most of its bytes are statistics. So
where files are wanted by a filter, three things are left out, one after the other:

1. row groups whose footers prove that no file in them is wanted: a row group is asked like a file
   whose statistics are those of all its files together;
2. of the others, at first all columns but those that the filter looks at;
3. what is left of a row group, if no file in it is wanted.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from truckee.log.checkpoint.action_file import ActionFile, open_action_file
from truckee.log.checkpoint.columns import typed_child
from truckee.log.checkpoint.compact import compact
from truckee.log.checkpoint.reader import Checkpoint, action_rows
from truckee.log.checkpoint.schema import FILES, file_rows
from truckee.log.replay import FileKey, live_paths, paths_of, rows_without
from truckee.protocol.actions import FileAction

_log = logging.getLogger(__name__)

LARGE_CHECKPOINT = 8 << 20
"""Bytes from which on a checkpoint, of about 100,000 files then, is not read as a whole."""

_KEY_COLUMNS = ("path", "deletion_vector")


class BoundedColumn(NamedTuple):
    """A column of the table that typed columns of a checkpoint may have bounds of.

    `path` are its physical names. `is_partition` says which of the two kinds of column it is.
    """

    path: tuple[str, ...]
    is_partition: bool


class FileFilter(Protocol):
    """Which files are wanted."""

    @property
    def columns(self) -> Sequence[str]:
        """The columns of `FILES` that `may_want` looks at."""

    @property
    def bounded(self) -> Sequence[BoundedColumn]:
        """The columns of the table whose bounds `may_want_any` looks at."""

    def may_want_any(self, stats: pa.StringArray) -> pa.BooleanArray:
        """Return for groups of files, by statistics that hold for all of a group, if any may be."""

    def may_want(self, files: pa.Table) -> pa.BooleanArray:
        """Return which files may be wanted, going by `columns` alone."""

    def wants(self, files: pa.Table) -> pa.BooleanArray:
        """Return which files are wanted."""


def matching_adds(
    checkpoint: Checkpoint, touched: Mapping[FileKey, FileAction], wanted: FileFilter
) -> Iterator[pa.RecordBatch]:
    """Yield the files of a checkpoint that were not touched since and may be wanted."""
    read = _Reading(touched, wanted, checkpoint.storage.root)
    if checkpoint.inline_adds:
        rows = file_rows(checkpoint.inline_adds)
        yield rows.filter(read.mask(rows))
    for path in checkpoint.parquet_files:
        with open_action_file(checkpoint.storage, path) as parquet:
            for group in _groups(parquet, wanted):
                yield from read.group(parquet, group)


class _Reading:
    """How the rows of a row group are read: first what the filter looks at, then the others."""

    def __init__(
        self, touched: Mapping[FileKey, FileAction], wanted: FileFilter, table: str
    ) -> None:
        self._touched = touched
        self._table = table
        self._paths, self._newer = paths_of(touched), live_paths(touched, table)
        self._wanted = wanted
        first = {*_KEY_COLUMNS, *wanted.columns}
        self._first = pa.schema([field for field in FILES if field.name in first])
        self._others = pa.schema([field for field in FILES if field.name not in first])

    def group(self, parquet: ActionFile, group: int) -> Iterator[pa.RecordBatch]:
        masks: list[pa.BooleanArray] = []
        kept: list[pa.RecordBatch] = []
        for batch in action_rows(parquet, "add", self._first, [group]):
            masks.append(self.mask(batch))
            kept.append(compact(batch.filter(masks[-1])))
        if not any(len(rows) for rows in kept):
            return
        others = action_rows(parquet, "add", self._others, [group])
        for rows, mask, batch in zip(kept, masks, others, strict=True):
            more = compact(batch.filter(mask))
            parts = (rows if name in rows.schema.names else more for name in FILES.names)
            yield pa.RecordBatch.from_arrays(
                [part.column(name) for part, name in zip(parts, FILES.names, strict=True)],
                schema=FILES,
            )

    def mask(self, batch: pa.RecordBatch) -> pa.BooleanArray:
        columns = pa.Table.from_batches([batch]).select(list(self._wanted.columns))
        mask = self._wanted.may_want(columns)
        if not self._touched:
            return mask
        untouched = rows_without(batch, self._touched, self._paths, self._newer, self._table)
        return mask if untouched is None else pc.and_(mask, untouched)


def _groups(parquet: ActionFile, wanted: FileFilter) -> list[int]:
    """Return the row groups in which a file may be wanted."""
    groups = parquet.groups("add")
    texts = [_bounds(parquet, group, wanted.bounded) for group in groups]
    if not any(text is not None for text in texts):
        return groups
    kept = wanted.may_want_any(typed_child(texts, pa.string())).to_pylist()
    _log.debug("%d of %d row groups of a checkpoint are read", sum(kept), len(groups))
    return [group for group, is_kept in zip(groups, kept, strict=True) if is_kept]


def _bounds(parquet: ActionFile, group: int, columns: Sequence[BoundedColumn]) -> str | None:
    """Return the bounds of columns in all files of a row group, as JSON like `add.stats`."""
    least: dict[str, Any] = {}
    greatest: dict[str, Any] = {}
    for column in columns:
        if column.is_partition:
            found = parquet.bounds(f"partitionValues_parsed.{column.path[0]}", group)
        else:
            name = ".".join(column.path)
            lower = parquet.bounds(f"stats_parsed.minValues.{name}", group)
            upper = parquet.bounds(f"stats_parsed.maxValues.{name}", group)
            found = None if lower is None or upper is None else (lower[0], upper[1])
        if found is not None:
            _put(least, column.path, found[0])
            _put(greatest, column.path, found[1])
    if not least:
        return None
    return msgspec.json.encode({"minValues": least, "maxValues": greatest}).decode()


def _put(tree: dict[str, Any], path: Sequence[str], value: Any) -> None:
    for name in path[:-1]:
        tree = tree.setdefault(name, {})
    tree[path[-1]] = value
