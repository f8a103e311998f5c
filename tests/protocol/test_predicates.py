from __future__ import annotations

import math
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truckee.protocol.predicates import (
    ALWAYS_FALSE,
    ALWAYS_TRUE,
    UNKNOWN,
    And,
    Column,
    Comparison,
    In,
    IsNotNull,
    IsNull,
    Literal,
    Not,
    Or,
    Predicate,
    StartsWith,
    all_of,
    any_of,
    column_named,
    conjuncts,
    evaluate,
    may_be_true,
    negation_normal_form,
    references,
)
from values import compare

A = column_named("a")


@pytest.mark.parametrize(
    ("predicate", "value", "expected"),
    [
        (compare("a", "=", 1), 1, True),
        (compare("a", "=", 1), None, None),
        (compare("a", "!=", 1), 2, True),
        (compare("a", "<", Decimal("1.5")), 1, True),
        (compare("a", ">=", 2), 1.5, False),
        (compare("a", "<=>", None), None, True),
        (compare("a", "<=>", 1), None, False),
        (compare("a", "<=>", 1), 1, True),
        (compare("a", "=", None), 1, None),
        (compare("a", "=", math.nan), math.nan, True),
        (compare("a", ">", 1.0), math.nan, True),
        (compare("a", "<", math.nan), math.inf, True),
        (compare("a", "=", date(2024, 1, 1)), date(2024, 1, 1), True),
        (compare("a", "=", date(2024, 1, 1)), datetime(2024, 1, 1, tzinfo=timezone.utc), None),
        (compare("a", "=", "1"), 1, None),
        (compare("a", "=", True), 1, None),
        (IsNull(A), None, True),
        (IsNotNull(A), None, False),
        (In(A, (1, 2)), 2, True),
        (In(A, (1, None)), 2, None),
        (In(A, ()), 2, False),
        (StartsWith(A, "ab"), "abc", True),
        (StartsWith(A, "ab"), "b", False),
        (StartsWith(A, "ab"), None, None),
        (Not(compare("a", "=", 1)), None, None),
        (Not(IsNull(A)), None, False),
        (UNKNOWN, 1, None),
        (Literal(None), 1, None),
    ],
)
def test_a_predicate_is_true_false_or_neither(
    predicate: Predicate, value: Any, expected: bool | None
) -> None:
    assert evaluate(predicate, {"a": value}) is expected


def test_and_and_or_follow_sql() -> None:
    for left in (True, False, None):
        for right in (True, False, None):
            both = And((Literal(left), Literal(right)))
            either = Or((Literal(left), Literal(right)))
            values = (left, right)
            assert evaluate(both, {}) is (
                False if False in values else None if None in values else True
            )
            assert evaluate(either, {}) is (
                True if True in values else None if None in values else False
            )


def test_nothing_is_known_of_a_column_that_is_not_there() -> None:
    assert evaluate(IsNull(A), {}) is None
    assert evaluate(any_of(compare("a", "=", 1), compare("b", "=", 2)), {"b": 2}) is True


def test_names_are_found_in_any_case_and_through_structs() -> None:
    assert evaluate(compare("S.x", "=", 1), {"s": {"X": 1}}) is True
    assert evaluate(IsNull(column_named("s.x")), {"s": None}) is True
    assert evaluate(IsNull(column_named("s.x")), {"s": 7}) is None


def test_null_and_unknown_are_told_apart_when_it_matters() -> None:
    is_one = compare("a", "=", 1)

    assert not may_be_true(is_one, {"a": None})
    assert may_be_true(is_one, {})
    assert may_be_true(is_one, {"a": "text"})
    assert not may_be_true(Not(is_one), {"a": 1})
    assert not may_be_true(Not(StartsWith(A, "x")), {"a": "xy"})
    assert not may_be_true(Not(StartsWith(A, "x")), {"a": None})
    assert may_be_true(Not(StartsWith(A, "x")), {})
    assert may_be_true(Not(UNKNOWN), {})
    assert not may_be_true(Literal(None), {})


def test_conjuncts_are_found_at_any_depth() -> None:
    one, two, three = (compare("a", "=", i) for i in range(3))

    assert list(conjuncts(And((one, And((two, three)))))) == [one, two, three]
    assert list(conjuncts(Or((one, two)))) == [Or((one, two))]


def test_references_name_every_column_once() -> None:
    predicate = And(
        (compare("a", "=", 1), Not(Or((IsNull(A), In(column_named("s.x"), (1,)), UNKNOWN))))
    )

    assert references(predicate) == {A, Column(("s", "x"))}
    assert references(ALWAYS_TRUE) == frozenset()


def test_combining_few_predicates_stays_plain() -> None:
    one = compare("a", "=", 1)

    assert (all_of(), any_of()) == (ALWAYS_TRUE, ALWAYS_FALSE)
    assert (all_of(one), any_of(one)) == (one, one)
    assert all_of(one, one) == And((one, one))


def test_not_is_pushed_inward() -> None:
    predicate = Not(Or((compare("a", "<", 1), And((IsNull(A), In(A, (1, 2)))))))

    assert negation_normal_form(predicate) == And(
        (
            compare("a", ">=", 1),
            Or((IsNotNull(A), And((compare("a", "!=", 1), compare("a", "!=", 2))))),
        )
    )


values = st.none() | st.integers(-2, 2) | st.sampled_from([math.nan, 0.5])
texts = st.none() | st.text("ab", max_size=2)
numbers = st.sampled_from([column_named("n"), column_named("m")])
leaves: st.SearchStrategy[Any] = st.one_of(
    st.builds(
        Comparison, st.sampled_from(["=", "!=", "<", "<=", ">", ">=", "<=>"]), numbers, values
    ),
    st.builds(IsNull, numbers),
    st.builds(IsNotNull, numbers),
    st.builds(In, numbers, st.lists(values, max_size=3).map(tuple)),
    st.builds(StartsWith, st.just(column_named("t")), st.text("ab", max_size=2)),
    st.builds(Literal, st.none() | st.booleans()),
)
predicates: st.SearchStrategy[Any] = st.recursive(
    leaves,
    lambda inner: (
        st.builds(Not, inner)
        | st.lists(inner, max_size=3).map(lambda found: And(tuple(found)))
        | st.lists(inner, max_size=3).map(lambda found: Or(tuple(found)))
    ),
    max_leaves=6,
)
rows = st.fixed_dictionaries({"n": values, "m": values, "t": texts})


@pytest.mark.property
@given(predicates, rows)
def test_pushing_not_inward_changes_no_result(predicate: Predicate, row: dict[str, Any]) -> None:
    assert evaluate(negation_normal_form(predicate), row) is evaluate(predicate, row)


@pytest.mark.property
@given(predicates, rows)
def test_what_is_true_may_be_true_and_nothing_else(
    predicate: Predicate, row: dict[str, Any]
) -> None:
    assert may_be_true(predicate, row) is (evaluate(predicate, row) is True)


@pytest.mark.property
@given(predicates, rows, st.sampled_from(["n", "m", "t"]))
def test_knowing_less_never_rules_out_what_is_true(
    predicate: Predicate, row: dict[str, Any], forgotten: str
) -> None:
    known = {name: value for name, value in row.items() if name != forgotten}

    assert may_be_true(predicate, known) or not may_be_true(predicate, row)
