"""Predicates over columns, to skip files and to decide whether two writers conflict.

A small tree, with SQL's three values: a predicate is true, false or NULL for a row. What this tree
cannot express is `UNKNOWN`, which may be true for any row; that keeps too many files, but never
too few.

Values are Python objects: int, float, Decimal, bool, str, bytes, date, datetime (with a zone for
`timestamp`, without one for `timestamp_ntz`). NaN equals itself and is greater than all numbers.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any, TypeAlias

from msgspec import Struct


class Column(Struct, frozen=True):
    """A column by its logical names, outermost struct first."""

    path: tuple[str, ...]

    def __str__(self) -> str:
        return ".".join(self.path)


class Comparison(Struct, frozen=True):
    """`column op value`; op is one of = != < <= > >= and <=>, which is true for two nulls."""

    op: str
    column: Column
    value: Any


class IsNull(Struct, frozen=True):
    """`column IS NULL`."""

    column: Column


class IsNotNull(Struct, frozen=True):
    """`column IS NOT NULL`."""

    column: Column


class In(Struct, frozen=True):
    """`column IN (values)`."""

    column: Column
    values: tuple[Any, ...]


class StartsWith(Struct, frozen=True):
    """`column LIKE 'prefix%'`."""

    column: Column
    prefix: str


class And(Struct, frozen=True):
    """True if all operands are."""

    operands: tuple[Predicate, ...]


class Or(Struct, frozen=True):
    """True if one of the operands is."""

    operands: tuple[Predicate, ...]


class Not(Struct, frozen=True):
    """True if the operand is false."""

    operand: Predicate


class Literal(Struct, frozen=True):
    """The same for every row: true, false, or NULL (None)."""

    value: bool | None


class Unknown(Struct, frozen=True):
    """A predicate that this tree cannot express; it may be true for any row."""


Leaf: TypeAlias = Comparison | IsNull | IsNotNull | In | StartsWith
Predicate: TypeAlias = Leaf | And | Or | Not | Literal | Unknown

ALWAYS_TRUE = Literal(True)
ALWAYS_FALSE = Literal(False)
UNKNOWN = Unknown()


def column_named(name: str) -> Column:
    """Return a column by its dotted name; names with dots in them need `Column` itself."""
    return Column(tuple(name.split(".")))


def all_of(*predicates: Predicate) -> Predicate:
    """Return the conjunction of predicates; an empty one is true."""
    if len(predicates) == 1:
        return predicates[0]
    return And(predicates) if predicates else ALWAYS_TRUE


def any_of(*predicates: Predicate) -> Predicate:
    """Return the disjunction of predicates; an empty one is false."""
    if len(predicates) == 1:
        return predicates[0]
    return Or(predicates) if predicates else ALWAYS_FALSE


def conjuncts(predicate: Predicate) -> Iterator[Predicate]:
    """Yield the predicates that all have to be true: `a AND (b AND c)` is a, b and c."""
    if isinstance(predicate, And):
        for operand in predicate.operands:
            yield from conjuncts(operand)
    else:
        yield predicate


def references(predicate: Predicate) -> frozenset[Column]:
    """Return the columns that a predicate uses."""
    match predicate:
        case And(operands) | Or(operands):
            return frozenset[Column]().union(*map(references, operands))
        case Not(operand):
            return references(operand)
        case Literal() | Unknown():
            return frozenset()
        case _:
            return frozenset({predicate.column})


_OPPOSITES = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def negation_normal_form(predicate: Predicate) -> Predicate:
    """Return an equal predicate in which NOT is applied at most to a StartsWith.

    By De Morgan's laws; NOT (a < 1 OR a IS NULL) is a >= 1 AND a IS NOT NULL.
    """
    match predicate:
        case Not(operand):
            return _negated(operand)
        case And(operands):
            return And(tuple(map(negation_normal_form, operands)))
        case Or(operands):
            return Or(tuple(map(negation_normal_form, operands)))
        case _:
            return predicate


def _negated(predicate: Predicate) -> Predicate:
    match predicate:
        case Not(operand):
            return negation_normal_form(operand)
        case And(operands):
            return Or(tuple(map(_negated, operands)))
        case Or(operands):
            return And(tuple(map(_negated, operands)))
        case Comparison("<=>", of, None):
            return IsNotNull(of)
        case Comparison("<=>", of, value):
            return Or((Comparison("!=", of, value), IsNull(of)))
        case Comparison(op, of, value):
            return Comparison(_OPPOSITES[op], of, value)
        case IsNull(of):
            return IsNotNull(of)
        case IsNotNull(of):
            return IsNull(of)
        case In(of, values):
            return And(tuple(Comparison("!=", of, value) for value in values))
        case Literal(value):
            return Literal(None if value is None else not value)
        case StartsWith():
            return Not(predicate)
        case Unknown():
            return predicate


_MISSING = object()


def evaluate(predicate: Predicate, values: Mapping[str, object]) -> bool | None:
    """Return whether a predicate is true for a row, or None if it is neither true nor false.

    `values` are by logical name; structs are mappings. A predicate on a column that is not among
    them is unknown, so the result is None.
    """
    match predicate:
        case And(operands):
            results = [evaluate(operand, values) for operand in operands]
            return False if False in results else None if None in results else True
        case Or(operands):
            results = [evaluate(operand, values) for operand in operands]
            return True if True in results else None if None in results else False
        case Not(operand):
            result = evaluate(operand, values)
            return None if result is None else not result
        case Literal(constant):
            return constant
        case Unknown():
            return None
        case _:
            value = _lookup(predicate.column, values)
            return None if value is _MISSING else _evaluate_leaf(predicate, value)


def may_be_true(predicate: Predicate, values: Mapping[str, object]) -> bool:
    """Return False if a predicate cannot be true for any row that has these values.

    Where `evaluate` returns None, this distinguishes SQL's NULL, which selects no row, from an
    unknown value, which might: with a = NULL, `a = 1` cannot be true; without a, it may be.
    """
    return _may_be_true(negation_normal_form(predicate), values)


def _may_be_true(predicate: Predicate, values: Mapping[str, object]) -> bool:
    match predicate:
        case And(operands):
            return all(_may_be_true(operand, values) for operand in operands)
        case Or(operands):
            return any(_may_be_true(operand, values) for operand in operands)
        case Literal(constant):
            return constant is True
        case Unknown():
            return True
        case Not(StartsWith() as leaf):
            return _leaf_may_be(leaf, False, values)
        case Not():
            raise AssertionError("NOT was pushed down")
        case leaf:
            return _leaf_may_be(leaf, True, values)


def _leaf_may_be(leaf: Leaf, wanted: bool, values: Mapping[str, object]) -> bool:
    value = _lookup(leaf.column, values)
    if value is _MISSING or not _is_comparable(leaf, value):
        return True
    return _evaluate_leaf(leaf, value) is wanted


def _is_comparable(leaf: Leaf, value: object) -> bool:
    match leaf:
        case Comparison(_, _, other):
            others: tuple[Any, ...] = (other,)
        case In(_, values):
            others = values
        case StartsWith(_, prefix):
            others = (prefix,)
        case _:
            return True
    return value is None or all(other is None or _kind(other) == _kind(value) for other in others)


def _lookup(of: Column, values: Mapping[str, object]) -> object:
    found: object = values
    for name in of.path:
        if found is None:
            return None
        if not isinstance(found, Mapping):
            return _MISSING
        found = _entry(found, name)
        if found is _MISSING:
            return _MISSING
    return found


def _entry(values: Mapping[str, object], name: str) -> object:
    if name in values:
        return values[name]
    folded = name.casefold()
    return next((v for key, v in values.items() if key.casefold() == folded), _MISSING)


def _evaluate_leaf(predicate: Leaf, value: object) -> bool | None:
    match predicate:
        case IsNull():
            return value is None
        case IsNotNull():
            return value is not None
        case Comparison("<=>", _, other) if value is None or other is None:
            return value is None and other is None
        case Comparison(op, _, other):
            return _comparison_result(op, value, other)
        case In(_, others):
            results = [_comparison_result("=", value, other) for other in others]
            return True if True in results else None if None in results else False
        case StartsWith(_, prefix):
            return value.startswith(prefix) if isinstance(value, str) else None


_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<=>": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _comparison_result(op: str, left: object, right: object) -> bool | None:
    """Return `left op right`; None if one is null or their kinds cannot be compared."""
    if left is None or right is None or _kind(left) != _kind(right):
        return None
    return _OPERATORS[op](_sort_key(left), _sort_key(right))


def _kind(value: object) -> str:
    match value:
        case bool():
            return "boolean"
        case int() | float() | Decimal():
            return "number"
        case datetime():
            return "timestamp_ntz" if value.tzinfo is None else "timestamp"
        case date():
            return "date"
        case _:
            return type(value).__name__


def _sort_key(value: Any) -> Any:
    # In Python every comparison with NaN is false; in SQL, NaN is greater than all numbers.
    if _kind(value) != "number":
        return value
    return (1, 0) if value != value else (0, value)
