"""The parts from which the grammar rules are built: keywords, names, literals and raw text."""

from __future__ import annotations

import re

from truckee.errors.sql import ConvertedTypeError, IllegalTableNameError, StatementSyntaxError
from truckee.sql.lexemes import Lexeme, lexemes
from truckee.sql.statements import PartitionField, TableRef, TimeTravel

_MOST_PARTS = 3
_TYPES = re.compile(
    r"boolean|tinyint|byte|smallint|short|int|integer|bigint|long|float|real|double|date|timestamp"
    r"|timestamp_ntz|string|binary|(?:char|character|varchar)\(\d+\)"
    r"|(?:decimal|dec|numeric)(?:\(\d+(?:,\d+)?\))?",
    re.IGNORECASE,
)


class StatementParser:
    """A statement that is read from left to right; each method consumes what it is named after."""

    def __init__(self, statement: str) -> None:
        self._statement = statement
        found = lexemes(statement)
        while len(found) > 1 and found[-2].is_mark(";"):
            del found[-2]
        self._lexemes = found
        self._place = 0

    @property
    def next(self) -> Lexeme:
        """The next lexeme, not consumed yet."""
        return self._lexemes[self._place]

    @property
    def after_next(self) -> Lexeme:
        """The lexeme after the next one."""
        return self._lexemes[min(self._place + 1, len(self._lexemes) - 1)]

    @property
    def at_end(self) -> bool:
        """Whether everything is consumed."""
        return self.next.kind == "end"

    def take(self) -> Lexeme:
        """Consume and return the next lexeme."""
        found = self.next
        self._place += found.kind != "end"
        return found

    def took(self, *keywords: str) -> bool:
        """Consume a sequence of keywords if it is next; return whether it was."""
        ahead = self._lexemes[self._place : self._place + len(keywords)]
        is_there = len(ahead) == len(keywords) and all(
            found.is_keyword(word) for found, word in zip(ahead, keywords, strict=True)
        )
        self._place += len(keywords) if is_there else 0
        return is_there

    def took_mark(self, mark: str) -> bool:
        """Consume a symbol if it is next; return whether it was."""
        is_there = self.next.is_mark(mark)
        self._place += is_there
        return is_there

    def expect(self, keyword: str) -> None:
        """Take a keyword, or raise."""
        if not self.took(keyword):
            raise self.error(keyword)

    def expect_mark(self, mark: str) -> None:
        """Take a symbol, or raise."""
        if not self.took_mark(mark):
            raise self.error(f"'{mark}'")

    def expect_end(self, expected: str = "the end") -> None:
        """Raise if something is left."""
        if not self.at_end:
            raise self.error(expected)

    def error(self, expected: str, *, back: bool = False) -> StatementSyntaxError:
        """Return the error that says what was expected here, or at the last lexeme consumed."""
        found = self._lexemes[max(0, self._place - 1)] if back else self.next
        near = "end of input" if found.kind == "end" else f"'{found.written}'"
        return StatementSyntaxError(
            statement=self._statement, position=found.start, near=near, expected=expected
        )

    def identifier(self, expected: str = "a name") -> str:
        """Take one part of a name."""
        if self.next.kind not in ("word", "name") and not self.next.value.isdecimal():
            raise self.error(expected)
        return self.take().value

    def multipart(self, expected: str) -> tuple[str, ...]:
        """Take names with dots between them."""
        parts = [self.identifier(expected)]
        while self.took_mark("."):
            parts.append(self.identifier("a name after the dot"))
        return tuple(parts)

    def table(self) -> TableRef:
        """Take the name of a table."""
        return self.checked(self.multipart("the name of a table"))

    def checked(self, parts: tuple[str, ...]) -> TableRef:
        """Return the table for a name, or raise if it has too many parts."""
        if len(parts) > _MOST_PARTS:
            raise IllegalTableNameError(table=str(TableRef(parts)))
        return TableRef(parts)

    def table_or_path(self) -> TableRef:
        """Take the name of a table, or a path in quotes."""
        if self.next.kind == "text":
            return TableRef(path=self.text())
        if self.next.kind not in ("word", "name"):
            raise self.error("the name of a table or a path in quotes")
        return self.table()

    def text(self, expected: str = "a text in quotes") -> str:
        """Take a text; adjacent texts are joined."""
        if self.next.kind != "text":
            raise self.error(expected)
        found = self.take().value
        while self.next.kind == "text":
            found += self.take().value
        return found

    def integer(self) -> int:
        """Take a whole number."""
        if not self.next.value.isdecimal() or self.next.kind != "number":
            raise self.error("a whole number")
        return int(self.take().value)

    def signed_number(self) -> float:
        """Take a number, which may have a fraction and a sign."""
        sign = -1 if self.took_mark("-") else 1
        try:
            if self.next.kind == "number":
                number = float(self.next.value)
                self.take()
                return sign * number
        except ValueError:
            pass
        raise self.error("a number")

    def column_list(self) -> tuple[tuple[str, ...], ...]:
        """Take columns with commas between them, in brackets or without."""
        in_brackets = self.took_mark("(")
        found = [self.multipart("a column")]
        while self.took_mark(","):
            found.append(self.multipart("a column"))
        if in_brackets:
            self.expect_mark(")")
        return tuple(found)

    def time_travel(self) -> TimeTravel | None:
        """Take `[FOR] VERSION AS OF n` or `[FOR] TIMESTAMP AS OF 't'`; None if it is not next."""
        is_certain = self.took("FOR")
        if self.next.is_keyword("VERSION", "SYSTEM_VERSION"):
            self.take()
            self._as_of()
            return TimeTravel(version=self._version())
        if self.next.is_keyword("TIMESTAMP", "SYSTEM_TIME"):
            self.take()
            self._as_of()
            return TimeTravel(timestamp=self.text("a time in quotes"))
        if is_certain:
            raise self.error("VERSION AS OF or TIMESTAMP AS OF")
        return None

    def _as_of(self) -> None:
        self.expect("AS")
        self.expect("OF")

    def _version(self) -> int:
        if self.next.kind == "text" and self.next.value.isdecimal():
            return int(self.take().value)
        return self.integer()

    def raw_until(self, *keywords: str) -> str:
        """Take everything up to a keyword outside of brackets, or up to the end, as written."""
        start = end = self.next.start
        depth = 0
        while not self.at_end and not (depth == 0 and self.next.is_keyword(*keywords)):
            depth += self.next.is_mark("(") - self.next.is_mark(")")
            end = self.take().end
        if start == end:
            raise self.error("a condition")
        return self._statement[start:end]

    def in_brackets(self) -> str:
        """Take brackets and their content, and return the content as written."""
        found = self._bracketed()
        return self._statement[found[0].start : found[-1].end]

    def joined_in_brackets(self) -> str:
        """Take brackets and their content, and return the content with single spaces."""
        return " ".join(found.written for found in self._bracketed())

    def _bracketed(self) -> list[Lexeme]:
        self.expect_mark("(")
        found: list[Lexeme] = []
        depth = 1
        while True:
            if self.at_end:
                raise self.error("')'")
            depth += self.next.is_mark("(") - self.next.is_mark(")")
            taken = self.take()
            if depth == 0:
                break
            found.append(taken)
        if not found:
            raise self.error("something in the brackets", back=True)
        return found

    def partition_fields(self) -> tuple[PartitionField, ...]:
        """Take `(c type [NOT NULL] [COMMENT 't'], ...)`."""
        self.expect_mark("(")
        found = [self._partition_field()]
        while self.took_mark(","):
            found.append(self._partition_field())
        self.expect_mark(")")
        return tuple(found)

    def _partition_field(self) -> PartitionField:
        name = self.identifier("a partition column")
        kind = self._type_text()
        if not _TYPES.fullmatch(kind):
            raise ConvertedTypeError(column=name, type=kind)
        nullable = not self.took("NOT", "NULL")
        comment = self.text() if self.took("COMMENT") else None
        return PartitionField(name, kind, nullable, comment)

    def _type_text(self) -> str:
        kind = self.identifier("the type of a partition column").lower()
        if self.next.is_mark("(", "<"):
            opening, closing = ("(", ")") if self.next.is_mark("(") else ("<", ">")
            depth = 0
            while not self.at_end:
                depth += self.next.is_mark(opening) - self.next.is_mark(closing)
                kind += self.take().written
                if depth == 0:
                    break
        return kind

    def properties(self) -> tuple[tuple[str, str], ...]:
        """Take `(key [=] value, ...)`."""
        self.expect_mark("(")
        found = [self._property()]
        while self.took_mark(","):
            found.append(self._property())
        self.expect_mark(")")
        return tuple(found)

    def _property(self) -> tuple[str, str]:
        key = self.text() if self.next.kind == "text" else ".".join(self.multipart("a key"))
        self.took_mark("=")
        if self.next.kind == "text":
            return key, self.text()
        sign = "-" if self.took_mark("-") else ""
        if self.next.kind == "number":
            return key, sign + self.take().value
        if not sign and self.next.is_keyword("TRUE", "FALSE"):
            return key, self.take().value.lower()
        raise self.error("the value of a property")
