"""The front doors for reading: DeltaTable and truckee.read."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

import pytest
from msgspec.structs import replace
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import truckee
from data_tables import DataTable, marked, vector
from plans import rows
from truckee import DeltaTable
from truckee.errors import DeltaError
from truckee.protocol.actions import CommitInfo, DomainMetadata


@pytest.fixture
def table(tmp_path: Path) -> DataTable:
    """Version 1, at 2024-01-02, has ids 0..9; version 2, at 2024-01-03, has lost id 4."""
    table = DataTable(tmp_path / "t", "id long")
    file = table.file("a.parquet", {"id": list(range(10))})
    table.commit(CommitInfo(operation="WRITE"), file, at_ms=_ms(2))
    table.commit(CommitInfo(operation="DELETE"), *marked(file, vector(4)), at_ms=_ms(3))
    return table


def _ms(day: int) -> int:
    return int(datetime(2024, 1, day, tzinfo=timezone.utc).timestamp() * 1000)


def test_a_table_at_a_path(spark: SparkSession, table: DataTable) -> None:
    found = DeltaTable.forPath(spark, str(table))

    assert rows(found.toDF()) == [0, 1, 2, 3, 5, 6, 7, 8, 9]


def test_a_path_may_be_an_option(spark: SparkSession, table: DataTable) -> None:
    read = truckee.read(spark).option("path", str(table)).load()

    assert rows(read) == rows(truckee.read(spark).load(str(table)))
    for reader in (truckee.read(spark), truckee.readStream(spark)):
        with pytest.raises(DeltaError) as caught:
            reader.load()
        assert caught.value.code == "DELTA_TABLE_LOCATION_MISSING"


def test_a_table_shows_the_latest_version_each_time(spark: SparkSession, table: DataTable) -> None:
    found = DeltaTable.forPath(spark, str(table))
    before = found.toDF()
    table.commit(table.file("b.parquet", {"id": [77]}))

    assert (before.count(), found.toDF().count()) == (10, 10)


def test_an_alias_can_be_used_in_conditions(spark: SparkSession, table: DataTable) -> None:
    left, right = (DeltaTable.forPath(spark, str(table)).alias(name).toDF() for name in "ab")

    joined = left.join(right, F.expr("a.id = b.id + 1")).select("a.id")

    assert rows(joined) == [1, 2, 3, 6, 7, 8, 9]


def test_what_is_a_table(spark: SparkSession, table: DataTable, tmp_path: Path) -> None:
    assert DeltaTable.isDeltaTable(spark, str(table))
    assert DeltaTable.isDeltaTable(spark, f"file://{table}")
    assert not DeltaTable.isDeltaTable(spark, str(tmp_path))
    assert not DeltaTable.isDeltaTable(spark, str(tmp_path / "nothing"))


def test_a_folder_that_is_no_table(spark: SparkSession, tmp_path: Path) -> None:
    expected = (
        f"{tmp_path} is not a Delta table: it has no _delta_log\n"
        "hint: give the folder that holds _delta_log"
    )

    for read in (
        lambda: DeltaTable.forPath(spark, str(tmp_path)),
        lambda: truckee.read(spark).load(str(tmp_path)),
        lambda: truckee.table_changes(spark, str(tmp_path), 0),
    ):
        with pytest.raises(DeltaError) as caught:
            read()
        assert caught.value.sentence() == expected


def test_detail_is_one_row(spark: SparkSession, table: DataTable) -> None:
    table.commit(
        replace(table.metadata, name="numbers", description="ids"),
        DomainMetadata(
            domain="delta.clustering", configuration='{"clusteringColumns":[["id"]]}', removed=False
        ),
    )

    (detail,) = DeltaTable.forPath(spark, str(table)).detail().collect()

    file = table.path / "a.parquet"
    shown = detail.asDict()
    assert shown.pop("createdAt").timestamp() == 1_700_000_000
    assert shown.pop("lastModified") is not None
    assert shown == {
        "format": "delta",
        "id": "11111111-2222-3333-4444-555555555555",
        "name": "numbers",
        "description": "ids",
        "location": f"file:{table}",
        "partitionColumns": [],
        "clusteringColumns": ["id"],
        "numFiles": 1,
        "sizeInBytes": file.stat().st_size,
        "properties": {"delta.enableChangeDataFeed": "true"},
        "minReaderVersion": 3,
        "minWriterVersion": 7,
        "tableFeatures": ["changeDataFeed", "columnMapping", "deletionVectors", "timestampNtz"],
    }


def test_history_has_the_newest_commit_first(spark: SparkSession, table: DataTable) -> None:
    found = DeltaTable.forPath(spark, str(table)).history()

    shown = found.select("version", "timestamp", "operation").collect()
    assert [(row.version, row.operation) for row in shown[:2]] == [(2, "DELETE"), (1, "WRITE")]
    assert DeltaTable.forPath(spark, str(table)).history(1).count() == 1
    assert found.columns == [
        *("version", "timestamp", "userId", "userName", "operation", "operationParameters"),
        *("job", "notebook", "clusterId", "readVersion", "isolationLevel", "isBlindAppend"),
        *("operationMetrics", "userMetadata", "engineInfo"),
    ]


class TestTimeTravel:
    @pytest.fixture
    def table(self, tmp_path: Path) -> DataTable:
        """Version 0 on 2024-01-01 is empty, 1 on the second has one row, 2 on the third two."""
        table = DataTable(tmp_path / "t", "id long")
        table.touch(0, _ms(1))
        table.commit(table.file("a.parquet", {"id": [1]}), at_ms=_ms(2))
        table.commit(table.file("b.parquet", {"id": [2]}), at_ms=_ms(3))
        return table

    @pytest.mark.parametrize(
        ("option", "value", "count"),
        [
            ("versionAsOf", 0, 0),
            ("versionAsOf", "1", 1),
            ("VERSIONASOF", 2, 2),
            ("timestampAsOf", "2024-01-01", 0),
            ("timestampAsOf", "2024-01-02 12:00:00", 1),
            ("timestampAsOf", datetime(2024, 1, 3, tzinfo=timezone.utc), 2),
        ],
    )
    def test_a_version_or_a_time(
        self, spark: SparkSession, table: DataTable, option: str, value: object, count: int
    ) -> None:
        assert truckee.read(spark).option(option, value).load(str(table)).count() == count

    @pytest.mark.parametrize(
        ("suffix", "count"), [("@v1", 1), ("@v2", 2), ("@20240102120000000", 1)]
    )
    def test_a_path_with_a_version_or_a_time(
        self, spark: SparkSession, table: DataTable, suffix: str, count: int
    ) -> None:
        assert truckee.read(spark).load(f"{table}{suffix}").count() == count

    def test_a_folder_may_be_called_like_that(self, spark: SparkSession, tmp_path: Path) -> None:
        table = DataTable(tmp_path / "t@v7", "id long")
        table.commit(table.file("a.parquet", {"id": [1]}))

        assert truckee.read(spark).load(str(table)).count() == 1
        assert truckee.read(spark).load(f"{table}@v0").count() == 0

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (
                {"versionAsOf": 3},
                "Cannot time travel Delta table to version 3: it is not available in "
                "{table}\nhint: the log has versions 0 to 2",
            ),
            (
                {"versionAsOf": "one"},
                "versionAsOf is 'one', which is not a version\n"
                "hint: give an integer such as 0 or 42",
            ),
            (
                {"timestampAsOf": "2023-12-31"},
                "timestamp 2023-12-31T00:00:00.000Z is before the earliest version of {table} "
                "that can be read, version 0 at 2024-01-01T00:00:00.000Z\n"
                "hint: use that time or a later one",
            ),
            (
                {"timestampAsOf": "2024-01-04"},
                "timestamp 2024-01-04T00:00:00.000Z is after the latest version of {table}, "
                "version 2 at 2024-01-03T00:00:00.000Z\nhint: use that time or an earlier one",
            ),
            (
                {"timestampAsOf": "noon"},
                "timestampAsOf: The provided timestamp ('noon') cannot be converted to a valid "
                "timestamp\n"
                "hint: write it as '2024-01-31', '2024-01-31 23:59:59' or "
                "'2024-01-31T23:59:59.999Z'",
            ),
        ],
    )
    def test_what_is_not_there(
        self, spark: SparkSession, table: DataTable, options: dict[str, object], message: str
    ) -> None:
        with pytest.raises(DeltaError) as caught:
            truckee.read(spark).options(**options).load(str(table))

        assert caught.value.sentence() == message.format(table=table)

    def test_options_of_a_range_are_passed_over_without_the_feed(
        self, spark: SparkSession, table: DataTable
    ) -> None:
        reader = truckee.read(spark).option("startingVersion", "nonsense")

        assert reader.option("endingTimestamp", 5).load(str(table)).count() == 2
