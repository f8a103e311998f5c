"""Transactions over a tiny table, and a brute-force answer to what running them one by one gives.

It knows nothing of the rules in `log/commit/conflicts.py`. A table is files, a file lies in a
partition and holds rows; a program reads some of it and writes what follows from what it has read.
Running a program again after another one shows whether the two could have been run one after the
other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias


class Row(NamedTuple):
    """A row: a key that predicates on data look at, and what it holds."""

    key: int
    value: str


class File(NamedTuple):
    """A file's content; `vector` changes when rows of it are marked as deleted in place."""

    partition: str | None
    rows: frozenset[Row]
    vector: int = 0


Table: TypeAlias = Mapping[str, File]
Partitions: TypeAlias = frozenset[str | None]


@dataclass(frozen=True)
class Outcome:
    """What one run read and wrote. A path that is removed and added is a changed vector."""

    searched: Partitions | None = None
    """The partitions that were searched; None for a program that reads nothing."""
    read: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()
    added: Mapping[str, File] = field(default_factory=dict)
    changes_data: bool = True

    def applied(self, table: Table) -> dict[str, File]:
        """Return the table after this outcome was committed to it."""
        kept = {path: file for path, file in table.items() if path not in self.removed}
        return {**kept, **self.added}

    @property
    def is_blind_append(self) -> bool:
        """Whether it adds files and depends on nothing."""
        return self.searched is None and not self.removed


@dataclass(frozen=True)
class Append:
    """Add one row to one partition."""

    name: str
    partition: str | None
    key: int

    def run(self, table: Table) -> Outcome:
        row = Row(self.key, self.name)
        return Outcome(added={self.name: File(self.partition, frozenset({row}))})


@dataclass(frozen=True)
class Delete:
    """Delete the rows with a key in some partitions, by rewriting files or by vectors."""

    name: str
    partitions: Partitions
    key: int
    by_vector: bool

    def run(self, table: Table) -> Outcome:
        # Statistics tell which files cannot have the key, so these are never opened.
        read = {
            path: file
            for path, file in table.items()
            if file.partition in self.partitions and any(r.key == self.key for r in file.rows)
        }
        added = {}
        for path, file in read.items():
            left = frozenset(row for row in file.rows if row.key != self.key)
            if left and self.by_vector:
                added[path] = File(file.partition, left, file.vector + 1)
            elif left:
                added[f"{self.name}:{path}"] = File(file.partition, left)
        paths = frozenset(read)
        return Outcome(searched=self.partitions, read=paths, removed=paths, added=added)


@dataclass(frozen=True)
class Derive:
    """Add a row that tells all rows of some partitions: INSERT INTO ... SELECT."""

    name: str
    partitions: Partitions
    target: str | None

    def run(self, table: Table) -> Outcome:
        read = {p: f for p, f in table.items() if f.partition in self.partitions}
        told = sorted(row for file in read.values() for row in file.rows)
        row = Row(0, f"{self.name}{told}")
        return Outcome(
            searched=self.partitions,
            read=frozenset(read),
            added={self.name: File(self.target, frozenset({row}))},
        )


@dataclass(frozen=True)
class Compact:
    """Put the rows of one partition into one file; the rows stay the same."""

    name: str
    partition: str | None

    def run(self, table: Table) -> Outcome:
        read = {p: f for p, f in table.items() if f.partition == self.partition}
        rows = frozenset(row for file in read.values() for row in file.rows)
        return Outcome(
            searched=frozenset({self.partition}),
            read=frozenset(read),
            removed=frozenset(read),
            added={self.name: File(self.partition, rows)} if read else {},
            changes_data=False,
        )


Program: TypeAlias = Append | Delete | Derive | Compact


def rows(table: Table) -> Counter[tuple[str | None, Row]]:
    """Return all rows with their partitions: what a query over the table shows."""
    return Counter((file.partition, row) for file in table.values() for row in file.rows)


def run_one_by_one(table: Table, *programs: Program) -> dict[str, File]:
    """Return the table after each program has run on what the one before had left."""
    for program in programs:
        table = program.run(table).applied(table)
    return dict(table)
