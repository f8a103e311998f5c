"""Skips row groups without a row that matches a predicate, by the footer of their file.

The statistics of a row group get the form of a file's statistics, and are used in the same way.
Parquet's bounds ignore NaN, which is greater than all numbers, so floats have no upper bound.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from truckee.arrow.columns import as_type, columns_in_file
from truckee.arrow.file_columns import TableRead
from truckee.protocol.predicates import Predicate, negation_normal_form, references
from truckee.protocol.schema import DataType, DecimalType, FieldChain, PrimitiveType, find_column
from truckee.scan.file_statistics import ColumnStatistics
from truckee.scan.pruning import kept_by_statistics

_COUNTED = frozenset({"byte", "short", "integer", "long", "date", "timestamp", "timestamp_ntz"})


def kept_row_groups(
    file: pq.ParquetFile, read: TableRead, predicate: Predicate, numbers: Sequence[int]
) -> Sequence[int]:
    """Return the row groups that may have a row that matches the predicate."""
    chains = list(_data_columns(read, predicate))
    found = {chain.path: _statistics(file, read, chain, numbers) for chain in chains}
    statistics = {path: of for path, of in found.items() if of is not None}
    if not statistics:
        return numbers
    kept = kept_by_statistics(predicate, read.schema, statistics, len(numbers))
    return [number for number, is_kept in zip(numbers, kept.to_pylist(), strict=True) if is_kept]


def _data_columns(read: TableRead, predicate: Predicate) -> Iterator[FieldChain]:
    partitions = {name.casefold() for name in read.table.partition_columns}
    for column in references(negation_normal_form(predicate)):
        chain = find_column(read.schema, column.path)
        if chain is not None and chain.path[0].casefold() not in partitions:
            yield chain


def _statistics(
    file: pq.ParquetFile, read: TableRead, chain: FieldChain, numbers: Sequence[int]
) -> ColumnStatistics | None:
    """Return the statistics of one column in row groups, None if the file has none to use."""
    place = _place(file, chain, read.table.column_mapping_mode)
    if place is None:
        return None
    index, in_file = place
    groups = [file.metadata.row_group(number) for number in numbers]
    try:
        found = [group.column(index).statistics for group in groups]
        bounds = [_bounds(each) for each in found]
        lower = _comparable([low for low, _ in bounds], in_file, chain.field.type)
        upper = _comparable([high for _, high in bounds], in_file, chain.field.type)
    except (ValueError, OverflowError, TypeError, pa.ArrowException):
        return None
    if lower is None or upper is None:
        return None
    if pa.types.is_floating(upper.type):
        upper = pa.nulls(len(numbers), upper.type)
    nulls = [
        each.null_count if each is not None and each.has_null_count else None for each in found
    ]
    counts = [group.num_rows for group in groups]
    return ColumnStatistics(lower, upper, pa.array(nulls, pa.int64()), pa.array(counts, pa.int64()))


def _bounds(statistics: Any) -> tuple[Any, Any]:
    if statistics is None or not statistics.has_min_max:
        return None, None
    return statistics.min, statistics.max


def _comparable(values: list[Any], in_file: pa.DataType, of: DataType) -> pa.Array | None:
    """Return bounds in the form of `file_statistics`, None for other types."""
    typed = as_type(pa.array(values, in_file), of, "none")
    match of:
        case DecimalType(_, scale):
            return typed.cast(pa.decimal256(76, scale))
        case PrimitiveType("string" | "float" | "double"):
            return typed
        case PrimitiveType("boolean"):
            return typed.cast(pa.int64())
        case PrimitiveType("date"):
            return typed.cast(pa.int32()).cast(pa.int64())
        case PrimitiveType(name) if name in _COUNTED:
            return typed.cast(pa.int64())
    return None


def _place(file: pq.ParquetFile, chain: FieldChain, mode: str) -> tuple[int, pa.DataType] | None:
    """Return the index of a column among the leaves of a file, and its type there."""
    fields: Any = file.schema_arrow
    names: list[str] = []
    for field in chain.fields:
        (place,) = columns_in_file(fields, [field], mode)
        if place is None:
            return None
        found = fields.field(place)
        names.append(found.name)
        fields = found.type
        if field is not chain.field and not pa.types.is_struct(fields):
            return None
    leaves = _leaves(file)
    index = leaves.get(".".join(names))
    return None if index is None else (index, fields)


def _leaves(file: pq.ParquetFile) -> Mapping[str, int]:
    """Return the leaf columns by their dotted path, without those whose paths are equal."""
    paths = [file.schema.column(index).path for index in range(len(file.schema))]
    counts = Counter(paths)
    return {path: index for index, path in enumerate(paths) if counts[path] == 1}
