"""Mistakes in SQL that Spark's parser refuses for certain, found without Spark.

Spark's grammar takes more than ours, and almost every keyword may be a name there. So only what no
rule of it allows is told here: brackets and quotes that are not closed, and operators without a
value. Everything else is left to Spark.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from truckee.conditions.tokens import near
from truckee.errors.conditions import ConditionSyntaxError
from truckee.errors.sql import StatementSyntaxError
from truckee.sql.grammar import parsed_statement
from truckee.sql.lexemes import Lexeme, lexemes

# Comments may be nested, variables stand for any text, and quotes may be made of dollars.
_UNCERTAIN = ("--", "/*", "$", "{")
_QUERIES = ("SELECT", "WITH", "VALUES", "INSERT", "DELETE", "UPDATE", "MERGE")
# < and > may also be the brackets of a type, as in x::ARRAY<INT>.
_COMPARISONS = ("=", "==", "<>", "!=", "<=", ">=", "<=>")
_UNFINISHED = (*_COMPARISONS, "<", "+", "-", "/", ",", ".")
_VALUE = "a column or a value"


class _Mistake(NamedTuple):
    position: int
    expected: str


def check_condition_text(condition: str) -> None:
    """Raise ConditionSyntaxError if Spark would surely refuse a condition."""
    if any(mark in condition for mark in _UNCERTAIN):
        return
    found = lexemes(condition)
    mistake = _unclosed(found) or _without_value(found)
    if mistake is not None:
        place = near(condition, mistake.position)
        raise ConditionSyntaxError(condition=condition, near=place, expected=mistake.expected)


def check_statement_text(statement: str) -> None:
    """Raise StatementSyntaxError, or another error of Delta's grammar, if Spark surely would."""
    if any(mark in statement for mark in _UNCERTAIN):
        return
    parsed_statement(statement)
    found = lexemes(statement)
    mistake: _Mistake | None = None
    if found[0].kind == "end":
        mistake = _Mistake(0, "a statement")
    elif found[0].is_keyword(*_QUERIES):
        # Others may end in text of any kind, as SET does.
        mistake = _unclosed(found)
    if mistake is not None:
        at = next(each for each in found if each.start >= mistake.position)
        raise StatementSyntaxError(
            statement=statement,
            position=mistake.position,
            near="end of input" if at.kind == "end" else f"'{at.written}'",
            expected=mistake.expected,
        )


def _unclosed(found: Sequence[Lexeme]) -> _Mistake | None:
    """Return the first bracket or quote that has no other end."""
    depth = 0
    for lexeme in found:
        if lexeme.is_mark("'", '"', "`"):
            return _Mistake(found[-1].start, f"a closing {lexeme.value}")
        depth += lexeme.is_mark("(") - lexeme.is_mark(")")
        if depth < 0:
            return _Mistake(lexeme.start, "an opening bracket")
    return None if depth == 0 else _Mistake(found[-1].start, "a closing bracket")


def _without_value(found: Sequence[Lexeme]) -> _Mistake | None:
    """Return the place in a condition where an operator has no value."""
    ending = _UNFINISHED if any(each.is_mark("<") for each in found) else (*_UNFINISHED, ">")
    depth = 0
    before = Lexeme("start", "", 0, 0)
    for lexeme in found:
        depth += lexeme.is_mark("(") - lexeme.is_mark(")")
        is_nothing = lexeme.kind == "end" or lexeme.is_mark(")", ",", *_COMPARISONS, "<", ">")
        if is_nothing and (before.kind == "start" or before.is_mark(*_COMPARISONS)):
            return _Mistake(lexeme.start, _VALUE)
        if lexeme.kind == "end" and before.is_mark(*ending):
            return _Mistake(lexeme.start, _VALUE)
        if depth == 0 and lexeme.is_mark("=>"):
            # It names an argument, and so is inside of brackets.
            return _Mistake(lexeme.start, ">=")
        before = lexeme
    return None
