"""What is wrong with a command is told before anything is written, whole sentences each time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from dml_tables import FEED, VECTORS, Table, create_table
from truckee.commands.dml.delete import delete
from truckee.commands.dml.update import update
from truckee.commands.merge.builder import DeltaMergeBuilder, merge_builder
from truckee.doors.enable import enable
from truckee.errors.base import DeltaError
from truckee.errors.commands.dml import (
    AmbiguousColumnError,
    AssignmentTypeError,
    ConflictingAssignmentsError,
    InvalidExpressionError,
    MergeWithoutClauseError,
    MissingColumnError,
    MissingTargetColumnError,
    NestedInsertError,
    NonDeterministicError,
    NonLastMatchedClauseError,
    NonLastNotMatchedBySourceClauseError,
    NonLastNotMatchedClauseError,
    StreamingSourceError,
    SubqueryNotSupportedError,
    UnknownTargetColumnError,
    UnresolvedColumnError,
)
from truckee.errors.commands.expressions import (
    AggregateRefusedError,
    CastRefusedError,
    MissingFieldError,
    MissingTargetFieldError,
    NonDeterministicRowError,
    RefusedBySparkError,
    SourceColumnMissingError,
    UnparsedExpressionError,
)
from truckee.errors.options import (
    ArgumentTypeError,
    ArgumentValueError,
    IllegalOptionError,
    NoAssignmentsError,
)


@pytest.fixture(scope="module")
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Table:
    rows = spark.sql("select 1L id, 10 v, named_struct('a', 1, 'b', 'x') s")
    path: Path = tmp_path_factory.mktemp("bad") / "t"
    return create_table(spark, path, rows, properties=VECTORS | FEED)


def refusal(kind: type[DeltaError], table: Table, call: Callable[[], object]) -> str:
    before = table.version, table.files_on_disk()
    with pytest.raises(kind) as caught:
        call()
    assert (caught.value.plain or type(caught.value)) is kind
    assert (table.version, table.files_on_disk()) == before
    return caught.value.sentence()


def merge(table: Table, on: Any = "t.id = src.id") -> DeltaMergeBuilder:
    source = table.spark.createDataFrame([(1, 5)], "id long, w int").alias("src")
    return merge_builder(table.spark, table.storage, source, on, alias="t")


@pytest.mark.parametrize(
    ("condition", "kind", "message"),
    [
        (
            "nix = 1",
            MissingColumnError,
            "the condition of DELETE (nix = 1) names `nix`, which is not a column here\n"
            "hint: use one of [id, v, s]; put strings in single quotes",
        ),
        (
            lambda: F.col("t.id") == 1,
            MissingColumnError,
            "the condition of DELETE (=(t.id, 1)) names `t`.`id`, which is not a column here\n"
            "hint: use one of [id, v, s]; t is no alias here",
        ),
        (
            "s.nix = 1",
            MissingFieldError,
            "the condition of DELETE (s.nix = 1) names `nix`, which is not a column here\n"
            "hint: use one of [a, b]; put strings in single quotes",
        ),
        (
            "id in (select 1)",
            SubqueryNotSupportedError,
            "Subqueries are not supported in the DELETE (condition = id in (select 1))\n"
            "hint: use merge with the subquery as its source",
        ),
        (
            "rand() < 0.5",
            NonDeterministicRowError,
            "the condition of DELETE (rand() < 0.5) is not deterministic\n"
            "hint: write the values to a table first, and compare with those",
        ),
        (
            "max(id) = 1",
            AggregateRefusedError,
            "the condition of DELETE (max(id) = 1) has an aggregate or window function, but it is "
            "about one row at a time\nhint: compute the value first, and compare with that",
        ),
        (
            "id",
            RefusedBySparkError,
            "the condition of DELETE (id) cannot be used: "
            'Cannot resolve "id" due to data type mismatch: Filter expression "id" of type '
            '"BIGINT" is not a boolean.',
        ),
        (
            17,
            ArgumentTypeError,
            "the condition of DELETE must be a Spark SQL Column or a string; found int",
        ),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else "",
)
def test_conditions_that_are_none(
    table: Table, condition: Any, kind: type[DeltaError], message: str
) -> None:
    given = condition() if callable(condition) else condition
    told = refusal(kind, table, lambda: delete(table.spark, table.storage, given))

    assert told == message


def test_a_condition_that_is_no_sql(table: Table) -> None:
    told = refusal(
        UnparsedExpressionError, table, lambda: delete(table.spark, table.storage, "id = = 1")
    )

    assert told.startswith("the condition of DELETE (id = = 1) cannot be used: Syntax error")


@pytest.mark.parametrize(
    ("values", "kind", "message"),
    [
        (None, NoAssignmentsError, "the values of UPDATE cannot be None or empty\n"
         "hint: name columns and their new values, as in {\"status\": \"'paid'\"}"),
        ({}, NoAssignmentsError, "the values of UPDATE cannot be None or empty\n"
         "hint: name columns and their new values, as in {\"status\": \"'paid'\"}"),
        (["v"], ArgumentTypeError, "the values of UPDATE must be a dict; found list"),
        (
            {"nix": "1"},
            MissingTargetColumnError,
            "Cannot resolve nix in UPDATE clause given columns id, v, s\n"
            "hint: UPDATE assigns to it; use one of these columns",
        ),
        (
            {"s.nix": "1"},
            MissingTargetFieldError,
            "Cannot resolve s.nix in UPDATE clause given columns id, v, s\n"
            "hint: UPDATE assigns to it; use one of these columns",
        ),
        (
            {"v": "w + 1"},
            MissingColumnError,
            "the value of v in UPDATE (w + 1) names `w`, which is not a column here\n"
            "hint: use one of [id, v, s]; put strings in single quotes",
        ),
        (
            {"v": "1", "V": "2"},
            ConflictingAssignmentsError,
            "UPDATE assigns to both v and v\n"
            "hint: assign to each column once; a struct is set as a whole or field by field",
        ),
        (
            {"s": "s", "s.a": "2"},
            ConflictingAssignmentsError,
            "UPDATE assigns to both s and s.a\n"
            "hint: assign to each column once; a struct is set as a whole or field by field",
        ),
        (
            {"v": "array(1)"},
            CastRefusedError,
            "UPDATE assigns a value of type array<int> to v, but the column is int\n"
            "hint: cast the value",
        ),
        (
            {"s": "named_struct('a', 1, 'c', 2)"},
            AssignmentTypeError,
            "UPDATE assigns a value of type struct<a:int,c:int> to s, but the column is "
            "struct<a:int,b:string>\nhint: cast the value",
        ),
        (
            {"s": "named_struct('a', 1)"},
            AssignmentTypeError,
            "UPDATE assigns a value of type struct<a:int> to s, but the column is "
            "struct<a:int,b:string>\nhint: cast the value",
        ),
        (
            {"v": "max(v)"},
            AggregateRefusedError,
            "the value of v in UPDATE (max(v)) has an aggregate or window function, but it is "
            "about one row at a time\nhint: compute the value first, and compare with that",
        ),
        (
            {"v": "explode(array(1, 2))"},
            RefusedBySparkError,
            None,
        ),
        ({"v": 5}, ArgumentTypeError, "Values of dict in UPDATE must contain only Spark SQL "
         "Columns or strings; found int for v\n"
         "hint: write a plain value as functions.lit(5)"),
        ({5: "v"}, ArgumentTypeError, "Keys of dict in UPDATE must contain only strings; "
         "found int"),
        ({"a b.": "1"}, InvalidExpressionError, "UPDATE (a b.) cannot be used: it is not the name "
         "of a column"),
    ],
)  # fmt: skip
def test_assignments_that_are_none(
    table: Table, values: Any, kind: type[DeltaError], message: str | None
) -> None:
    told = refusal(kind, table, lambda: update(table.spark, table.storage, "id = 1", values))

    if message is not None:
        assert told == message


@pytest.mark.parametrize(
    ("build", "kind", "message"),
    [
        (
            lambda m: m,
            MergeWithoutClauseError,
            "There must be at least one WHEN clause in a MERGE statement\n"
            "hint: add a clause, for example whenMatchedUpdateAll() or whenNotMatchedInsertAll()",
        ),
        (
            lambda m: m.whenMatchedDelete().whenMatchedUpdate(set={"v": "1"}),
            NonLastMatchedClauseError,
            "WHEN MATCHED THEN DELETE has no condition, so the clauses of its kind that follow are "
            "never reached\nhint: give it a condition, or make it the last one",
        ),
        (
            lambda m: m.whenNotMatchedInsertAll().whenNotMatchedInsertAll(),
            NonLastNotMatchedClauseError,
            "WHEN NOT MATCHED THEN INSERT has no condition, so the clauses of its kind that follow "
            "are never reached\nhint: give it a condition, or make it the last one",
        ),
        (
            lambda m: m.whenNotMatchedBySourceDelete().whenNotMatchedBySourceDelete("true"),
            NonLastNotMatchedBySourceClauseError,
            "WHEN NOT MATCHED BY SOURCE THEN DELETE has no condition, so the clauses of its kind "
            "that follow are never reached\nhint: give it a condition, or make it the last one",
        ),
        (
            lambda m: m.whenMatchedUpdate(),
            NoAssignmentsError,
            "the values of WHEN MATCHED THEN UPDATE cannot be None or empty\n"
            'hint: name columns and their new values, as in {"status": "\'paid\'"}',
        ),
        (
            lambda m: m.whenMatchedUpdateAll(),
            SourceColumnMissingError,
            "WHEN MATCHED THEN UPDATE (*) needs v, which the source does not have; "
            "it has [id, w]\n"
            "hint: add the column to the source, or name the columns to write rather than all",
        ),
        (
            lambda m: m.whenNotMatchedInsertAll(),
            SourceColumnMissingError,
            "WHEN NOT MATCHED THEN INSERT (*) needs v, which the source does not have; "
            "it has [id, w]\n"
            "hint: add the column to the source, or name the columns to write rather than all",
        ),
        (
            lambda m: m.whenMatchedDelete("id = 1"),
            AmbiguousColumnError,
            "the condition of WHEN MATCHED THEN DELETE (id = 1) names `id`, which can be any of "
            "[`src`.`id`, `t`.`id`]\n"
            "hint: put the alias of the table before the name",
        ),
        (
            lambda m: m.whenNotMatchedInsert("t.v = 1", {"id": "src.id"}),
            UnresolvedColumnError,
            "the condition of WHEN NOT MATCHED THEN INSERT (t.v = 1) names `t`.`v`, which is not a "
            "column here\nhint: use one of [src.w, src.id]",
        ),
        (
            lambda m: m.whenNotMatchedBySourceUpdate(set={"v": "src.w"}),
            UnresolvedColumnError,
            "the value of v in WHEN NOT MATCHED BY SOURCE THEN UPDATE (src.w) names `src`.`w`, "
            "which is not a column here\nhint: use one of [t.s, t.v, t.id]",
        ),
        (
            lambda m: m.whenNotMatchedInsert(values={"s.a": "1"}),
            NestedInsertError,
            "WHEN NOT MATCHED THEN INSERT assigns to s.a, which is a field of a struct\n"
            "hint: assign to the whole column, with struct or named_struct",
        ),
        (
            lambda m: m.whenMatchedUpdate(set={"w": "src.w"}),
            UnknownTargetColumnError,
            "Cannot resolve w in UPDATE clause given columns id, v, s\n"
            "hint: WHEN MATCHED THEN UPDATE assigns to it; use one of these columns",
        ),
        (
            lambda m: m.whenMatchedUpdate(set={"v": "array(src.w)"}),
            CastRefusedError,
            "WHEN MATCHED THEN UPDATE assigns a value of type array<int> to v, but the column is "
            "int\nhint: cast the value",
        ),
        (
            lambda m: m.whenMatchedUpdate(set={"v": "1", "t.v": "2"}),
            ConflictingAssignmentsError,
            "WHEN MATCHED THEN UPDATE assigns to both v and v\n"
            "hint: assign to each column once; a struct is set as a whole or field by field",
        ),
        (
            lambda m: m.whenNotMatchedInsert(values={"nix": "src.id"}),
            UnknownTargetColumnError,
            "Cannot resolve nix in INSERT clause given columns id, v, s\n"
            "hint: WHEN NOT MATCHED THEN INSERT assigns to it; use one of these columns",
        ),
        (
            lambda m: m.whenMatchedDelete("src.id in (select 1)"),
            SubqueryNotSupportedError,
            "Subqueries are not supported in the WHEN MATCHED THEN DELETE (condition = src.id in "
            "(select 1))\nhint: use merge with the subquery as its source",
        ),
        (
            lambda m: m.whenMatchedUpdate("src.w > rand()", {"v": "1"}),
            NonDeterministicError,
            "the condition of WHEN MATCHED THEN UPDATE (src.w > rand()) is not deterministic\n"
            "hint: write the values to a table first, and compare with those",
        ),
    ],
)
def test_merges_that_are_none(
    table: Table,
    build: Callable[[DeltaMergeBuilder], DeltaMergeBuilder],
    kind: type[DeltaError],
    message: str,
) -> None:
    told = refusal(kind, table, lambda: build(merge(table)).execute())

    assert told == message


def test_conditions_of_a_merge_that_are_none(table: Table) -> None:
    def run(on: Any) -> Callable[[], object]:
        return lambda: merge(table, on).whenMatchedDelete().execute()

    assert refusal(UnresolvedColumnError, table, run("t.id = src.nix")) == (
        "the condition of MERGE (t.id = src.nix) names `src`.`nix`, which is not a column here\n"
        "hint: use one of [src.id, src.w, t.id, t.s, t.v]"
    )
    assert refusal(NonDeterministicError, table, run("t.id = src.id and rand() < 1")) == (
        "the condition of MERGE (t.id = src.id and rand() < 1) is not deterministic\n"
        "hint: write the values to a table first, and compare with those"
    )
    assert refusal(ArgumentValueError, table, run(None)) == (
        "the condition of MERGE needs to be given and cannot be None but got None"
    )


def test_sources_of_a_merge_that_are_none(table: Table) -> None:
    spark = table.spark
    stream = spark.readStream.format("rate").load()

    def run(source: Any) -> Callable[[], object]:
        builder = merge_builder
        return lambda: (
            builder(spark, table.storage, source, "value = id").whenMatchedDelete().execute()
        )

    assert refusal(StreamingSourceError, table, run(stream)) == (
        "the source of the merge is a streaming DataFrame\n"
        "hint: merge each batch of it with writeStream.foreachBatch"
    )
    assert refusal(ArgumentTypeError, table, run("table")) == (
        "the source of MERGE must be DataFrame; found str"
    )


def test_a_setting_that_means_nothing(table: Table) -> None:
    table.spark.conf.set("spark.truckee.dml.rewriteRatio", "half")
    try:
        told = refusal(
            IllegalOptionError, table, lambda: delete(table.spark, table.storage, "id = 1")
        )
    finally:
        table.spark.conf.unset("spark.truckee.dml.rewriteRatio")

    assert told == (
        "option spark.truckee.dml.rewriteRatio is 'half', but needs to be a number of 0 or more\n"
        "hint: set spark.truckee.dml.rewriteRatio to such a value, or leave it out"
    )


def test_the_error_of_a_condition_without_aliases_shows_how_to_give_them(table: Table) -> None:
    source = table.spark.range(1).toDF("id")

    with pytest.raises(AmbiguousColumnError) as raised:
        merge_builder(table.spark, table.storage, source, "id = id").whenMatchedDelete().execute()

    assert raised.value.sentence().endswith(
        'hint: give both sides an alias(), and write "t.`id` = s.`id`"'
    )


def test_a_subquery_is_shown_as_it_was_written(table: Table) -> None:
    enable(table.spark)
    for condition in (
        "id IN (SELECT 2)",
        "EXISTS (SELECT 1 WHERE id = 1)",
        "id = 1 OR v IN (SELECT 2)",
    ):
        with pytest.raises(SubqueryNotSupportedError) as raised:
            table.spark.sql(f"DELETE FROM delta.`{table.path}` WHERE {condition}")

        assert raised.value.expression == condition
