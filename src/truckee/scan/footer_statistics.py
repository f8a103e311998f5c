"""The statistics of data files, from their Parquet footers.

A footer has, for each column of each row group, the number of nulls and the least and greatest
value. A table's statistics need nothing else, so no row is read a second time:

| in the footer                       | in the statistics                                       |
|-------------------------------------|---------------------------------------------------------|
| numbers, text, dates, timestamps    | minValues, maxValues, nullCount                         |
| boolean, binary, variant            | nullCount                                               |
| NaN or infinity as a bound          | that bound is left out: not every reader can parse it   |
| no bounds (long text, all null)     | these bounds are left out                               |
| elements of arrays and maps         | nullCount 0 if there is no null at all, else left out   |

If something is left out, a reader only has to read the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime, timedelta, timezone
from math import isfinite
from typing import Any, NamedTuple, Protocol

import pyarrow.parquet as pq

from truckee.protocol.schema import (
    ArrayType,
    DataType,
    DecimalType,
    MapType,
    PrimitiveType,
    StructType,
)
from truckee.protocol.stats import (
    FileStats,
    has_bounds,
    lower_bound,
    stats_columns,
    upper_bound,
)
from truckee.protocol.table_configuration import TableConfiguration
from truckee.storage.base import Storage

_READERS = 16
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - the zone is put on where there is one
_EPOCH_DAY = date(1970, 1, 1)

LeafPath = tuple[str, ...]


class Bounds(NamedTuple):
    """The nulls and bounds of one column of a file; None for what the footer does not have."""

    least: Any
    greatest: Any
    nulls: int | None


class ChunkStatistics(Protocol):
    """The statistics of one column of one row group, like pyarrow's `Statistics`.

    `min_raw` and `max_raw` are numbers as they are stored, and the bytes of strings; `min` and
    `max` are used for decimals.
    """

    @property
    def has_null_count(self) -> bool: ...  # noqa: D102
    @property
    def null_count(self) -> int: ...  # noqa: D102
    @property
    def num_values(self) -> int: ...  # noqa: D102
    @property
    def has_min_max(self) -> bool: ...  # noqa: D102
    @property
    def min_raw(self) -> Any: ...  # noqa: D102
    @property
    def max_raw(self) -> Any: ...  # noqa: D102
    @property
    def min(self) -> Any: ...  # noqa: D102
    @property
    def max(self) -> Any: ...  # noqa: D102


class FooterColumn(NamedTuple):
    """A column of a table and where its values are in a file.

    `first` and `last` number the columns of the file; they differ for arrays and maps of structs,
    and for variants.
    """

    path: LeafPath
    type: DataType
    first: int
    last: int


class Footer(NamedTuple):
    """The footer of one file."""

    num_rows: int
    bounds: Mapping[LeafPath, Bounds]


def read_footers(
    storage: Storage, paths: Sequence[str], columns: Sequence[FooterColumn]
) -> list[Footer]:
    """Return the footers of files that all have the same schema, in the order of `paths`."""
    if not paths:
        return []
    with ThreadPoolExecutor(min(_READERS, len(paths))) as readers:
        return list(readers.map(lambda path: read_footer(storage, path, columns), paths))


def read_footer(storage: Storage, path: str, columns: Sequence[FooterColumn]) -> Footer:
    """Return the footer of one file, with the bounds of these columns."""
    with storage.open_input(path) as file:
        metadata = pq.read_metadata(file)
    groups = [metadata.row_group(index) for index in range(metadata.num_row_groups)]
    held = [group for group in groups if group.num_rows]
    return Footer(
        metadata.num_rows,
        {
            column.path: column_bounds(
                column,
                [
                    [group.column(leaf).statistics for leaf in range(column.first, column.last + 1)]
                    for group in held
                ],
            )
            for column in columns
        },
    )


def footer_columns(schema: StructType) -> dict[LeafPath, FooterColumn]:
    """Return where the columns of a table are in files written with exactly this schema.

    Keys are the physical paths of all leaves. The columns of a Parquet file are the leaves of its
    schema, in order: with a struct s(x, y) and an array of structs (p, q), they are s.x, s.y,
    p and q; the last two belong to the array.
    """
    found: dict[LeafPath, FooterColumn] = {}
    position = 0
    for field_path, data_type in _leaves(schema, ()):
        width = _width(data_type)
        found[field_path] = FooterColumn(field_path, data_type, position, position + width - 1)
        position += width
    return found


def _leaves(schema: StructType, above: LeafPath) -> Iterable[tuple[LeafPath, DataType]]:
    for field in schema.fields:
        path = (*above, field.physical_name)
        if isinstance(field.type, StructType):
            yield from _leaves(field.type, path)
        else:
            yield path, field.type


def _width(data_type: DataType) -> int:
    match data_type:
        case StructType(fields):
            return sum(_width(field.type) for field in fields)
        case ArrayType(element_type):
            return _width(element_type)
        case MapType(key_type, value_type):
            return _width(key_type) + _width(value_type)
        case PrimitiveType("variant"):
            return 2  # `value` and `metadata`, which are null together
        case _:
            return 1


def indexed_columns(table: TableConfiguration) -> list[FooterColumn]:
    """Return the columns for which a table collects statistics, with their place in data files."""
    partitions = {name.casefold() for name in table.partition_columns}
    data = StructType(tuple(f for f in table.schema.fields if f.name.casefold() not in partitions))
    positions = footer_columns(data)
    wanted = stats_columns(table.schema, table.partition_columns, table.properties)
    return [positions[chain.physical_path] for chain in wanted]


def column_bounds(
    column: FooterColumn, chunks: Sequence[Sequence[ChunkStatistics | None]]
) -> Bounds:
    """Return the nulls and bounds of a column of a file.

    `chunks` has, for each row group with a row, the statistics of the leaves of the column.
    """
    if isinstance(column.type, ArrayType | MapType):
        return Bounds(None, None, _nulls_of_collection(chunks))
    parts = [leaves[0] for leaves in chunks if leaves[0] is not None]
    if len(parts) < len(chunks):
        return Bounds(None, None, None)
    counted = all(part.has_null_count for part in parts)
    nulls = sum(part.null_count for part in parts) if counted else None
    # A row group of only nulls has no bounds, and needs none.
    held = [part for part in parts if part.has_min_max or part.num_values > 0]
    if not held or not has_bounds(column.type) or not all(part.has_min_max for part in held):
        return Bounds(None, None, nulls)
    read = _decimal if isinstance(column.type, DecimalType) else _raw
    least = [_value(read(part, "min"), column.type) for part in held]
    greatest = [_value(read(part, "max"), column.type) for part in held]
    return Bounds(
        None if None in least else min(least), None if None in greatest else max(greatest), nulls
    )


def _nulls_of_collection(chunks: Sequence[Sequence[ChunkStatistics | None]]) -> int | None:
    """Return 0 if no entry is missing, so no array is null; None if there may be null arrays.

    A footer counts null arrays, empty arrays and null elements all alike.
    """
    for part in (part for leaves in chunks for part in leaves):
        if part is None or not part.has_null_count or part.null_count:
            return None
    return 0


def _raw(part: ChunkStatistics, which: str) -> Any:
    return getattr(part, f"{which}_raw")


def _decimal(part: ChunkStatistics, which: str) -> Any:
    return getattr(part, which)


def _value(raw: Any, data_type: DataType) -> Any:
    """Return a bound as a value of its type, None if Python or JSON cannot represent it."""
    name = "" if isinstance(data_type, DecimalType) else getattr(data_type, "name", "")
    try:
        match name:
            case "string":
                return raw.decode()
            case "float" | "double":
                return raw if isfinite(raw) else None
            case "date":
                return _EPOCH_DAY + timedelta(days=raw)
            case "timestamp":
                return (_EPOCH + timedelta(microseconds=raw)).replace(tzinfo=timezone.utc)
            case "timestamp_ntz":
                return _EPOCH + timedelta(microseconds=raw)
    except (UnicodeDecodeError, OverflowError):
        return None
    return raw


def file_stats(
    footer: Footer,
    columns: Iterable[FooterColumn],
    *,
    prefix_length: int,
    tight_bounds: bool | None,
) -> FileStats:
    """Return the statistics of a file for its `add`."""
    least: dict[str, Any] = {}
    greatest: dict[str, Any] = {}
    nulls: dict[str, Any] = {}
    for column in columns:
        found = footer.bounds[column.path]
        low = lower_bound(found.least, column.type, prefix_length=prefix_length)
        high = upper_bound(found.greatest, column.type, prefix_length=prefix_length)
        _put(least, column.path, low)
        _put(greatest, column.path, high)
        _put(nulls, column.path, found.nulls)
    return FileStats(
        num_records=footer.num_rows,
        min_values=least,
        max_values=greatest,
        null_count=nulls,
        tight_bounds=tight_bounds,
    )


def _put(nested: dict[str, Any], path: LeafPath, value: Any) -> None:
    if value is None:
        return
    for name in path[:-1]:
        nested = nested.setdefault(name, {})
    nested[path[-1]] = value
