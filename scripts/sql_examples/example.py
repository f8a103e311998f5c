"""What an example of a statement is, and the table that each of them starts with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

START = (
    "CREATE TABLE {t} (id BIGINT, name STRING, part INT) USING delta PARTITIONED BY (part) "
    "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true', "
    "'delta.feature.allowColumnDefaults' = 'supported')",
    "INSERT INTO {t} VALUES (1, 'a', 1), (2, 'b', 1), (3, 'c', 2)",
)
"""Versions 0 and 1 of every example's table."""

Rows = tuple[tuple[Any, ...], ...]

ROWS: Rows = ((1, "a", 1), (2, "b", 1), (3, "c", 2))
"""What it has."""

MAPPED = "ALTER TABLE {t} SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
"""Lets columns be renamed and dropped."""

NAME, PATH = "name", "path"

NO_PARAMETERS = "delta-spark 4.4 takes no parameters on Spark 4.2"
"""Its parser does not hand them on."""


@dataclass(frozen=True, kw_only=True)
class Example:
    """A statement, and what it leads to.

    In a statement `{t}` is the table, by name or by path, `{f}` its folder, `{o}` another table
    that is not there yet, and `{c}` the folder of that one.

    `result` are the rows that it returns, None where they are not looked at; `rows` are those of
    the table afterwards. `operation` and `parameters` are what the history then says, None where
    nothing is committed. `error` is the error class of a statement that is refused.

    `makes_other` says that `rows`, `columns` and the history are those of the other table.
    `settings` are the session's while the statement runs. `varies` says that what is returned
    tells of times, sizes and ids. `differs` says why delta-spark does something else.
    """

    group: str
    statement: str
    says: str
    before: tuple[str, ...] = ()
    result: Rows | None = None
    rows: Rows = ROWS
    operation: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    columns: tuple[str, ...] = ("id", "name", "part")
    error: str | None = None
    ways: tuple[str, ...] = (NAME, PATH)
    makes_other: bool = False
    settings: Mapping[str, str] = field(default_factory=dict)
    arguments: Mapping[str, Any] = field(default_factory=dict)
    varies: bool = False
    differs: str | None = None


@dataclass(frozen=True)
class Placed:
    """An example by name or by path, with the two tables that it is about."""

    example: Example
    way: str
    folder: str
    other_folder: str

    @property
    def table(self) -> str:
        """The table, as the statement names it."""
        return "an_example" if self.way == NAME else f"delta.`{self.folder}`"

    @property
    def other(self) -> str:
        """The table that the statement makes, as it names it."""
        return "another_example" if self.way == NAME else f"delta.`{self.other_folder}`"

    def text(self, statement: str) -> str:
        """Return a statement with the names of the two tables."""
        places = {"t": self.table, "f": self.folder, "o": self.other, "c": self.other_folder}
        for key, value in places.items():
            statement = statement.replace(f"{{{key}}}", value)
        return statement


def ways_of(examples: tuple[Example, ...]) -> Iterator[tuple[Example, str]]:
    """Yield each example with each way in which its table is named."""
    for example in examples:
        for way in example.ways:
            yield example, way
