"""A condition with its columns and types resolved: a test on rows."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from truckee.conditions import syntax
from truckee.conditions.coercion import common_type, is_exact, is_integer
from truckee.conditions.literals import BOOLEAN, STRING, ConstantValue, cast_text
from truckee.conditions.patterns import Pattern, like_pattern
from truckee.errors.conditions import (
    ConditionColumnError,
    ConditionTypeError,
    UnsupportedConditionError,
)
from truckee.protocol.schema import (
    VOID,
    DataType,
    DecimalType,
    FieldChain,
    PrimitiveType,
    StructType,
    find_column,
    type_text,
)

_COMPARABLE = frozenset(
    {"boolean", "byte", "short", "integer", "long", "float", "double", "string", "binary"}
    | {"date", "timestamp", "timestamp_ntz", "void"}
)
_COLLATIONS = "__COLLATIONS"
_LARGEST_LONG = (1 << 63) - 1

FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""The operator that means the same with its two sides swapped; others are symmetric."""


class ColumnValue(Struct, frozen=True):
    """The value of a column; `path` has the names as the table spells them."""

    path: tuple[str, ...]
    type: DataType


class ConstantTest(Struct, frozen=True):
    """The same for every row: true, false, or NULL (None)."""

    value: bool | None


class ComparisonTest(Struct, frozen=True):
    """`left op right`, both taken as values of a type."""

    op: str
    left: Operand
    right: Operand
    type: DataType


class InTest(Struct, frozen=True):
    """`column IN (values)`, all of the column's kind; a null among them is None."""

    column: ColumnValue
    values: tuple[ConstantValue, ...]


class LikeTest(Struct, frozen=True):
    """`column LIKE pattern`."""

    column: ColumnValue
    pattern: Pattern


class IsNullTest(Struct, frozen=True):
    """`operand IS NULL`."""

    operand: Operand


class AndTest(Struct, frozen=True):
    """True if all of these are."""

    tests: tuple[RowTest, ...]


class OrTest(Struct, frozen=True):
    """True if one of these is."""

    tests: tuple[RowTest, ...]


class NotTest(Struct, frozen=True):
    """True if the test is false."""

    test: RowTest


RowTest: TypeAlias = (
    ConstantTest | ComparisonTest | InTest | LikeTest | IsNullTest | AndTest | OrTest | NotTest
)
Operand: TypeAlias = ColumnValue | ConstantValue | RowTest


def row_test(condition: str, schema: StructType) -> RowTest:
    """Return a condition as a test on rows of a schema.

    Raises the errors of conditions: for text that cannot be parsed, is nested too deeply or is not
    supported, for unknown columns, and for values that SQL cannot compare.
    """
    return _Resolver(condition, schema).test(syntax.condition_syntax(condition))


def columns_of(test: Operand) -> frozenset[tuple[str, ...]]:
    """Return the paths of the columns that a test uses."""
    match test:
        case ColumnValue(path):
            return frozenset({path})
        case ComparisonTest(_, left, right):
            return columns_of(left) | columns_of(right)
        case AndTest(tests) | OrTest(tests):
            return frozenset[tuple[str, ...]]().union(*map(columns_of, tests))
        case InTest(column) | LikeTest(column):
            return columns_of(column)
        case IsNullTest(operand) | NotTest(operand):
            return columns_of(operand)
        case _:
            return frozenset()


class _Resolver:
    def __init__(self, condition: str, schema: StructType) -> None:
        self._condition = condition
        self._schema = schema

    def test(self, tree: syntax.Syntax) -> RowTest:
        """Return the test for a syntax tree in the place of a condition."""
        operand = self._operand(tree)
        match operand:
            case ConstantValue(value, type) if type in (BOOLEAN, VOID):
                return ConstantTest(value)
            case ColumnValue(_, type) if type == BOOLEAN:
                return ComparisonTest("=", operand, ConstantValue.of(True), BOOLEAN)
            case ColumnValue() | ConstantValue():
                raise ConditionTypeError(
                    condition=self._condition, left=type_text(operand.type), right="boolean"
                )
        return operand

    def _operand(self, tree: syntax.Syntax) -> Operand:
        match tree:
            case syntax.NameSyntax(path):
                return self._column(path)
            case ConstantValue():
                return tree
            case syntax.AndSyntax(operands):
                return AndTest(tuple(map(self.test, operands)))
            case syntax.OrSyntax(operands):
                return OrTest(tuple(map(self.test, operands)))
            case syntax.NotSyntax(inner):
                return NotTest(self.test(inner))
            case syntax.IsNullSyntax(inner):
                return self._null_test(self._operand(inner))
            case syntax.LikeSyntax(inner, pattern, escape):
                column = self._text_column(inner)
                found = like_pattern(pattern, escape, condition=self._condition)
                return LikeTest(column, found)
            case syntax.InSyntax(inner, items):
                return self._in_test(inner, items)
            case syntax.ComparisonSyntax(op, left, right):
                return self._comparison(op, self._operand(left), self._operand(right))

    def _null_test(self, operand: Operand) -> RowTest:
        if isinstance(operand, ConstantValue):
            return ConstantTest(operand.value is None)
        return IsNullTest(operand)

    def _column(self, path: tuple[str, ...]) -> ColumnValue:
        chain = find_column(self._schema, path)
        if chain is None:
            top = self._schema.field(path[0])
            if top is not None and not isinstance(top.type, StructType):
                raise self._unsupported(f"a part of {path[0]}, which is no struct")
            raise ConditionColumnError(
                condition=self._condition, column=".".join(path), columns=self._schema.names
            )
        return ColumnValue(chain.path, self._plain_type(chain))

    def _plain_type(self, chain: FieldChain) -> DataType:
        # Spark pads values of char(n), and compares collated strings by the rules of the collation.
        if any(_COLLATIONS in field.metadata for field in chain.fields):
            raise self._unsupported(f"{'.'.join(chain.path)}, a column with a collation")
        if (chain.field.char_varchar_type or "").startswith("char("):
            raise self._unsupported(f"{'.'.join(chain.path)}, a column of type char")
        return chain.field.type

    def _text_column(self, tree: syntax.Syntax) -> ColumnValue:
        operand = self._operand(tree)
        if not isinstance(operand, ColumnValue) or operand.type != STRING:
            raise self._unsupported("LIKE of something that is no column of texts")
        return operand

    def _in_test(self, inner: syntax.Syntax, items: tuple[syntax.Syntax, ...]) -> RowTest:
        operand = self._operand(inner)
        found = [self._operand(item) for item in items]
        wanted = self._common(operand, *found)
        if isinstance(operand, ColumnValue) and _is_direct(operand.type, wanted):
            cast = (self._cast(item, wanted) for item in found)
            constants = [item for item in cast if isinstance(item, ConstantValue)]
            if len(constants) == len(found):
                return InTest(operand, tuple(constants))
        return OrTest(tuple(self._comparison_as("=", operand, item, wanted) for item in found))

    def _comparison(self, op: str, left: Operand, right: Operand) -> RowTest:
        return self._comparison_as(op, left, right, self._common(left, right))

    def _comparison_as(self, op: str, left: Operand, right: Operand, wanted: DataType) -> RowTest:
        left, right = self._cast(left, wanted), self._cast(right, wanted)
        for one, other in ((left, right), (right, left)):
            if isinstance(one, ConstantValue) and one.value is None:
                return self._null_test(other) if op == "<=>" else ConstantTest(None)
        known = _beyond_integers(op, self._type(left), right)
        if known is None:
            known = _beyond_integers(FLIPPED.get(op, op), self._type(right), left)
        return known or ComparisonTest(op, left, right, wanted)

    def _common(self, *operands: Operand) -> DataType:
        types = [self._type(operand) for operand in operands]
        wanted = common_type(*types)
        if wanted is None:
            left = types[0]
            right = next((t for t in types if common_type(left, t) is None), types[-1])
            raise ConditionTypeError(
                condition=self._condition, left=type_text(left), right=type_text(right)
            )
        for operand, of in zip(operands, types, strict=True):
            if of == STRING != wanted and not isinstance(operand, ConstantValue):
                raise self._unsupported(f"a column of texts compared as {type_text(wanted)}")
        return wanted

    def _type(self, operand: Operand) -> DataType:
        if not isinstance(operand, ColumnValue | ConstantValue):
            return BOOLEAN
        of = operand.type
        is_known = isinstance(of, PrimitiveType) and of.name in _COMPARABLE
        if not is_known and not isinstance(of, DecimalType):
            raise self._unsupported(f"a comparison of type {type_text(of)}")
        return of

    def _cast(self, operand: Operand, wanted: DataType) -> Operand:
        if isinstance(operand, ConstantValue) and operand.type == STRING != wanted:
            return cast_text(operand.value, wanted, condition=self._condition)
        return operand

    def _unsupported(self, what: str) -> UnsupportedConditionError:
        return UnsupportedConditionError(condition=self._condition, what=what)


def _beyond_integers(op: str, left: DataType, right: Operand) -> ConstantTest | None:
    """Return Spark's result of comparing an integer column with a decimal outside its range.

    Spark answers without reading the column, so nulls get the same answer.
    """
    if op not in FLIPPED or not is_integer(left) or not isinstance(right, ConstantValue):
        return None
    if not isinstance(right.type, DecimalType):
        return None
    if right.value > _LARGEST_LONG:
        return ConstantTest(op in ("<", "<="))
    return ConstantTest(op in (">", ">=")) if right.value < -_LARGEST_LONG - 1 else None


def _is_direct(column: DataType, wanted: DataType) -> bool:
    """Return whether values of a column can be looked up in a list without a cast."""
    return column == wanted or (is_exact(column) and is_exact(wanted))
