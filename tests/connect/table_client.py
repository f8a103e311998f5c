"""What a client of `truckee serve` does with `DeltaTable`; it prints what it found as JSON."""

from __future__ import annotations

import datetime as dt
import json
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

from pyspark import SparkContext
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StringType, StructField, StructType

import truckee
from truckee import DeltaTable, IdentityGenerator


def main(url: str, folder: str) -> dict[str, Any]:
    spark = SparkSession.builder.remote(url).getOrCreate()
    lake = Path(folder) / "remote"
    return {
        "gateway": SparkContext._gateway is not None,
        "rows": changed_rows(spark, lake / "rows"),
        "merges": merges(spark, lake / "merges"),
        "own columns": own_columns(spark, lake / "own"),
        "versions": versions(spark, lake / "versions"),
        "care": care(spark, lake / "care"),
        "protocol": protocol(spark, lake / "protocol"),
        "clones": clones(spark, lake / "clones"),
        "created": created(spark, lake / "created"),
        "columns": columns(spark, lake / "columns"),
        "refused": refused(spark, lake / "refused"),
    }


def a_table(spark: Any, place: Path) -> Any:
    rows = [(1, "a"), (2, "b"), (3, "c")]
    spark.createDataFrame(rows, "id long, x string").write.format("delta").save(str(place))
    return DeltaTable.forPath(spark, place)


def changed_rows(spark: Any, place: Path) -> list[Any]:
    table = a_table(spark, place)
    done = [
        table.delete("id = 1"),
        table.update(F.col("id") == 2, {"x": F.concat("x", F.lit(Decimal("1.50")))}),
        table.update(set={"id": "id + 10"}),
        table.delete(F.udf(lambda number: number == 13, "boolean")("id")),
    ]
    return [*(rows(each) for each in done), rows(table.toDF()), len(rows(table.history()))]


def merges(spark: Any, place: Path) -> list[Any]:
    table = a_table(spark, place)
    source = spark.createDataFrame(
        [(2, "B", 0), (3, "C", 1), (4, "D", 2)], "id long, x string, n int"
    )
    by_text = (
        table.alias("t")
        .merge(source.drop("n").alias("s"), "t.id = s.id")
        .whenMatchedDelete("s.x = 'B'")
        .whenMatchedUpdate(set={"x": "s.x"})
        .whenNotMatchedInsert("s.id > 9", {"id": "s.id", "x": "s.x"})
        .whenNotMatchedBySourceUpdate(set={"x": "'gone'"})
        .execute()
    )
    after = rows(table.toDF().orderBy("id"))
    by_column = (
        table.alias("t")
        .merge(source, source.id == F.col("t.id"))
        .withSchemaEvolution()
        .whenMatchedUpdateAll(source["n"] == 1)
        .whenNotMatchedInsertAll(F.col("n") > F.lit(1))
        .whenNotMatchedBySourceDelete(F.col("t.id").isin([1, 7]))
        .execute()
    )
    return [rows(by_text), after, rows(by_column), rows(table.toDF().orderBy("id"))]


def own_columns(spark: Any, place: Path) -> list[Any]:
    """Use columns of `toDF`, which name a DataFrame of the table."""
    table = a_table(spark, place)
    first = table.toDF()
    source = spark.createDataFrame([(3, "new")], "id long, x string")
    table.delete(first.id == 1)
    table.merge(source, source.id == first["id"]).whenMatchedUpdate(set={"x": source.x}).execute()
    found = rows(table.toDF().orderBy("id"))
    refusal = error(
        lambda: table.merge(first.where("id > 2"), first.id == F.col("s.id")).whenMatchedDelete()
    )
    return [found, refusal[0], refusal[1].splitlines()[0]]


def versions(spark: Any, place: Path) -> list[Any]:
    table = a_table(spark, place)
    table.setProperties({"delta.enableChangeDataFeed": "true"})
    table.update("id = 2", {"x": "'new'"})
    table.delete("id = 3")
    times = [row[0] for row in table.history().orderBy("version").select("timestamp").collect()]
    found = [
        rows(table.history(2).select("version", "operation")),
        rows(table.changes(2).groupBy("_change_type").count().orderBy("_change_type")),
        rows(table.changes(startingTimestamp=times[3]).select("id", "_change_type")),
        rows(table.diff(0, 3, keys=["id"]).select("id", "_change_type").orderBy("id")),
        rows(table.row_history("id = 2").select("x")),
    ]
    restored = rows(table.restoreToVersion(0).select("num_restored_files"))
    table.restoreToTimestamp(times[2] + dt.timedelta(milliseconds=1))
    return [*found, restored, rows(table.toDF().orderBy("id"))]


def care(spark: Any, place: Path) -> list[Any]:
    table = a_table(spark, place)
    spark.range(9, 11).selectExpr("id", "'z' AS x").write.format("delta").mode("append").save(
        str(place)
    )
    compacted = table.optimize().executeCompaction().select("metrics.numFilesAdded").collect()
    ordered = table.optimize().executeZOrderBy("id", "x").select("metrics.numFilesRemoved")
    empty = table.vacuum(200)
    table.generate("symlink_format_manifest")
    detail = table.detail().select("format", "numFiles").collect()
    manifest = (place / "_symlink_format_manifest" / "manifest").exists()
    return [rows(compacted), rows(ordered), [empty.columns, empty.count()], rows(detail), manifest]


def protocol(spark: Any, place: Path) -> list[Any]:
    table = a_table(spark, place)
    found = [features(table)]
    table.upgradeTableProtocol(1, 3)
    found.append(features(table))
    table.addFeatureSupport("deletionVectors")
    found.append(features(table))
    table.dropFeatureSupport("deletionVectors")
    table.addConstraint("positive", "id > 0")
    return [*found, features(table), error(lambda: table.update(set={"id": "-1"}))[:2]]


def features(table: Any) -> list[Any]:
    row = table.detail().collect()[0]
    return [row.minReaderVersion, row.minWriterVersion, sorted(row.tableFeatures)]


def clones(spark: Any, place: Path) -> list[Any]:
    table = a_table(spark, place)
    table.delete("id = 1")
    shallow = table.clone(f"{place}-shallow", isShallow=True)
    first = table.cloneAtVersion(0, f"{place}-first", properties={"by": "us"})
    found = [
        rows(shallow.toDF().orderBy("id")),
        first.toDF().count(),
        first.detail().collect()[0].properties,
    ]
    first.delete("id < 3")
    differing = shallow.diff(keys=["id"], other=first).select("id", "_change_type")
    spark.range(4).write.parquet(f"{place}-parquet")
    converted = DeltaTable.convertToDelta(spark, f"parquet.`{place}-parquet`")
    return [
        *found,
        rows(differing),
        converted.toDF().count(),
        DeltaTable.isDeltaTable(spark, place),
    ]


def created(spark: Any, place: Path) -> list[Any]:
    builder = DeltaTable.create(spark).tableName("built").location(place)
    builder.addColumn("id", LongType(), generatedAlwaysAs=IdentityGenerator(start=5, step=2))
    builder.addColumns(StructType([StructField("x", StringType(), nullable=False)]))
    builder.comment("made by a client").property("by", "us").partitionedBy("x").execute()
    spark.sql("INSERT INTO built (x) VALUES ('p')")
    named = DeltaTable.forName(spark, "built")
    detail = named.detail().select("name", "description", "partitionColumns").collect()
    found = [rows(named.toDF()), rows(detail)]
    another = DeltaTable.create(spark).tableName("built").addColumn("y", "int")
    replaced = DeltaTable.createOrReplace().location(place).addColumn("y", "INT").execute()
    return [*found, error(another.execute)[0], replaced.toDF().columns]


def columns(spark: Any, place: Path) -> list[Any]:
    table = a_table(spark, place)
    table.addColumn("y", "int", comment="new", position="first")
    table.setProperties({"delta.columnMapping.mode": "name"})
    table.renameColumn("x", "text")
    table.dropColumn("y")
    return [table.toDF().columns, rows(table.alias("t").toDF().select("t.text").orderBy("text"))]


def refused(spark: Any, place: Path) -> list[Any]:
    table = a_table(spark, place)
    tries: list[Callable[[], object]] = [
        lambda: DeltaTable.forPath(spark, f"{place}-nothing"),
        lambda: DeltaTable.forName(spark, "nothing"),
        lambda: table.update("id > 0"),
        lambda: table.merge(5, "true"),
        lambda: table.delete(object()),
        lambda: table.restoreToVersion(99),
        lambda: table.delete("nothing = 1"),
        lambda: table.doctor(),
        lambda: table.nothing(),
    ]
    found = [error(each) for each in tries]
    table.setProperties({"delta.appendOnly": "true"})
    return [*found, error(table.delete)]


def error(call: Callable[[], object]) -> list[Any]:
    try:
        call()
    except Exception as caught:
        kinds = (ValueError, TypeError, AnalysisException, truckee.DeltaError)
        caught_as = [kind.__name__ for kind in kinds if isinstance(caught, kind)]
        return [type(caught).__name__, str(caught), caught_as]
    return ["none"]


def rows(frame: Any) -> list[Any]:
    found = frame.collect() if hasattr(frame, "collect") else frame
    return [list(row) for row in found]


if __name__ == "__main__":
    print("found:" + json.dumps(main(*sys.argv[1:])))
