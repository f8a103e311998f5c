"""Descriptions in brackets, as the text that Spark parses, and what stands in it."""

from __future__ import annotations

import pytest

from truckee.errors.sql import StatementSyntaxError
from truckee.sql.described import described_statement, inlined_descriptions
from truckee.sql.statements import DetailStatement, HistoryStatement, TableRef


def call(statement: str) -> str:
    return " ".join(("SELECT * FROM", f"truckee_described('{statement.encode().hex()}')"))


HISTORY = call("DESCRIBE HISTORY t")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT 1 FROM (DESCRIBE HISTORY t)", f"SELECT 1 FROM ({HISTORY})"),
        (
            "TABLE (desc detail delta.`/a)`), (DESC HISTORY t LIMIT 2)",
            f"TABLE ({call('desc detail delta.`/a)`')}), ({call('DESC HISTORY t LIMIT 2')})",
        ),
        ("WITH h AS (DESCRIBE HISTORY t) TABLE h", f"WITH h AS ({HISTORY}) TABLE h"),
        ("SELECT '(DESCRIBE HISTORY t)'", "SELECT '(DESCRIBE HISTORY t)'"),
        ("SELECT 1 FROM (DESCRIBE HISTORY)", "SELECT 1 FROM (DESCRIBE HISTORY)"),
        ("CREATE TABLE t (desc INT, detail INT)", "CREATE TABLE t (desc INT, detail INT)"),
        ("SELECT 1 FROM (DESCRIBE HISTORY t", f"SELECT 1 FROM ({HISTORY}"),
    ],
)
def test_a_description_in_brackets_becomes_a_function(text: str, expected: str) -> None:
    assert inlined_descriptions(text) == expected


def test_what_begins_like_a_description_is_one() -> None:
    with pytest.raises(StatementSyntaxError):
        inlined_descriptions("SELECT 1 FROM (DESCRIBE HISTORY t LIMIT x)")


def test_the_function_runs_descriptions_and_nothing_else() -> None:
    history = described_statement(b"DESCRIBE HISTORY t LIMIT 2".hex())
    detail = described_statement(b"DESC DETAIL '/x'".hex())

    assert history == HistoryStatement(TableRef(("t",)), 2)
    assert detail == DetailStatement(TableRef(path="/x"))
    assert described_statement(b"VACUUM t".hex()) is None
    assert described_statement("t") is None
