"""SQL in a table's metadata is somebody else's: what of it is run, and what is not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import truckee
from session_settings import set_as
from truckee import DeltaTable
from truckee.errors.base import DeltaError
from truckee.errors.sql import (
    ConstraintFunctionError,
    DefaultNotConstantError,
    GeneratedColumnFunctionError,
)
from truckee.spark.write.table_sql import ALLOW_ANY_FUNCTION, check_default, check_rule
from writing import last_version

_PROPERTY = "truckee.tests.reached"
# Runs a method of Java.
CALL = f"reflect('java.lang.System', 'setProperty', '{_PROPERTY}', 'yes')"
HOLDS = f"coalesce({CALL}, '') <> 'no'"
# The same function, as those would write it who do not want it to be found.
DISGUISES = (
    "reflect('java.lang.System', 'getProperty', 'x') is null",
    "REFLECT('java.lang.System', 'getProperty', 'x') is null",
    "`reflect` /* a */ ('java.lang.System', 'getProperty', 'x') is null",
    "builtin.reflect('java.lang.System', 'getProperty', 'x') is null",
    "system.builtin.java_method('java.lang.System', 'getProperty', 'x') is null",
    "try_reflect('java.lang.System', 'getProperty', 'x') is null",
    "IDENTIFIER('ref' || 'lect')('java.lang.System', 'getProperty', 'x') is null",
    "exists(array(1), x -> java_method('java.lang.System', 'getProperty', 'x') is null)",
    "(select reflect('java.lang.System', 'getProperty', 'x')) is null",
    "id in (select 1)",
    "case when id > 0 then java_method('java.lang.System', 'getProperty', 'x') is null end",
    "spark_catalog.default.upper('x') is null",
    "function_of_the_session(id)",
)


def hostile_table(
    spark: SparkSession,
    path: Path,
    *,
    features: tuple[str, ...] = (),
    columns: dict[str, dict[str, Any]] | None = None,
    configuration: dict[str, str] | None = None,
) -> Path:
    """Make a table (id long, text string) whose last commit has the metadata of a stranger."""
    truckee.write(spark.range(3).selectExpr("id", "'a' AS text")).save(path)
    log = path / "_delta_log"
    lines = [json.loads(line) for line in (log / f"{0:020d}.json").read_text().splitlines()]
    metadata = next(line["metaData"] for line in lines if "metaData" in line)
    schema = json.loads(metadata["schemaString"])
    for field in schema["fields"]:
        field["metadata"] = (columns or {}).get(field["name"], {})
    metadata |= {"schemaString": json.dumps(schema), "configuration": configuration or {}}
    protocol = {"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": list(features)}
    commit = [{"metaData": metadata}, {"protocol": protocol}]
    (log / f"{1:020d}.json").write_text("\n".join(map(json.dumps, commit)))
    return path


def was_reached(spark: SparkSession) -> bool:
    """Tell whether the method was run, and forget it."""
    system: Any = spark.sparkContext._gateway.jvm.java.lang.System  # type: ignore[union-attr]
    return system.clearProperty(_PROPERTY) is not None


def commands(spark: SparkSession, path: Path) -> dict[str, Callable[[], Any]]:
    """Return what makes rows of a table that has only `id` given."""
    rows = spark.range(5, 8)
    table = DeltaTable.forPath(spark, path)
    return {
        "append": lambda: truckee.write(rows).mode("append").save(path),
        "overwrite": lambda: truckee.write(rows).mode("overwrite").save(path),
        "merge": lambda: (
            table.alias("t")
            .merge(rows.alias("s"), "t.id = s.id")
            .whenNotMatchedInsert(values={"id": "s.id"})
            .execute()
        ),
    }


def changing(spark: SparkSession, path: Path) -> dict[str, Callable[[], Any]]:
    """Return what makes rows of a table by looking at its rules."""
    table = DeltaTable.forPath(spark, path)
    return {
        **commands(spark, path),
        "update": lambda: table.update("id = 1", {"id": "id + 10"}),
        "delete": lambda: table.delete("id = 1"),
    }


def refused(
    spark: SparkSession, path: Path, error: type[DeltaError], runs: dict[str, Callable[[], Any]]
) -> None:
    for name, run in runs.items():
        with pytest.raises(error):
            run()
        assert not was_reached(spark), name
        assert last_version(path) == 1, name


def test_a_default_that_calls_java_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    path = hostile_table(
        spark,
        tmp_path / "t",
        features=("allowColumnDefaults",),
        columns={"text": {"CURRENT_DEFAULT": CALL}},
    )

    refused(spark, path, DefaultNotConstantError, commands(spark, path))


def test_a_generated_column_that_calls_java_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    path = hostile_table(
        spark,
        tmp_path / "t",
        features=("generatedColumns",),
        columns={"text": {"delta.generationExpression": CALL}},
    )
    runs = changing(spark, path)
    del runs["delete"]  # the rows it copies were computed before

    refused(spark, path, GeneratedColumnFunctionError, runs)


def test_a_constraint_that_calls_java_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    path = hostile_table(
        spark,
        tmp_path / "t",
        features=("checkConstraints",),
        configuration={"delta.constraints.c": HOLDS},
    )

    refused(spark, path, ConstraintFunctionError, changing(spark, path))


def test_an_invariant_that_calls_java_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    expression = json.dumps({"expression": {"expression": HOLDS}})
    path = hostile_table(
        spark,
        tmp_path / "t",
        features=("invariants",),
        columns={"id": {"delta.invariants": expression}},
    )

    refused(spark, path, ConstraintFunctionError, changing(spark, path))


def test_reading_runs_nothing_that_the_metadata_says(spark: SparkSession, tmp_path: Path) -> None:
    keys = ("CURRENT_DEFAULT", "EXISTS_DEFAULT", "delta.generationExpression")
    path = hostile_table(
        spark,
        tmp_path / "t",
        features=("allowColumnDefaults", "generatedColumns"),
        columns={"text": dict.fromkeys(keys, CALL)},
    )

    rows = truckee.read(spark).load(path).collect()

    assert sorted(tuple(row) for row in rows) == [(0, "a"), (1, "a"), (2, "a")]
    assert not was_reached(spark)


def test_a_setting_allows_what_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    path = hostile_table(
        spark,
        tmp_path / "t",
        features=("checkConstraints",),
        configuration={"delta.constraints.c": HOLDS},
    )

    with set_as(spark, {ALLOW_ANY_FUNCTION: "true"}):
        truckee.write(spark.range(5, 6).selectExpr("id", "'b' AS text")).mode("append").save(path)

    assert was_reached(spark)
    assert last_version(path) == 2


# Invariant 45.
@pytest.mark.parametrize("sql", DISGUISES)
def test_no_disguise_gets_a_call_through(spark: SparkSession, sql: str) -> None:
    with pytest.raises(ConstraintFunctionError):
        check_rule("c", sql)
    with pytest.raises(DefaultNotConstantError):
        check_default("c", sql)


@pytest.mark.parametrize(
    "sql", ["id > 0", "upper(text) = 'A' and id in (1, 2)", "'reflect(1)' = text", "`reflect` > 1"]
)
def test_harmless_conditions_are_taken(spark: SparkSession, sql: str) -> None:
    check_rule("c", sql)


@pytest.mark.parametrize(
    "sql",
    ["7", "'a'", "1 + 1", "current_date()", "current_timestamp()", "current_user()", "1L",
     "array(1, 2)", "NULL", "date'2024-01-01'"],
)  # fmt: skip
def test_constant_defaults_are_taken(spark: SparkSession, sql: str) -> None:
    check_default("c", sql)


@pytest.mark.parametrize("sql", ["rand()", "uuid()", "monotonically_increasing_id()", "count(1)"])
def test_a_default_that_is_not_constant_is_refused(spark: SparkSession, sql: str) -> None:
    with pytest.raises(DefaultNotConstantError) as caught:
        check_default("text", sql)

    assert str(caught.value) == (
        f"[INVALID_DEFAULT_VALUE.NOT_CONSTANT] the default of the column text ({sql}) is not a "
        "constant\nhint: give the column a value in each write, or set another default"
    )


def test_no_such_sql_gets_into_a_table(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "t"
    truckee.write(spark.range(3).selectExpr("id", "'a' AS text")).save(path)
    table = DeltaTable.forPath(spark, path)
    builder = (
        DeltaTable.create(spark)
        .location(tmp_path / "u")
        .addColumn("id", "long")
        .addColumn("text", "string", generatedAlwaysAs=CALL)
    )

    with pytest.raises(ConstraintFunctionError):
        table.addConstraint("c", HOLDS)
    with pytest.raises(GeneratedColumnFunctionError):
        builder.execute()

    assert not was_reached(spark)
    assert last_version(path) == 0
    assert not (tmp_path / "u").exists()
