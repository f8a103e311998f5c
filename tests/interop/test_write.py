"""Tables that truckee writes are delta-spark's tables, and the other way round."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from interop.delta_spark import DeltaSpark
from truckee.commands.ddl.alter_columns import NewColumn, add_columns, drop_columns, rename_column
from truckee.commands.ddl.alter_constraints import add_constraint
from truckee.commands.ddl.convert import convert_to_delta
from truckee.commands.ddl.create import Creation
from truckee.commands.ddl.table_builder import DeltaTableBuilder, IdentityGenerator
from truckee.errors.commands.write_rows import (
    CheckConstraintViolationError,
    GeneratedColumnViolationError,
    NotNullViolationError,
)
from truckee.log.files.history import history
from truckee.log.snapshot import load_snapshot
from truckee.spark.read.frames import snapshot_frame
from truckee.storage import LocalStorage
from truckee.table import DeltaTable
from truckee.writer import write

pytestmark = pytest.mark.interop

EVERY_TYPE = """
    select id, cast(id as tinyint) as b, cast(id as smallint) as sh, cast(id as int) as i,
      cast(id as float) as f, cast(id as double) as d, cast(id as decimal(20, 4)) as n,
      concat('é', id) as s, cast(concat('x', id) as binary) as x, id % 2 = 0 as t,
      date_add(date'2024-01-01', cast(id as int)) as day,
      timestamp_seconds(id * 86400 + 0.123456) as ts,
      timestamp_ntz'2024-01-01 00:00:00' + make_dt_interval(cast(id as int)) as ntz,
      array(id, null) as l, map('k', id) as m, named_struct('x', id, 'y', array('a')) as st
    from range(4)
"""


def ours(spark: SparkSession, path: Path) -> list[dict[str, Any]]:
    snapshot = load_snapshot(LocalStorage(str(path)))
    rows = snapshot_frame(spark, snapshot).collect()
    return sorted((row.asDict(recursive=True) for row in rows), key=repr)


def theirs(delta_spark: DeltaSpark, path: Path, columns: str = "*") -> list[dict[str, Any]]:
    found = delta_spark.sql(f"select {columns} from delta.`{path}`")
    return sorted(found, key=repr)


def builder(spark: SparkSession, path: Path) -> DeltaTableBuilder[str]:
    build = DeltaTableBuilder(spark, Creation.CREATE, lambda _, storage: storage.root)
    return build.location(str(path))


@pytest.mark.parametrize("partition", [None, "s", "day", "ts", "ntz", "n", "t", "d"])
def test_rows_of_every_type_are_read_the_same(
    spark: SparkSession, delta_spark: DeltaSpark, tmp_path: Path, partition: str | None
) -> None:
    frame = spark.sql(EVERY_TYPE)
    writer = write(frame)
    if partition is not None:
        writer.partitionBy(partition)

    writer.save(str(tmp_path))

    shown = [f"cast({name} as string) as {name}" for name in frame.columns]
    expected = [row.asDict() for row in frame.selectExpr(*shown).collect()]
    assert theirs(delta_spark, tmp_path, ", ".join(shown)) == sorted(expected, key=repr)


def test_delta_spark_skips_files_by_our_statistics(
    spark: SparkSession, delta_spark: DeltaSpark, tmp_path: Path
) -> None:
    write(spark.range(0, 100, 1, 10).selectExpr("id", "cast(id as string) as s")).save(
        str(tmp_path)
    )

    def files(condition: str) -> int:
        query = f"select distinct input_file_name() as f from delta.`{tmp_path}` where {condition}"
        return len(delta_spark.sql(query))

    assert files("id between 20 and 29") == 1
    assert files("s = '55'") < 10


def test_both_append_to_one_table(
    spark: SparkSession, delta_spark: DeltaSpark, tmp_path: Path
) -> None:
    write(spark.sql("select 1L as id, 'a b/%' as p")).partitionBy("p").save(str(tmp_path))
    delta_spark.write(tmp_path, [(2, None), (3, "a b/%")], "id long, p string")
    write(spark.sql("select 4L as ID, 'new' as p")).mode("append").save(str(tmp_path))
    delta_spark.sql(f"delete from delta.`{tmp_path}` where p is null")

    assert (
        ours(spark, tmp_path)
        == theirs(delta_spark, tmp_path)
        == [
            {"id": 1, "p": "a b/%"},
            {"id": 3, "p": "a b/%"},
            {"id": 4, "p": "new"},
        ]
    )


def test_rules_that_delta_spark_made_are_kept(
    spark: SparkSession, delta_spark: DeltaSpark, tmp_path: Path
) -> None:
    delta_spark.run(
        """
from delta.tables import DeltaTable, IdentityGenerator
(DeltaTable.create(spark).location(arguments["path"])
    .addColumn("n", "bigint", generatedAlwaysAs=IdentityGenerator(start=100, step=10))
    .addColumn("id", "bigint", nullable=False)
    .addColumn("g", "bigint", generatedAlwaysAs="id * 2")
    .addColumn("v", "varchar(3)")
    .execute())
""",
        path=str(tmp_path),
    )
    delta_spark.sql(f"alter table delta.`{tmp_path}` add constraint low check (id < 100)")

    def append(sql: str) -> None:
        write(spark.sql(sql)).mode("append").save(str(tmp_path))

    append("select 1L as id, 'abc  ' as v")
    append("select 2L as id, 4L as g")
    delta_spark.sql(f"insert into delta.`{tmp_path}` (id) values (3)")
    append("select 4L as id")
    with pytest.raises(NotNullViolationError):
        append("select cast(null as bigint) as id")
    with pytest.raises(CheckConstraintViolationError):
        append("select 100L as id")
    with pytest.raises(GeneratedColumnViolationError):
        append("select 5L as id, 5L as g")

    found = theirs(delta_spark, tmp_path)
    assert [(row["id"], row["g"]) for row in sorted(found, key=lambda row: row["id"])] == [
        (1, 2),
        (2, 4),
        (3, 6),
        (4, 8),
    ]
    numbers = [row["n"] for row in sorted(found, key=lambda row: row["id"])]
    assert numbers == sorted(numbers)
    assert len(set(numbers)) == 4
    assert found == ours(spark, tmp_path)


def test_rules_that_we_made_are_kept_by_delta_spark(
    spark: SparkSession, delta_spark: DeltaSpark, tmp_path: Path
) -> None:
    (
        builder(spark, tmp_path)
        .addColumn("n", "bigint", generatedByDefaultAs=IdentityGenerator())
        .addColumn("id", "bigint", nullable=False)
        .addColumn("g", "bigint", generatedAlwaysAs="id * 2")
        .execute()
    )
    storage = LocalStorage(str(tmp_path))
    add_constraint(spark, storage, "low", "id < 100")
    write(spark.range(1, 4, 1, 1)).mode("append").save(str(tmp_path))

    delta_spark.sql(f"insert into delta.`{tmp_path}` (id) values (4)")

    found = sorted((row["n"], row["id"], row["g"]) for row in theirs(delta_spark, tmp_path))
    assert found == [(1, 1, 2), (2, 2, 4), (3, 3, 6), (4, 4, 8)]
    for bad in ("100", "null"):
        with pytest.raises(Exception, match=r"DELTA_VIOLATE_CONSTRAINT|DELTA_NOT_NULL"):
            delta_spark.sql(f"insert into delta.`{tmp_path}` (id) values ({bad})")


@pytest.mark.parametrize("mode", ["name", "id"])
def test_mapped_columns_are_renamed_and_dropped_for_both(
    spark: SparkSession, delta_spark: DeltaSpark, tmp_path: Path, mode: str
) -> None:
    frame = spark.sql("select 1L as `a b`, struct(2 as x, 3 as y) as s, 'v' as p")
    write(frame).partitionBy("p").option("delta.columnMapping.mode", mode).save(str(tmp_path))
    storage = LocalStorage(str(tmp_path))

    rename_column(spark, storage, "`a b`", "c")
    rename_column(spark, storage, "s.x", "z")
    drop_columns(spark, storage, ["s.y"])
    add_columns(storage, [NewColumn(name="more", type="date", position="first")])
    delta_spark.sql(
        f"insert into delta.`{tmp_path}` values (date'2024-01-01', 5, named_struct('z', 6), 'w')"
    )
    write(spark.sql("select 7L as c, 'x' as p")).mode("append").save(str(tmp_path))

    columns = "cast(more as string) as more, c, s, p"
    assert theirs(delta_spark, tmp_path, columns) == sorted(
        [
            {"more": None, "c": 1, "s": {"z": 2}, "p": "v"},
            {"more": "2024-01-01", "c": 5, "s": {"z": 6}, "p": "w"},
            {"more": None, "c": 7, "s": None, "p": "x"},
        ],
        key=repr,
    )
    assert len(ours(spark, tmp_path)) == 3


def test_row_ids_go_on_where_the_other_has_left_off(
    spark: SparkSession, delta_spark: DeltaSpark, tmp_path: Path
) -> None:
    options = {"delta.enableRowTracking": "true"}
    delta_spark.write(tmp_path, [(1,), (2,)], "id long", options=options)
    write(spark.range(3, 6, 1, 1)).mode("append").save(str(tmp_path))
    delta_spark.write(tmp_path, [(6,)], "id long")

    ids = theirs(
        delta_spark,
        tmp_path,
        "id, _metadata.row_id as row, _metadata.row_commit_version as version",
    )

    found = sorted((row["id"], row["row"], row["version"]) for row in ids)
    assert [number for number, _, _ in found] == [1, 2, 3, 4, 5, 6]
    assert sorted(row for _, row, _ in found) == [0, 1, 2, 3, 4, 5]
    assert [version for _, _, version in found] == [0, 0, 1, 1, 1, 2]


def test_our_tables_with_row_ids_are_theirs(
    spark: SparkSession, delta_spark: DeltaSpark, tmp_path: Path
) -> None:
    write(spark.range(0, 3, 1, 1)).option("delta.enableRowTracking", "true").save(str(tmp_path))

    delta_spark.sql(f"update delta.`{tmp_path}` set id = 10 where id = 1")

    found = theirs(delta_spark, tmp_path, "id, _metadata.row_id as row")
    assert sorted((row["id"], row["row"]) for row in found) == [(0, 0), (2, 2), (10, 1)]


def test_overwrites_and_their_feed_are_read_the_same(
    spark: SparkSession, delta_spark: DeltaSpark, tmp_path: Path
) -> None:
    def rows(*ids: int) -> DataFrame:
        return spark.createDataFrame([(n, n % 2) for n in ids], "id long, p long")

    writer = write(rows(1, 2, 3)).option("delta.enableChangeDataFeed", "true")
    writer.partitionBy("p").save(str(tmp_path))
    write(rows(5)).mode("overwrite").option("replaceWhere", "p = 1").save(str(tmp_path))
    write(rows(4)).mode("overwrite").option("partitionOverwriteMode", "dynamic").save(str(tmp_path))
    write(rows(7)).mode("overwrite").option("replaceWhere", "id > 4").save(str(tmp_path))

    feed = delta_spark.read(tmp_path, readChangeFeed="true", startingVersion=1)
    found = sorted((row["_commit_version"], row["_change_type"], row["id"]) for row in feed)
    assert found == [
        (1, "delete", 1),
        (1, "delete", 3),
        (1, "insert", 5),
        (2, "delete", 2),
        (2, "insert", 4),
        (3, "delete", 5),
        (3, "insert", 7),
    ]


def test_vectors_go_from_a_table_in_the_same_steps(
    spark: SparkSession, delta_spark: DeltaSpark, tmp_path: Path
) -> None:
    """But for commits that change nothing, of which delta-spark makes three before the last."""
    drop = "alter table delta.`{}` drop feature deletionVectors"
    histories = []
    for name in ("theirs", "ours"):
        path = tmp_path / name
        write(spark.range(3)).option("delta.enableDeletionVectors", "true").save(str(path))
        DeltaTable.forPath(spark, str(path)).delete("id = 1")
        text = drop.format(path)
        delta_spark.sql(text) if name == "theirs" else spark.sql(text)
        (detail,) = delta_spark.sql(f"describe detail delta.`{path}`")
        assert "deletionVectors" not in detail["tableFeatures"]
        told = history(LocalStorage(str(path)), None)
        steps = [(entry.operation, entry.operation_parameters) for entry in told]
        histories.append([step for step in steps if step[0] != "Empty Commit"])

    assert histories[1] == histories[0]
    delta_spark.write(tmp_path / "ours", [(3,)], "id long")
    assert sorted(row["id"] for row in ours(spark, tmp_path / "ours")) == [0, 2, 3]


def test_converted_folders_are_tables_for_both(
    spark: SparkSession, delta_spark: DeltaSpark, tmp_path: Path
) -> None:
    spark.sql("select id, id % 2 as p from range(6)").write.partitionBy("p").mode("append").parquet(
        str(tmp_path)
    )

    convert_to_delta(spark, f"parquet.`{tmp_path}`", "p bigint")
    delta_spark.sql(f"delete from delta.`{tmp_path}` where id = 3")

    assert theirs(delta_spark, tmp_path) == ours(spark, tmp_path)
    assert sorted(row["id"] for row in ours(spark, tmp_path)) == [0, 1, 2, 4, 5]


def test_clustering_columns_are_known_to_delta_spark(
    spark: SparkSession, delta_spark: DeltaSpark, tmp_path: Path
) -> None:
    builder(spark, tmp_path).addColumn("id", "bigint").addColumn("s", "string").clusterBy(
        "s"
    ).execute()
    write(spark.sql("select 1L as id, 'x' as s")).mode("append").save(str(tmp_path))

    (detail,) = delta_spark.sql(f"describe detail delta.`{tmp_path}`")

    assert detail["clusteringColumns"] == ["s"]
    delta_spark.sql(f"optimize delta.`{tmp_path}`")
    assert ours(spark, tmp_path) == [{"id": 1, "s": "x"}]
