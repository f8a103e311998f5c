"""The texts of file actions as typed columns of a checkpoint.

`add.stats` is JSON text and `add.partitionValues` has strings. A checkpoint may also have both as
structs of the table's own types (`stats_parsed`, `partitionValues_parsed`), so that
readers can skip files without parsing text. Columns have their physical names.

Whole columns are parsed at once. Only a batch in which some value does not fit its column, such as
the `"NaN"` of a double, is parsed row by row, and values that do not fit are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from operator import index
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from truckee.protocol.json_text import NOT_JSON
from truckee.protocol.partition_values import partition_arrow_type, typed_column
from truckee.protocol.schema import StructField
from truckee.protocol.stats import has_bounds, stats_columns
from truckee.protocol.table_configuration import TableConfiguration

_BATCH_ROWS = 16_384


def stats_type(table: TableConfiguration) -> pa.StructType:
    """Return the type of `stats_parsed` for this table.

    Bounds have the column's own type, if it has an order; null counts exist for every
    column with statistics.
    """
    bounds: dict[str, Any] = {}
    counts: dict[str, Any] = {}
    for chain in stats_columns(table.schema, table.partition_columns, table.properties):
        if has_bounds(chain.field.type):
            _insert(bounds, chain.physical_path, partition_arrow_type(chain.field.type))
        _insert(counts, chain.physical_path, pa.int64())
    fields = [pa.field("numRecords", pa.int64())]
    if bounds:
        fields += [pa.field(name, _struct(bounds)) for name in ("minValues", "maxValues")]
    if counts:
        fields.append(pa.field("nullCount", _struct(counts)))
    return pa.struct([*fields, pa.field("tightBounds", pa.bool_())])


def _insert(tree: dict[str, Any], path: Sequence[str], leaf: pa.DataType) -> None:
    *parents, name = path
    for parent in parents:
        tree = tree.setdefault(parent, {})
    tree[name] = leaf


def _struct(tree: Mapping[str, Any]) -> pa.StructType:
    return pa.struct(
        [
            pa.field(name, _struct(found) if isinstance(found, dict) else found)
            for name, found in tree.items()
        ]
    )


def parsed_stats(stats: pa.StringArray, data_type: pa.StructType) -> pa.StructArray:
    """Return statistics of type `stats_type`, null where there are none."""
    batches = [
        _parse_batch(stats.slice(start, _BATCH_ROWS), data_type)
        for start in range(0, len(stats), _BATCH_ROWS)
    ]
    return pa.concat_arrays(batches) if batches else pa.array([], data_type)


def _parse_batch(stats: pa.StringArray, data_type: pa.StructType) -> pa.StructArray:
    # Arrow's reader crashes on lines that are JSON but not an object.
    is_object = pc.fill_null(pc.match_substring_regex(stats, r"^\s*\{(?s:.*)\}\s*$"), False)
    lines = pc.replace_substring(pc.if_else(is_object, stats, "{}"), "\n", " ")
    text = _joined(lines)
    try:
        columns = pj.read_json(
            pa.BufferReader(text),
            read_options=pj.ReadOptions(block_size=text.size + 1, use_threads=False),
            parse_options=pj.ParseOptions(
                explicit_schema=pa.schema(list(_wire_type(data_type))),
                unexpected_field_behavior="ignore",
            ),
        )
        parsed = columns.to_struct_array().combine_chunks()
        if len(parsed) != len(stats):
            return _parse_rows(lines.to_pylist(), is_object, data_type)
        return _typed(parsed, data_type, is_object)
    except pa.ArrowInvalid:
        return _parse_rows(lines.to_pylist(), is_object, data_type)


def _joined(lines: pa.StringArray) -> pa.Buffer:
    whole = pa.ListArray.from_arrays(pa.array([0, len(lines)], pa.int32()), lines)
    return pc.binary_join(whole, "\n")[0].as_buffer()


def _wire_type(data_type: pa.DataType) -> pa.DataType:
    """Return the type to request from Arrow's JSON reader.

    It does not support dates, and reads a timestamp without a zone as UTC.
    """
    if pa.types.is_struct(data_type):
        return pa.struct([pa.field(f.name, _wire_type(f.type)) for f in data_type])
    return pa.string() if pa.types.is_temporal(data_type) else data_type


def _typed(column: pa.Array, data_type: pa.DataType, is_valid: pa.BooleanArray) -> pa.Array:
    if not pa.types.is_struct(data_type):
        return column.cast(data_type)
    children = [
        _typed(child, f.type, child.is_valid())
        for f, child in zip(data_type, column.flatten(), strict=True)
    ]
    mask = pc.invert(is_valid)
    return pa.StructArray.from_arrays(children, fields=list(data_type), mask=mask)


_decode_row = msgspec.json.Decoder(dict[str, Any], float_hook=Decimal).decode


def _parse_rows(
    lines: Sequence[str], is_object: pa.BooleanArray, data_type: pa.StructType
) -> pa.StructArray:
    rows = [
        _row(line) if valid else None
        for line, valid in zip(lines, is_object.to_pylist(), strict=True)
    ]
    return pa.array([_fitting(row, data_type) for row in rows], data_type)


def _row(line: str) -> dict[str, Any] | None:
    try:
        return _decode_row(line)
    except NOT_JSON:
        return None


def _fitting(value: Any, data_type: pa.DataType) -> Any:
    """Return the value in its column's type, None if it does not fit."""
    if value is None:
        return None
    if pa.types.is_struct(data_type):
        if not isinstance(value, dict):
            return None
        return {f.name: _fitting(value.get(f.name), f.type) for f in data_type}
    try:
        return pa.scalar(_converter(data_type)(value), data_type).as_py()
    except (ArithmeticError, TypeError, ValueError):
        return None


def _converter(data_type: pa.DataType) -> Callable[[Any], Any]:
    if pa.types.is_floating(data_type):
        return float
    if pa.types.is_integer(data_type):
        return index
    if pa.types.is_decimal(data_type):
        return Decimal
    if pa.types.is_date(data_type):
        return date.fromisoformat
    if pa.types.is_timestamp(data_type):
        return lambda value: pa.scalar(value, pa.string()).cast(data_type).as_py()
    return lambda value: value


def parsed_partition_values(values: pa.MapArray, columns: Sequence[StructField]) -> pa.StructArray:
    """Return partition values as a struct of typed columns."""
    typed = [
        typed_column(pc.map_lookup(values, column.physical_name, "first"), column.type)
        for column in columns
    ]
    fields = [
        pa.field(column.physical_name, partition_arrow_type(column.type)) for column in columns
    ]
    return pa.StructArray.from_arrays(typed, fields=fields)
