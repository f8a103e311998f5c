"""Ranges of the feed that cannot be read, and those that can, through every door."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from pyspark.sql import DataFrame, SparkSession

import truckee
from data_tables import DataTable, mapped, marked, metadata, removed, vector
from truckee import DeltaTable
from truckee.errors import DeltaError
from truckee.protocol.actions import CommitInfo

OUT_OF_RANGE = "spark.databricks.delta.changeDataFeed.timestampOutOfRange.enabled"
Doors = Callable[..., list[DataFrame]]


@pytest.fixture
def table(tmp_path: Path) -> DataTable:
    """Commits at 10 s (version 0), 20 s (1) and 30 s (2); the last two add an id each."""
    table = DataTable(tmp_path / "t", "id long")
    table.touch(0, 10_000)
    for version in (1, 2):
        file = table.file(f"{version}.parquet", {"id": [version]})
        table.commit(file, at_ms=10_000 * (version + 1))
    return table


def at(second: int) -> str:
    return f"1970-01-01 00:00:{second:02}"


def read(spark: SparkSession, table: object, **options: object) -> DataFrame:
    reader = truckee.read(spark).option("readChangeFeed", "true")
    return reader.options(**options).load(str(table))


def raised(action: Callable[[], object]) -> DeltaError:
    with pytest.raises(DeltaError) as caught:
        action()
    return caught.value


def versions(frame: DataFrame) -> list[int]:
    return sorted(row[0] for row in frame.select("_commit_version").collect())


RANGES: list[tuple[dict[str, Any], list[int]]] = [
    ({"startingVersion": 0}, [1, 2]),
    ({"startingVersion": "1"}, [1, 2]),
    ({"startingVersion": 2, "endingVersion": 2}, [2]),
    ({"startingVersion": 1, "endingVersion": 99}, [1, 2]),
    ({"startingTimestamp": at(5)}, [1, 2]),
    ({"startingTimestamp": at(11)}, [1, 2]),
    ({"startingTimestamp": at(21)}, [2]),
    ({"startingTimestamp": at(20), "endingTimestamp": at(20)}, [1]),
    ({"startingTimestamp": at(21), "endingTimestamp": at(29)}, []),
    ({"startingVersion": 0, "endingTimestamp": at(29)}, [1]),
    ({"startingTimestamp": at(11), "endingVersion": 1}, [1]),
]


@pytest.mark.parametrize(("options", "expected"), RANGES)
def test_ranges_that_can_be_read(
    spark: SparkSession, table: DataTable, options: dict[str, Any], expected: list[int]
) -> None:
    assert versions(read(spark, table, **options)) == expected
    assert versions(DeltaTable.forPath(spark, str(table)).changes(**_numbers(options))) == expected


def _numbers(options: Mapping[str, Any]) -> dict[str, Any]:
    return {k: int(v) if k.endswith("Version") else v for k, v in options.items()}


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (1, None, [1, 2]),
        (1, 1, [1]),
        (at(21), None, [2]),
        (at(11), at(25), [1]),
        (0, at(20), [1]),
    ],
)
def test_ranges_as_the_function_of_sql_takes_them(
    spark: SparkSession, table: DataTable, start: Any, end: Any, expected: list[int]
) -> None:
    assert versions(truckee.table_changes(spark, str(table), start, end)) == expected


@pytest.mark.parametrize(
    "options",
    [
        {"readChangeFeed": True, "STARTINGVERSION": 0},
        {"readChangeData": "TRUE", "startingversion": "0"},
        {"readchangefeed": "true", "startingVersion": 0, "startingTimestamp": at(59)},
    ],
)
def test_names_of_options_have_no_case_and_a_version_counts_before_a_time(
    spark: SparkSession, table: DataTable, options: dict[str, Any]
) -> None:
    assert versions(truckee.read(spark).options(**options).load(str(table))) == [1, 2]


HINT_RANGE = "\nhint: swap start and end; both are inclusive"
HINT_VERSION = "\nhint: give an integer such as 0 or 42"
HINT_TIME = "\nhint: write it as '2024-01-31', '2024-01-31 23:59:59' or '2024-01-31T23:59:59.999Z'"

ERRORS: list[tuple[dict[str, Any], str, str]] = [
    (
        {},
        "DELTA_NO_START_FOR_CDC_READ",
        "a change feed needs a start, but none was given\n"
        "hint: set startingVersion or startingTimestamp",
    ),
    (
        {"endingVersion": 1},
        "DELTA_NO_START_FOR_CDC_READ",
        "a change feed needs a start, but none was given\n"
        "hint: set startingVersion or startingTimestamp",
    ),
    (
        {"startingVersion": "one"},
        "DELTA_VERSION_INVALID",
        f"startingVersion is 'one', which is not a version{HINT_VERSION}",
    ),
    (
        {"startingVersion": "9223372036854775808"},
        "DELTA_VERSION_INVALID",
        f"startingVersion is '9223372036854775808', which is not a version{HINT_VERSION}",
    ),
    (
        {"startingVersion": 0, "endingVersion": "1.5"},
        "DELTA_VERSION_INVALID",
        f"endingVersion is '1.5', which is not a version{HINT_VERSION}",
    ),
    (
        {"startingTimestamp": "20240102030405006"},
        "DELTA_TIMESTAMP_INVALID",
        "startingTimestamp: The provided timestamp ('20240102030405006') cannot be converted to a "
        f"valid timestamp{HINT_TIME}",
    ),
    (
        {"startingVersion": 0, "endingTimestamp": "never"},
        "DELTA_TIMESTAMP_INVALID",
        "endingTimestamp: The provided timestamp ('never') cannot be converted to a valid "
        f"timestamp{HINT_TIME}",
    ),
    (
        {"startingTimestamp": at(31)},
        "DELTA_TIMESTAMP_GREATER_THAN_COMMIT",
        "timestamp 1970-01-01T00:00:31.000Z is after the latest version of {table}, version 2 "
        "at 1970-01-01T00:00:30.000Z\nhint: use that time or an earlier one",
    ),
    (
        {"startingVersion": 0, "endingTimestamp": at(31)},
        "DELTA_TIMESTAMP_GREATER_THAN_COMMIT",
        "timestamp 1970-01-01T00:00:31.000Z is after the latest version of {table}, version 2 "
        "at 1970-01-01T00:00:30.000Z\nhint: use that time or an earlier one",
    ),
    (
        {"startingVersion": 0, "endingTimestamp": at(9)},
        "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION",
        "timestamp 1970-01-01T00:00:09.000Z is before the earliest version of {table} that can "
        "be read, version 0 at 1970-01-01T00:00:10.000Z\nhint: use that time or a later one",
    ),
    (
        {"startingVersion": 3},
        "DELTA_CDC_START_VERSION_AFTER_LATEST",
        "the change feed of {table} was asked for from version 3 on, but its latest version is 2"
        "\nhint: start at version 2 or before, or set spark.databricks.delta."
        "changeDataFeed.timestampOutOfRange.enabled to true, to get no rows instead",
    ),
    (
        {"startingVersion": 99, "endingVersion": 1},
        "DELTA_CDC_START_VERSION_AFTER_LATEST",
        "the change feed of {table} was asked for from version 99 on, but its latest version is "
        "2\nhint: start at version 2 or before, or set spark.databricks.delta."
        "changeDataFeed.timestampOutOfRange.enabled to true, to get no rows instead",
    ),
    (
        {"startingTimestamp": at(29), "endingTimestamp": at(21)},
        "DELTA_INVALID_CDC_RANGE",
        "the change feed was asked for from version 2 to version 1, which ends before it starts"
        f"{HINT_RANGE}",
    ),
    (
        {"startingVersion": 2, "endingTimestamp": at(21)},
        "DELTA_INVALID_CDC_RANGE",
        "the change feed was asked for from version 2 to version 1, which ends before it starts"
        f"{HINT_RANGE}",
    ),
    (
        {"startingVersion": 2, "endingVersion": 0},
        "DELTA_INVALID_CDC_RANGE",
        "the change feed was asked for from version 2 to version 0, which ends before it starts"
        f"{HINT_RANGE}",
    ),
    (
        {"startingVersion": 0, "versionAsOf": 1},
        "DELTA_UNSUPPORTED_TIME_TRAVEL_VIEWS",
        "option versionAsOf is set, but a change feed cannot be read as of a version\n"
        "hint: give the range with startingVersion and endingVersion, or their timestamps",
    ),
    (
        {"readChangeFeed": "yes", "startingVersion": 0},
        "DELTA_ILLEGAL_OPTION",
        "option readChangeFeed is 'yes', but needs to be true or false\n"
        "hint: set readChangeFeed to such a value, or leave it out",
    ),
]


@pytest.mark.parametrize(("options", "code", "message"), ERRORS)
def test_ranges_that_cannot_be_read(
    spark: SparkSession, table: DataTable, options: dict[str, Any], code: str, message: str
) -> None:
    error = raised(lambda: read(spark, table, **options))

    assert (error.code, error.sentence()) == (code, message.format(table=table))


def test_changes_of_a_table_say_the_same(spark: SparkSession, table: DataTable) -> None:
    found = DeltaTable.forPath(spark, str(table))

    assert raised(found.changes).code == "DELTA_NO_START_FOR_CDC_READ"
    assert raised(lambda: found.changes(3)).code == "DELTA_CDC_START_VERSION_AFTER_LATEST"
    assert raised(lambda: found.changes(2, 1)).code == "DELTA_INVALID_CDC_RANGE"


def test_a_null_bound(spark: SparkSession, table: DataTable) -> None:
    error = raised(lambda: truckee.table_changes(spark, str(table), None))  # type: ignore[arg-type]

    assert error.code == "DELTA_CDC_READ_NULL_RANGE_BOUNDARY"
    assert error.sentence() == (
        "start of the change feed is NULL\n"
        "hint: give a version as an integer, or a timestamp as text"
    )


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"startingTimestamp": at(31)}, []),
        ({"startingVersion": 3}, []),
        ({"startingVersion": 0, "endingTimestamp": at(31)}, [1, 2]),
    ],
)
def test_what_lies_after_the_latest_version_may_be_empty(
    spark: SparkSession, table: DataTable, options: dict[str, Any], expected: list[int]
) -> None:
    spark.conf.set(OUT_OF_RANGE, "true")
    try:
        frame = read(spark, table, **options)
    finally:
        spark.conf.unset(OUT_OF_RANGE)

    assert versions(frame) == expected
    assert frame.columns == ["id", "_change_type", "_commit_version", "_commit_timestamp"]


def test_a_start_that_was_cleaned_up(spark: SparkSession, table: DataTable) -> None:
    for version in (0, 1):
        (table.path / f"_delta_log/{version:020}.json").unlink()

    error = raised(lambda: read(spark, table, startingVersion=0))

    assert error.code in ("DELTA_TRUNCATED_TRANSACTION_LOG", "DELTA_VERSION_NOT_FOUND")


def test_a_gap_in_the_log(spark: SparkSession, table: DataTable) -> None:
    table.commit(CommitInfo())
    table.commit(CommitInfo())
    (table.path / "_delta_log/00000000000000000002.json").unlink()

    error = raised(lambda: read(spark, table, startingVersion=0))

    assert error.sentence() == (
        f"the log of {table} has a gap: version 2 is missing, but version 3 exists\n"
        "hint: restore _delta_log/00000000000000000002.json"
    )


class TestRecorded:
    """Versions 0 and 1 without the feed, on from 2, off at 5."""

    @pytest.fixture
    def table(self, tmp_path: Path) -> DataTable:
        table = DataTable(tmp_path / "t", "id long", properties={})
        table.commit(CommitInfo())
        table.commit(metadata("id long"))
        table.commit(table.file("a.parquet", {"id": [1]}))
        table.commit(CommitInfo())
        table.commit(metadata("id long", properties={}))
        return table

    @pytest.mark.parametrize(("start", "end", "version"), [(0, 4, 0), (1, 4, 1), (2, 5, 5)])
    def test_the_feed_was_off(
        self, spark: SparkSession, table: DataTable, start: int, end: int, version: int
    ) -> None:
        frame = read(spark, table, startingVersion=start, endingVersion=end)

        error = raised(frame.collect)

        assert error.code == "DELTA_MISSING_CHANGE_DATA"
        assert error.sentence() == (
            f"Error getting change data for range [{start} , {end}]: no change data was "
            f"recorded at version {version}, since the change feed was off\n"
            "hint: set the option changeFeed to auto (on the command line: --feed auto), which "
            "derives these changes from the "
            "table's files, or read a range in which delta.enableChangeDataFeed is true "
            "throughout"
        )

    def test_the_feed_was_on(self, spark: SparkSession, table: DataTable) -> None:
        assert versions(read(spark, table, startingVersion=2, endingVersion=4)) == [3]

    def test_off_and_on_again(self, spark: SparkSession, table: DataTable) -> None:
        table.commit(metadata("id long"))

        error = raised(read(spark, table, startingVersion=2).collect)

        assert error.sentence().startswith(
            "Error getting change data for range [2 , 6]: no change data was recorded at version 5"
        )


class TestSchemas:
    def test_a_type_that_changed_within_the_range(
        self, spark: SparkSession, tmp_path: Path
    ) -> None:
        table = DataTable(tmp_path / "t", "id integer")
        table.commit(CommitInfo())
        table.commit(metadata("id long"))

        error = raised(read(spark, table, startingVersion=0).collect)

        assert error.code == "DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_DATA_SCHEMA"
        assert error.sentence() == (
            "the change feed 0..2 cannot be read with the schema of version 2, struct<id:bigint>: "
            "the data of version 0 has another schema, it is struct<id:int>\n"
            "hint: set the option schemaMode to follow (on the command line: --schema follow), "
            "which reads each commit by its own schema; or read 2..2; for older versions, "
            "name a version whose schema fits with versionAsOf, and set "
            "changeDataFeed.allowTimeTravelOptionsForSchema to true"
        )

    def test_a_renamed_column(self, spark: SparkSession, tmp_path: Path) -> None:
        properties = {"delta.enableChangeDataFeed": "true", "delta.columnMapping.mode": "name"}
        before, after = mapped("a", "long", 1), replace(mapped("a", "long", 1), name="b")
        table = DataTable(tmp_path / "t", before, properties=properties)
        table.commit(table.file("a.parquet", {"col-1": [1]}))
        table.commit(metadata(after, properties=properties))
        table.commit(table.file("b.parquet", {"col-1": [2]}))

        assert read(spark, table, startingVersion=0, endingVersion=1).columns[0] == "a"
        assert versions(read(spark, table, startingVersion=2)) == [3]
        error = raised(read(spark, table, startingVersion=0).collect)
        assert error.code == "DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_DATA_SCHEMA"
        latest = {"changeDataFeed.defaultSchemaModeForColumnMappingTable": "latest"}
        error = raised(read(spark, table, startingVersion=0, endingVersion=1, **latest).collect)
        assert error.code == "DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_DATA_SCHEMA"

    def test_a_later_commit_that_does_not_fit_a_frame(
        self, spark: SparkSession, tmp_path: Path
    ) -> None:
        table = DataTable(tmp_path / "t", "id integer", "name string")
        table.commit(table.file("a.parquet", {"id": [1], "name": ["x"]}))
        frame = read(spark, table, startingVersion=0).select("name", "_commit_version")
        table.commit(metadata("id integer", "name string", "more string"))
        fits = frame.where("true").collect()
        table.commit(metadata("id integer", "more string"))

        error = raised(frame.where("1 = 1").collect)

        assert [tuple(row) for row in fits] == [("x", 1)]
        assert error.code == "DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_SCHEMA_CHANGE"
        assert error.sentence() == (
            "the change feed 0..3 cannot be read with the schema of version 1, "
            "struct<id:int,name:string>: version 3 changed the schema incompatibly, it is "
            "struct<id:int,more:string>\n"
            "hint: set the option schemaMode to follow (on the command line: --schema follow), "
            "which reads each commit by its own schema; or read 3..3; for older versions, "
            "name a version whose schema fits with versionAsOf, and set "
            "changeDataFeed.allowTimeTravelOptionsForSchema to true"
        )


class TestFiles:
    """What is wrong with a single commit or its files."""

    @pytest.fixture
    def table(self, tmp_path: Path) -> DataTable:
        """Versions 1, 2 and 3 add a file each."""
        table = DataTable(tmp_path / "t", "id long")
        for version in (1, 2, 3):
            table.commit(table.file(f"{version}.parquet", {"id": [version]}))
        return table

    @pytest.mark.parametrize(
        ("gone", "hint"),
        [
            (["1.parquet"], "hint: the feed can still be read from version 2 on"),
            (["1.parquet", "2.parquet"], "hint: the feed can still be read from version 3 on"),
            (["3.parquet"], "hint: no version up to 3 can be read any more"),
        ],
    )
    def test_a_vacuumed_file(
        self, spark: SparkSession, table: DataTable, gone: list[str], hint: str
    ) -> None:
        for name in gone:
            (table.path / name).unlink()

        error = raised(read(spark, table, startingVersion=1).collect)

        assert error.code == "DELTA_CHANGE_DATA_FILE_NOT_FOUND"
        assert error.sentence() == (
            f"the file '{gone[-1]}' is gone, but the change feed of {table} needs it for version "
            f"{gone[-1][0]}\n"
            f"{hint}"
        )

    def test_a_vacuumed_change_file(self, spark: SparkSession, table: DataTable) -> None:
        change = {"id": [1], "_change_type": ["delete"]}
        table.commit(table.change_file("_change_data/c.parquet", change))
        table.commit(CommitInfo())
        (table.path / "_change_data/c.parquet").unlink()

        error = raised(read(spark, table, startingVersion=1).collect)

        assert error.sentence() == (
            f"the file '_change_data/c.parquet' is gone, but the change feed of {table} needs it "
            "for version 4\n"
            "hint: the feed can still be read from version 5 on"
        )
        assert versions(read(spark, table, startingVersion=5)) == []

    def test_a_removed_file_without_extended_metadata(
        self, spark: SparkSession, table: DataTable
    ) -> None:
        file = table.file("1.parquet", {"id": [1]})
        bare = replace(removed(file), extended_file_metadata=None, partition_values=None, size=None)
        table.commit(bare)

        error = raised(read(spark, table, startingVersion=1).collect)

        assert error.code == "DELTA_REMOVE_FILE_CDC_MISSING_EXTENDED_METADATA"
        assert error.sentence() == (
            "version 4 removes '1.parquet' without extended file metadata, "
            "so its rows cannot be shown as deleted\n"
            "hint: read the versions before and after it"
        )

    def test_a_file_both_added_and_removed(self, spark: SparkSession, table: DataTable) -> None:
        file = table.file("1.parquet", {"id": [1]})
        table.commit(*marked(file, None))

        error = raised(read(spark, table, startingVersion=4).collect)

        assert error.code == "DELTA_DUPLICATE_ACTIONS_FOUND"
        assert error.sentence() == (
            "version 4 both adds and removes '1.parquet' with no deletion vector\n"
            "hint: the writer of this commit made a mistake; read the versions before and after "
            "it"
        )

    def test_a_vector_of_the_feed_that_is_gone(self, spark: SparkSession, table: DataTable) -> None:
        file = table.file("1.parquet", {"id": [1]})
        table.commit(*marked(file, replace(vector(0), storage_type="u", offset=1)))

        error = raised(read(spark, table, startingVersion=4).collect)

        assert isinstance(error, DeltaError)
        assert "of data file '1.parquet' at version 4" in error.sentence()

    def test_a_corrupt_change_file(self, spark: SparkSession, table: DataTable) -> None:
        change = {"id": [1], "_change_type": ["delete"]}
        table.commit(table.change_file("c.parquet", change))
        (table.path / "c.parquet").write_bytes(b"PAR1 and no more PAR1")

        error = raised(read(spark, table, startingVersion=1).collect)

        assert error.code == "DELTA_CANNOT_READ_DATA_FILE"
        assert error.sentence().startswith(
            "the data file c.parquet, which version 4 of the table names, cannot be read: "
        )
