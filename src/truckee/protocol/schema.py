"""A table's schema as a small type tree, and its JSON text (`metaData.schemaString`).

The text is the one that Spark writes: keys in Spark's order, no spaces. A primitive type keeps its
name, even an unknown one, so that a schema from a newer writer can still be shown and copied; the
engine reports that it cannot read such a column.

With column mapping a column has two names: the logical one, which users see, and the physical one,
which data files, statistics and partition values use.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from truckee.errors.protocol import DuplicateColumnsError, InvalidSchemaError
from truckee.protocol.column_metadata import (
    CHAR_VARCHAR_KEY,
    COLUMN_ID_KEY,
    PARQUET_FIELD_ID_KEY,
    PHYSICAL_NAME_KEY,
    TYPE_CHANGES_KEY,
)
from truckee.protocol.json_text import NOT_JSON


class PrimitiveType(Struct, frozen=True):
    """A type without parameters: `long`, `string`, `timestamp_ntz`, `variant`, `void`."""

    name: str


class DecimalType(Struct, frozen=True):
    """A decimal number of `precision` digits, `scale` of them after the point."""

    precision: int
    scale: int

    @property
    def name(self) -> str:
        """The type as the JSON text spells it."""
        return f"decimal({self.precision},{self.scale})"


class ArrayType(Struct, frozen=True):
    """A list of elements of one type."""

    element_type: DataType
    contains_null: bool = True


class MapType(Struct, frozen=True):
    """Values by key. Keys are never null."""

    key_type: DataType
    value_type: DataType
    value_contains_null: bool = True


class UserDefinedType(Struct, frozen=True):
    """A class of a programming language on top of `sql_type`, which data files store."""

    sql_type: DataType
    definition: Mapping[str, Any]


class StructField(Struct, frozen=True):
    """One column of a struct, with the metadata that writers have attached to it."""

    name: str
    type: DataType
    nullable: bool = True
    metadata: Mapping[str, Any] = {}

    @property
    def physical_name(self) -> str:
        """The name in data files: the one from column mapping, else the logical name."""
        name = self.metadata.get(PHYSICAL_NAME_KEY)
        return name if isinstance(name, str) else self.name

    @property
    def column_id(self) -> int | None:
        """The id that column mapping gave this column, which Parquet files contain too."""
        column_id = self.metadata.get(COLUMN_ID_KEY)
        return column_id if isinstance(column_id, int) else None

    @property
    def char_varchar_type(self) -> str | None:
        """The declared `char(n)` or `varchar(n)` of a string column (or of strings within)."""
        declared = self.metadata.get(CHAR_VARCHAR_KEY)
        return declared if isinstance(declared, str) else None

    @property
    def type_changes(self) -> Sequence[Mapping[str, Any]]:
        """What became wider, oldest first; `InvalidSchemaError` if the record is malformed."""
        changes = self.metadata.get(TYPE_CHANGES_KEY) or ()
        if not isinstance(changes, list | tuple) or not all(isinstance(c, dict) for c in changes):
            why = f"{TYPE_CHANGES_KEY} of the column {self.name} is not a list of objects"
            raise InvalidSchemaError(text=str(changes), why=why)
        return changes


class StructType(Struct, frozen=True, dict=True):
    """Named columns in order; the schema of a table is one of these."""

    fields: tuple[StructField, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The logical names, in order."""
        return tuple(field.name for field in self.fields)

    def field(self, name: str) -> StructField | None:
        """Return the column of this name: an exact match first, else ignoring case."""
        found = self._named.get(name.casefold(), ())
        exact = (field for field in found if field.name == name)
        return next(exact, found[0] if found else None)

    # Looking at every column for every column takes seconds for thousands of them.
    @cached_property
    def _named(self) -> Mapping[str, Sequence[StructField]]:
        named: dict[str, list[StructField]] = {}
        for field in self.fields:
            named.setdefault(field.name.casefold(), []).append(field)
        return named

    def to_json(self) -> str:
        """Return the JSON text of this schema, as Spark writes it."""
        return msgspec.json.encode(_to_wire(self)).decode()


DataType: TypeAlias = (
    PrimitiveType | DecimalType | ArrayType | MapType | StructType | UserDefinedType
)

VOID = PrimitiveType("void")

_DEEPEST = 128
_DECIMAL = re.compile(r"decimal\(\s*(\d+)\s*,\s*(-?\d+)\s*\)")


@lru_cache(maxsize=128)
def parse_schema(text: str | None) -> StructType:
    """Return the schema of a JSON text; InvalidSchemaError if it is not one.

    Metadata without a text means no columns.
    """
    if text is None:
        return StructType(())
    try:
        parsed = _from_wire(msgspec.json.decode(text), _DEEPEST)
    except (*NOT_JSON, KeyError, TypeError, ValueError) as error:
        raise InvalidSchemaError(text=text, why=str(error)) from error
    if not isinstance(parsed, StructType):
        raise InvalidSchemaError(text=text, why="its top level is not a struct")
    return parsed


def parse_type(name: str) -> DataType:
    """Return the type of a name such as `long` or `decimal(10,2)`."""
    if name == "decimal":
        return DecimalType(10, 0)
    match = _DECIMAL.fullmatch(name)
    return DecimalType(int(match[1]), int(match[2])) if match else PrimitiveType(name)


def _from_wire(value: Any, depth: int) -> DataType:
    if isinstance(value, str):
        return _checked_decimal(parse_type(value))
    if depth == 0:
        raise TypeError(f"types are nested more than {_DEEPEST} deep")
    match value["type"]:
        case "struct":
            fields = _of_type(value, "fields", list)
            return StructType(tuple(_field_from_wire(field, depth - 1) for field in fields))
        case "array":
            element = _from_wire(value["elementType"], depth - 1)
            return ArrayType(element, _of_type(value, "containsNull", bool))
        case "map":
            return MapType(
                _from_wire(value["keyType"], depth - 1),
                _from_wire(value["valueType"], depth - 1),
                _of_type(value, "valueContainsNull", bool),
            )
        case "udt":
            return UserDefinedType(_from_wire(value["sqlType"], depth - 1), value)
        case other:
            raise TypeError(f"type {other!r} is not one of struct, array, map and udt")


def _field_from_wire(value: Any, depth: int) -> StructField:
    if not isinstance(value, dict):
        raise TypeError("a column is not an object")
    metadata = value.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise TypeError("the metadata of a column is not an object")
    for key, kind in ((PHYSICAL_NAME_KEY, str), (COLUMN_ID_KEY, int)):
        if key in metadata:
            _of_type(metadata, key, kind)
    nullable = value.get("nullable", True)
    if not isinstance(nullable, bool):
        raise TypeError(f"nullable is {nullable!r}, which is neither true nor false")
    return StructField(
        _of_type(value, "name", str), _from_wire(value["type"], depth), nullable, metadata
    )


def _of_type(value: Mapping[str, Any], key: str, kind: type) -> Any:
    found = value[key]
    if not isinstance(found, kind):
        raise TypeError(f"{key} is {found!r}, expected {kind.__name__}")
    return found


def _checked_decimal(data_type: DataType) -> DataType:
    if isinstance(data_type, DecimalType):
        precision, scale = data_type.precision, data_type.scale
        if not (1 <= precision <= 38 and 0 <= scale <= precision):
            raise TypeError(f"decimal({precision},{scale}) has more digits than a decimal can have")
    return data_type


def _to_wire(data_type: DataType) -> Any:
    match data_type:
        case StructType(fields):
            return {"type": "struct", "fields": [_field_to_wire(field) for field in fields]}
        case ArrayType(element_type, contains_null):
            return {
                "type": "array",
                "elementType": _to_wire(element_type),
                "containsNull": contains_null,
            }
        case MapType(key_type, value_type, value_contains_null):
            return {
                "type": "map",
                "keyType": _to_wire(key_type),
                "valueType": _to_wire(value_type),
                "valueContainsNull": value_contains_null,
            }
        case UserDefinedType(_, definition):
            return definition
        case _:
            return data_type.name


def _field_to_wire(field: StructField) -> dict[str, Any]:
    return {
        "name": field.name,
        "type": _to_wire(field.type),
        "nullable": field.nullable,
        "metadata": field.metadata,
    }


_SQL_NAMES = {"long": "bigint", "integer": "int", "short": "smallint", "byte": "tinyint"}


def type_text(data_type: DataType) -> str:
    """Return a type as Spark displays it: `struct<id:bigint,tags:array<string>>`."""
    match data_type:
        case StructType(fields):
            return f"struct<{','.join(f'{f.name}:{type_text(f.type)}' for f in fields)}>"
        case ArrayType(element_type):
            return f"array<{type_text(element_type)}>"
        case MapType(key_type, value_type):
            return f"map<{type_text(key_type)},{type_text(value_type)}>"
        case UserDefinedType(sql_type):
            return type_text(sql_type)
        case _:
            return _SQL_NAMES.get(data_type.name, data_type.name)


class FieldChain(Struct, frozen=True):
    """A column and the structs around it, outermost first: `s.x` is the chain (s, x).

    The elements of an array are a step called `element`, the keys and values of a map steps
    called `key` and `value`, as in Parquet.
    """

    fields: tuple[StructField, ...]

    @property
    def field(self) -> StructField:
        """The innermost column, the last one of the chain."""
        return self.fields[-1]

    @property
    def path(self) -> tuple[str, ...]:
        """The logical names along the chain."""
        return tuple(field.name for field in self.fields)

    @property
    def physical_path(self) -> tuple[str, ...]:
        """The physical names along the chain."""
        return tuple(field.physical_name for field in self.fields)


def leaf_columns(schema: StructType) -> Iterator[FieldChain]:
    """Yield the columns that are not structs, in order; arrays and maps are leaves."""
    for chain in _chains((), schema, into_collections=False):
        if not isinstance(chain.field.type, StructType):
            yield chain


def void_columns(schema: StructType) -> Iterator[FieldChain]:
    """Yield the columns of type `void`, also those in structs."""
    return (chain for chain in leaf_columns(schema) if chain.field.type == VOID)


def nested_fields(schema: StructType) -> Iterator[FieldChain]:
    """Yield every column at every depth, parents first, also inside arrays and maps."""
    return _chains((), schema, into_collections=True)


def _chains(
    parents: tuple[StructField, ...], data_type: DataType, *, into_collections: bool
) -> Iterator[FieldChain]:
    if isinstance(data_type, StructType):
        inner = data_type.fields
    elif not into_collections:
        return
    elif isinstance(data_type, ArrayType):
        inner = (StructField("element", data_type.element_type, data_type.contains_null),)
    elif isinstance(data_type, MapType):
        key = StructField("key", data_type.key_type, nullable=False)
        inner = (key, StructField("value", data_type.value_type, data_type.value_contains_null))
    else:
        return
    for field in inner:
        chain = (*parents, field)
        yield FieldChain(chain)
        yield from _chains(chain, field.type, into_collections=into_collections)


def find_column(schema: StructType, path: Sequence[str]) -> FieldChain | None:
    """Return the column at a path of names through structs, in any case, or None."""
    chain: tuple[StructField, ...] = ()
    data_type: DataType = schema
    for name in path:
        field = data_type.field(name) if isinstance(data_type, StructType) else None
        if field is None:
            return None
        chain, data_type = (*chain, field), field.type
    return FieldChain(chain) if chain else None


def physical_schema(schema: StructType, mode: str) -> StructType:
    """Return the schema that data files have under a column mapping mode.

    Columns have their physical names, at every depth, and `parquet.field.id` if they have an
    id; all other metadata is left out. In mode `none` names stay.
    """
    physical = _physical_type(schema, mode != "none")
    assert isinstance(physical, StructType)
    return physical


def _physical_type(data_type: DataType, mapped: bool) -> DataType:
    match data_type:
        case StructType(fields):
            return StructType(tuple(_physical_field(field, mapped) for field in fields))
        case ArrayType(element_type):
            return replace(data_type, element_type=_physical_type(element_type, mapped))
        case MapType(key_type, value_type):
            return replace(
                data_type,
                key_type=_physical_type(key_type, mapped),
                value_type=_physical_type(value_type, mapped),
            )
        case UserDefinedType(sql_type):
            return _physical_type(sql_type, mapped)
        case _:
            return data_type


def _physical_field(field: StructField, mapped: bool) -> StructField:
    data_type = _physical_type(field.type, mapped)
    if not mapped:
        return StructField(field.name, data_type, field.nullable)
    metadata = {} if field.column_id is None else {PARQUET_FIELD_ID_KEY: field.column_id}
    return StructField(field.physical_name, data_type, field.nullable, metadata)


def check_distinct_names(
    schema: StructType, kind: type[DuplicateColumnsError] = DuplicateColumnsError
) -> None:
    """Raise DuplicateColumnsError, or `kind`, if two columns of one struct have one name."""
    seen: set[tuple[str, ...]] = set()
    for chain in nested_fields(schema):
        key = tuple(name.casefold() for name in chain.path)
        if key in seen:
            raise kind(column=".".join(chain.path))
        seen.add(key)
