"""What is wrong with an OPTIMIZE is told before anything is written, in whole sentences."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dml_tables import Table, create_table, numbers
from session_settings import set_as
from truckee.commands.care.optimize_builder import DeltaOptimizeBuilder
from truckee.errors.base import DeltaError
from truckee.errors.commands.care import (
    ConditionOnClusteredTableError,
    FullOptimizeNotSupportedError,
    NonPartitionColumnError,
    PartitionSubqueryError,
    ZOrderColumnNotFoundError,
    ZOrderOnClusteredTableError,
    ZOrderOnPartitionColumnError,
    ZOrderWithoutStatisticsError,
)
from truckee.errors.options import IllegalOptionError
from truckee.writer import write


@pytest.fixture(scope="module")
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Table:
    path = tmp_path_factory.mktemp("bad") / "t"
    rows = numbers(spark, 0, 4).selectExpr("*", "array(v) list")
    return create_table(spark, path, rows, partition_by=["part"])


@pytest.fixture(scope="module")
def clustered(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Table:
    path = tmp_path_factory.mktemp("bad") / "c"
    write(numbers(spark, 0, 4)).clusterBy("v").save(str(path))
    return Table(spark, path)


def refusal(
    kind: type[DeltaError], table: Table, call: Callable[[DeltaOptimizeBuilder], object]
) -> str:
    before = table.version, table.files_on_disk()
    with pytest.raises(kind) as caught:
        call(DeltaOptimizeBuilder(table.spark, table.storage))
    assert (caught.value.plain or type(caught.value)) is kind
    assert (table.version, table.files_on_disk()) == before
    return caught.value.sentence()


def test_a_condition_on_data_columns_is_refused(table: Table) -> None:
    found = refusal(
        NonPartitionColumnError, table, lambda o: o.where("part = 1 and v > 3").executeCompaction()
    )

    assert found == (
        "Predicate references non-partition column 'v'. Only the partition columns may be "
        "referenced: [part]"
    )


def test_a_condition_on_a_table_without_partitions_is_refused(
    spark: SparkSession, tmp_path: Path
) -> None:
    flat = create_table(spark, tmp_path / "t", numbers(spark, 0, 4))

    found = refusal(NonPartitionColumnError, flat, lambda o: o.where("id = 1").purge())

    assert found == (
        "Predicate references non-partition column 'id'. Only the partition columns may be "
        "referenced: []\n"
        "hint: leave the condition out"
    )


def test_a_condition_on_an_unknown_column_is_refused(table: Table) -> None:
    found = refusal(
        NonPartitionColumnError, table, lambda o: o.where("nope = 1").executeCompaction()
    )

    assert found == (
        "Predicate references non-partition column 'nope'. Only the partition columns may be "
        "referenced: [part]"
    )


def test_a_subquery_is_refused(table: Table) -> None:
    found = refusal(
        PartitionSubqueryError,
        table,
        lambda o: o.where("part = (select max(id) from range(2))").executeCompaction(),
    )

    assert found == (
        "the condition (part = (select max(id) from range(2))) has a subquery, which is not "
        "supported here\n"
        "hint: run the query first, and compare with its result"
    )


def test_z_order_by_columns_that_do_not_help_is_refused(spark: SparkSession, table: Table) -> None:
    unknown = refusal(ZOrderColumnNotFoundError, table, lambda o: o.executeZOrderBy("id", "nope"))
    partition = refusal(ZOrderOnPartitionColumnError, table, lambda o: o.executeZOrderBy("part"))
    unordered = refusal(ZOrderWithoutStatisticsError, table, lambda o: o.executeZOrderBy("list"))

    assert unknown == (
        "cannot Z-order by nope, which is not a column of the table\n"
        "hint: use one of [id, v, part, list]"
    )
    assert partition == (
        "part is a partition column. Z-Ordering can only be performed on data columns\n"
        "hint: Z-order by other columns; files are already split by this one"
    )
    assert unordered == (
        "Z-order by [list] skips no files, since no minimum and maximum of these columns is "
        "collected\nhint: name them in the table property delta.dataSkippingStatsColumns, or set "
        "spark.databricks.delta.optimize.zorder.checkStatsCollection.enabled to false"
    )
    check = "spark.databricks.delta.optimize.zorder.checkStatsCollection.enabled"
    with set_as(spark, {check: "false"}):
        refusal(ZOrderWithoutStatisticsError, table, lambda o: o.executeZOrderBy("list"))


def test_a_clustered_table_takes_neither_conditions_nor_z_order(clustered: Table) -> None:
    zorder = refusal(ZOrderOnClusteredTableError, clustered, lambda o: o.executeZOrderBy("v"))
    where = refusal(
        ConditionOnClusteredTableError, clustered, lambda o: o.where("v = 1").executeCompaction()
    )

    assert zorder == (
        f"the table {clustered.path} is a clustered table, which cannot be Z-ordered\n"
        "hint: use executeCompaction(), which clusters it by its clustering columns"
    )
    assert where == (
        f"the table {clustered.path} is a clustered table, so it has no partitions that the "
        "condition (v = 1) could select\n"
        "hint: leave the condition out"
    )


def test_full_is_for_clustered_tables(table: Table) -> None:
    found = refusal(FullOptimizeNotSupportedError, table, lambda o: o.executeFull())

    assert found == (
        f"OPTIMIZE FULL reclusters a table, but {table.path} has no clustering columns\n"
        "hint: use executeCompaction() or executeZOrderBy(...)"
    )


def test_settings_that_mean_nothing_are_refused(spark: SparkSession, table: Table) -> None:
    with set_as(spark, {"spark.databricks.delta.optimize.maxFileSize": "large"}):
        refusal(IllegalOptionError, table, lambda o: o.executeCompaction())
    with set_as(spark, {"spark.databricks.delta.optimize.maxDeletedRowsRatio": "2"}):
        refusal(IllegalOptionError, table, lambda o: o.executeCompaction())


@pytest.mark.parametrize(
    "call",
    [
        lambda o: o.executeZOrderBy(),
        lambda o: o.executeZOrderBy(1),
        lambda o: o.executeZOrderBy(["id", None]),
        lambda o: o.where(1),
    ],
)
def test_arguments_of_other_types_are_refused(
    table: Table, call: Callable[[DeltaOptimizeBuilder], object]
) -> None:
    with pytest.raises(TypeError):
        call(DeltaOptimizeBuilder(table.spark, table.storage))
