"""New values for columns: names are resolved to columns, and values are cast to their types.

`SET s.a = 1, b = x + 1` gives a value to a field of a struct and to a column. If only some fields
of a struct are set, the new struct has these and the old values of the others; if the struct was
null, the others are null.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F

from truckee.commands.schema.evolution import DATES, is_number, lacks_fields, merged_schema
from truckee.errors.commands.dml import (
    AssignmentTypeError,
    ConflictingAssignmentsError,
    DuplicateInsertColumnError,
    IdentityUpdateError,
    InvalidExpressionError,
    MissingTargetColumnError,
    NestedInsertError,
    UnknownTargetColumnError,
    is_of_merge,
)
from truckee.errors.commands.expressions import (
    CastNeedsFunctionError,
    CastRefusedError,
    FieldOfCollectionError,
    MissingTargetFieldError,
)
from truckee.errors.commands.write import IdentityValueGivenError, SchemaMismatchError
from truckee.errors.options import ArgumentTypeError, NoAssignmentsError
from truckee.options.arguments import type_name
from truckee.protocol.schema import (
    ArrayType,
    DataType,
    FieldChain,
    MapType,
    PrimitiveType,
    StructField,
    StructType,
    find_column,
    type_text,
)
from truckee.spark.dml.expressions import Value
from truckee.spark.write.identity import identity_of

_NAME = re.compile(r"`((?:[^`]|``)*)`|([^.`]+)")


@dataclass(frozen=True)
class Assignment:
    """A new value for a column, or for a field of one."""

    column: FieldChain
    value: Value

    @property
    def name(self) -> str:
        """The column as people write it."""
        return ".".join(self.column.path)


def column_name_parts(name: str, *, what: str) -> tuple[str, ...]:
    """Return the parts of a column's name: `a`.`b.c` is a and b.c."""
    parts: list[str] = []
    position = 0
    while True:
        found = _NAME.match(name, position)
        if found is None:
            raise InvalidExpressionError(
                what=what, expression=name, reason="it is not the name of a column"
            )
        parts.append((found[1] or "").replace("``", "`") if found[2] is None else found[2].strip())
        position = found.end()
        if position == len(name):
            return tuple(parts)
        if name[position] != ".":
            raise InvalidExpressionError(
                what=what, expression=name, reason="it is not the name of a column"
            )
        position += 1


def assignments(
    given: Mapping[str, str | Column],
    schema: StructType,
    resolve: Callable[[str | Column, str, DataType], Value],
    *,
    what: str,
    alias: str | None = None,
    inserts: bool = False,
    may_lack_fields: bool = False,
) -> list[Assignment]:
    """Return the values of a SET or INSERT, after checking columns, duplicates and types.

    `resolve` turns a value as it was given into one of Spark's; its other arguments name the value
    in errors, and give the type of its column. `may_lack_fields` is as in `check_type`.
    """
    check_values(given, what=what)
    if not given:
        raise NoAssignmentsError(what=what)
    found = []
    for name, value in given.items():
        column = target_column(name, schema, what=what, alias=alias)
        check_assignable(column, name, what=what, inserts=inserts)
        resolved = resolve(value, f"the value of {name} in {what}", column.field.type)
        found.append(Assignment(column, resolved))
    check_distinct(found, what=what, inserts=inserts)
    for assignment in found:
        check_type(assignment, what=what, may_lack_fields=may_lack_fields)
    return found


def check_assignable(column: FieldChain, name: str, *, what: str, inserts: bool) -> None:
    """Raise if a column may not get a value: a field of a column in an INSERT, or an identity."""
    identity = identity_of(column.field)
    if inserts and len(column.path) > 1:
        raise NestedInsertError(what=what, column=name)
    if identity is None or (inserts and identity.takes_values):
        return
    if inserts:
        raise IdentityValueGivenError(column=name)
    raise IdentityUpdateError(what=what, column=name)


def target_column(
    name: str, schema: StructType, *, what: str, alias: str | None = None
) -> FieldChain:
    """Return the column of a table that a name refers to, with or without the table's alias."""
    parts = column_name_parts(name, what=what)
    column = find_column(schema, parts)
    if column is None and alias is not None and parts[0].casefold() == alias.casefold():
        column = find_column(schema, parts[1:])
    if column is None:
        _check_collections(parts, schema, what=what, name=name)
        kind = UnknownTargetColumnError if is_of_merge(what) else MissingTargetColumnError
        if find_column(schema, parts[:1]) is not None:
            kind = MissingTargetFieldError
        raise kind(what=what, column=name, columns=schema.names)
    return column


def _check_collections(parts: tuple[str, ...], schema: StructType, *, what: str, name: str) -> None:
    """Raise if a name goes through a list or a map, whose structs have no values of their own."""
    for length in range(1, len(parts)):
        around = find_column(schema, parts[:length])
        if around is not None and isinstance(around.field.type, ArrayType | MapType):
            collection = ".".join(around.path)
            raise FieldOfCollectionError(
                what=what, column=name, columns=schema.names, collection=collection
            )


def check_distinct(given: Iterable[Assignment], *, what: str, inserts: bool = False) -> None:
    """Raise if a column gets two values, directly or as part of a struct."""
    error = DuplicateInsertColumnError if inserts else ConflictingAssignmentsError
    seen: list[Assignment] = []
    for assignment in given:
        path = assignment.column.path
        for other in seen:
            shared = min(len(path), len(other.column.path))
            if path[:shared] == other.column.path[:shared]:
                raise error(what=what, column=assignment.name, other=other.name)
        seen.append(assignment)


def check_type(assignment: Assignment, *, what: str, may_lack_fields: bool = False) -> None:
    """Raise unless a value can be stored in its column, as by an INSERT.

    A struct must have all fields of its column, unless it `may_lack_fields`: those are null then.
    """
    column, value = assignment.column.field.type, assignment.value.type
    fits = may_lack_fields or not lacks_fields(value, column)
    if not (fits and _can_be_stored(value, column)):
        raise _refused_cast(value, column)(
            what=what,
            column=assignment.name,
            found=type_text(value),
            expected=type_text(column),
        )


def _can_be_stored(value: DataType, column: DataType) -> bool:
    table, data = (StructType((StructField("value", each),)) for each in (column, value))
    try:
        merged_schema(table, data, add_columns=False, name="")
    except SchemaMismatchError:
        return False
    return True


def new_values(given: Iterable[Assignment], old: Callable[[str], Column]) -> dict[str, Column]:
    """Return the new values of the top-level columns that are assigned to, by name.

    `old` gives the old value of a top-level column.
    """
    by_column: dict[str, list[Assignment]] = {}
    for assignment in given:
        by_column.setdefault(assignment.column.path[0], []).append(assignment)
    return {
        name: members[0].value.column
        if _is_whole(members, 1)
        else _new_struct(members[0].column.fields[0], members, old(name), 1)
        for name, members in by_column.items()
    }


def _is_whole(members: list[Assignment], depth: int) -> bool:
    """Whether the column itself gets a value, not only some of its fields."""
    return len(members) == 1 and len(members[0].column.path) == depth


def _new_struct(field: StructField, members: list[Assignment], old: Column, depth: int) -> Column:
    """Return the new value of a column to whose fields values are assigned."""
    assert isinstance(field.type, StructType)
    parts = []
    for inner in field.type.fields:
        inside = [m for m in members if m.column.path[depth] == inner.name]
        value = old.getField(inner.name)
        if _is_whole(inside, depth + 1):
            value = inside[0].value.column
        elif inside:
            value = _new_struct(inner, inside, value, depth + 1)
        parts.append(value.alias(inner.name))
    return F.struct(*parts)


EXPRESSION = "be a Spark SQL Column or a string"


def _refused_cast(value: DataType, column: DataType) -> type[AssignmentTypeError]:
    """Return the error that Spark's cast of a value has, or Delta's where Spark would cast it."""
    is_text = value == PrimitiveType("string") and isinstance(column, PrimitiveType)
    if is_text or _have_structs(value, column):
        return AssignmentTypeError
    is_time_and_number = sorted(map(is_number, (value, column))) == [False, True] and any(
        isinstance(each, PrimitiveType) and each.name in DATES for each in (value, column)
    )
    return CastNeedsFunctionError if is_time_and_number else CastRefusedError


def _have_structs(value: DataType, column: DataType) -> bool:
    """Return whether both have a struct in the same place: that is for Delta to compare."""
    match value, column:
        case StructType(), StructType():
            return True
        case ArrayType(), ArrayType():
            return _have_structs(value.element_type, column.element_type)
        case MapType(), MapType():
            return _have_structs(value.key_type, column.key_type) or _have_structs(
                value.value_type, column.value_type
            )
    return False


def check_condition_type(given: object, *, what: str) -> None:
    """Raise ArgumentTypeError unless a condition is SQL, a Column or None."""
    if given is not None and not isinstance(given, str | Column):
        raise ArgumentTypeError(what=what, needs=EXPRESSION, found=type_name(given))


def check_values(given: object, *, what: str) -> None:
    """Raise unless values are given as a dict of names to SQL or Columns.

    None or an empty dict raises NoAssignmentsError.
    """
    if given is None:
        raise NoAssignmentsError(what=what)
    if not isinstance(given, Mapping):
        raise ArgumentTypeError(
            what=f"the values of {what}", needs="be a dict", found=type_name(given)
        )
    for name, value in given.items():
        if not isinstance(name, str):
            raise ArgumentTypeError(
                what=f"Keys of dict in {what}",
                needs="contain only strings",
                found=type_name(name),
            )
        if not isinstance(value, str | Column):
            raise ArgumentTypeError(
                what=f"Values of dict in {what}",
                needs="contain only Spark SQL Columns or strings",
                found=f"{type_name(value)} for {name}",
                hint=f"write a plain value as functions.lit({value!r})",
            )
