"""Rows in the order of a curve: from values of columns to the number of the file to write to.

    values  ->  ranges  ->  key on the curve  ->  number of the new file

The bounds of ranges and of files come from one sample of the rows, which only reads the columns in
question. Everything else is look-ups in short arrays, which Spark compiles into its plan.

Values are compared as simple types: whole numbers, dates and times as 64-bit integers, fractions as
doubles, texts by their first bytes. If two different values become equal, only the order of rows
gets a little less precise. Null is in the first range.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.internal import InternalFunction

from truckee.protocol.schema import DataType, DecimalType, PrimitiveType
from truckee.spark.jvm.projection import binary_search
from truckee.spark.read.relations import FILE, ROW
from truckee.spark.session.job_descriptions import job_description

SAMPLED_ROWS = 100_000
_SAMPLED_ROWS_PER_FILE = 100
_NOISE_BITS = 8
_NOISE_MASK = (1 << _NOISE_BITS) - 1
_TEXT_BYTES = 32


class CurveTables(NamedTuple):
    """A curve as tables to look up.

    `spread` has the bits of one column's number with gaps between them. `steps`, if there are any,
    consume `chunk` bits of the result at a time; see `Machine` in `care.curves`.
    """

    bits: int
    num_ranges: int
    spread: Sequence[int]
    chunk: int = 0
    steps: Sequence[int] = ()


class CurveColumn(NamedTuple):
    """One dimension of the curve."""

    column: Column
    type: DataType


def file_numbers(
    rows: DataFrame,
    columns: Sequence[CurveColumn],
    tables: CurveTables,
    *,
    num_files: int,
    num_rows: int | None,
) -> Column:
    """Return for each row the number of the file, below `num_files`, that it belongs in.

    `rows` are those of a scan with `FILE` and `ROW`. This runs one job, for the sample.
    """
    values = [_comparable(each) for each in columns]
    sample = _sample(rows, values, num_files=num_files, num_rows=num_rows)
    bounds = [_bounds(sample.column(index), tables.num_ranges) for index in range(len(columns))]
    cuts = _cuts(sample, bounds, tables, num_files)
    spark = rows.sparkSession
    key = _with_noise(query_key(spark, values, bounds, tables), F.xxhash64(F.col(FILE), F.col(ROW)))
    return _num_at_most(spark, cuts, key)


def _comparable(given: CurveColumn) -> Column:
    name = given.type.name if isinstance(given.type, PrimitiveType) else ""
    if isinstance(given.type, DecimalType) or name in ("float", "double"):
        return given.column.cast("double")
    if name == "date":
        return F.unix_date(given.column).cast("bigint")
    if name in ("timestamp", "timestamp_ntz"):
        return F.unix_micros(given.column.cast("timestamp"))
    if name in ("string", "binary"):
        return F.hex(F.substring(given.column.cast("binary"), 1, _TEXT_BYTES))
    return given.column.cast("bigint")


def _sample(
    rows: DataFrame, values: Sequence[Column], *, num_files: int, num_rows: int | None
) -> pa.Table:
    wanted = max(SAMPLED_ROWS, _SAMPLED_ROWS_PER_FILE * num_files)
    chosen = rows.select(*(value.alias(f"c{index}") for index, value in enumerate(values)))
    with job_description(rows.sparkSession, "sampling rows for the curve"):
        if num_rows is None:
            num_rows = rows.count()
        if num_rows > wanted:
            chosen = chosen.sample(fraction=wanted / num_rows, seed=7)
        return chosen.toArrow()


def _bounds(values: pa.ChunkedArray, num_ranges: int) -> list[Any]:
    """Return the values, in order and each once, at which a new range begins."""
    known = values.drop_null()
    if known.type == pa.float64():
        known = known.filter(pc.is_finite(known))
    ordered = known.combine_chunks().take(pc.sort_indices(known))
    places = sorted({len(ordered) * part // num_ranges for part in range(1, num_ranges)})
    found = ordered.take(pa.array([p for p in places if p < len(ordered)], pa.int64()))
    return sorted(set(found.to_pylist()))


def _cuts(
    sample: pa.Table, bounds: Sequence[list[Any]], tables: CurveTables, num_files: int
) -> list[int]:
    """Return the keys at which a new file begins, so that files get about as many rows each.

    The sample is small, and is in this process already. A query over local rows would be run
    without generated code, which took 20 s for 100,000 rows.
    """
    columns = [sample.column(index).to_pylist() for index in range(sample.num_columns)]
    ordered = sorted(
        sample_key(values, bounds, tables) << _NOISE_BITS | number & _NOISE_MASK
        for number, values in enumerate(zip(*columns, strict=True))
    )
    if not ordered:
        return []
    return [ordered[len(ordered) * part // num_files] for part in range(1, num_files)]


def sample_key(values: Sequence[Any], bounds: Sequence[list[Any]], tables: CurveTables) -> int:
    """Return where on the curve a row of the sample is; `query_key` is the same in a query."""
    last = len(values) - 1
    key = 0
    for index, (value, limits) in enumerate(zip(values, bounds, strict=True)):
        key |= tables.spread[_range_number(value, limits)] << (last - index)
    if not tables.steps:
        return key
    mask = (1 << tables.chunk) - 1
    found = step = 0
    for shift in range(len(values) * tables.bits - tables.chunk, -1, -tables.chunk):
        step = tables.steps[(step & ~mask) | (key >> shift & mask)]
        found = found << tables.chunk | step & mask
    return found


def _range_number(value: Any, limits: Sequence[Any]) -> int:
    if value is None:
        return 0
    # Spark sorts NaN after all other numbers.
    return len(limits) if value != value else bisect_right(limits, value)


def query_key(
    spark: SparkSession,
    values: Sequence[Column],
    bounds: Sequence[list[Any]],
    tables: CurveTables,
) -> Column:
    """Return where on the curve a row is."""
    spread = _array(tables.spread)
    last = len(values) - 1
    key = F.lit(0).cast("bigint")
    for index, (value, limits) in enumerate(zip(values, bounds, strict=True)):
        number = F.coalesce(_num_at_most(spark, limits, value), F.lit(0))
        key = key.bitwiseOR(F.shiftleft(F.get(spread, number), last - index))
    return key if not tables.steps else _stepped(key, tables, len(values) * tables.bits)


def _stepped(key: Column, tables: CurveTables, num_bits: int) -> Column:
    steps, mask = _array(tables.steps), (1 << tables.chunk) - 1
    found = F.lit(0).cast("bigint")
    step = F.lit(0).cast("bigint")
    for shift in range(num_bits - tables.chunk, -1, -tables.chunk):
        state = F.shiftleft(F.shiftright(step, tables.chunk), tables.chunk)
        bits = F.shiftright(key, shift).bitwiseAND(F.lit(mask))
        step = F.get(steps, state.bitwiseOR(bits).cast("int"))
        found = F.shiftleft(found, tables.chunk).bitwiseOR(step.bitwiseAND(F.lit(mask)))
    return found


def _with_noise(key: Column, noise: Column) -> Column:
    """Return keys with noise added, so that rows with equal keys can go to several files."""
    low = noise.bitwiseAND(F.lit(_NOISE_MASK))
    return F.shiftleft(key, _NOISE_BITS).bitwiseOR(low)


def _num_at_most(spark: SparkSession, limits: Sequence[Any], value: Column) -> Column:
    """Return how many of the sorted limits are less than or equal to a value."""
    if not limits:
        return F.when(value.isNotNull(), F.lit(0))
    if len(set(limits)) < len(limits):
        # A binary search among equal values may end at any of them.
        distinct = sorted(set(limits))
        positions = [bisect_right(limits, limit) for limit in distinct]
        return F.get(_array([0, *positions]), _num_at_most(spark, distinct, value)).cast("int")
    if isinstance(limits[0], str):
        found = InternalFunction.array_binary_search(_array(limits), value)
    else:
        found = binary_search(spark, limits, value)
    return F.when(found >= 0, found + 1).otherwise(-found - 1)


def _array(values: Sequence[Any]) -> Column:
    """Return an array as one literal, however many values there are."""
    kind = {int: "bigint", float: "double"}.get(type(values[0]), "string")
    return F.split(F.lit(",".join(map(str, values))), ",").cast(f"array<{kind}>")
