"""The schema that a table has after a write: pure.

Columns are matched by name, ignoring case, at every depth. A table's column keeps its type, and
values are cast to it as in SQL's INSERT: any number to any number type, any simple type to text,
dates and timestamps to one another, any simple type and arrays of them to variant and back. A
DataFrame that is written by path must not lose anything by it: no fraction, no time of day, no
type. A stream may also write text that is to be parsed as a number, a
date or a timestamp; a text that is none is an error. Columns that only the data has are added if
that was requested, at the end of their struct.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf
from typing import Any

from msgspec.structs import replace

from truckee.commands.schema.edits import recorded
from truckee.errors.commands.write import (
    ColumnDifference,
    MissingNotNullColumnError,
    SchemaMismatchError,
    TypeMismatchError,
)
from truckee.options.text import did_you_mean
from truckee.protocol.column_metadata import (
    CHAR_VARCHAR_KEY,
    CURRENT_DEFAULT_KEY,
    GENERATION_EXPRESSION_KEY,
    IDENTITY_STEP_KEY,
    PARQUET_FIELD_ID_KEY,
)
from truckee.protocol.schema import (
    VOID,
    ArrayType,
    DataType,
    DecimalType,
    MapType,
    PrimitiveType,
    StructField,
    StructType,
    UserDefinedType,
    type_text,
)
from truckee.protocol.schema_compatibility import is_wider

_NUMBERS = frozenset({"byte", "short", "integer", "long", "float", "double"})
DATES = frozenset({"date", "timestamp", "timestamp_ntz"})
"""Types of points in time."""
_SIMPLE = _NUMBERS | DATES | {"string", "boolean", "binary"}
_INTEGERS = ("byte", "short", "integer", "long")
# Metadata that other tables, or Spark itself, put on columns; it is not written to this table.
_FOREIGN_KEYS = (
    "delta.",
    "__",
    CURRENT_DEFAULT_KEY,
    "EXISTS_DEFAULT",
    PARQUET_FIELD_ID_KEY,
    "spark.",
)


def stored_schema(data: StructType, *, has_defaults: bool = False) -> StructType:
    """Return the schema of a table that is created from data: everything may be null.

    Defaults of the data's columns are kept if the table `has_defaults`.
    """
    schema = StructType(tuple(_stored_field(field) for field in data.fields))
    if not has_defaults:
        return schema
    kept = (
        {k: v for k, v in field.metadata.items() if k == CURRENT_DEFAULT_KEY}
        for field in data.fields
    )
    return StructType(
        tuple(
            replace(field, metadata={**field.metadata, **default})
            for field, default in zip(schema.fields, kept, strict=True)
        )
    )


def _stored_field(field: StructField) -> StructField:
    return StructField(field.name, _stored_type(field.type), True, _own_metadata(field.metadata))


def _own_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: value
        for key, value in metadata.items()
        if key == CHAR_VARCHAR_KEY or not key.startswith(_FOREIGN_KEYS)
    }


def _stored_type(data_type: DataType) -> DataType:
    match data_type:
        case StructType():
            return stored_schema(data_type)
        case ArrayType(element_type):
            return ArrayType(_stored_type(element_type))
        case MapType(key_type, value_type):
            return MapType(_stored_type(key_type), _stored_type(value_type))
        case UserDefinedType(sql_type):
            return _stored_type(sql_type)
        case _:
            return data_type


def merged_schema(
    table: StructType,
    data: StructType,
    *,
    add_columns: bool,
    name: str,
    widening: bool = False,
    cuts_off: bool = True,
    parses_text: bool = False,
    is_overwrite: bool = False,
) -> StructType:
    """Return the schema of a table after data was written to it.

    Raises SchemaMismatchError, which shows all differences at once, unless the data fits; the error
    calls the table `name`. The data may lack columns, except those that are NOT NULL and have no
    default or generated value. With `widening` (the table has type widening on), columns may also
    become wider, as from int to bigint. Unless the write `cuts_off`, types are refused whose
    fractions or times of day the table's type does not have. If it `parses_text`, columns of text
    fit those that `is_parsed` names. `is_overwrite` says what to hint at.
    """
    merge = _Merge(
        add_columns,
        widening=widening and add_columns,
        cuts_off=cuts_off,
        parses_text=parses_text,
    )
    result = merge.structs(table, data, ())
    if merge.differences:
        kind = TypeMismatchError if merge.has_other_types() else SchemaMismatchError
        raise kind(table=name, differences=tuple(merge.differences), hint=merge.hint(is_overwrite))
    for field in _missing(table, data):
        if not field.nullable and not has_own_value(field):
            raise MissingNotNullColumnError(table=name, column=field.name)
    return result


def grown_schema(table: StructType, data: StructType, *, widening: bool) -> StructType:
    """Return a table's schema with the columns and fields that only the data has.

    With `widening`, columns become wider too; other types stay as they are in the table.
    """
    return _Merge(True, widening=widening, cuts_off=True).structs(table, data, ())


def _missing(table: StructType, data: StructType) -> Iterator[StructField]:
    given = {field.name.casefold() for field in data.fields}
    return (field for field in table.fields if field.name.casefold() not in given)


def has_own_value(field: StructField) -> bool:
    """Return whether a column that the data lacks gets another value than null."""
    keys = (IDENTITY_STEP_KEY, GENERATION_EXPRESSION_KEY, CURRENT_DEFAULT_KEY)
    return any(key in field.metadata for key in keys)


class _Merge:
    """One merge of schemas, and the differences found in it."""

    def __init__(
        self, add_columns: bool, *, widening: bool, cuts_off: bool, parses_text: bool = False
    ) -> None:
        self._add_columns = add_columns
        self._parses_text = parses_text
        self._widening = widening
        self._cuts_off = cuts_off
        self.differences: list[ColumnDifference] = []

    def structs(self, table: StructType, data: StructType, path: tuple[str, ...]) -> StructType:
        given = {field.name.casefold(): field for field in data.fields}
        known = {field.name.casefold() for field in table.fields}
        kept = [self._field(f, given.get(f.name.casefold()), path) for f in table.fields]
        new = [field for field in data.fields if field.name.casefold() not in known]
        if not self._add_columns:
            lacking = [f.name for f in table.fields if f.name.casefold() not in given]
            for field in new:
                problem = f"not in the table{did_you_mean(field.name, lacking)}"
                self._differ((*path, field.name), None, field.type, problem)
            new = []
        return StructType((*kept, *(_stored_field(field) for field in new)))

    def _field(
        self, table: StructField, data: StructField | None, path: tuple[str, ...]
    ) -> StructField:
        if data is None:
            return table
        new = self._type(table.type, data.type, (*path, table.name))
        return recorded(table, new) if self._widening else replace(table, type=new)

    def _type(self, table: DataType, data: DataType, path: tuple[str, ...]) -> DataType:
        match table, data:
            case UserDefinedType(sql_type), _:
                self._type(sql_type, data, path)
                return table
            case _, UserDefinedType(sql_type):
                return self._type(table, sql_type, path)
            case StructType(), StructType():
                return self.structs(table, data, path)
            case ArrayType(), ArrayType():
                element = (*path, "element")
                inner = self._type(table.element_type, data.element_type, element)
                return replace(table, element_type=inner)
            case MapType(), MapType():
                key = self._type(table.key_type, data.key_type, (*path, "key"))
                value = self._type(table.value_type, data.value_type, (*path, "value"))
                return replace(table, key_type=key, value_type=value)
        if table == VOID and self._add_columns:
            return _stored_type(data)
        if self._parses_text and len(path) == 1 and is_parsed(data, table):
            return table
        if self._widening and table != data and is_wider(table, data):
            return data
        is_refused = _is_cut_off(data, table) and not self._cuts_off
        # Inside of structs and arrays, Spark casts nothing to variant.
        is_refused = is_refused or (len(path) > 1 and _is_variant_cast(data, table))
        if is_refused or not can_store(data, table):
            self._differ(path, table, data, "types differ")
        return table

    def _differ(
        self, path: tuple[str, ...], table: DataType | None, data: DataType, problem: str
    ) -> None:
        in_table = None if table is None else type_text(table)
        difference = ColumnDifference(".".join(path), in_table, type_text(data), problem)
        self.differences.append(difference)

    def has_other_types(self) -> bool:
        """Return whether a column of the table has another type in the data."""
        return any(difference.in_table is not None for difference in self.differences)

    def hint(self, is_overwrite: bool) -> str:
        """Return a hint that would allow the write."""
        hints = []
        if self.has_other_types():
            hints.append(
                "cast the columns whose types differ, or replace the table and its schema with "
                'mode("overwrite") and option("overwriteSchema", "true")'
            )
        if any(difference.in_table is None for difference in self.differences):
            hint = 'add the columns that are not in the table with option("mergeSchema", "true")'
            if is_overwrite and not hints:
                hint += ', or replace all columns with option("overwriteSchema", "true")'
            hints.append(hint)
        return "; ".join(hints)


def lacks_fields(data: DataType, table: DataType) -> bool:
    """Return whether a struct of the table, at any depth, has fields that the data's lacks."""
    match table, data:
        case StructType(), StructType():
            given = {field.name.casefold(): field for field in data.fields}
            return any(
                (found := given.get(field.name.casefold())) is None
                or lacks_fields(found.type, field.type)
                for field in table.fields
            )
        case ArrayType(), ArrayType():
            return lacks_fields(data.element_type, table.element_type)
        case MapType(), MapType():
            return lacks_fields(data.key_type, table.key_type) or lacks_fields(
                data.value_type, table.value_type
            )
    return False


def can_store(data: DataType, table: DataType) -> bool:
    """Return whether SQL's INSERT would cast values of one simple type to another."""
    if data in (table, VOID):
        return True
    source, target = _name(data), _name(table)
    if target == "variant":
        return _becomes_variant(data)
    if source == "variant":
        return _becomes_variant(table)
    if target == "string":
        return source in _SIMPLE or isinstance(data, DecimalType)
    if source in DATES:
        return target in DATES
    return is_number(data) and is_number(table)


def _becomes_variant(data_type: DataType) -> bool:
    """Return whether Spark casts a type to variant, and back: simple ones, and arrays of them."""
    if isinstance(data_type, ArrayType):
        return _becomes_variant(data_type.element_type)
    return _name(data_type) in (*_SIMPLE, "variant") or isinstance(data_type, DecimalType)


def is_parsed(data: DataType, table: DataType) -> bool:
    """Return whether a stream parses values of one type, which is text, as values of another."""
    is_target = is_number(table) or _name(table) in (*DATES, "binary")
    return _name(data) == "string" and is_target


def _is_cut_off(data: DataType, table: DataType) -> bool:
    """Return whether a cast would drop fractions, times of day or types without an error."""
    if _is_variant_cast(data, table):
        return True
    if _name(table) == "date":
        return _name(data) in DATES and data != table
    return is_number(data) and is_number(table) and _decimals(data) > _decimals(table)


def _is_variant_cast(data: DataType, table: DataType) -> bool:
    return "variant" in (_name(data), _name(table)) and data not in (table, VOID)


def _decimals(data_type: DataType) -> float:
    """Return how many decimal places the numbers of a type may have."""
    if isinstance(data_type, DecimalType):
        return data_type.scale
    return 0 if _name(data_type) in _INTEGERS else inf


def _name(data_type: DataType) -> str:
    return data_type.name if isinstance(data_type, PrimitiveType) else ""


def is_number(data_type: DataType) -> bool:
    """Return whether a type is that of numbers."""
    return isinstance(data_type, DecimalType) or _name(data_type) in _NUMBERS
