"""Columns of type char(n) and varchar(n), which are strings with a declared length.

Spark stores both as strings and keeps the declared type in the metadata of the top-level column,
also for strings inside arrays, maps and structs. As in Spark, a text that is too long is an error
unless only trailing spaces are too much; these are cut off. char(n) is padded with spaces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.types import (
    ArrayType,
    CharType,
    DataType,
    MapType,
    StringType,
    StructField,
    StructType,
    VarcharType,
)

from truckee.protocol.column_metadata import CHAR_VARCHAR_KEY
from truckee.protocol.schema import StructType as TableSchema
from truckee.spark.jvm.projection import column
from truckee.spark.write.constraints import Rule, RuleKind

_Change: TypeAlias = Callable[[Column], Column]


def text_length_rules(schema: TableSchema) -> list[Rule]:
    """Return the rules that no text is longer than its column's declared length."""
    rules = []
    for name, text, declared in _declared(schema):
        holds = _fits(declared)
        if holds is not None:
            rules.append(Rule(RuleKind.TEXT_LENGTH, name, text, holds(column(name))))
    return rules


def with_declared_lengths(df: DataFrame, schema: TableSchema) -> DataFrame:
    """Return the rows with char(n) padded, and with excess trailing spaces cut off."""
    changes = {
        name: change(column(name))
        for name, _, declared in _declared(schema)
        if (change := _fitted(declared)) is not None
    }
    return df.withColumns(changes) if changes else df


def declared_field(field: StructField) -> StructField:
    """Return a char(n) or varchar(n) column as tables store it: a string with metadata."""
    plain = _as_strings(field.dataType)
    if plain == field.dataType:
        return field
    metadata = {**(field.metadata or {}), CHAR_VARCHAR_KEY: field.dataType.simpleString()}
    return StructField(field.name, plain, field.nullable, metadata)


def _as_strings(declared: DataType) -> DataType:
    match declared:
        case CharType() | VarcharType():
            return StringType()
        case ArrayType(elementType=element):
            return ArrayType(_as_strings(element), declared.containsNull)
        case MapType(keyType=key, valueType=value):
            return MapType(_as_strings(key), _as_strings(value), declared.valueContainsNull)
        case StructType(fields=fields):
            return StructType(
                [
                    StructField(f.name, _as_strings(f.dataType), f.nullable, f.metadata)
                    for f in fields
                ]
            )
    return declared


def _declared(schema: TableSchema) -> Iterator[tuple[str, str, DataType]]:
    for field in schema.fields:
        text = field.char_varchar_type
        if text is not None:
            yield field.name, text, DataType.fromDDL(text)


def _fits(declared: DataType) -> _Change | None:
    """Return whether a value fits its declared type, as a condition; None if any value does."""
    match declared:
        case CharType(length=length) | VarcharType(length=length):
            return lambda value: value.isNull() | (sf.length(sf.rtrim(value)) <= length)
        case ArrayType(elementType=element):
            return _all_fit(element, lambda value: value)
        case MapType(keyType=key, valueType=value_type):
            return _both(_all_fit(key, sf.map_keys), _all_fit(value_type, sf.map_values))
        case StructType(fields=fields):
            inner: _Change | None = None
            for field in fields:
                inner = _both(inner, _field_fits(field.name, _fits(field.dataType)))
            return inner
    return None


def _all_fit(element: DataType, elements: _Change) -> _Change | None:
    fits = _fits(element)
    if fits is None:
        return None
    return lambda value: value.isNull() | sf.forall(elements(value), fits)


def _field_fits(name: str, fits: _Change | None) -> _Change | None:
    return None if fits is None else lambda value: fits(value.getField(name))


def _both(left: _Change | None, right: _Change | None) -> _Change | None:
    if left is None or right is None:
        return left or right
    return lambda value: left(value) & right(value)


def _fitted(declared: DataType) -> _Change | None:
    """Return the conversion of a value to its declared type; None if it stays unchanged."""
    match declared:
        case CharType(length=length):
            return lambda value: sf.rpad(value, length, " ")
        case VarcharType(length=length):
            return lambda value: sf.substring(value, 1, length)
        case ArrayType(elementType=element):
            change = _fitted(element)
            return None if change is None else lambda value: sf.transform(value, change)
        case MapType(keyType=key, valueType=value_type):
            return _fitted_map(_fitted(key), _fitted(value_type))
        case StructType(fields=fields):
            changes = {f.name: c for f in fields if (c := _fitted(f.dataType)) is not None}
            return _fitted_struct(changes) if changes else None
    return None


def _fitted_map(key: _Change | None, value: _Change | None) -> _Change | None:
    def fit(given: Column) -> Column:
        if key is not None:
            given = sf.transform_keys(given, lambda k, _: key(k))
        if value is not None:
            given = sf.transform_values(given, lambda _, v: value(v))
        return given

    return None if key is None and value is None else fit


def _fitted_struct(changes: dict[str, _Change]) -> _Change:
    def fit(given: Column) -> Column:
        # A null struct has no fields to replace, and stays null.
        result = given
        for name, change in changes.items():
            result = result.withField(f"`{name}`", change(given.getField(name)))
        return result

    return fit
