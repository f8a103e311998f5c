"""Conditions in SQL text: what is understood without Spark, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import truckee
from builders import history
from conditions.rows import CONDITIONS, SCHEMA, all_rows
from staging import metadata
from truckee.arrow.where import truth
from truckee.conditions.pruning import condition_predicate
from truckee.conditions.row_tests import row_test
from truckee.errors import (
    ConditionColumnError,
    ConditionSyntaxError,
    ConditionTypeError,
    ConditionValueError,
    UnsupportedConditionError,
)
from truckee.protocol.predicates import may_be_true
from truckee.protocol.schema import StructField, StructType
from truckee.storage.local import LocalStorage
from values import simple_schema

UNSUPPORTED = [
    "i + 1 = 5",
    "-i = 5",
    "upper(s) = 'A'",
    "CAST(i AS STRING) = '5'",
    "s = 5",
    "s IN (1, 2)",
    "i = 5 = true",
    "s RLIKE 'a'",
    "s ILIKE 'a'",
    "s LIKE ANY ('a', 'b')",
    "s LIKE s",
    "i LIKE '5%'",
    "s LIKE r'a\\bc'",
    "s = 'a' 'b'",
    "i IN (SELECT 1)",
    "EXISTS (SELECT 1)",
    "CASE WHEN flag THEN true END",
    "st = st",
    "day > INTERVAL '1' DAY",
    "i % 2 = 0",
    "s || 'a' = 'b'",
    "i = 999999999999999999999999999999999999999",
]


@pytest.mark.parametrize("condition", UNSUPPORTED)
def test_sql_that_is_not_known_here_is_an_error(condition: str) -> None:
    with pytest.raises((UnsupportedConditionError, ConditionSyntaxError)):
        row_test(condition, SCHEMA)


def test_what_is_not_known_is_told_in_a_sentence() -> None:
    with pytest.raises(UnsupportedConditionError) as raised:
        row_test("upper(s) = 'A'", SCHEMA)

    assert str(raised.value) == (
        "[DELTA_UNSUPPORTED_EXPRESSION] the condition \"upper(s) = 'A'\" has UPPER, "
        "which only Spark understands\n"
        "hint: compare columns with values, or read the table through Spark "
        "(on the command line: --engine spark)"
    )


def test_text_that_is_no_condition_is_told_with_its_place() -> None:
    with pytest.raises(ConditionSyntaxError) as raised:
        row_test("i > AND flag", SCHEMA)

    assert str(raised.value).partition("\n")[0] == (
        "[PARSE_SYNTAX_ERROR] the condition 'i > AND flag' cannot be parsed: expected a column "
        "or a value before 'AND flag'"
    )


def test_errors_have_the_classes_of_spark() -> None:
    cases = {
        "nonsense = 1": ConditionColumnError,
        "flag = 1": ConditionTypeError,
        "i = 'x'": ConditionValueError,
    }
    for condition, kind in cases.items():
        with pytest.raises(kind) as raised:
            row_test(condition, SCHEMA)
        assert raised.value.condition == condition
    assert ConditionColumnError.code == "UNRESOLVED_COLUMN.WITH_SUGGESTION"


def test_columns_that_spark_pads_or_collates_are_refused() -> None:
    padded = StructField(
        "c",
        simple_schema("c string").fields[0].type,
        True,
        {"__CHAR_VARCHAR_TYPE_STRING": "char(5)"},
    )
    collated = StructField("c", padded.type, True, {"__COLLATIONS": {"c": "ICU.de"}})

    for field in (padded, collated):
        with pytest.raises(UnsupportedConditionError):
            row_test("c = 'a'", StructType((field,)))


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_file_is_never_left_out_for_a_row_that_matches(condition: str) -> None:
    test = row_test(condition, SCHEMA)
    predicate = condition_predicate(test)

    answers = truth(test, all_rows()).to_pylist()

    for row, answer in zip(all_rows().to_pylist(), answers, strict=True):
        assert may_be_true(predicate, row) or answer is not True


def test_every_condition_finds_the_same_rows_with_and_without_row_groups_skipped(
    tmp_path: Path,
) -> None:
    made = history(LocalStorage(str(tmp_path)))
    made.stage(metadata(*SCHEMA.fields))
    pq.write_table(pa.Table.from_batches([all_rows()]), tmp_path / "a", row_group_size=1)
    made.add("a", size=(tmp_path / "a").stat().st_size).then()
    opened = truckee.open(str(tmp_path))

    wrong = []
    for condition in CONDITIONS[::3]:
        answers = truth(row_test(condition, SCHEMA), all_rows()).to_pylist()
        expected = [row for row, answer in enumerate(answers) if answer]
        found = opened.to_arrow(columns=["id"], where=condition)["id"].to_pylist()
        if found != expected:
            wrong.append((condition, found, expected))
    assert wrong == []
