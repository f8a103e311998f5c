"""Edits of a schema: columns added, renamed, moved, dropped and changed, at any depth. Pure.

A column is named by its path: `("s", "x")` for a field of a struct, `("l", "element", "x")` for one
of the structs in an array, with `key` and `value` likewise for maps.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, TypeAlias

from msgspec.structs import replace

from truckee.errors.commands.alter import (
    ColumnChangeError,
    ColumnExistsError,
    ColumnNotFoundError,
    OnlyColumnDropError,
    TypeChangeError,
)
from truckee.errors.commit import InvalidStateError
from truckee.protocol.column_metadata import TYPE_CHANGES_KEY
from truckee.protocol.json_text import shown
from truckee.protocol.schema import (
    VOID,
    ArrayType,
    DataType,
    DecimalType,
    MapType,
    PrimitiveType,
    StructField,
    StructType,
    type_text,
)
from truckee.protocol.schema_compatibility import is_wider

ColumnPath: TypeAlias = tuple[str, ...]
Fields: TypeAlias = tuple[StructField, ...]


# Parquet holds all of these in 32 bits, so files need no rewrite and readers no feature.
_SAME_IN_FILES = {"byte": ("short", "integer"), "short": ("integer",)}


def with_column(
    schema: StructType, path: ColumnPath, column: StructField, position: str | None = None
) -> StructType:
    """Return the schema with a column added, at a position as in `placed`."""

    def add(fields: Fields) -> Fields:
        if _find(fields, column.name) is not None:
            raise ColumnExistsError(column=".".join(path))
        return placed((*fields, column), column.name, position)

    return _edited(schema, path, add)


def without_column(schema: StructType, path: ColumnPath) -> StructType:
    """Return the schema without a column."""

    def drop(fields: Fields) -> Fields:
        gone = _required(fields, path, schema)
        left = tuple(field for field in fields if field is not gone)
        if not left:
            raise OnlyColumnDropError(
                column=".".join(path),
                reason="it is the only one that is left",
                hint="drop the whole struct, or the table",
            )
        return left

    return _edited(schema, path, drop)


def changed_column(
    schema: StructType, path: ColumnPath, change: Callable[[StructField], StructField]
) -> StructType:
    """Return the schema with one column changed; a new name must be free.

    The path may also lead to the elements of an array, or the keys or values of a map: these are
    changed as if they were a column of the name `element`, `key` or `value`.
    """
    outer, inside = _column_and_inside(schema, path)

    def apply(fields: Fields) -> Fields:
        old = _required(fields, outer, schema)
        new = _changed_inside(old, inside, change) if inside else change(old)
        taken = _find(fields, new.name)
        if taken is not None and taken is not old:
            raise ColumnExistsError(column=".".join((*outer[:-1], new.name)))
        return tuple(new if field is old else field for field in fields)

    return _edited(schema, outer, apply)


def _column_and_inside(schema: StructType, path: ColumnPath) -> tuple[ColumnPath, ColumnPath]:
    """Split a path behind its last column: `l.element` is no column, `l.element.x` is one."""
    if column_at(schema, path) is None:
        return path, ()
    end = 0
    for index in range(len(path)):
        parent = column_at(schema, path[:index])
        if parent is not None and isinstance(parent.type, StructType):
            end = index + 1
    return path[:end], tuple(name.lower() for name in path[end:])


def _parts(data_type: DataType) -> dict[str, DataType]:
    match data_type:
        case ArrayType(element_type):
            return {"element": element_type}
        case MapType(key_type, value_type):
            return {"key": key_type, "value": value_type}
        case _:
            return {}


def _changed_inside(
    field: StructField, inside: ColumnPath, change: Callable[[StructField], StructField]
) -> StructField:
    old = field.type
    for name in inside:
        old = _parts(old)[name]
    part = StructField(inside[-1], old)
    new = change(part)
    is_more = replace(new, type=old, metadata={}) != part
    if is_more or new.metadata.keys() - {TYPE_CHANGES_KEY}:
        raise ColumnChangeError(
            column=".".join((field.name, *inside)),
            reason="elements of arrays, and keys and values of maps, have only a type",
            hint=f"change {field.name} instead",
        )
    changed = _with_part(field.type, inside, new.type)
    is_recorded = TYPE_CHANGES_KEY in new.metadata
    return recorded(field, changed) if is_recorded else replace(field, type=changed)


def _with_part(data_type: DataType, inside: ColumnPath, new: DataType) -> DataType:
    if not inside:
        return new
    part = _with_part(_parts(data_type)[inside[0]], inside[1:], new)
    match data_type, inside[0]:
        case ArrayType(), _:
            return replace(data_type, element_type=part)
        case MapType(), "key":
            return replace(data_type, key_type=part)
        case MapType(), _:
            return replace(data_type, value_type=part)
    raise AssertionError(data_type)


def column_at(schema: StructType, path: ColumnPath) -> StructField | None:
    """Return the column at a path, or what is in an array or map, as a field; None if absent."""
    found: StructField | None = StructField("", schema)
    for name in path:
        if found is None:
            return None
        if isinstance(found.type, StructType):
            found = found.type.field(name)
        else:
            part = _parts(found.type).get(name.lower())
            found = None if part is None else StructField(name.lower(), part)
    return found


def moved_column(schema: StructType, path: ColumnPath, position: str) -> StructType:
    """Return the schema with a column moved, as in `placed`."""

    def move(fields: Fields) -> Fields:
        return placed(fields, _required(fields, path, schema).name, position)

    return _edited(schema, path, move)


def placed(fields: Fields, name: str, position: str | None) -> Fields:
    """Return fields with one of them at `first` or `after <other>`; None leaves it in place."""
    if position is None:
        return fields
    column = _find(fields, name)
    assert column is not None
    others = [field for field in fields if field is not column]
    if position.strip().lower() == "first":
        return (column, *others)
    word, _, other = position.strip().partition(" ")
    anchor = _find(tuple(others), other.strip().strip("`")) if word.lower() == "after" else None
    if anchor is None:
        raise ColumnChangeError(
            column=name,
            reason=f"there is no position {position!r}",
            hint="say 'first', or 'after' and the name of another column of the same struct",
        )
    index = others.index(anchor) + 1
    return (*others[:index], column, *others[index:])


def with_edited_fields(
    schema: StructType, edit: Callable[[StructField], StructField]
) -> StructType:
    """Return the schema with every column at every depth edited, parents first."""

    def struct(fields: Fields) -> StructType:
        return StructType(tuple(whole(edit(field)) for field in fields))

    def whole(field: StructField) -> StructField:
        return replace(field, type=inside(field.type))

    def inside(data_type: DataType) -> DataType:
        match data_type:
            case StructType(fields):
                return struct(fields)
            case ArrayType(element_type):
                return replace(data_type, element_type=inside(element_type))
            case MapType(key_type, value_type):
                key, value = inside(key_type), inside(value_type)
                return replace(data_type, key_type=key, value_type=value)
            case _:
                return data_type

    return struct(schema.fields)


def without_metadata(schema: StructType, keys: Collection[str]) -> StructType:
    """Return the schema without these keys in the metadata of any column."""

    def edit(field: StructField) -> StructField:
        kept = {key: value for key, value in field.metadata.items() if key not in keys}
        return replace(field, metadata=kept)

    return with_edited_fields(schema, edit)


def _find(fields: Fields, name: str) -> StructField | None:
    return StructType(fields).field(name)


def _required(fields: Fields, path: ColumnPath, schema: StructType) -> StructField:
    found = _find(fields, path[-1])
    if found is None:
        raise ColumnNotFoundError(column=".".join(path), columns=schema.names)
    return found


def _edited(schema: StructType, path: ColumnPath, edit: Callable[[Fields], Fields]) -> StructType:
    """Return the schema with the fields of the struct around `path` edited."""
    result = _edited_type(schema, path[:-1], edit)
    if not isinstance(result, StructType):
        raise ColumnNotFoundError(column=".".join(path), columns=schema.names)
    return result


def _edited_type(
    data_type: DataType, parents: Sequence[str], edit: Callable[[Fields], Fields]
) -> DataType | None:
    """Return the type with a struct inside it edited, None if there is no struct there."""
    if not parents:
        return StructType(edit(data_type.fields)) if isinstance(data_type, StructType) else None
    name, rest = parents[0], parents[1:]
    match data_type, name.lower():
        case StructType(fields), _:
            field = _find(fields, name)
            inner = None if field is None else _edited_type(field.type, rest, edit)
            if field is None or inner is None:
                return None
            new = replace(field, type=inner)
            return StructType(tuple(new if other is field else other for other in fields))
        case ArrayType(element_type), "element":
            inner = _edited_type(element_type, rest, edit)
            return None if inner is None else replace(data_type, element_type=inner)
        case MapType(key_type), "key":
            inner = _edited_type(key_type, rest, edit)
            return None if inner is None else replace(data_type, key_type=inner)
        case MapType(_, value_type), "value":
            inner = _edited_type(value_type, rest, edit)
            return None if inner is None else replace(data_type, value_type=inner)
    return None


def with_type(field: StructField, new: DataType, *, widening: bool) -> StructField:
    """Return a column with a wider type; the change is recorded for readers of older files.

    `widening` is whether the table has type widening on. Without it, only types that data files
    store in the same way can change.
    """
    old = field.type
    if new == old:
        return field
    if old == VOID or (_holds_alike(old, new) and not widening):
        return replace(field, type=new)
    if not widening or not is_wider(old, new):
        raise TypeChangeError(
            column=field.name,
            reason=f"{type_text(old)} cannot become {type_text(new)}",
            hint="set the table property 'delta.enableTypeWidening' to 'true' for a wider type; "
            "for any other, rewrite the table with overwriteSchema",
        )
    return recorded(field, new)


def recorded(field: StructField, new: DataType) -> StructField:
    """Return a column with a new type, and with a record of all that became wider in it.

    That is the column itself, or the elements, keys and values in it (protocol: Type Change
    Metadata). Fields of structs have their own records.
    """
    changes = list(_type_changes(field.type, new, ()))
    if not changes:
        return replace(field, type=new)
    known = field.metadata.get(TYPE_CHANGES_KEY) or []
    if not isinstance(known, list):
        key = f"{TYPE_CHANGES_KEY} of the column {field.name}"
        raise InvalidStateError(key=key, found=shown(known), needs="a list of type changes")
    return replace(
        field, type=new, metadata={**field.metadata, TYPE_CHANGES_KEY: [*known, *changes]}
    )


def _type_changes(old: DataType, new: DataType, inside: ColumnPath) -> Iterator[dict[str, Any]]:
    parts = _parts(new)
    for name, part in _parts(old).items():
        if name in parts:
            yield from _type_changes(part, parts[name], (*inside, name))
    if old != new and is_wider(old, new):
        where = {"fieldPath": ".".join(inside)} if inside else {}
        yield {"fromType": _name(old), "toType": _name(new), **where}


def _name(data_type: DataType) -> str:
    return data_type.name if isinstance(data_type, PrimitiveType | DecimalType) else ""


def _holds_alike(old: DataType, new: DataType) -> bool:
    return _name(new) in _SAME_IN_FILES.get(_name(old), ())
