"""The change feed in batches: the facts of Delta's DeltaCDCSuite and DeltaCDCSQLSuite."""

from __future__ import annotations

from collections.abc import Iterable

from delta_cases.form import FEEDS, Case, Row, deleted, inserted, updated

DAY = "1970-01-01"
COMPUTED = "a name that is computed is taken"
# delta-spark has a class for this, and no text for it: its error is an internal one.
ARGUMENTS = "DELTA_UNSUPPORTED_EXPRESSION"
NOT_RECORDED = "DELTA_MISSING_CHANGE_DATA"
LATE = {"spark.databricks.delta.changeDataFeed.timestampOutOfRange.enabled": "true"}
HOURS = (0, 3_600_000, 7_200_000)


def tens(*versions: int) -> list[Row]:
    """The changes of these versions of the table `tens`."""
    return [(n, "insert", v) for v in versions for n in range(10 * v, 10 * v + 10)]


def select(*bounds: str | int, columns: str = "id, _change_type, _commit_version") -> str:
    given = ", ".join(map(str, bounds))
    return f"SELECT {columns} FROM table_changes_by_path('{{path}}', {given})"


def at(rows: Iterable[Row], version: int) -> list[Row]:
    return [(*row, version) for row in rows]


def _ranges() -> list[Case]:
    found = []
    for bounds, versions in (
        ({"startingVersion": 0, "endingVersion": 1}, (0, 1)),
        ({"startingVersion": 0, "endingVersion": 0}, (0,)),
        ({"startingVersion": 0}, (0, 1, 2)),
        ({"startingVersion": 2, "endingVersion": 2}, (2,)),
        ({"startingTimestamp": f"{DAY} 00:00:00", "endingVersion": 1}, (0, 1)),
        ({"startingTimestamp": f"{DAY} 00:30:00", "endingVersion": 1}, (1,)),
        ({"startingTimestamp": f"{DAY} 00:00:00", "endingTimestamp": f"{DAY} 01:00:00"}, (0, 1)),
        ({"startingTimestamp": f"{DAY} 00:30:00", "endingTimestamp": f"{DAY} 01:30:00"}, (1,)),
        ({"startingTimestamp": f"{DAY} 01:00:00.000", "endingVersion": 2}, (1, 2)),
        ({"startingTimestamp": DAY, "endingVersion": 2}, (0, 1, 2)),
        ({"startingTimestamp": f"{DAY} 00:10:00", "endingTimestamp": f"{DAY} 00:50:00"}, ()),
    ):
        what = ", ".join(f"{name} {value}" for name, value in bounds.items())
        found.append(
            Case(
                fact=f"a read from {what}",
                table="tens",
                read={"readChangeFeed": "true", **bounds},
                times_ms=HOURS,
                result=tens(*versions),
                ways=("feed", "vectors"),
                quick=versions == (1,),
            )
        )
        values = [v if isinstance(v, int) else f"'{v}'" for v in bounds.values()]
        found.append(
            Case(
                fact=f"a query from {what}",
                table="tens",
                run=select(*values),
                times_ms=HOURS,
                result=tens(*versions),
                ways=("feed", "vectors"),
            )
        )
    return found


def _refused() -> list[Case]:
    wrong = [
        ({"startingVersion": 1, "endingVersion": 0}, "DELTA_INVALID_CDC_RANGE"),
        (
            {"startingTimestamp": f"{DAY} 02:00:00", "endingTimestamp": f"{DAY} 00:30:00"},
            "DELTA_INVALID_CDC_RANGE",
        ),
        (
            {
                "startingTimestamp": "1969-12-31 00:00:00",
                "endingTimestamp": "1969-12-31 01:00:00",
            },
            "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION",
        ),
        ({"startingTimestamp": "19700101003000", "endingVersion": 1}, "DELTA_TIMESTAMP_INVALID"),
        ({"endingVersion": 1}, "DELTA_NO_START_FOR_CDC_READ"),
    ]
    return [
        Case(
            fact="a read is refused from "
            + ", ".join(f"{name} {value}" for name, value in bounds.items()),
            table="tens",
            read={"readChangeFeed": "true", **bounds},
            times_ms=HOURS,
            error=error,
            ways=("feed",),
        )
        for bounds, error in wrong
    ]


CASES = [
    *_ranges(),
    *_refused(),
    Case(
        fact="options in another case",
        table="tens",
        read={"ReadChangeFEED": "tRuE", "STARTINGVERSION": 0, "endingVersion": 1},
        result=tens(0, 1),
        ways=("feed",),
    ),
    Case(
        fact="the old name of the option",
        table="tens",
        read={"READCHANGEDATA": "TruE", "startingversion": 0, "ENDINGVERSION": 1},
        result=tens(0, 1),
        ways=("feed",),
    ),
    Case(
        fact="a read of the table where the feed is not asked for",
        table="numbers",
        read={},
        result=[(n,) for n in range(10)],
        ways=("feed",),
    ),
    Case(
        fact="a range that begins after the last commit, where that is allowed",
        table="tens",
        read={
            "readChangeFeed": "true",
            "startingTimestamp": f"{DAY} 03:00:00",
            "endingTimestamp": f"{DAY} 04:00:00",
        },
        times_ms=HOURS,
        result=[],
        conf=LATE,
        ways=("feed",),
    ),
    Case(
        fact="a range that ends after the last commit, where that is allowed",
        table="tens",
        read={
            "readChangeFeed": "true",
            "startingTimestamp": f"{DAY} 00:00:00",
            "endingTimestamp": f"{DAY} 04:00:00",
        },
        times_ms=HOURS,
        result=tens(0, 1, 2),
        conf=LATE,
        ways=("feed",),
    ),
    Case(
        fact="a range that begins after the last commit",
        table="tens",
        read={"readChangeFeed": "true", "startingTimestamp": f"{DAY} 03:00:00"},
        times_ms=HOURS,
        error="DELTA_TIMESTAMP_GREATER_THAN_COMMIT",
        ways=("feed",),
    ),
    # table_changes
    Case(
        fact="a query by name",
        table="tens",
        run="SELECT id, _change_type, _commit_version FROM table_changes('{n}', 0, 1)",
        result=tens(0, 1),
        ways=("feed",),
    ),
    Case(
        fact="a query by a name of two parts",
        table="tens",
        run="SELECT id, _change_type, _commit_version FROM table_changes('default.`{n}`', 1, 1)",
        result=tens(1),
        ways=("feed",),
    ),
    Case(
        fact="the function in another case",
        table="tens",
        run="SELECT id, _change_type, _commit_version FROM tAble_cHanges('{n}', 1, 1)",
        result=tens(1),
        ways=("feed",),
    ),
    Case(
        fact="the function by path in another case",
        table="tens",
        run="SELECT id, _change_type, _commit_version FROM tAble_cHanges_by_Path('{path}', 1, 1)",
        result=tens(1),
        ways=("feed",),
    ),
    Case(
        fact="a query in a query",
        table="tens",
        run="SELECT id FROM range(30) WHERE id > (SELECT count(*) FROM "
        "table_changes_by_path('{path}', 0, 1))",
        result=[(n,) for n in range(21, 30)],
        ways=("feed",),
    ),
    Case(
        fact="bounds that are expressions",
        table="tens",
        run=select(0, "now() + interval 5 seconds"),
        result=tens(0, 1, 2),
        times_ms=HOURS,
        conf=LATE,
        ways=("feed",),
    ),
    Case(
        fact="a filter on the data",
        table="tens",
        run=select(0, 1, columns="id, _change_type") + " WHERE id < 5",
        result=[(n, "insert") for n in range(5)],
        ways=("feed", "vectors"),
    ),
    Case(
        fact="a filter on the type",
        table="tens",
        run=("DELETE FROM {t} WHERE id > 20", select(0, 3) + " WHERE _change_type != 'insert'"),
        result=at(deleted(*((n,) for n in range(21, 30))), 3),
        ways=("feed", "vectors"),
    ),
    Case(
        fact="a filter on the version",
        table="tens",
        run=select(0, 2) + " WHERE _commit_version = 1",
        result=tens(1),
        ways=("feed",),
    ),
    Case(
        fact="two queries of one table, one except the other",
        table="tens",
        run=select(0, 2) + " EXCEPT " + select(0, 1),
        result=tens(2),
        ways=("feed",),
    ),
    Case(
        fact="aggregates of texts",
        table="texts",
        run=("DELETE FROM {t} WHERE k = 'c'", select(0, 1, columns="count(DISTINCT k)")),
        result=[(4,)],
        ways=("feed", "vectors"),
    ),
    Case(
        fact="columns that are computed from those of the feed",
        table="numbers",
        run=select(0, 0, columns="id + 1, upper(_change_type)") + " WHERE id = 3",
        result=[(4, "INSERT")],
        ways=("feed",),
    ),
    *(
        Case(
            fact=f"refused: {call}",
            table="numbers",
            run=f"SELECT * FROM {call}",
            error=error,
            unlike=COMPUTED if "concat" in call else "",
            ways=("feed",),
        )
        for call, error in (
            ("table_changes()", ARGUMENTS),
            ("table_changes('{n}')", ARGUMENTS),
            ("table_changes('{n}', 1, 2, 3)", ARGUMENTS),
            ("table_changes_by_path('{path}')", ARGUMENTS),
            ("table_changes(1, 1)", "DELTA_UNSUPPORTED_EXPRESSION"),
            ("table_changes('{n}', 1.0)", "DELTA_UNSUPPORTED_EXPRESSION"),
            ("table_changes(now(), 1, 1)", "DELTA_UNSUPPORTED_EXPRESSION"),
            ("table_changes(concat('a', 'b'), 1, 1)", "DELTA_UNSUPPORTED_EXPRESSION"),
            ("table_changes('no_such_table', 1, 1)", "TABLE_OR_VIEW_NOT_FOUND"),
            ("table_changes('{n}', 0, id)", "UNRESOLVED_COLUMN.WITHOUT_SUGGESTION"),
            ("table_changes('{n}', null)", "DELTA_CDC_READ_NULL_RANGE_BOUNDARY"),
            ("table_changes('{n}', null, 0)", "DELTA_CDC_READ_NULL_RANGE_BOUNDARY"),
            ("table_changes('{n}', 0, null)", "DELTA_CDC_READ_NULL_RANGE_BOUNDARY"),
            ("table_changes('{n}', CAST(null AS INT))", "DELTA_CDC_READ_NULL_RANGE_BOUNDARY"),
        )
    ),
    Case(
        fact="refused: the feed of a table that is not Delta's",
        run=(
            "CREATE TABLE {w} USING parquet AS SELECT 1 AS id",
            "SELECT * FROM table_changes('{w}', 0, 1)",
        ),
        error="DELTA_TABLE_ONLY_OPERATION",
        ways=("plain",),
    ),
    Case(
        fact="refused: the feed of a folder that is no table",
        run="SELECT * FROM table_changes_by_path('{path}/none', 0, 1)",
        error="DELTA_MISSING_DELTA_TABLE",
        ways=("plain",),
    ),
    # When the feed is on
    *(
        Case(
            fact=f"the feed is on from 1 to 2, and read from {start} to {end}",
            table="numbers",
            run=(
                "ALTER TABLE {t} SET TBLPROPERTIES (delta.enableChangeDataFeed = true)",
                "INSERT INTO {t} VALUES (50), (51)",
                "ALTER TABLE {t} SET TBLPROPERTIES (delta.enableChangeDataFeed = false)",
                select(start, end),
            ),
            **({"error": expected} if isinstance(expected, str) else {"result": expected}),
            ways=("plain",),
        )
        for start, end, expected in (
            (1, 2, at(inserted((50,), (51,)), 2)),
            (0, 2, NOT_RECORDED),
            (1, 3, NOT_RECORDED),
            (0, 3, NOT_RECORDED),
        )
    ),
    # What changes are
    Case(
        fact="deletes in one file, one after another",
        table="numbers",
        run=(
            "DELETE FROM {t} WHERE id = 3",
            "DELETE FROM {t} WHERE id = 4",
            "DELETE FROM {t} WHERE id IN (0, 1, 2)",
            select(1, 3),
        ),
        result=[(3, "delete", 1), (4, "delete", 2), *((n, "delete", 3) for n in (0, 1, 2))],
        ways=("feed", "vectors"),
        quick=True,
    ),
    Case(
        fact="the middle of deletes in one file",
        table="numbers",
        run=(
            "DELETE FROM {t} WHERE id = 3",
            "DELETE FROM {t} WHERE id = 4",
            "DELETE FROM {t} WHERE id IN (0, 1, 2)",
            select(2, 2),
        ),
        result=[(4, "delete", 2)],
        ways=("feed", "vectors"),
    ),
    Case(
        fact="updates that follow each other",
        run=(
            "UPDATE {t} SET v = -1 WHERE k = 1",
            "UPDATE {t} SET v = -3 WHERE k = 3",
            select(1, 2, columns="k, v, _change_type, _commit_version"),
        ),
        result=[*at(updated(((1, 10), (1, -1))), 1), *at(updated(((3, 30), (3, -3))), 2)],
        ways=FEEDS,
    ),
    Case(
        fact="the version at the time of the query ends a range without an end",
        table="numbers",
        run=("DELETE FROM {t} WHERE id > 7", select(0) + " WHERE id > 6"),
        result=[*((n, "insert", 0) for n in (7, 8, 9)), (8, "delete", 1), (9, "delete", 1)],
        ways=("feed", "vectors"),
    ),
    Case(
        fact="a column that is added after the range",
        table="numbers",
        run=("ALTER TABLE {t} ADD COLUMN (more STRING)", select(0, 0)),
        result=[(n, "insert", 0) for n in range(10)],
        ways=("feed",),
    ),
    Case(
        fact="a column that is added in the range",
        table="numbers",
        run=(
            "ALTER TABLE {t} ADD COLUMN (more STRING)",
            "INSERT INTO {t} VALUES (50, 'x')",
            select(0, 2, columns="id, more, _change_type, _commit_version") + " WHERE id > 8",
        ),
        result=[(9, None, "insert", 0), (50, "x", "insert", 2)],
        ways=("feed",),
    ),
    Case(
        fact="an overwrite of partitions that are not there is an append",
        table="halves",
        run=(
            "SET spark.sql.sources.partitionOverwriteMode = dynamic",
            "INSERT OVERWRITE {t} VALUES (7, 70)",
            "SET spark.sql.sources.partitionOverwriteMode = static",
            select(1, 1, columns="part, id, _change_type, _commit_version"),
        ),
        result=[(7, 70, "insert", 1)],
        ways=("feed parts",),
    ),
    Case(
        fact="an overwrite of a partition deletes and inserts",
        table="halves",
        run=(
            "SET spark.sql.sources.partitionOverwriteMode = dynamic",
            "INSERT OVERWRITE {t} VALUES (1, 1), (1, 5)",
            "SET spark.sql.sources.partitionOverwriteMode = static",
            select(1, 1, columns="part, id, _change_type, _commit_version"),
        ),
        result=[*at(deleted((1, 1), (1, 3)), 1), *at(inserted((1, 1), (1, 5)), 1)],
        ways=("feed parts",),
    ),
    # Columns of the feed in a table
    Case(
        fact="refused: a table with the feed on and the feed's columns",
        table="tens",
        run="CREATE TABLE {w} USING delta TBLPROPERTIES (delta.enableChangeDataFeed = true) AS "
        "SELECT * FROM table_changes_by_path('{path}', 0, 1)",
        error="DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS",
        ways=("feed",),
    ),
    Case(
        fact="a table with the feed off may have the feed's columns",
        table="tens",
        run=(
            "CREATE TABLE {w} USING delta TBLPROPERTIES (delta.enableChangeDataFeed = false) AS "
            "SELECT * FROM table_changes_by_path('{path}', 0, 1)",
            "SELECT id, _change_type, _commit_version FROM {w}",
        ),
        result=tens(0, 1),
        ways=("feed",),
    ),
    Case(
        fact="refused: the feed is turned on where its columns are",
        table="tens",
        run=(
            "CREATE TABLE {w} USING delta TBLPROPERTIES (delta.enableChangeDataFeed = false) AS "
            "SELECT * FROM table_changes_by_path('{path}', 0, 1)",
            "ALTER TABLE {w} SET TBLPROPERTIES (delta.enableChangeDataFeed = true)",
        ),
        error="DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS",
        ways=("feed",),
    ),
    Case(
        fact="the features of a table with the feed",
        run="SELECT minReaderVersion, minWriterVersion FROM (DESCRIBE DETAIL {t})",
        result=[(1, 4)],
        ways=(),
    ),
]
CASES = [case for case in CASES if case.ways]

LEFT_OUT = {
    "filters should be pushed down (2)": "tests/spark/read/test_catalyst_predicates.py",
    "respects timezone and DST (2)": "tests/options/test_feed.py, without Spark",
    "commit timestamps under different timezones": "tests/options/test_feed.py, without Spark",
    "null as an option (9)": "an option that is None is no option in PySpark",
    "non-monotonic timestamps": "tests/log/files/test_commit_times.py",
    "ending version resolves at execution time": "tests/spark/read/test_latest_version.py",
    "coordinated commits, catalog owned (5 suites)": "tables that truckee refuses",
}
