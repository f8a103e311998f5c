"""Streams of the change feed: the facts of Delta's DeltaCDCStreamSuite.

A case is a table, options of the stream, and steps: statements, and what the stream delivers after
them. `RESTART` stops the query, and starts it from its checkpoint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from delta_cases.form import FEEDS, PAIRS, Row, deleted, inserted, updated

RESTART = "restart"
LATE = {"spark.databricks.delta.changeDataFeed.timestampOutOfRange.enabled": "true"}
DAY = "1970-01-01"
HOURS = (0, 3_600_000, 7_200_000)


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What a stream delivers since it was asked last, and how many rows in each batch."""

    rows: Sequence[Row] = ()
    batches: Sequence[int] | None = None


@dataclass(frozen=True, kw_only=True)
class StreamCase:
    """One case; `before` are statements before the stream starts."""

    fact: str
    table: str
    steps: Sequence[str | Seen] = ()
    error: str = ""
    """What ends the stream after the steps."""
    before: Sequence[str] = ()
    options: Mapping[str, object] = field(default_factory=dict)
    conf: Mapping[str, str] = field(default_factory=dict)
    columns: Sequence[str] = ()
    times_ms: Sequence[int] = ()
    ways: Sequence[str] = ("feed", "vectors")
    quick: bool = False


def at(rows: Sequence[Row], version: int) -> list[Row]:
    return [(*row, version) for row in rows]


NUMBERS = [(n,) for n in range(10)]
HALVES = [(0, 0), (1, 1), (0, 2), (1, 3)]
UPDATES = (
    "UPDATE {t} SET id = id + 10 WHERE id < 10",
    "UPDATE {t} SET id = id + 100 WHERE id < 100",
)
FIRST = updated(*((row, (row[0], row[1] + 10)) for row in HALVES))
SECOND = updated(*(((p, n + 10), (p, n + 110)) for p, n in HALVES))

CASES = [
    StreamCase(
        fact="without a start, the rows that are there are inserts of the latest version",
        table="numbers",
        before=(
            "DELETE FROM {t} WHERE id > 1",
            "INSERT INTO {t} VALUES (20)",
            "ALTER TABLE {t} SET TBLPROPERTIES (delta.enableChangeDataFeed = true)",
        ),
        steps=(
            Seen(rows=at(inserted((0,), (1,), (20,)), 3)),
            "DELETE FROM {t} WHERE id = 1",
            Seen(rows=at(deleted((1,)), 4)),
        ),
        ways=("plain",),
        quick=True,
    ),
    StreamCase(
        fact="from the latest version on",
        table="numbers",
        options={"startingVersion": "latest"},
        steps=(Seen(), "INSERT INTO {t} VALUES (20)", Seen(rows=at(inserted((20,)), 1))),
    ),
    StreamCase(
        fact="from a version on",
        table="tens",
        options={"startingVersion": 2},
        steps=(
            Seen(rows=at(inserted(*((n,) for n in range(20, 30))), 2)),
            "DELETE FROM {t} WHERE id = 3",
            Seen(rows=at(deleted((3,)), 3)),
        ),
    ),
    StreamCase(
        fact="from a time on",
        table="tens",
        options={"startingTimestamp": f"{DAY} 01:30:00"},
        times_ms=HOURS,
        steps=(
            Seen(rows=at(inserted(*((n,) for n in range(20, 30))), 2)),
            "UPDATE {t} SET id = 400 WHERE id = 4",
            Seen(rows=at(updated(((4,), (400,))), 3)),
        ),
    ),
    StreamCase(
        fact="from a version when the feed was off",
        table="numbers",
        before=(
            "INSERT INTO {t} VALUES (20)",
            "ALTER TABLE {t} SET TBLPROPERTIES (delta.enableChangeDataFeed = true)",
        ),
        options={"startingVersion": 1},
        error="DELTA_MISSING_CHANGE_DATA",
        ways=("plain",),
    ),
    StreamCase(
        fact="from a version that is not there",
        table="numbers",
        options={"startingVersion": 1},
        error="DELTA_VERSION_NOT_FOUND",
    ),
    StreamCase(
        fact="from a time after the last commit",
        table="tens",
        options={"startingTimestamp": f"{DAY} 03:00:00"},
        times_ms=HOURS,
        error="DELTA_TIMESTAMP_GREATER_THAN_COMMIT",
    ),
    *(
        StreamCase(
            fact=f"from {name} {value} after the last commit, where that is allowed",
            table="tens",
            options={name: value},
            times_ms=HOURS,
            conf=LATE,
            steps=(
                Seen(),
                "UPDATE {t} SET id = 400 WHERE id = 4",
                Seen(rows=at(updated(((4,), (400,))), 3)),
            ),
        )
        for name, value in (("startingVersion", 3), ("startingTimestamp", f"{DAY} 03:00:00"))
    ),
    StreamCase(
        fact="from a version and a time",
        table="numbers",
        options={"startingVersion": 0, "startingTimestamp": "2020-07-15"},
        error="DELTA_STARTING_VERSION_AND_TIMESTAMP_BOTH_SET",
    ),
    StreamCase(
        fact="a checkpoint is where a stream goes on",
        table="numbers",
        before=("DELETE FROM {t} WHERE id = 5",),
        options={"startingVersion": 0},
        steps=(
            Seen(rows=[*at(inserted(*NUMBERS), 0), *at(deleted((5,)), 1)]),
            RESTART,
            Seen(),
            "INSERT INTO {t} VALUES (20)",
            RESTART,
            Seen(rows=at(inserted((20,)), 2)),
        ),
        quick=True,
    ),
    StreamCase(
        fact="a commit that only removes a file",
        table="halves",
        options={"startingVersion": 0},
        steps=(
            Seen(rows=at(inserted(*HALVES), 0)),
            "DELETE FROM {t} WHERE part = 0",
            Seen(rows=at(deleted((0, 0), (0, 2)), 1)),
        ),
        ways=("feed parts",),
    ),
    StreamCase(
        fact="the first commit only removes a file",
        table="halves",
        before=("DELETE FROM {t} WHERE part = 0",),
        options={"startingVersion": 1},
        steps=(Seen(rows=at(deleted((0, 0), (0, 2)), 1)),),
        ways=("feed parts",),
    ),
    StreamCase(
        fact="the first commit has a change file",
        table="pairs",
        before=("DELETE FROM {t} WHERE k = 2",),
        options={"startingVersion": 1},
        steps=(
            Seen(rows=at(deleted((2, 20)), 1)),
            "INSERT INTO {t} VALUES (9, 90)",
            Seen(rows=at(inserted((9, 90)), 2)),
        ),
    ),
    *(
        StreamCase(
            fact=f"{limit}: files of a commit may be parted, change files may not",
            table="halves",
            before=("INSERT INTO {t} VALUES (5, 50)", "DELETE FROM {t} WHERE part = 5", *UPDATES),
            options={"startingVersion": 0, limit: value},
            steps=(
                Seen(
                    rows=[
                        *at(inserted(*HALVES), 0),
                        *at(inserted((5, 50)), 1),
                        *at(deleted((5, 50)), 2),
                        *at(FIRST, 3),
                        *at(SECOND, 4),
                    ],
                    batches=(2, 2, 1, 1, 8, 8),
                ),
            ),
            ways=("feed parts",),
        )
        for limit, value in (("maxFilesPerTrigger", 1), ("maxBytesPerTrigger", "1b"))
    ),
    *(
        StreamCase(
            fact=f"{limit}: the rows that are there come file by file",
            table="tens",
            options={limit: value},
            steps=(
                Seen(
                    rows=at(inserted(*((n,) for n in range(30))), 2),
                    batches=(10, 10, 10),
                ),
            ),
        )
        for limit, value in (("maxFilesPerTrigger", 1), ("maxBytesPerTrigger", "1b"))
    ),
    *(
        StreamCase(
            fact=f"{limit}: a commit with more change files than that is one batch",
            table="halves",
            before=UPDATES,
            options={"startingVersion": 1, limit: value},
            steps=(Seen(rows=[*at(FIRST, 1), *at(SECOND, 2)], batches=(8, 8)),),
            ways=("feed parts",),
        )
        for limit, value in (("maxFilesPerTrigger", 1), ("maxBytesPerTrigger", "1b"))
    ),
    StreamCase(
        fact="change files of a commit wait for a batch that has room for all",
        table="halves",
        before=UPDATES,
        options={"startingVersion": 0, "maxFilesPerTrigger": 3},
        steps=(
            Seen(
                rows=[*at(inserted(*HALVES), 0), *at(FIRST, 1), *at(SECOND, 2)],
                batches=(4, 8, 8),
            ),
        ),
        ways=("feed parts",),
    ),
    StreamCase(
        fact="no later commit overtakes change files that wait",
        table="halves",
        before=(UPDATES[0], "INSERT INTO {t} VALUES (0, 50)"),
        options={"startingVersion": 0, "maxFilesPerTrigger": 3},
        steps=(
            Seen(
                rows=[*at(inserted(*HALVES), 0), *at(FIRST, 1), *at(inserted((0, 50)), 2)],
                batches=(4, 9),
            ),
        ),
        ways=("feed parts",),
    ),
    StreamCase(
        fact="files that are left out by their names",
        table="halves",
        options={"startingVersion": 0, "excludeRegex": "part=0"},
        steps=(Seen(rows=at(inserted((1, 1), (1, 3)), 0)),),
        ways=("feed parts",),
    ),
    StreamCase(
        fact="two deletes in one file, a file at a time",
        table="numbers",
        before=("DELETE FROM {t} WHERE id IN (1, 3, 6)", "DELETE FROM {t} WHERE id IN (2, 4, 7)"),
        options={"startingVersion": 1, "maxFilesPerTrigger": 1},
        steps=(
            Seen(
                rows=[*at(deleted((1,), (3,), (6,)), 1), *at(deleted((2,), (4,), (7,)), 2)],
                batches=(3, 3),
            ),
        ),
    ),
    StreamCase(
        fact="some columns of the feed",
        table="pairs",
        options={"startingVersion": 0},
        columns=("k", "_change_type"),
        steps=(Seen(rows=[(k, "insert") for k, _ in PAIRS]),),
        ways=FEEDS,
    ),
    StreamCase(
        fact="a new column ends the stream",
        table="numbers",
        options={"startingVersion": 0},
        steps=(
            Seen(rows=at(inserted(*NUMBERS), 0)),
            "ALTER TABLE {t} ADD COLUMN (more STRING)",
            "INSERT INTO {t} VALUES (20, 'x')",
        ),
        error="DELTA_SCHEMA_CHANGED",
    ),
]

LEFT_OUT = {
    "noop merge": "a MERGE that changes nothing makes no commit here",
    "offsets and commits of no actions (3)": "tests/streaming/test_offset.py, test_batches.py",
    "excludeRegex on a change file": "tests/options/test_stream.py has the option",
    "should not read a version that does not exist": "tests/streaming/test_table_stream.py",
    "row tracking fields": "tests/commands/schema/test_row_tracking.py",
    "column mapping workflows (4)": "tests/streaming/test_schema_log.py",
    "catalog managed (3 suites)": "tables that truckee refuses",
}
