"""A condition with its columns found and its types settled: what can be asked of rows and files."""

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
"""The operator that says the same with its two sides exchanged; others are their own."""


class ColumnValue(Struct, frozen=True):
    """The value of a column; `path` has the names as the table spells them."""

    path: tuple[str, ...]
    type: DataType


class Fixed(Struct, frozen=True):
    """The same of every row: true, false, or neither (None)."""

    value: bool | None


class Comparing(Struct, frozen=True):
    """`left op right`, both taken as values of a type."""

    op: str
    left: Operand
    right: Operand
    type: DataType


class Listed(Struct, frozen=True):
    """`column IN (values)`, all of the column's kind; a null among them is None."""

    column: ColumnValue
    values: tuple[ConstantValue, ...]


class Matching(Struct, frozen=True):
    """`column LIKE pattern`."""

    column: ColumnValue
    pattern: Pattern


class Lacking(Struct, frozen=True):
    """`operand IS NULL`."""

    operand: Operand


class Every(Struct, frozen=True):
    """True if all of these are."""

    tests: tuple[Test, ...]


class Some(Struct, frozen=True):
    """True if one of these is."""

    tests: tuple[Test, ...]


class Opposite(Struct, frozen=True):
    """True if the test is false."""

    test: Test


Test: TypeAlias = Fixed | Comparing | Listed | Matching | Lacking | Every | Some | Opposite
Operand: TypeAlias = ColumnValue | ConstantValue | Test


def typed_condition(condition: str, schema: StructType) -> Test:
    """Return what a condition asks of the rows of a schema.

    Raises the errors of conditions: for what cannot be read, is not known here, names no column,
    or compares what SQL does not compare.
    """
    return _Typing(condition, schema).test(syntax.parsed(condition))


def columns_of(test: Operand) -> frozenset[tuple[str, ...]]:
    """Return the paths of the columns that a test speaks of."""
    match test:
        case ColumnValue(path):
            return frozenset({path})
        case Comparing(_, left, right):
            return columns_of(left) | columns_of(right)
        case Every(tests) | Some(tests):
            return frozenset[tuple[str, ...]]().union(*map(columns_of, tests))
        case Listed(column) | Matching(column):
            return columns_of(column)
        case Lacking(operand) | Opposite(operand):
            return columns_of(operand)
        case _:
            return frozenset()


class _Typing:
    def __init__(self, condition: str, schema: StructType) -> None:
        self._condition = condition
        self._schema = schema

    def test(self, tree: syntax.Tree) -> Test:
        """Return a tree that stands where a condition is asked for."""
        operand = self._operand(tree)
        match operand:
            case ConstantValue(value, type) if type in (BOOLEAN, VOID):
                return Fixed(value)
            case ColumnValue(_, type) if type == BOOLEAN:
                return Comparing("=", operand, ConstantValue.of(True), BOOLEAN)
            case ColumnValue() | ConstantValue():
                raise ConditionTypeError(
                    condition=self._condition, left=type_text(operand.type), right="boolean"
                )
        return operand

    def _operand(self, tree: syntax.Tree) -> Operand:
        match tree:
            case syntax.Name(path):
                return self._column(path)
            case ConstantValue():
                return tree
            case syntax.All(operands):
                return Every(tuple(map(self.test, operands)))
            case syntax.Any(operands):
                return Some(tuple(map(self.test, operands)))
            case syntax.Negated(inner):
                return Opposite(self.test(inner))
            case syntax.Missing(inner):
                return self._lacking(self._operand(inner))
            case syntax.Alike(inner, pattern, escape):
                column = self._text_column(inner)
                found = like_pattern(pattern, escape, condition=self._condition)
                return Matching(column, found)
            case syntax.Among(inner, items):
                return self._among(inner, items)
            case syntax.Compared(op, left, right):
                return self._compared(op, self._operand(left), self._operand(right))

    def _lacking(self, operand: Operand) -> Test:
        return (
            Fixed(operand.value is None) if isinstance(operand, ConstantValue) else Lacking(operand)
        )

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
        # Spark pads texts of char(n), and compares collated ones by rules of their own.
        if any(_COLLATIONS in field.metadata for field in chain.fields):
            raise self._unsupported(f"{'.'.join(chain.path)}, a column with a collation")
        if (chain.field.char_varchar_type or "").startswith("char("):
            raise self._unsupported(f"{'.'.join(chain.path)}, a column of type char")
        return chain.field.type

    def _text_column(self, tree: syntax.Tree) -> ColumnValue:
        operand = self._operand(tree)
        if not isinstance(operand, ColumnValue) or operand.type != STRING:
            raise self._unsupported("LIKE of something that is no column of texts")
        return operand

    def _among(self, inner: syntax.Tree, items: tuple[syntax.Tree, ...]) -> Test:
        operand = self._operand(inner)
        found = [self._operand(item) for item in items]
        wanted = self._common(operand, *found)
        if isinstance(operand, ColumnValue) and _is_direct(operand.type, wanted):
            cast = (self._cast(item, wanted) for item in found)
            constants = [item for item in cast if isinstance(item, ConstantValue)]
            if len(constants) == len(found):
                return Listed(operand, tuple(constants))
        return Some(tuple(self._comparing("=", operand, item, wanted) for item in found))

    def _compared(self, op: str, left: Operand, right: Operand) -> Test:
        return self._comparing(op, left, right, self._common(left, right))

    def _comparing(self, op: str, left: Operand, right: Operand, wanted: DataType) -> Test:
        left, right = self._cast(left, wanted), self._cast(right, wanted)
        for one, other in ((left, right), (right, left)):
            if isinstance(one, ConstantValue) and one.value is None:
                return self._lacking(other) if op == "<=>" else Fixed(None)
        known = _beyond_integers(op, self._type(left), right)
        if known is None:
            known = _beyond_integers(FLIPPED.get(op, op), self._type(right), left)
        return known or Comparing(op, left, right, wanted)

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


def _beyond_integers(op: str, left: DataType, right: Operand) -> Fixed | None:
    """Return what Spark makes of an order between integers and a decimal beyond all of them.

    It answers without looking at the integers, and so of nulls too.
    """
    if op not in FLIPPED or not is_integer(left) or not isinstance(right, ConstantValue):
        return None
    if not isinstance(right.type, DecimalType):
        return None
    if right.value > _LARGEST_LONG:
        return Fixed(op in ("<", "<="))
    return Fixed(op in (">", ">=")) if right.value < -_LARGEST_LONG - 1 else None


def _is_direct(column: DataType, wanted: DataType) -> bool:
    """Return whether values of a column can be looked up in a list as they are."""
    return column == wanted or (is_exact(column) and is_exact(wanted))
