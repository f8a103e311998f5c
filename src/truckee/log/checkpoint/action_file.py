"""Parquet files of actions: checkpoints and sidecars, read with the help of their footers.

Each kind of action is one nullable struct column; in each row exactly one is not null. Row groups
without the requested kind are skipped, and the rest is decoded in small batches.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from truckee.errors.log import CorruptLogFileError, LogFileNotFoundError
from truckee.log.files.log_files import is_remote
from truckee.storage.base import Storage

INT96_UNIT = "ms"
"""The unit in which INT96 is read; Spark writes moments in it, never local times."""

# Small enough that decoding a batch takes little memory beside the files that are kept.
_LEAST_BATCH_ROWS, _MOST_BATCH_ROWS = 4_096, 16_384


@contextmanager
def open_action_file(storage: Storage, path: str) -> Iterator[ActionFile]:
    """Open a Parquet file; `CorruptLogFileError` if it is broken.

    From a disk it is read page by page, which takes the least memory. Over a network the needed
    columns are fetched in few large requests. Timestamps in INT96, as Spark writes them, become
    milliseconds without a zone, a type that nothing else has: in nanoseconds, years after 2262
    would overflow.
    """
    is_far = is_remote(storage)
    try:
        with (
            storage.open_input(path) as source,
            pq.ParquetFile(
                source,
                pre_buffer=is_far,
                buffer_size=0 if is_far else 1 << 16,
                coerce_int96_timestamp_unit=INT96_UNIT,
            ) as parquet,
        ):
            yield ActionFile(parquet)
    except FileNotFoundError as error:
        raise LogFileNotFoundError(table=storage.root, path=path) from error
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        reason = str(error).partition("\n")[0]
        raise CorruptLogFileError(
            table=storage.root, path=path, reason=f"it is not a complete Parquet file ({reason})"
        ) from error


class ActionFile:
    """A Parquet file with one struct column for each kind of action, and its footer."""

    def __init__(self, parquet: pq.ParquetFile) -> None:
        self._parquet = parquet

    def children(self, kind: str) -> dict[str, pa.DataType]:
        """Return the fields of a kind of action; ArrowInvalid if its column is not a struct."""
        schema = self._parquet.schema_arrow
        if kind not in schema.names:
            return {}
        data_type = schema.field(kind).type
        if not pa.types.is_struct(data_type):
            raise pa.ArrowInvalid(f"its column {kind} is {data_type}, expected a struct")
        return {child.name: child.type for child in data_type}

    def groups(self, kind: str) -> list[int]:
        """Return the row groups that may have an action of that kind."""
        if not self.children(kind):
            return []
        return [group for group, counts in enumerate(self._counts) if _may_hold(counts, kind)]

    def bounds(self, path: str, group: int) -> tuple[Any, Any] | None:
        """Return the least and greatest value of a field of `add`, according to the footer.

        None if the footer has no bounds, or if an action in the group has no value there.
        """
        index = self._leaves.get(f"add.{path}")
        if index is None:
            return None
        column = self._parquet.metadata.row_group(group).column(index)
        paths = self._counts[group].get("add.path")
        if not column.is_stats_set or paths is None or paths.nulls is None:
            return None
        found = column.statistics
        if not found.has_null_count or found.null_count != paths.nulls or not found.has_min_max:
            return None
        try:
            return found.min, found.max
        except (ValueError, OverflowError):
            return None

    def batches(
        self, kind: str, columns: list[str], groups: list[int] | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Yield the given columns of row groups, by default of those that may have the kind."""
        groups = self.groups(kind) if groups is None else groups
        if not groups:
            return
        rows = self._parquet.metadata.num_rows // 16
        yield from self._parquet.iter_batches(
            min(max(rows, _LEAST_BATCH_ROWS), _MOST_BATCH_ROWS),
            row_groups=groups,
            columns=columns,
            # One thread is fast enough to open a table, and each further thread takes memory.
            use_threads=False,
        )

    def is_null_throughout(self, path: str) -> bool:
        """Return whether a field is null in every row, according to the footer."""
        leaves = [
            count
            for counts in self._counts
            for leaf, count in counts.items()
            if leaf == path or leaf.startswith(f"{path}.")
        ]
        return all(count.nulls == count.values for count in leaves)

    @cached_property
    def has_all_stats(self) -> bool:
        """Whether every file has its statistics as JSON, going by the footer alone."""
        return all(
            "add.stats" in counts and counts["add.stats"].nulls == counts["add.path"].nulls
            for counts in self._counts
        )

    @cached_property
    def _leaves(self) -> dict[str, int]:
        schema = self._parquet.schema
        return {schema.column(index).path: index for index in range(len(schema))}

    @cached_property
    def _counts(self) -> list[dict[str, _Count]]:
        """How often each leaf is null, by row group; not counted for typed columns."""
        metadata = self._parquet.metadata
        wanted = {index: path for path, index in self._leaves.items() if "_parsed" not in path}
        return [
            {path: _Count.of(metadata.row_group(group).column(i)) for i, path in wanted.items()}
            for group in range(metadata.num_row_groups)
        ]


class _Count(NamedTuple):
    """The values and nulls of a leaf in a row group; None if the footer has no count."""

    values: int
    nulls: int | None

    @classmethod
    def of(cls, column: pq.ColumnChunkMetaData) -> _Count:
        is_counted = column.is_stats_set and column.statistics.has_null_count
        return cls(column.num_values, column.statistics.null_count if is_counted else None)


def _may_hold(counts: dict[str, _Count], kind: str) -> bool:
    """Return whether a row group may hold an action of a kind, going by its direct fields."""
    fields = [count for leaf, count in counts.items() if re.fullmatch(rf"{kind}\.[^.]+", leaf)]
    return not fields or any(count.nulls != count.values for count in fields)
