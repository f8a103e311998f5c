"""Column mapping is removed: the same rows, in files with the columns' own names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from dml_tables import FEED, MAPPED, VECTORS, Table, create_table, numbers
from truckee.commands.care.remove_column_mapping import remove_column_mapping
from truckee.commands.ddl.alter_properties import set_properties
from truckee.errors.changes import IncompatibleDataSchemaError
from truckee.errors.columns import UnmappedColumnNamesError
from truckee.errors.commands.alter import ColumnMappingModeChangeError, ConstraintPropertyError
from truckee.errors.transaction import ConcurrentAppendException, MetadataChangedException
from truckee.log.commit.transaction import Transaction
from truckee.protocol.paths import decode_path
from truckee.table import DeltaTable
from writing import rust_rows

MODE = "delta.columnMapping.mode"
ALLOWED = "spark.databricks.delta.columnMapping.allowRemoval"
TRACKED = {"delta.enableRowTracking": "true"}


def mapped(spark: SparkSession, path: Path, **properties: str) -> Table:
    """A table of two partitions whose column `v` was renamed to `w`, and which lost a row."""
    rows = numbers(spark, 0, 10).selectExpr("*", "struct(v AS x, array(struct(id AS z)) AS l) s")
    table = create_table(
        spark, path, rows, properties=MAPPED | VECTORS | properties, partition_by=["part"]
    )
    spark.sql(f"ALTER TABLE delta.`{path}` RENAME COLUMN v TO w")
    opened(table).delete("id = 3")
    return table


def opened(table: Table) -> DeltaTable:
    return DeltaTable.forPath(table.spark, str(table.path))


def stored_names(table: Table) -> set[str]:
    """The columns that the table's files have."""
    paths = [table.path / decode_path(add.path) for add in table.snapshot.files()]
    return {name for path in paths for name in pq.read_schema(path).names}


@pytest.mark.parametrize("properties", [{}, FEED, TRACKED], ids=["plain", "feed", "row ids"])
def test_rows_stay_and_files_get_the_names_of_the_columns(
    spark: SparkSession, tmp_path: Path, properties: dict[str, str]
) -> None:
    table = mapped(spark, tmp_path / "t", **properties)
    before = table.rows()
    ids = "id", "_metadata.row_id", "_metadata.row_commit_version"
    known = opened(table).toDF().select(*ids).collect() if properties == TRACKED else []

    opened(table).setProperties({MODE: "none"})

    assert table.rows() == before
    assert table.rows(0)[3][:2] == (3, 30)
    assert stored_names(table) >= {"id", "w", "s"}
    assert not any(name.startswith("col-") for name in stored_names(table))
    assert {tuple(add.partition_values) for add in table.snapshot.files()} == {("part",)}
    assert not any(field.metadata for field in table.snapshot.schema.fields)
    assert table.snapshot.properties.column_mapping_mode == "none"
    assert "delta.columnMapping.maxColumnId" not in table.snapshot.metadata.configuration
    assert (table.info.operation, table.info.operation_parameters) == ("REMOVE COLUMN MAPPING", {})
    assert table.metrics == {
        "numRewrittenFiles": "2",
        "numCopiedRows": "9",
        "numDeletionVectorsRemoved": "1",
    }
    assert len(rust_rows(table.path)) == 9
    if properties == TRACKED:
        assert sorted(opened(table).toDF().select(*ids).collect()) == sorted(known)


def test_the_feed_shows_nothing_of_it_and_goes_on(spark: SparkSession, tmp_path: Path) -> None:
    table = mapped(spark, tmp_path / "t", **FEED)
    spark.sql(f"ALTER TABLE delta.`{table.path}` UNSET TBLPROPERTIES ('{MODE}')")
    removed = table.version

    opened(table).update("id = 4", {"w": "-1"})

    changes = [(row[0], row[1], *row[-2:]) for row in table.changes(removed)]
    assert changes == [
        (4, -1, "update_postimage", removed + 1),
        (4, 40, "update_preimage", removed + 1),
    ]
    assert [row[0] for row in table.changes(2, removed - 1)] == [3]
    with pytest.raises(IncompatibleDataSchemaError, match="column mapping is on in one of them"):
        table.changes(2)
    followed = opened(table).changes(startingVersion=1, schemaMode="follow")
    assert sorted((row["id"], row["w"], row["_change_type"]) for row in followed.collect()) == [
        (3, 30, "delete"),
        (4, -1, "update_postimage"),
        (4, 40, "update_preimage"),
    ]


def test_a_dropped_column_does_not_come_back(spark: SparkSession, tmp_path: Path) -> None:
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 4))
    name = f"delta.`{table.path}`"
    spark.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('{MODE}' = 'name')")
    spark.sql(f"ALTER TABLE {name} DROP COLUMN v")

    spark.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('{MODE}' = 'none')")
    spark.sql(f"ALTER TABLE {name} ADD COLUMN v INT")

    assert [tuple(row) for row in spark.table(name).select("v").distinct().collect()] == [(None,)]


def test_clustering_columns_are_recorded_by_their_own_names(
    spark: SparkSession, tmp_path: Path
) -> None:
    name = f"delta.`{tmp_path / 't'}`"
    spark.sql(
        f"CREATE TABLE {name} (id INT, s STRUCT<x: INT>) USING delta CLUSTER BY (s.x) "
        f"TBLPROPERTIES ('{MODE}' = 'name')"
    )
    spark.sql(f"INSERT INTO {name} SELECT id, struct(id) FROM range(5)")

    spark.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('{MODE}' = 'none')")

    detail = spark.sql(f"DESCRIBE DETAIL {name}").first()
    assert detail is not None
    assert detail["clusteringColumns"] == ["s.x"]
    spark.sql(f"OPTIMIZE {name}")
    assert spark.table(name).count() == 5


def test_other_properties_are_set_after_it(spark: SparkSession, tmp_path: Path) -> None:
    table = mapped(spark, tmp_path / "t")
    version = table.version

    opened(table).setProperties({"Delta.ColumnMapping.Mode": "NONE", "mine": "1"})

    configuration = table.snapshot.metadata.configuration
    assert (table.version, table.info.operation) == (version + 2, "SET TBLPROPERTIES")
    assert (configuration[MODE], configuration["mine"]) == ("NONE", "1")
    assert table.snapshot.properties.column_mapping_mode == "none"

    opened(table).setProperties({MODE: "none"})
    opened(table).unsetProperties(MODE, "mine")

    assert table.snapshot.metadata.configuration == VECTORS


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.unsetProperties(MODE, "delta.constraints.c"),
        lambda table: table.setProperties({MODE: "none", "delta.constraints.c": "id > 0"}),
    ],
    ids=["unset", "set"],
)
def test_what_is_refused_leaves_the_table_as_it_is(
    spark: SparkSession, tmp_path: Path, change: Callable[[DeltaTable], None]
) -> None:
    table = mapped(spark, tmp_path / "t")
    version, files = table.version, table.files_on_disk()

    with pytest.raises(ConstraintPropertyError):
        change(opened(table))

    assert (table.version, table.files_on_disk()) == (version, files)


def test_names_that_need_column_mapping_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    table = mapped(spark, tmp_path / "t")
    spark.sql(f"ALTER TABLE delta.`{table.path}` RENAME COLUMN w TO `w w`")

    with pytest.raises(AnalysisException) as caught:
        spark.sql(f"ALTER TABLE delta.`{table.path}` UNSET TBLPROPERTIES ('{MODE}')")

    assert isinstance(caught.value, UnmappedColumnNamesError)
    assert caught.value.sentence() == (
        "column mapping cannot be removed: the column names [w w] contain characters out of "
        "' ,;{}()\\n\\t=', which need it\n"
        "hint: rename the columns first: ALTER TABLE ... RENAME COLUMN"
    )


@pytest.fixture
def forbidden(spark: SparkSession) -> Iterator[None]:
    spark.conf.set(ALLOWED, "false")
    yield
    spark.conf.unset(ALLOWED)


@pytest.mark.usefixtures("forbidden")
def test_a_session_can_forbid_it(spark: SparkSession, tmp_path: Path) -> None:
    table = mapped(spark, tmp_path / "t")

    with pytest.raises(ColumnMappingModeChangeError, match="is name and cannot become none"):
        opened(table).setProperties({MODE: "none"})


def test_the_feature_is_dropped_after_it(spark: SparkSession, tmp_path: Path) -> None:
    table = mapped(spark, tmp_path / "t")
    before = table.rows()

    opened(table).dropFeatureSupport("columnMapping")

    assert table.rows() == before
    assert "columnMapping" not in table.snapshot.configuration.features
    assert MODE not in table.snapshot.metadata.configuration


def test_rows_that_came_meanwhile_are_not_lost(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = mapped(spark, tmp_path / "t")
    files = table.files_on_disk()
    commit = Transaction.commit

    def late(self: Transaction, operation: str, **rest: object) -> int:
        if operation == "REMOVE COLUMN MAPPING":
            monkeypatch.undo()
            row = "99L id, 990 w, 1 part, struct(1 AS x, array(struct(1L AS z)) AS l) s"
            table.append(spark.sql(f"SELECT {row}"))
        return commit(self, operation, **rest)  # type: ignore[arg-type]

    monkeypatch.setattr(Transaction, "commit", late)
    with pytest.raises(ConcurrentAppendException):
        remove_column_mapping(spark, table.storage, unsets=False)

    assert len(table.rows()) == 10
    assert len(table.files_on_disk()) == len(files) + 1


def test_a_writer_that_began_before_it_conflicts(spark: SparkSession, tmp_path: Path) -> None:
    table = mapped(spark, tmp_path / "t")
    [add, *_] = table.snapshot.files()
    begun = Transaction(table.storage, table.snapshot)
    begun.stage(add)

    remove_column_mapping(spark, table.storage, unsets=True)

    with pytest.raises(MetadataChangedException):
        begun.commit("WRITE")
    set_properties(table.storage, {MODE: "name"})
    assert len(table.rows()) == 9
