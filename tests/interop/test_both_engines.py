"""One table, two engines: whoever writes, both read the same rows and the same changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import truckee
from interop.delta_spark import DeltaSpark
from truckee import DeltaTable

pytestmark = pytest.mark.interop

_SCHEMA = "id long, day string, n int, s struct<x: int, y: string>"
_MAPPINGS = ["none", "name", "id"]


def _rows(start: int, count: int) -> list[tuple[Any, ...]]:
    return [(i, f"d{i % 3}", i * 10, (i, f"y{i}")) for i in range(start, start + count)]


def _counted(rows: list[dict[str, Any]]) -> Counter[str]:
    """Rows as a multiset; timestamps of commits are left out, which JSON would round."""
    return Counter(
        repr(sorted((k, v) for k, v in row.items() if k != "_commit_timestamp")) for row in rows
    )


def _ours(frame: DataFrame) -> Counter[str]:
    return _counted([row.asDict(recursive=True) for row in frame.collect()])


class _Table:
    """A table that both engines work on, told by its path."""

    def __init__(self, spark: SparkSession, delta_spark: DeltaSpark, path: Path) -> None:
        self.spark, self.delta_spark, self.path = spark, delta_spark, path

    @property
    def table(self) -> DeltaTable:
        return DeltaTable.forPath(self.spark, str(self.path))

    def sql(self, text: str) -> None:
        self.delta_spark.sql(text.format(t=f"delta.`{self.path}`"))

    def check(self) -> None:
        """Assert that both engines agree on the rows of every version and on the feed."""
        last = self.table.history(1).collect()[0].version
        for version in range(last + 1):
            frame = truckee.read(self.spark).option("versionAsOf", version).load(str(self.path))
            theirs = self.delta_spark.read(self.path, versionAsOf=version)
            assert _ours(frame) == _counted(theirs), f"version {version}"
        changes = self.table.changes(startingVersion=0, endingVersion=last)
        theirs = self.delta_spark.read(
            self.path, readChangeFeed="true", startingVersion=0, endingVersion=last
        )
        assert _ours(changes) == _counted(theirs)


def _created_by_truckee(table: _Table, mapping: str, vectors: bool, partitioned: bool) -> None:
    builder = DeltaTable.create(table.spark).location(str(table.path))
    for column in ("id long", "day string", "n int", "s struct<x: int, y: string>"):
        name, _, kind = column.partition(" ")
        builder = builder.addColumn(name, kind)
    if partitioned:
        builder = builder.partitionedBy("day")
    builder = builder.property("delta.enableChangeDataFeed", "true")
    builder = builder.property("delta.enableDeletionVectors", str(vectors).lower())
    builder.property("delta.columnMapping.mode", mapping).execute()


def _created_by_delta_spark(table: _Table, mapping: str, vectors: bool, partitioned: bool) -> None:
    table.sql(
        f"CREATE TABLE {{t}} ({_SCHEMA.replace('long', 'bigint')}) USING delta "
        f"{'PARTITIONED BY (day) ' if partitioned else ''}TBLPROPERTIES ("
        "'delta.enableChangeDataFeed' = 'true', "
        f"'delta.enableDeletionVectors' = '{str(vectors).lower()}', "
        f"'delta.columnMapping.mode' = '{mapping}')"
    )


@pytest.mark.parametrize("create", [_created_by_truckee, _created_by_delta_spark])
@pytest.mark.parametrize("mapping", _MAPPINGS)
@pytest.mark.parametrize(("vectors", "partitioned"), [(True, False), (True, True), (False, True)])
def test_commands_of_both_engines_in_turn(
    spark: SparkSession,
    delta_spark: DeltaSpark,
    tmp_path: Path,
    create: Callable[[_Table, str, bool, bool], None],
    mapping: str,
    vectors: bool,
    partitioned: bool,
) -> None:
    table = _Table(spark, delta_spark, tmp_path / "t")
    create(table, mapping, vectors, partitioned)

    truckee.write(spark.createDataFrame(_rows(0, 30), _SCHEMA)).mode("append").save(str(table.path))
    delta_spark.write(table.path, _rows(30, 20), _SCHEMA)
    table.table.delete("id % 7 = 0")
    table.sql("DELETE FROM {t} WHERE id % 5 = 0")
    table.table.update("id % 4 = 1", {"n": "n + 1", "s.y": "'u'"})
    table.sql("UPDATE {t} SET n = n - 1 WHERE id % 4 = 2")
    source = spark.createDataFrame([(1, "d9", 7, (0, "m")), (99, "d1", 8, (9, "new"))], _SCHEMA)
    (
        table.table.alias("t")
        .merge(source.alias("s"), "t.id = s.id")
        .whenMatchedUpdateAll()
        .whenNotMatchedInsertAll()
        .whenNotMatchedBySourceDelete("t.id = 33")
        .execute()
    )
    table.sql(
        "MERGE INTO {t} t USING (SELECT 2L AS id, 'd2' AS day, 5 AS n, "
        "named_struct('x', 1, 'y', 'z') AS s UNION ALL SELECT 98L, 'd1', 6, "
        "named_struct('x', 2, 'y', 'w')) s ON t.id = s.id "
        "WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT *"
    )
    table.sql("RESTORE TABLE {t} TO VERSION AS OF 4")
    table.table.delete("id = 4")

    table.check()


def test_tables_of_every_type_are_read_by_delta_spark(
    spark: SparkSession, delta_spark: DeltaSpark, tmp_path: Path
) -> None:
    path = tmp_path / "types"
    frame = spark.sql(
        "SELECT 1Y AS byte, 2S AS short, 3 AS int, 4L AS long, 1.5F AS float, 2.5D AS double, "
        "CAST(1.25 AS DECIMAL(10,2)) AS dec, 'x' AS str, X'00FF' AS bin, TRUE AS bool, "
        "DATE'2024-02-29' AS d, TIMESTAMP'2024-02-29 01:02:03.123456' AS ts, "
        "TIMESTAMP_NTZ'2024-02-29 01:02:03.123456' AS ntz, ARRAY(1, NULL) AS arr, "
        "MAP('k', 1.0D) AS m, NAMED_STRUCT('a', 1, 'b', ARRAY('q')) AS st "
        "UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, "
        "NULL, NULL, NULL, NULL"
    )
    truckee.write(frame).save(str(path))

    texts = [f"CAST({name} AS STRING) AS {name}" for name in frame.columns]
    ours = truckee.read(spark).load(str(path)).selectExpr(*texts)
    theirs = delta_spark.sql(f"SELECT {', '.join(texts)} FROM delta.`{path}`")

    assert _ours(ours) == _counted(theirs)
