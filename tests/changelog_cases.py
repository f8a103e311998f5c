"""The cases of Spark's own tests of changelogs, as one table that has all of them.

An event is written `I 1:Alice@2#2`: what happened, id, name, version, and the version in which the
row last changed, if that matters. Each case has ids of its own. At every version, the files of all
rows that some case deletes are removed, and those that it inserts are added; rows have ids of row
tracking that are the ids of the case. Columns of other types are made from the name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from msgspec.structs import replace

from data_tables import DataTable, removed
from truckee.protocol.actions import AddFile, CommitInfo

LAST = 10
ROW_ID, ROW_VERSION = "_row-id-col", "_row-commit-version-col"
TRACKED = {
    "delta.enableRowTracking": "true",
    "delta.rowTracking.materializedRowIdColumnName": ROW_ID,
    "delta.rowTracking.materializedRowCommitVersionColumnName": ROW_VERSION,
}
PRESERVED = CommitInfo(operation="TEST", tags={"delta.rowTracking.preserved": "true"})
OTHER_TYPES: dict[str, Callable[[str], Any]] = {
    "score": lambda name: len(name) / 4,
    "is_short": lambda name: len(name) < 4,
    "bytes": lambda name: name.encode()[::-1],
}
"""The columns that P19 has beside those of P9, each made from the name of a row."""
COLUMNS = (
    "case string",
    "id long",
    "name string",
    "score double",
    "is_short boolean",
    "bytes binary",
)
_EVENT = re.compile(r"([IDU+-]+) (\d+):(\w*)@(\d+)(?:#(\w+))?")
_KINDS = {"I": "insert", "D": "delete", "U-": "update_preimage", "U+": "update_postimage"}


class Event(NamedTuple):
    """One row of a feed."""

    kind: str
    id: int
    name: str
    version: int
    row_version: int | None = None


class Case(NamedTuple):
    """What happened to some rows, and what the feed must show."""

    given: str
    seen: str


# Carry-overs dropped, updates computed.
UPDATES = {
    "P1": Case(
        "I 1:Alice@1#1, I 2:Bob@1#1, D 1:Alice@2#1, D 2:Bob@2#1, I 2:Bob@2#1",
        "I 1:Alice@1, I 2:Bob@1, D 1:Alice@2",
    ),
    "P4": Case(
        "I 1:Alice@1#1, D 1:Alice@2#1, I 1:Robert@2#2",
        "I 1:Alice@1, U- 1:Alice@2, U+ 1:Robert@2",
    ),
    "P5": Case(
        "I 1:Alice@1#1, D 1:Alice@2#1, I 1:Alice@3#3", "I 1:Alice@1, D 1:Alice@2, I 1:Alice@3"
    ),
    "P9": Case(
        "I 1:Alice@1#1, I 2:Bob@1#1, D 1:Alice@2#1, I 1:Alice@2#1, D 2:Bob@2#1, I 2:Robert@2#2",
        "I 1:Alice@1, I 2:Bob@1, U- 2:Bob@2, U+ 2:Robert@2",
    ),
    "P11": Case("I 1:a@1#1, I 2:b@2#2", "I 1:a@1, I 2:b@2"),
    "P15": Case(
        "I 1:Alice@1#1, I 2:Bob@1#1, I 3:Carl@1#1, D 1:Alice@2#1, D 2:Bob@2#1, I 2:Bob@2#1, "
        "D 3:Carl@2#1, I 3:Carl@2#1, D 2:Bob@3#1, I 2:Robert@3#3, D 3:Carl@3#1, I 3:Carl@3#1, "
        "I 4:Diana@4#4",
        "I 1:Alice@1, I 2:Bob@1, I 3:Carl@1, D 1:Alice@2, U- 2:Bob@3, U+ 2:Robert@3, I 4:Diana@4",
    ),
    "P16": Case("I 1:a@1#1, I 2:b@1#1, D 1:a@2#1, D 2:b@2#1", "I 1:a@1, I 2:b@1, D 1:a@2, D 2:b@2"),
    "P17": Case(
        "I 1:a@1#1, I 2:b@1#1, D 1:a@2#1, I 1:A@2#2, D 2:b@2#1, I 2:B@2#2",
        "I 1:a@1, I 2:b@1, U- 1:a@2, U+ 1:A@2, U- 2:b@2, U+ 2:B@2",
    ),
    "P18": Case(
        ", ".join(
            [f"I {n}:{c}@1#1, D {n}:{c}@2#1" for n, c in enumerate("ABCDEFGHIJ")]
            + [f"I {n}:{c}@2#1" for n, c in enumerate("ABCDEFGHIJ") if c != "E"]
        ),
        ", ".join(f"I {n}:{c}@1" for n, c in enumerate("ABCDEFGHIJ")) + ", D 4:E@2",
    ),
}

# Updates are not computed.
APART = {
    "P10": Case(UPDATES["P9"].given, "I 1:Alice@1, I 2:Bob@1, D 2:Bob@2, I 2:Robert@2"),
}

# Nothing is dropped.
KEPT = {
    "P2": Case("I 1:Alice@1#1, D 2:Bob@2#1, I 2:Bob@2#1", "I 1:Alice@1, D 2:Bob@2, I 2:Bob@2"),
}

# A row is identified by its id and its name.
BY_ID_AND_NAME = {
    "P6": Case("D 1:Alice@2#1, I 1:Bob@2#2", "D 1:Alice@2, I 1:Bob@2"),
    "P7": Case("D 1:Alice@2#1, I 1:Alice@2#1, D 1:Bob@2#1, I 1:Bob@2#1", ""),
}

# Several rows of one version have the same id.
NOT_UNIQUE = {
    "P14 inserted twice": Case("D 1:Alice@2#1, I 1:Bob@2#2, I 1:Carl@2#2", ""),
    "P14 deleted twice": Case("D 1:Alice@2#1, D 1:Bob@2#1, I 1:Carl@2#2", ""),
}

# With row ids alone: an update that changes nothing is one, and so is one of unknown version.
BY_ID = {
    "P3": Case(
        "I 1:Alice@1#1, D 1:Alice@2#null, I 1:Alice@2#5",
        "I 1:Alice@1, U- 1:Alice@2, U+ 1:Alice@2",
    ),
    "P21": Case(
        "I 1:Alice@1#1, D 1:Alice@2#1, I 1:Alice@2#2",
        "I 1:Alice@1, U- 1:Alice@2, U+ 1:Alice@2",
    ),
}

NET = {
    "N1": Case("I 1:A@3", "I 1:A@3"),
    "N2": Case("D 1:A@3", "D 1:A@3"),
    "N3": Case("I 1:A@2, D 1:A@5", ""),
    "N4": Case("I 1:A@2, D 1:A@3, I 1:A2@5", "I 1:A2@5"),
    "N5": Case("I 1:A@2, D 1:A@5, I 1:A2@5", "I 1:A2@5"),
    "N6": Case("D 1:A@3, I 1:A2@3", "U- 1:A@3, U+ 1:A2@3"),
    "N7": Case("D 1:A@2, I 1:A2@2, D 1:A2@3, I 1:R@5", "U- 1:A@2, U+ 1:R@5"),
    "N8": Case("D 1:A@2, I 1:A2@3, D 1:A2@5, I 1:A3@5", "U- 1:A@2, U+ 1:A3@5"),
    "N9": Case("D 1:A@2, I 1:R@5", "U- 1:A@2, U+ 1:R@5"),
    "N10": Case("D 1:A@3, I 1:A2@3, D 1:A2@5", "D 1:A@3"),
    "N11": Case("D 1:A@2, I 1:A2@3, D 1:A2@5", "D 1:A@2"),
    "N13": Case(
        "I 1:a@1, I 2:b@1, I 3:c@1, I 4:d@1, D 3:c@2, I 3:new@2, I 5:e@3, I 6:f@3, "
        "D 1:a@4, D 2:b@4",
        "I 3:new@2, I 4:d@1, I 5:e@3, I 6:f@3",
    ),
    "N14": Case(
        "D 1:A@2, I 1:B@5, D 2:C@3, I 2:E@3, I 3:F@4, D 3:F@6",
        "U- 1:A@2, U+ 1:B@5, U- 2:C@3, U+ 2:E@3",
    ),
    # Spark has these for streams.
    "come and gone": Case("I 1:A@1, D 1:A@2, I 2:B@3", "I 2:B@3"),
    "updated twice": Case(
        "D 1:Alice@1, I 1:Bob@1, D 1:Bob@2, I 1:Robert@2", "U- 1:Alice@1, U+ 1:Robert@2"
    ),
    "updated and gone": Case("D 1:Alice@1, I 1:Bob@1, D 1:Bob@2, I 2:C@3", "D 1:Alice@1, I 2:C@3"),
    "P1 and one more": Case(UPDATES["P1"].given + ", I 3:C@3#3", "I 2:Bob@1, I 3:C@3"),
    "A to B to A": Case("D 1:A@2, I 1:B@2, D 1:B@4, I 1:A@4", "U- 1:A@2, U+ 1:A@4"),
}
CUT = Case("I 1:A@2, D 1:A@5, I 1:A2@5, D 1:A2@8", "U- 1:A@5, U+ 1:A2@5")
"""N12, of which the range 3..6 is seen."""

CASES = {**UPDATES, **APART, **KEPT, **BY_ID, **NET, "N12": CUT}
"""What is told apart by id, and is in one table."""
_ALL = {**CASES, **BY_ID_AND_NAME, **NOT_UNIQUE}


def events(text: str) -> list[Event]:
    """Read events as they are written above."""
    found = _EVENT.findall(text)
    return [
        Event(
            _KINDS[kind],
            int(number),
            name,
            int(version),
            _row_version(row_version, "0" if kind == "D" else version),
        )
        for kind, number, name, version, row_version in found
    ]


def _row_version(text: str, otherwise: str) -> int | None:
    return None if text == "null" else int(text or otherwise)


def number(case: str, row: int) -> int:
    """Return the id that a row of a case has in the table of all cases."""
    return 100 * list(_ALL).index(case) + row


def cases_table(path: Path, cases: Sequence[str] = tuple(CASES)) -> DataTable:
    """Return a table of cases; its feed starts at version 1 and was off."""
    table = DataTable(path, *COLUMNS, properties=TRACKED)
    deleted = {v: _file(table, cases, "delete", v) for v in range(1, LAST + 1)}
    table.commit(PRESERVED, *(replace(f, data_change=False) for f in deleted.values() if f))
    for version in range(1, LAST + 1):
        gone, new = deleted[version], _file(table, cases, "insert", version)
        actions = [removed(gone)] if gone else []
        table.commit(PRESERVED, *actions, *([new] if new else []))
    return table


def recorded_table(path: Path, text: str) -> DataTable:
    """Return a table whose feed was on: each version has the events as a change file."""
    table = DataTable(path, *COLUMNS)
    for version in range(1, LAST + 1):
        rows = [("", event) for event in events(text) if event.version == version]
        kinds = pa.array([event.kind for _, event in rows], pa.string())
        told = _data(rows).append_column("_change_type", kinds)
        table.commit(table.change_file(f"_change_data/{version}.parquet", told))
    return table


def _file(table: DataTable, cases: Sequence[str], kind: str, version: int) -> AddFile | None:
    rows = [
        (case, event)
        for case in cases
        for event in events(_ALL[case].given)
        if event.kind == kind and event.version == version
    ]
    if not rows:
        return None
    data = _data(rows)
    data = data.append_column(ROW_ID, pa.array([_row_id(*row) for row in rows], pa.int64()))
    versions = pa.array([event.row_version for _, event in rows], pa.int64())
    data = data.append_column(ROW_VERSION, versions)
    return replace(table.file(f"{kind}-{version}.parquet", data), base_row_id=10_000 * version)


def _data(rows: Sequence[tuple[str, Event]]) -> pa.Table:
    names = [event.name for _, event in rows]
    return pa.table(
        {
            "case": pa.array([case for case, _ in rows], pa.string()),
            "id": pa.array([number(c, e.id) if c else e.id for c, e in rows], pa.int64()),
            "name": pa.array(names, pa.string()),
            **{column: pa.array([of(n) for n in names]) for column, of in OTHER_TYPES.items()},
        }
    )


def _row_id(case: str, event: Event) -> int:
    same = number(case, event.id)
    return same + ord(event.name[0]) if case in BY_ID_AND_NAME else same
