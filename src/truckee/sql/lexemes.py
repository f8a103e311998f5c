r"""SQL text -> lexemes, by the rules of Delta's lexer, each with its place in the text.

| text                          | kind   | value                                      |
|-------------------------------|--------|--------------------------------------------|
| `vacuum`, `t1`, `2024_sales`  | word   | itself; keywords are words                 |
| `` `a b` ``                   | name   | without the quotes                         |
| `'it\'s'`, `"x"`, `r'\d'`     | text   | escapes resolved                           |
| `5`, `1.5`, `.5`, `1e3`, `5L` | number | itself                                     |
| `<=>`, `<>`, `(`, `$` ...     | symbol | itself, a single character if unknown      |

Blanks and comments (`--` to the end of the line, `/* */`) are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from truckee.conditions.tokens import without_escapes

_LEXEME = re.compile(
    r"""
    (?P<skipped>\s+|--[^\r\n]*|/\*.*?\*/)
  | (?P<raw>[rR](?:'[^']*'|"[^"]*"))
  | (?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
  | (?P<name>`(?:[^`]|``)*`)
  | (?P<number>(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?(?:BD|[LSYFD])?(?![A-Z0-9_]))
  | (?P<word>[A-Z0-9_]+)
  | (?P<symbol><=>|<=|>=|<>|!=|==|!<|!>|\|\||->|=>|::|.)
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE | re.ASCII,
)


class Lexeme(Struct, frozen=True):
    """One word, name, text, number or symbol: its start, its end, and its text as written."""

    kind: str
    value: str
    start: int
    end: int
    written: str = ""

    def is_keyword(self, *words: str) -> bool:
        """Return whether this is one of some keywords, ignoring case."""
        return self.kind == "word" and self.value.upper() in words

    def is_mark(self, *marks: str) -> bool:
        """Return whether this is one of some symbols."""
        return self.kind == "symbol" and self.value in marks


def lexemes(statement: str) -> list[Lexeme]:
    """Return the lexemes of a statement; the last one is of kind `end`. Any text is accepted."""
    return [*_lexemes(statement), Lexeme("end", "", len(statement), len(statement))]


def _lexemes(statement: str) -> Iterator[Lexeme]:
    position = 0
    while position < len(statement):
        match = _LEXEME.match(statement, position)
        assert match is not None, "a symbol is any character"
        kind, found = match.lastgroup, match[0]
        assert kind is not None
        if kind == "raw":
            yield Lexeme("text", found[2:-1], position, match.end(), found)
        elif kind == "text":
            yield Lexeme(kind, without_escapes(found[1:-1]), position, match.end(), found)
        elif kind == "name":
            value = found[1:-1].replace("``", "`")
            yield Lexeme(kind, value, position, match.end(), found)
        elif kind != "skipped":
            yield Lexeme(kind, found, position, match.end(), found)
        position = match.end()
