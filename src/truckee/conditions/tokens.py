r"""SQL text -> tokens, by the rules of Spark's lexer.

| text                          | kind    | value                                      |
|-------------------------------|---------|--------------------------------------------|
| `id`, `Bestellung`, `_x1`     | word    | itself; keywords are words                 |
| `` `a b` ``                   | name    | without the quotes                         |
| `'it''s'`, `"x"`, `r'\d'`     | text    | escapes resolved, except those of LIKE     |
| `X'1F'`                       | bytes   | the bytes                                  |
| `5`, `1.5`, `.5`, `1e3`, `5L` | number  | the digits with their suffix               |
| `<=>`, `<>`, `(` and so on    | symbol  | itself                                     |
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from msgspec import Struct

from truckee.errors.conditions import ConditionSyntaxError, UnsupportedConditionError

_TOKEN = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<bytes>[xX](?:'[^']*'|"[^"]*"))
  | (?P<raw>[rR](?:'[^']*'|"[^"]*"))
  | (?P<text>'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*")
  | (?P<name>`(?:[^`]|``)*`)
  | (?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?:BD|[LSYFD])?(?![\w.]))
  | (?P<word>[^\W\d]\w*)
  | (?P<symbol><=>|<=|>=|<>|!=|==|[=<>!().,+*/%&|^~-])
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2}|.)", re.DOTALL)
# Stands for an escape of a number that no character has.
_NO_CHARACTER = "\ud800"
_ESCAPED = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a"}


class Token(Struct, frozen=True):
    """One word, name, text, number or symbol, with its position."""

    kind: str
    value: str
    position: int

    def is_word(self, *words: str) -> bool:
        """Return whether this is one of some keywords, in any case."""
        return self.kind == "word" and self.value.upper() in words

    def is_symbol(self, *symbols: str) -> bool:
        """Return whether this is one of some symbols."""
        return self.kind == "symbol" and self.value in symbols


def tokens(condition: str) -> list[Token]:
    """Return the tokens of a condition, with one of kind `end` last."""
    found = [*_tokens(condition), Token("end", "", len(condition))]
    try:
        "".join(token.value for token in found).encode()
    except UnicodeEncodeError as error:
        what = "a text that is not valid Unicode"
        raise UnsupportedConditionError(condition=condition, what=what) from error
    return found


def _tokens(condition: str) -> Iterator[Token]:
    position = 0
    while position < len(condition):
        match = _TOKEN.match(condition, position)
        if match is None or condition.startswith(("--", "/*"), position):
            raise ConditionSyntaxError(
                condition=condition, near=near(condition, position), expected="SQL"
            )
        kind, found = match.lastgroup, match[0]
        assert kind is not None
        if kind == "raw":
            yield Token("text", found[2:-1], position)
        elif kind == "bytes":
            yield Token(kind, found[2:-1], position)
        elif kind == "text":
            yield Token(kind, _unescaped(found), position)
        elif kind == "name":
            yield Token(kind, found[1:-1].replace("``", "`"), position)
        elif kind != "space":
            yield Token(kind, found, position)
        position = match.end()


def _unescaped(literal: str) -> str:
    return without_escapes(literal[1:-1].replace(literal[0] * 2, literal[0]))


def without_escapes(text: str) -> str:
    """Return the text that Spark reads in a literal with these characters between its quotes."""
    return _ESCAPE.sub(_resolved, text) if "\\" in text else text


def _resolved(match: re.Match[str]) -> str:
    code = match[1]
    if code[0] in "uU" and len(code) > 1:
        number = int(code[1:], 16)
        return chr(number) if number <= sys.maxunicode else _NO_CHARACTER
    if len(code) == 3:
        return chr(int(code, 8))
    if code in "%_":
        return match[0]  # both have a meaning of their own in LIKE
    return _ESCAPED.get(code, code)


def near(condition: str, position: int) -> str:
    """Return a position in a condition, as text for an error."""
    rest = condition[position : position + 20]
    return f"before {rest!r}" if rest else "at its end"
