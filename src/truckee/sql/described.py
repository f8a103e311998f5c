"""`DESCRIBE HISTORY` and `DESCRIBE DETAIL` in brackets, as tables of a query.

    SELECT max(version) FROM (DESCRIBE HISTORY t)
    SELECT max(version) FROM (SELECT * FROM truckee_described('4445...'))

Spark's grammar knows no statement there, so the text gets a table function instead. Its argument
is the statement in hexadecimal digits, which need no quotes whatever the session says of escapes.
"""

from __future__ import annotations

from truckee.sql.grammar import parsed_statement
from truckee.sql.lexemes import Lexeme, lexemes
from truckee.sql.statements import DetailStatement, HistoryStatement

FUNCTION = "truckee_described"


def inlined_descriptions(text: str) -> str:
    """Return a statement with a function in the place of each description in brackets.

    Raises StatementSyntaxError for what begins like a description but is none.
    """
    found = lexemes(text)
    shown, position = "", 0
    for index, (bracket, verb, noun) in enumerate(zip(found, found[1:], found[2:], strict=False)):
        begins = bracket.is_mark("(") and verb.is_keyword("DESC", "DESCRIBE")
        if not begins or not noun.is_keyword("DETAIL", "HISTORY"):
            continue
        end = _closing(found[index + 1 :])
        statement = text[verb.start : end]
        if parsed_statement(statement) is None:
            continue  # for Spark to refuse: DESCRIBE of a table called history
        call = f"{FUNCTION}('{statement.encode().hex()}')"
        shown += text[position : verb.start] + " ".join(("SELECT * FROM", call))
        position = end
    return shown + text[position:]


def _closing(after: list[Lexeme]) -> int:
    """Return where the bracket closes that was opened before some lexemes."""
    depth = 1
    for lexeme in after:
        depth += lexeme.is_mark("(") - lexeme.is_mark(")")
        if depth == 0:
            break
    return lexeme.start


def described_statement(digits: str) -> DetailStatement | HistoryStatement | None:
    """Return the statement of a call of the function, None if it is not one that describes."""
    try:
        found = parsed_statement(bytes.fromhex(digits).decode())
    except ValueError:
        return None
    return found if isinstance(found, DetailStatement | HistoryStatement) else None
