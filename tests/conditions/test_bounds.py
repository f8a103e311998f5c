"""Conditions that programs write: deep, long, or with numbers and texts of absurd length."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import truckee
from builders import history
from conditions.rows import SCHEMA, all_rows
from staging import metadata
from truckee.arrow.where import where_condition
from truckee.conditions.row_tests import row_test
from truckee.errors import (
    ConditionSyntaxError,
    ConditionTooDeepError,
    ConditionValueError,
    UnsupportedConditionError,
)
from truckee.local_table import LocalTable
from truckee.storage.local import LocalStorage

DEEPEST = 100
SHAPES = {
    "brackets": "{open}i = 5{close}",
    "ands": "{open_and}i = 5{close}",
    "null tests": "{open}i = 5{close_null}",
    "negations": "{open_not}i = 5{close}",
}


def deep(shape: str, depth: int) -> str:
    """Return a condition with this many brackets inside each other."""
    alternating = "".join(f"(i = 5 {'AND' if n % 2 else 'OR'} " for n in range(depth))
    return SHAPES[shape].format(
        open="(" * depth,
        open_and=alternating,
        open_not="NOT (" * depth,
        close=")" * depth,
        close_null=") IS NULL" * depth,
    )


@pytest.fixture
def table(tmp_path: Path) -> LocalTable:
    made = history(LocalStorage(str(tmp_path)))
    made.stage(metadata(*SCHEMA.fields))
    pq.write_table(pa.Table.from_batches([all_rows()]), tmp_path / "a", row_group_size=1)
    made.add("a", size=(tmp_path / "a").stat().st_size).then()
    return truckee.open(str(tmp_path))


@pytest.mark.parametrize("shape", SHAPES)
def test_a_deep_condition_selects_the_rows_of_a_flat_one(shape: str, table: LocalTable) -> None:
    found = table.to_arrow(columns=["id"], where=deep(shape, DEEPEST))

    flat = table.to_arrow(columns=["id"], where="false" if shape == "null tests" else "i = 5")
    assert found == flat


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("depth", [DEEPEST + 1, 100_000])
def test_a_condition_that_is_too_deep_is_refused(shape: str, depth: int) -> None:
    with pytest.raises(ConditionTooDeepError) as raised:
        row_test(deep(shape, depth), SCHEMA)

    assert raised.value.code == "FAILED_TO_PARSE_TOO_COMPLEX"
    assert len(str(raised.value)) < 1000
    assert str(raised.value).endswith(
        "has more than 100 brackets inside each other\nhint: leave out brackets between "
        "conditions of the same kind, as in a OR b OR c, or use IN"
    )


@pytest.mark.parametrize(("count", "rows"), [(10_000, 1), (10_001, 4)])
def test_a_chain_of_negations_is_one_or_none(count: int, rows: int) -> None:
    where = where_condition("NOT " * count + "i = 5", SCHEMA)

    assert where.rows(all_rows()).num_rows == rows


def test_two_negations_still_need_a_condition() -> None:
    with pytest.raises(truckee.errors.ConditionTypeError):
        row_test("NOT NOT i", SCHEMA)


def test_a_condition_may_have_any_number_of_operands(table: LocalTable) -> None:
    wide = " OR ".join(f"i = {number}" for number in range(3000))

    assert table.to_arrow(columns=["i"], where=wide)["i"].to_pylist() == [0, 5]


@pytest.mark.parametrize("text", ["{}", "{}L", "-{}", "{}BD", "{}.5"])
def test_a_number_with_thousands_of_digits_is_refused(text: str) -> None:
    with pytest.raises((UnsupportedConditionError, ConditionValueError)) as raised:
        row_test(f"l = {text.format('9' * 5000)}", SCHEMA)

    assert len(str(raised.value)) < 2000


def test_zeros_before_a_number_change_nothing(table: LocalTable) -> None:
    zeros = "0" * 5000

    for condition in (f"i = {zeros}5", f"l = {zeros}5L", f"l = '{zeros}5'"):
        assert table.to_arrow(columns=["id"], where=condition).num_rows == 1


def test_digits_of_other_scripts_are_not_numbers() -> None:
    with pytest.raises(ConditionSyntaxError):
        row_test("i = \u0663", SCHEMA)


@pytest.mark.parametrize("text", ["\ud800", r"\ud800", r"\UFFFFFFFF"])
def test_a_text_that_is_not_unicode_is_refused(text: str) -> None:
    for condition in (f"s = '{text}'", f"s LIKE '{text}%'"):
        with pytest.raises(UnsupportedConditionError) as raised:
            row_test(condition, SCHEMA)
        assert "has a text that is not valid Unicode, which only Spark" in str(raised.value)


def test_the_longest_pattern_is_matched_and_a_longer_one_refused(table: LocalTable) -> None:
    assert table.to_arrow(where=f"s LIKE '{'_' * 50_000}'").num_rows == 0
    with pytest.raises(UnsupportedConditionError):
        table.to_arrow(where=f"s LIKE '{'_' * 50_001}'")
