"""Tables with variant columns: written, changed, compacted, copied, streamed and compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

import truckee
from dml_tables import FEED, MAPPED, VECTORS, Table, create_table
from session_settings import set_as
from truckee.arrow.texts import json_texts
from truckee.commands.ddl.alter_columns import NewColumn, add_columns, rename_column
from truckee.commands.ddl.create import Creation
from truckee.commands.ddl.table_builder import DeltaTableBuilder
from truckee.errors.columns import (
    ClusteringTypeError,
    GeneratedColumnTypeError,
    PartitionColumnTypeError,
)
from truckee.errors.commands.care import ZOrderWithoutStatisticsError
from truckee.errors.commands.write import TypeMismatchError
from truckee.errors.commands.write_rows import CheckConstraintViolationError, NotNullViolationError
from truckee.table import DeltaTable
from truckee.writer import write
from writing import actions, rust_rows, stats

SHREDDING = {
    "spark.sql.variant.writeShredding.enabled": "true",
    "spark.sql.variant.inferShreddingSchema": "true",
    "spark.sql.variant.forceShreddingSchemaForTest": "n int",
}
# Row n has {"n": n, "t": "x"}, row 0 has none.
ROWS = """
    select id, case when id > 0 then parse_json('{"n":' || id || ',"t":"x"}') end as v
    from range(0, 4, 1, 1)
"""


def value(n: int) -> str:
    return f'{{"n":{n},"t":"x"}}'


def shown(frame: DataFrame, *others: str) -> list[tuple[Any, ...]]:
    rows = frame.selectExpr("id", "to_json(v)", *others).collect()
    return sorted((tuple(row) for row in rows), key=str)


def made(spark: SparkSession, path: Path, **properties: str) -> Table:
    return create_table(spark, path / "t", spark.sql(ROWS), properties=properties)


def opened(table: Table) -> DeltaTable:
    return DeltaTable.forPath(table.spark, str(table.path))


def test_variants_are_stored_whole_whatever_the_session_says(
    spark: SparkSession, tmp_path: Path
) -> None:
    nested = spark.sql(
        f"""
        select id, v, named_struct('x', v, 'y', id) as s, array(v, null) as a, map('k', v) as m
        from ({ROWS}) order by id
        """
    )
    with set_as(spark, SHREDDING):
        table = create_table(spark, tmp_path / "t", nested)

    [protocol] = actions(table.path, 0, "protocol")
    assert protocol == {
        "minReaderVersion": 3,
        "minWriterVersion": 7,
        "readerFeatures": ["variantType"],
        "writerFeatures": ["appendOnly", "invariants", "variantType"],
    }
    [add] = table.snapshot.files()
    leaves = pq.ParquetFile(table.path / add.path).metadata.schema
    assert not any("typed_value" in leaves.column(n).path for n in range(len(leaves)))
    [statistics] = stats(table.path, 0)
    assert statistics["minValues"] == {"id": 0, "s": {"y": 0}}
    assert statistics["nullCount"] == {"id": 0, "v": 1, "s": {"x": 1, "y": 0}}
    row = table.frame().where("id = 2").selectExpr("to_json(struct(*))").collect()[0][0]
    two = {"n": 2, "t": "x"}
    assert json.loads(row) == {
        "id": 2,
        "v": two,
        "s": {"x": two, "y": 2},
        "a": [two, None],
        "m": {"k": two},
    }
    assert [json.loads(text) for text in json_texts(truckee.open(table.path).to_arrow())][2] == (
        json.loads(row)
    )


def test_deltalake_reads_the_same_bytes(spark: SparkSession, tmp_path: Path) -> None:
    table = made(spark, tmp_path)

    ours = truckee.open(table.path).to_arrow().sort_by("id").to_pylist()

    assert rust_rows(table.path) == ours


def test_values_of_a_path_are_read_through_vectors_and_in_the_feed(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = made(spark, tmp_path, **VECTORS, **FEED)
    opened(table).delete("variant_get(v, '$.n', 'int') = 2")

    found = table.frame().selectExpr("id", "v:n::int", "v:t::string").where("v:n::int > 0")
    feed = opened(table).changes(0).selectExpr("v:n::int", "_change_type").where("v:n::int > 1")

    assert sorted(map(tuple, found.collect())) == [(1, 1, "x"), (3, 3, "x")]
    assert sorted(map(tuple, feed.collect())) == [(2, "delete"), (2, "insert"), (3, "insert")]


@pytest.mark.parametrize("properties", [{}, VECTORS], ids=["rewritten", "marked"])
def test_rows_change_and_the_feed_has_both_images(
    spark: SparkSession, tmp_path: Path, properties: dict[str, str]
) -> None:
    table = made(spark, tmp_path, **properties, **FEED)

    opened(table).update("v:n::int = 1", {"v": f"parse_json('{value(11)}')"})
    opened(table).delete("v is null")
    source = spark.sql(
        """
        select id, parse_json('{"n":' || (id + 20) || ',"t":"x"}') as v from range(3, 5)
        """
    )
    merge = opened(table).alias("t").merge(source.alias("s"), "t.id = s.id")
    merge.whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()

    assert shown(table.frame()) == [(1, value(11)), (2, value(2)), (3, value(23)), (4, value(24))]
    assert shown(opened(table).changes(1), "_change_type") == [
        (0, None, "delete"),
        (1, value(1), "update_preimage"),
        (1, value(11), "update_postimage"),
        (3, value(23), "update_postimage"),
        (3, value(3), "update_preimage"),
        (4, value(24), "insert"),
    ]
    assert shown(table.frame(0)) == [(0, None), *((n, value(n)) for n in (1, 2, 3))]
    feed = truckee.open(table.path).changes(1).to_arrow()
    assert sorted(json.loads(text)["id"] for text in json_texts(feed)) == [0, 1, 1, 3, 3, 4]


def test_tables_are_compacted_purged_copied_and_restored(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = made(spark, tmp_path, **VECTORS)
    table.append(spark.sql("select 9L as id, parse_json('[1, 2.50, \"z\"]') as v"))
    opened(table).delete("id = 0")
    before = shown(table.frame())
    assert before == [*((n, value(n)) for n in (1, 2, 3)), (9, '[1,2.5,"z"]')]

    opened(table).optimize().executeCompaction()
    assert [add.deletion_vector for add in table.snapshot.files()] == [None]
    assert shown(table.frame()) == before
    opened(table).delete("id = 1")
    opened(table).optimize().purge()
    assert shown(table.frame()) == before[1:]
    copy = opened(table).cloneAtVersion(1, str(tmp_path / "copy"), isShallow=True)
    assert shown(copy.toDF()) == [(0, None), *before]
    opened(table).restoreToVersion(0)
    assert shown(table.frame()) == [(0, None), *before[:3]]


def test_columns_are_added_by_commands_and_by_rows(spark: SparkSession, tmp_path: Path) -> None:
    table = create_table(spark, tmp_path / "t", spark.range(2), properties=MAPPED)
    add_columns(table.storage, [NewColumn(name="v", type="variant")])
    assert "variantType" in (table.snapshot.protocol.writer_features or ())
    rows = spark.sql("select 5L as id, parse_json('5') as v, parse_json('[5]') as w")

    table.append(rows, mergeSchema="true")
    rename_column(spark, table.storage, "v", "value")
    rename_column(spark, table.storage, "value", "v")
    overwritten = write(spark.sql("select 7L as id, parse_json('7') as v, null as w"))

    assert shown(table.frame(), "to_json(w)") == [(0, None, None), (1, None, None), (5, "5", "[5]")]
    overwritten.mode("overwrite").save(str(table.path))
    assert shown(table.frame(), "to_json(w)") == [(7, "7", None)]


def test_a_merge_adds_a_variant_column(spark: SparkSession, tmp_path: Path) -> None:
    table = create_table(spark, tmp_path / "t", spark.range(2))
    source = spark.sql("select id, parse_json(id::string) as v from range(1, 3)")

    merge = opened(table).alias("t").merge(source.alias("s"), "t.id = s.id").withSchemaEvolution()
    merge.whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()

    assert shown(table.frame()) == [(0, None), (1, "1"), (2, "2")]
    assert "variantType" in (table.snapshot.protocol.reader_features or ())


def test_rows_of_a_stream_are_copied(spark: SparkSession, tmp_path: Path) -> None:
    table = made(spark, tmp_path, **VECTORS, **FEED)
    opened(table).delete("id = 1")
    stream = truckee.readStream(spark).option("readChangeFeed", "true")
    stream = stream.option("startingVersion", 0)
    rows = stream.load(str(table.path)).selectExpr("id", "v", "_change_type as kind")

    query = (
        rows.writeStream.foreachBatch(truckee.write_batch(str(tmp_path / "copy")))
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()

    copy = truckee.read(spark).load(str(tmp_path / "copy"))
    assert shown(copy, "kind") == [
        (0, None, "insert"),
        (1, value(1), "delete"),
        (1, value(1), "insert"),
        (2, value(2), "insert"),
        (3, value(3), "insert"),
    ]


def test_a_diff_compares_values_and_not_bytes(spark: SparkSession, tmp_path: Path) -> None:
    table = made(spark, tmp_path)
    rewritten = """
        select 0L as id, parse_json('{"t": "x", "n": 9}') as v
        union all select 1L, parse_json('{"t": "x", "n": 1}')
        union all select 2L, to_variant_object(named_struct('t', 'x', 'n', 2L))
        union all select 3L, to_variant_object(named_struct('t', 'x', 'n', 3.0D))
    """
    write(spark.sql(rewritten).coalesce(1)).mode("overwrite").save(str(table.path))
    expected = [
        (0, value(9), "update_postimage"),
        (0, None, "update_preimage"),
        (3, value(3), "update_preimage"),
        (3, '{"n":3.0,"t":"x"}', "update_postimage"),
    ]

    assert shown(opened(table).diff(0, 1, ["id"]), "_change_type") == expected
    net = opened(table).changes(
        1, changeFeed="derived", deduplicationMode="netChanges", keys="id", computeUpdates="true"
    )
    assert shown(net, "_change_type") == expected
    told = json_texts(truckee.open(table.path).diff(0, 1, ["id"]).to_arrow())
    assert sorted((row["id"], row["_change_type"]) for row in map(json.loads, told)) == sorted(
        (row[0], row[2]) for row in expected
    )
    history = opened(table).row_history("id = 1").selectExpr("to_json(v)").collect()
    assert [row[0] for row in history] == [value(1)]


def test_rules_are_checked_and_tell_the_row(spark: SparkSession, tmp_path: Path) -> None:
    build = DeltaTableBuilder(spark, Creation.CREATE, lambda _, storage: storage.root)
    build.location(str(tmp_path / "t")).addColumn("v", "variant", nullable=False).addColumn(
        "n", "int", generatedAlwaysAs="v:n::int"
    ).execute()
    table = Table(spark, tmp_path / "t")
    opened(table).addConstraint("positive", "v:n::int > 0")

    table.append(spark.sql("""select parse_json('{"n": 5}') as v"""))

    assert table.frame().selectExpr("to_json(v)", "n").collect() == [('{"n":5}', 5)]
    with pytest.raises(CheckConstraintViolationError, match=r'v: \{"n":-5\}'):
        table.append(spark.sql("""select parse_json('{"n": -5}') as v"""))
    with pytest.raises(NotNullViolationError):
        table.append(spark.sql("select cast(null as variant) as v"))


def test_what_needs_an_order_of_values_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    rows = spark.sql(ROWS)
    none = tmp_path / "none"
    with pytest.raises(PartitionColumnTypeError):
        write(rows).partitionBy("v").save(str(none))
    with pytest.raises(ClusteringTypeError):
        write(rows).clusterBy("v").save(str(none))
    build = DeltaTableBuilder(spark, Creation.CREATE, lambda _, storage: storage.root)
    build.location(str(none)).addColumn("id", "bigint")
    build.addColumn("v", "variant", generatedAlwaysAs="parse_json(id::string)")
    with pytest.raises(GeneratedColumnTypeError) as raised:
        build.execute()
    assert str(raised.value) == (
        "[DELTA_UNSUPPORTED_DATA_TYPE_IN_GENERATED_COLUMN] column v cannot be generated as "
        "(parse_json(id::string)): values of type variant cannot be compared\n"
        "hint: generate a column of another type, as with variant_get, or give the column a default"
    )
    assert not none.exists()

    table = made(spark, tmp_path)
    with pytest.raises(ZOrderWithoutStatisticsError):
        opened(table).optimize().executeZOrderBy("v")
    with pytest.raises(TypeMismatchError):
        write(spark.sql("select 1L as id, 5 as v")).mode("append").save(str(table.path))
    with pytest.raises(AnalysisException, match="column v is of type variant"):
        rows.write.format("truckee").mode("append").save(str(table.path))
    assert table.version == 0


def test_tables_that_allow_shredding_get_whole_variants(
    spark: SparkSession, tmp_path: Path
) -> None:
    with set_as(spark, SHREDDING):
        table = made(spark, tmp_path, **{"delta.enableVariantShredding": "true"})

    assert table.snapshot.protocol.reader_features == ("variantShredding-preview", "variantType")
    [add] = table.snapshot.files()
    kind = pq.read_schema(table.path / add.path).field("v").type
    assert pa.types.is_struct(kind)
    assert {field.name for field in kind} == {"value", "metadata"}
    assert shown(table.frame()) == [(0, None), *((n, value(n)) for n in (1, 2, 3))]
