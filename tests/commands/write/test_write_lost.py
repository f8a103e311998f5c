"""Writes that lose to another writer: a typed error, and no file left behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from pyspark.sql import DataFrame, SparkSession

from truckee.errors.transaction import (
    ConcurrentAppendException,
    MetadataChangedException,
    ProtocolChangedException,
)
from truckee.writer import write
from writing import data_files, last_version, rust_rows


def appends_meanwhile(spark: SparkSession, path: Path, *, more_columns: bool = False) -> DataFrame:
    """Return one row, whose making lets another engine append to the table."""

    def make(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        import pyarrow as pa
        from deltalake import write_deltalake

        for batch in batches:
            columns = {"id": [99], "p": [1]} | ({"more": [1]} if more_columns else {})
            types = [pa.field(name, pa.int64()) for name in columns]
            table = pa.table(columns, schema=pa.schema(types))
            mode = "merge" if more_columns else None
            write_deltalake(str(path), table, mode="append", schema_mode=mode)
            yield batch

    rows = spark.range(5, 6, 1, 1).selectExpr("id", "1L as p")
    return rows.mapInPandas(make, "id long, p long")


@pytest.fixture
def table(spark: SparkSession, tmp_path: Path) -> Path:
    write(spark.sql("select 1L as id, 1L as p union all select 2L, 2L")).partitionBy("p").save(
        str(tmp_path)
    )
    return tmp_path


def ids(path: Path) -> list[int]:
    return sorted(row["id"] for row in rust_rows(path))


def folders(path: Path) -> set[str]:
    return {name.split("/")[0] for name in data_files(path) if "=" not in name.split("/")[0]}


def test_an_append_comes_after_another(spark: SparkSession, table: Path) -> None:
    write(appends_meanwhile(spark, table)).mode("append").save(str(table))

    assert ids(table) == [1, 2, 5, 99]
    assert last_version(table) == 2


@pytest.mark.parametrize(
    "options",
    [{}, {"replaceWhere": "p = 1"}, {"partitionOverwriteMode": "dynamic"}],
    ids=["all", "replaceWhere", "dynamic"],
)
def test_an_overwrite_does_not_come_after_rows_it_has_not_seen(
    spark: SparkSession, table: Path, options: dict[str, str]
) -> None:
    before = folders(table)

    with pytest.raises(ConcurrentAppendException):
        write(appends_meanwhile(spark, table)).mode("overwrite").options(**options).save(str(table))

    assert ids(table) == [1, 2, 99]
    assert folders(table) == before


@pytest.mark.parametrize(
    "options",
    [{"replaceWhere": "p = 1"}, {"partitionOverwriteMode": "dynamic"}],
    ids=["replaceWhere", "dynamic"],
)
def test_writers_of_other_partitions_do_not_meet(
    spark: SparkSession, table: Path, options: dict[str, str]
) -> None:
    condition = {key: value.replace("1", "2") for key, value in options.items()}
    rows = appends_meanwhile(spark, table).selectExpr("id", "2L as p")

    write(rows).mode("overwrite").options(**condition).save(str(table))

    assert ids(table) == [1, 5, 99]


def test_an_append_does_not_come_after_new_columns(spark: SparkSession, table: Path) -> None:
    before = folders(table)

    with pytest.raises(MetadataChangedException):
        write(appends_meanwhile(spark, table, more_columns=True)).mode("append").save(str(table))

    assert ids(table) == [1, 2, 99]
    assert folders(table) == before


def test_of_two_writers_that_create_a_table_one_wins(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(ProtocolChangedException):
        write(appends_meanwhile(spark, tmp_path)).save(str(tmp_path))

    assert ids(tmp_path) == [99]
    assert folders(tmp_path) == {name for name in data_files(tmp_path) if "/" not in name}
