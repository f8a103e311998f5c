"""Rows of a DataFrame in the form that the corpus uses."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from functools import cache
from types import ModuleType
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import VariantVal

from corpus import corpus_root

# Python's datetime has no year before 1 or after 9999; the corpus writes such moments as numbers.
_FIRST_MICROS, _LAST_MICROS = -62135596800000000, 253402300799999999


@cache
def checker() -> ModuleType:
    """The corpus' own module that normalises and compares rows."""
    spec = importlib.util.spec_from_file_location("checker", corpus_root() / "checker.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def differences(frame: DataFrame, expected: dict[str, Any], entry: dict[str, Any]) -> list[str]:
    """Return how the rows of a DataFrame differ from the expected rows."""
    if "columns" not in entry:
        count = frame.count()
        return [] if count == entry["row_count"] else [f"{count} rows, not {entry['row_count']}"]
    types = checker().column_types(expected, entry)
    found: list[str] = checker().differences(entry, rows(frame, entry["columns"], types))
    return found


def rows(frame: DataFrame, columns: Sequence[str], types: Sequence[Any]) -> list[list[Any]]:
    """Return the rows, each value normalised by its Delta type."""
    if "variant" in types:
        return _rows_with_variants(frame, columns, types)
    table = frame.select(*[F.col(f"`{name.replace('`', '``')}`") for name in columns]).toArrow()
    values = [_cast(column, _countable(column.type)).to_pylist() for column in table.columns]
    return [
        [_normalised(value, kind) for value, kind in zip(row, types, strict=True)]
        for row in zip(*values, strict=True)
    ]


def _rows_with_variants(
    frame: DataFrame, columns: Sequence[str], types: Sequence[Any]
) -> list[list[Any]]:
    # PySpark's Arrow path fails on a null variant.
    def plain(value: Any) -> Any:
        if isinstance(value, VariantVal):
            return {"value": value.value, "metadata": value.metadata}
        if isinstance(value, dict):
            return {key: plain(inner) for key, inner in value.items()}
        return value

    return [
        [_normalised(plain(value), kind) for value, kind in zip(row, types, strict=True)]
        for row in frame.select(*columns).collect()
    ]


def _cast(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    return column if column.type == kind else column.cast(kind)


def _countable(kind: pa.DataType) -> pa.DataType:
    """Return the type with timestamps as microseconds, which Python can hold whatever they are."""
    if pa.types.is_timestamp(kind):
        return pa.int64()
    if pa.types.is_struct(kind):
        return pa.struct([(field.name, _countable(field.type)) for field in kind])
    if pa.types.is_map(kind):
        return pa.map_(_countable(kind.key_type), _countable(kind.item_type))
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_countable(kind.value_type)))
    return kind


def _normalised(value: Any, kind: Any) -> Any:
    is_moment = isinstance(value, int) and kind in ("timestamp", "timestamp_ntz")
    if is_moment and not _FIRST_MICROS <= value <= _LAST_MICROS:
        return f"micros:{value}"
    return checker().normalise(value, kind)
