"""What is asked of the JVM does not grow with the number of columns, nor with that of files.

Each call costs a tenth of a millisecond or more, so that a dozen for each of five hundred columns
would take longer than the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import py4j.clientserver
import pytest
from pyspark.sql import DataFrame, SparkSession

import truckee
from truckee import DeltaTable

FEW, MANY = 10, 60
FEW_FILES, MANY_FILES = 2, 32
# What differs by chance, such as a lookup that is done once a session, is not a column's.
CHANCE = 20


def _rows(spark: SparkSession, columns: int, start: int, end: int) -> DataFrame:
    return spark.range(start, end).selectExpr("id", *(f"id + {i} AS c{i}" for i in range(columns)))


def _append(table: DeltaTable, path: str, rows: DataFrame) -> None:
    truckee.write(rows).mode("append").save(path)


def _read(table: DeltaTable, path: str, rows: DataFrame) -> None:
    spark = rows.sparkSession
    assert truckee.read(spark).load(path).where("c3 = 5").count() == 1


def _feed(table: DeltaTable, path: str, rows: DataFrame) -> None:
    assert table.changes(0).where("c3 = 5").count() == 1


def _delete(table: DeltaTable, path: str, rows: DataFrame) -> None:
    table.delete("c3 = 5")


def _update(table: DeltaTable, path: str, rows: DataFrame) -> None:
    table.update("c3 = 5", {"c4": "c4 + 1"})


def _merge(table: DeltaTable, path: str, rows: DataFrame) -> None:
    merge = table.alias("t").merge(rows.alias("s"), "t.id = s.id")
    merge.whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()


def _merge_some(table: DeltaTable, path: str, rows: DataFrame) -> None:
    merge = table.alias("t").merge(rows.alias("s"), "t.id = s.id")
    merge.whenMatchedUpdate(set={"c1": "t.c1 + s.c1"}).execute()


def _delete_some(table: DeltaTable, path: str, rows: DataFrame) -> None:
    table.delete("c1 = 3")


def _update_some(table: DeltaTable, path: str, rows: DataFrame) -> None:
    table.update("c1 = 3", {"c1": "c1 + 1"})


# Invariant 22.
@pytest.mark.parametrize(
    ("run", "calls_per_column"),
    [
        (_append, 0),
        (_read, 0),
        (_feed, 0),
        (_delete, 0),
        (_update, 0),
        (_merge_some, 3),  # columns of the two sides are told apart one by one
        (_merge, 10),  # and of `*` each is an expression of its own, in two clauses
    ],
)
def test_what_is_asked_of_the_jvm_does_not_grow_with_the_columns(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    run: Callable[[DeltaTable, str, DataFrame], None],
    calls_per_column: int,
) -> None:
    asked: dict[int, int] = {}
    for columns in (FEW, MANY):
        path = str(tmp_path / str(columns))
        options = {
            "delta.columnMapping.mode": "name",
            "delta.enableDeletionVectors": "true",
            "delta.enableChangeDataFeed": "true",
        }
        truckee.write(_rows(spark, columns, 0, 8)).options(**options).save(path)
        table = DeltaTable.forPath(spark, path)
        rows = _rows(spark, columns, 6, 10)
        with monkeypatch.context() as patch:
            counted = _count_calls(patch)
            run(table, path, rows)
            asked[columns] = len(counted)

    assert asked[MANY] - asked[FEW] <= calls_per_column * (MANY - FEW) + CHANCE


def test_a_column_that_may_not_be_null_is_a_few_calls_more(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[int, int] = {}
    for columns in (FEW, MANY):
        path = str(tmp_path / str(columns))
        rows = _rows(spark, columns, 0, 8)
        builder = DeltaTable.create(spark).location(path)
        for name in rows.columns:
            builder = builder.addColumn(name, "BIGINT", nullable=False)
        builder.execute()
        with monkeypatch.context() as patch:
            counted = _count_calls(patch)
            truckee.write(rows).mode("append").save(path)
            asked[columns] = len(counted)

    assert asked[MANY] - asked[FEW] <= 5 * (MANY - FEW) + CHANCE


@pytest.mark.parametrize("marks", ["true", "false"])
@pytest.mark.parametrize("run", [_delete_some, _update_some, _merge_some])
def test_what_is_asked_of_the_jvm_does_not_grow_with_the_files(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    run: Callable[[DeltaTable, str, DataFrame], None],
    marks: str,
) -> None:
    asked: dict[int, int] = {}
    for files in (FEW_FILES, MANY_FILES):
        path = str(tmp_path / str(files))
        rows = spark.range(0, 10 * files, 1, files).selectExpr("id", "id % 10 AS c1")
        truckee.write(rows).options(**{"delta.enableDeletionVectors": marks}).save(path)
        table = DeltaTable.forPath(spark, path)
        with monkeypatch.context() as patch:
            counted = _count_calls(patch)
            run(table, path, rows.where("c1 = 3").coalesce(1))
            asked[files] = len(counted)
        info = table.history(1).collect()[0]
        touched = {"numTargetFilesRemoved", "numTargetDeletionVectorsAdded"}
        touched |= {"numRemovedFiles", "numDeletionVectorsAdded"}
        assert max(int(info.operationMetrics.get(name, 0)) for name in touched) == files

    assert asked[MANY_FILES] - asked[FEW_FILES] <= CHANCE


def _count_calls(patch: pytest.MonkeyPatch) -> list[str]:
    """Note every command to the JVM but those that give objects back, which come when they will."""
    calls: list[str] = []
    send = py4j.clientserver.JavaClient.send_command

    def noted(self: object, command: str, *args: object, **named: object) -> object:
        if not command.startswith("m\n"):
            calls.append(command)
        return send(self, command, *args, **named)

    patch.setattr(py4j.clientserver.JavaClient, "send_command", noted)
    return calls
