"""Whatever delta-spark raises as an exception of Spark is one here, through every door."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import (
    AnalysisException,
    IllegalArgumentException,
    ParseException,
    PySparkException,
    UnsupportedOperationException,
)
from pyspark.sql import SparkSession
from pyspark.sql.types import IntegerType, StructField

import truckee
from truckee import DeltaTable, errors
from truckee.errors.base import DeltaError
from truckee.spark.exceptions import spark_class

Door = Callable[[SparkSession, str], Any]


@pytest.fixture(scope="module")
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A table of two rows."""
    path = str(tmp_path_factory.mktemp("exceptions") / "t")
    truckee.write(spark.createDataFrame([(1, "a"), (2, "b")], "id long, v string")).save(path)
    return path


def _merge(spark: SparkSession, path: str) -> Any:
    return DeltaTable.forPath(spark, path).merge(spark.range(1).toDF("k"), "id = k")


MISSING: dict[str, tuple[str, Door]] = {
    "read": ("PATH_NOT_FOUND", lambda s, p: truckee.read(s).load(p + "-none")),
    "readStream": ("DELTA_SCHEMA_NOT_SET", lambda s, p: truckee.readStream(s).load(p + "-none")),
    "forPath": ("DELTA_MISSING_DELTA_TABLE", lambda s, p: DeltaTable.forPath(s, p + "-none")),
    "forName": ("DELTA_MISSING_DELTA_TABLE", lambda s, _: DeltaTable.forName(s, "no_such_table")),
    "table": ("TABLE_OR_VIEW_NOT_FOUND", lambda s, _: truckee.read(s).table("no_such_table")),
    "table_changes": (
        "DELTA_MISSING_DELTA_TABLE",
        lambda s, p: truckee.table_changes(s, p + "-none", 0),
    ),
    "replace": (
        "TABLE_OR_VIEW_NOT_FOUND",
        lambda s, p: DeltaTable.replace(s).location(p + "-none").addColumn("id", "int").execute(),
    ),
}
STATES = {
    "PATH_NOT_FOUND": "42K03",
    "DELTA_SCHEMA_NOT_SET": "KD008",
    "DELTA_MISSING_DELTA_TABLE": "42P01",
    "TABLE_OR_VIEW_NOT_FOUND": "42P01",
}
WRONG: dict[str, Door] = {
    "write where a table is": lambda s, p: truckee.write(s.range(1)).save(p),
    "create where a table is": lambda s, p: (
        DeltaTable.create(s).location(p).addColumn("id", "int").execute()
    ),
    "another schema": lambda s, p: truckee.write(s.range(1).toDF("x")).mode("append").save(p),
    "a version that is not there": lambda s, p: truckee.read(s).option("versionAsOf", 99).load(p),
    "a timestamp that is none": lambda s, p: (
        truckee.read(s).option("timestampAsOf", "soon").load(p)
    ),
    "a column of DELETE": lambda s, p: DeltaTable.forPath(s, p).delete("nix = 1"),
    "a column of UPDATE": lambda s, p: DeltaTable.forPath(s, p).update(set={"nix": "1"}),
    "a column of MERGE": lambda s, p: _merge(s, p).whenMatchedUpdate(set={"nix": "1"}).execute(),
    "a feed that was never on": lambda s, p: (
        DeltaTable.forPath(s, p).changes(startingVersion=0).collect()
    ),
    "a feed without a start": lambda s, p: truckee.read(s).option("readChangeFeed", True).load(p),
}


@pytest.mark.parametrize("door", MISSING)
def test_a_table_that_is_not_there_is_an_analysis_exception(
    spark: SparkSession, table: str, door: str
) -> None:
    expected, fails = MISSING[door]

    with pytest.raises(AnalysisException) as caught:
        fails(spark, table)

    assert isinstance(caught.value, DeltaError)
    assert (caught.value.getCondition(), caught.value.getSqlState()) == (expected, STATES[expected])
    assert str(caught.value).startswith(f"[{expected}] ")


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_with_a_request_is_an_analysis_exception(
    spark: SparkSession, table: str, case: str
) -> None:
    with pytest.raises(AnalysisException) as caught:
        WRONG[case](spark, table)

    error = caught.value
    assert isinstance(error, DeltaError)
    assert error.getCondition() == error.getErrorClass() == error.code
    assert str(error) == error.getMessage() == f"[{error.code}] {error.sentence()}"


def test_an_option_with_a_wrong_value_is_an_illegal_argument(
    spark: SparkSession, table: str
) -> None:
    with pytest.raises(IllegalArgumentException):
        truckee.read(spark).option("readChangeFeed", "perhaps").load(table)


def test_an_append_only_table_makes_deletes_unsupported_operations(
    spark: SparkSession, tmp_path: Path
) -> None:
    rows = truckee.write(spark.range(3)).option("delta.appendOnly", "true")
    rows.save(str(tmp_path / "t"))

    with pytest.raises(UnsupportedOperationException):
        DeltaTable.forPath(spark, str(tmp_path / "t")).delete()


def test_an_expression_that_spark_refuses_has_sparks_error_class(
    spark: SparkSession, table: str
) -> None:
    with pytest.raises(errors.RefusedBySparkError) as caught:
        DeltaTable.forPath(spark, table).delete("no_such_function(id)")

    again = pickle.loads(pickle.dumps(caught.value))
    for error in caught.value, again:
        assert (error.getCondition(), error.getSqlState()) == ("UNRESOLVED_ROUTINE", "42883")
        assert error.code == "UNRESOLVED_ROUTINE"
        assert str(error).startswith("[UNRESOLVED_ROUTINE] the condition of DELETE (no_such_")


def test_an_error_is_caught_by_its_own_name_and_by_sparks(spark: SparkSession) -> None:
    with pytest.raises(errors.NotADeltaTableError) as caught:
        DeltaTable.forPath(spark, "/no/such/table")

    again = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(again, errors.NotADeltaTableError)
    assert isinstance(again, AnalysisException)
    assert again.getMessageParameters() == {
        "table": "/no/such/table",
        "found": "the path does not exist",
        "hint": "give the folder that holds _delta_log",
    }


# Invariant 28.
@pytest.mark.parametrize(
    "kind",
    [
        errors.StorageError,
        errors.CorruptLogFileError,
        errors.DataFileNotFoundError,
        errors.ConcurrentAppendException,
        errors.MaxCommitRetriesExceededError,
    ],
)
def test_trouble_that_may_pass_is_never_taken_for_a_missing_table(kind: type[DeltaError]) -> None:
    assert issubclass(spark_class(kind), PySparkException)
    assert not issubclass(spark_class(kind), AnalysisException)


def test_there_is_one_class_of_spark_for_each_of_ours() -> None:
    assert spark_class(errors.TableExistsError) is spark_class(errors.TableExistsError)


TYPE_ERRORS: dict[str, Door] = {
    "delete(1)": lambda s, p: DeltaTable.forPath(s, p).delete(1),
    "update(set=1)": lambda s, p: DeltaTable.forPath(s, p).update(set=1),
    "update(1, {})": lambda s, p: DeltaTable.forPath(s, p).update(1, {}),
    "update value": lambda s, p: DeltaTable.forPath(s, p).update(set={"v": 1}),
    "update key": lambda s, p: DeltaTable.forPath(s, p).update(set={1: ""}),
    "merge(1)": lambda s, p: DeltaTable.forPath(s, p).merge(1, "id = k"),
    "merge on 1": lambda s, p: DeltaTable.forPath(s, p).merge(s.range(1), 1),
    "whenMatchedUpdate(1, {})": lambda s, p: _merge(s, p).whenMatchedUpdate(1, {"v": "1"}),
    "whenMatchedUpdate set": lambda s, p: _merge(s, p).whenMatchedUpdate("true", 1),
    "whenMatchedUpdate value": lambda s, p: _merge(s, p).whenMatchedUpdate(set={"v": 1}),
    "whenMatchedDelete(1)": lambda s, p: _merge(s, p).whenMatchedDelete(1),
    "whenNotMatchedInsert key": lambda s, p: _merge(s, p).whenNotMatchedInsert(values={1: ""}),
    "whenNotMatchedBySourceDelete(1)": lambda s, p: _merge(s, p).whenNotMatchedBySourceDelete(1),
    "tableName(1)": lambda s, _: DeltaTable.create(s).tableName(1),
    "location(1)": lambda s, _: DeltaTable.create(s).location(1),
    "comment(1)": lambda s, _: DeltaTable.create(s).comment(1),
    "addColumn(1)": lambda s, _: DeltaTable.create(s).addColumn(1, "int"),
    "addColumn type": lambda s, _: DeltaTable.create(s).addColumn("a", 1),
    "addColumn comment": lambda s, _: DeltaTable.create(s).addColumn("a", "int", comment=1),
    "addColumn generated": lambda s, _: DeltaTable.create(s).addColumn(
        "a", "int", generatedAlwaysAs=1
    ),
    "addColumn nullable": lambda s, _: DeltaTable.create(s).addColumn("a", "int", nullable=1),
    "addColumns(1)": lambda s, _: DeltaTable.create(s).addColumns(1),
    "addColumns([1])": lambda s, _: DeltaTable.create(s).addColumns(
        [StructField("a", IntegerType()), 1]
    ),
    "partitionedBy(1)": lambda s, _: DeltaTable.create(s).partitionedBy(1),
    "partitionedBy([1])": lambda s, _: DeltaTable.create(s).partitionedBy([1]),
    "property(1)": lambda s, _: DeltaTable.create(s).property(1, "1"),
    "property value": lambda s, _: DeltaTable.create(s).property("1", 1),
    "forPath(1)": lambda s, _: DeltaTable.forPath(s, 1),
    "mode(1)": lambda s, _: truckee.write(s.range(1)).mode(1),
    "option(1)": lambda s, _: truckee.read(s).option(1, "x"),
}
VALUE_ERRORS: dict[str, Door] = {
    "update without set": lambda s, p: DeltaTable.forPath(s, p).update("true"),
    "update dict as condition": lambda s, p: DeltaTable.forPath(s, p).update({"v": "1"}),
    "merge(None)": lambda s, p: DeltaTable.forPath(s, p).merge(None, "id = k"),
    "merge on None": lambda s, p: DeltaTable.forPath(s, p).merge(s.range(1), None),
    "whenMatchedUpdate(1)": lambda s, p: _merge(s, p).whenMatchedUpdate(1),
    "whenNotMatchedInsert dict": lambda s, p: _merge(s, p).whenNotMatchedInsert({"v": "1"}),
    "upgradeTableProtocol": lambda s, p: DeltaTable.forPath(s, p).upgradeTableProtocol("abc", 3),
    "upgradeTableProtocol [3]": lambda s, p: DeltaTable.forPath(s, p).upgradeTableProtocol(1, [3]),
    "addFeatureSupport(1)": lambda s, p: DeltaTable.forPath(s, p).addFeatureSupport(1),
}


@pytest.mark.parametrize("case", TYPE_ERRORS)
def test_an_argument_of_a_wrong_type_is_a_type_error_at_the_call(
    spark: SparkSession, table: str, case: str
) -> None:
    with pytest.raises(TypeError) as caught:
        TYPE_ERRORS[case](spark, table)

    assert isinstance(caught.value, errors.ArgumentTypeError)


@pytest.mark.parametrize("case", VALUE_ERRORS)
def test_an_argument_that_makes_no_sense_is_a_value_error_at_the_call(
    spark: SparkSession, table: str, case: str
) -> None:
    with pytest.raises(ValueError, match=r"cannot be None|needs to be") as caught:
        VALUE_ERRORS[case](spark, table)

    assert isinstance(caught.value, DeltaError)


def test_a_type_that_sql_cannot_parse_is_a_parse_exception(spark: SparkSession) -> None:
    with pytest.raises(ParseException) as caught:
        DeltaTable.create(spark).addColumn("a", "1")

    assert str(caught.value) == (
        "[PARSE_SYNTAX_ERROR] dataType is '1', which is not a SQL type\n"
        "hint: give a type such as 'bigint' or 'date', or one of PySpark's"
    )


CARE: dict[str, tuple[Door, type[PySparkException]]] = {
    "restore a version that is not there": (
        lambda s, p: DeltaTable.forPath(s, p).restoreToVersion(99),
        AnalysisException,
    ),
    "optimize by a column that is no partition": (
        lambda s, p: DeltaTable.forPath(s, p).optimize().where("id = 1").executeCompaction(),
        AnalysisException,
    ),
    "Z-order by a column that is not there": (
        lambda s, p: DeltaTable.forPath(s, p).optimize().executeZOrderBy("none"),
        IllegalArgumentException,
    ),
    "vacuum too soon": (
        lambda s, p: DeltaTable.forPath(s, p).vacuum(0),
        IllegalArgumentException,
    ),
    "generate what nobody knows": (
        lambda s, p: DeltaTable.forPath(s, p).generate("none"),
        IllegalArgumentException,
    ),
}


@pytest.mark.parametrize("what", CARE)
def test_what_table_care_refuses_is_what_delta_spark_raises(
    spark: SparkSession, table: str, what: str
) -> None:
    door, theirs = CARE[what]

    with pytest.raises(theirs) as caught:
        door(spark, table)

    assert isinstance(caught.value, DeltaError)
