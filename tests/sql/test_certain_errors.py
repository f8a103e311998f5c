"""What is refused without Spark is refused by Spark too, whatever it is."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
from pyspark.errors import ParseException
from pyspark.sql import SparkSession

from law_examples import examples
from truckee.errors.base import DeltaError
from truckee.errors.conditions import ConditionSyntaxError
from truckee.errors.sql import StatementSyntaxError
from truckee.sql.certain_errors import check_condition_text, check_statement_text

REFUSED = {
    "": "a column or a value at its end",
    " ": "a column or a value at its end",
    "id = (1": "a closing bracket at its end",
    "id = 1)": "an opening bracket before ')'",
    "id = 'a": "a closing ' at its end",
    'id = "a': 'a closing " at its end',
    "`id = 1": "a closing ` at its end",
    "id >": "a column or a value at its end",
    "id <": "a column or a value at its end",
    "id = 1 + ": "a column or a value at its end",
    "= 5": "a column or a value before '= 5'",
    "id =< 5": "a column or a value before '< 5'",
    "id => 5": ">= before '=> 5'",
    "id = = 5": "a column or a value before '= 5'",
    "id IN (1, 2": "a closing bracket at its end",
}
TAKEN = (
    "id = 5",
    "id > 5 AND",
    "and",
    "x::array<int>",
    "CAST(x AS array<array<int>>) = y",
    "id = ')' AND name = '('",
    "id = 'it\\'s ('",
    "`a(` = 1",
    "id = 1 -- (",
    "id = /* ( */ 1",
    "f(a => 1)",
    "a = -1",
    "!a",
    "a = !b",
    "t.*",
    "a[0] = 'x''y'",
    "r'\\' = a",
    "$$('$$ = a",
    "filter(a, x -> x >= 1)",
)
STATEMENTS = ("", "VACUUM", "SELECT (1", "SELECT 'a", "DELETE FROM t WHERE id IN (1", "SELECT 1)")
TAKEN_STATEMENTS = ("SELECT 1", "SET x = (", "SELECT '('", "SHOW TABLES", "VACUUM t", "SELECT 1;")
PIECES = """
    id = 5 AND OR NOT ( ) ' " ` , . < > <= >= <> != == <=> => -> + - * / % | || & ! [ ] CAST AS
    ARRAY INT :: f IN LIKE IS NULL BETWEEN r' x' 'a' "b" `c` \\ ? : ; CASE WHEN END
"""


@pytest.mark.parametrize("condition", REFUSED)
def test_a_condition_that_is_none_says_what_is_missing(condition: str) -> None:
    with pytest.raises(ConditionSyntaxError) as raised:
        check_condition_text(condition)

    assert f"{raised.value.expected} {raised.value.near}" == REFUSED[condition]


@pytest.mark.parametrize("condition", TAKEN)
def test_what_spark_may_take_is_left_to_it(condition: str) -> None:
    check_condition_text(condition)


@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_statement_that_is_none_is_refused(statement: str) -> None:
    with pytest.raises(StatementSyntaxError):
        check_statement_text(statement)


@pytest.mark.parametrize("statement", TAKEN_STATEMENTS)
def test_other_statements_are_left_to_spark(statement: str) -> None:
    check_statement_text(statement)


def test_a_statement_marks_the_place() -> None:
    with pytest.raises(StatementSyntaxError) as raised:
        check_statement_text("SELECT 1)")

    assert raised.value.sentence() == (
        "Syntax error at or near ')': an opening bracket is expected. (line 1, pos 8)\n\n"
        "== SQL ==\nSELECT 1)\n--------^^^"
    )


def refuses(check: Any, text: str) -> bool:
    try:
        check(text)
    except DeltaError:
        return True
    return False


@pytest.mark.slow
def test_spark_refuses_all_of_it_too(spark: SparkSession) -> None:
    """Texts of random pieces: most are no SQL, and none that is refused here is taken by Spark."""
    parser = spark._jsparkSession.sessionState().sqlParser()
    pieces = re.findall(r"\S+", PIECES)
    choose = random.Random(7)
    texts = [
        choose.choice((" ", "")).join(choose.choices(pieces, k=choose.randint(0, 6)))
        for _ in range(examples(4000))
    ]

    def spark_refuses(text: str) -> bool:
        try:
            parser.parseExpression(text)
        except ParseException:
            return True
        return False

    refused = [text for text in (*REFUSED, *texts) if refuses(check_condition_text, text)]
    assert len(refused) > len(texts) / 4
    assert [text for text in refused if not spark_refuses(text)] == []
    assert not any(spark_refuses(text) for text in ("id = 5", "id IN (1, 2)"))


def test_spark_refuses_these_statements_too(spark: SparkSession) -> None:
    parser = spark._jsparkSession.sessionState().sqlParser()

    for statement in STATEMENTS:
        with pytest.raises(Exception, match=r"(?i)parse|syntax"):
            parser.parsePlan(statement)
