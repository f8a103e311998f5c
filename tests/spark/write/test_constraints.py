"""Rules that rows keep, and what is said of a row that does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from truckee.commands.table_plan import new_metadata
from truckee.errors.commands.write_rows import (
    CheckConstraintViolationError,
    GeneratedColumnViolationError,
    InvariantViolationError,
    NotNullViolationError,
    RowViolationError,
    TextTooLongError,
)
from truckee.protocol.actions import Protocol
from truckee.protocol.schema import ArrayType, MapType, PrimitiveType, StructField, StructType
from truckee.protocol.table_configuration import TableConfiguration
from truckee.spark.write.writer import write_files
from truckee.storage import LocalStorage
from values import simple_schema

LONG = PrimitiveType("long")
STRING = PrimitiveType("string")


def stored(
    df: DataFrame, path: Path, schema: StructType, **constraints: str
) -> list[dict[str, object]]:
    """Return the rows that were written, as Spark reads them back."""
    configuration = {f"delta.constraints.{name}": sql for name, sql in constraints.items()}
    write_files(
        df,
        storage=LocalStorage(str(path)),
        table=TableConfiguration(
            new_metadata(schema, configuration=configuration),
            Protocol(min_reader_version=1, min_writer_version=6),
        ),
    )
    return [
        row.asDict(recursive=True) for row in df.sparkSession.read.parquet(f"{path}/*").collect()
    ]


def refusal(
    kind: type[RowViolationError], df: DataFrame, path: Path, schema: StructType, **rules: str
) -> str:
    with pytest.raises(kind) as caught:
        stored(df, path, schema, **rules)
    assert not path.exists() or list(path.iterdir()) == []
    return caught.value.sentence()


def test_rows_that_keep_the_rules_are_written(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.sql("select 1L as id, 'a' as name")

    rows = stored(frame, tmp_path, simple_schema("id long not null", "name string"), low="id < 9")

    assert rows == [{"id": 1, "name": "a"}]


def test_null_in_a_column_that_is_not_null(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.sql("select cast(null as bigint) as id, 'a' as name")

    assert refusal(
        NotNullViolationError, frame, tmp_path, simple_schema("id long not null", "name string")
    ) == (
        'NOT NULL constraint violated for column: id, for which the row (id: NULL, name: "a") has '
        "no value\n"
        "hint: leave such rows out, give them a value, or drop the column's NOT NULL"
    )


NESTED = StructType(
    (
        StructField("id", LONG),
        StructField("s", StructType((StructField("x", LONG, False),))),
        StructField("l", ArrayType(StructType((StructField("y", LONG, False),)))),
        StructField("e", ArrayType(LONG, False)),
        StructField("m", MapType(STRING, StructType((StructField("z", LONG, False),)), False)),
    )
)


@pytest.mark.parametrize(
    ("column", "sql"),
    [
        ("s.x", "named_struct('x', null)"),
        ("l.element.y", "array(null, named_struct('y', 1L), named_struct('y', null))"),
        ("e.element", "array(1L, null)"),
        ("m.value", "map('k', null)"),
        ("m.value.z", "map('k', named_struct('z', null))"),
    ],
)
def test_null_inside_a_column(spark: SparkSession, tmp_path: Path, column: str, sql: str) -> None:
    values = {"s": "null", "l": "null", "e": "null", "m": "null", column[0]: sql}
    types = {
        "s": "struct<x:bigint>",
        "l": "array<struct<y:bigint>>",
        "e": "array<bigint>",
        "m": "map<string,struct<z:bigint>>",
    }
    columns = ", ".join(f"cast({values[name]} as {types[name]}) as {name}" for name in types)

    message = refusal(
        NotNullViolationError, spark.sql(f"select 1L as id, {columns}"), tmp_path, NESTED
    )

    assert message.startswith(
        f"NOT NULL constraint violated for column: {column}, for which the row (id: 1, "
    )


def test_null_around_a_field_that_is_not_null_is_fine(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.sql(
        "select 1L as id, cast(null as struct<x:bigint>) as s, "
        "cast(array(null) as array<struct<y:bigint>>) as l, array(1L) as e, "
        "cast(map('k', named_struct('z', 1)) as map<string,struct<z:bigint>>) as m"
    )

    assert stored(frame, tmp_path, NESTED)[0]["s"] is None


@pytest.mark.parametrize("value", ["-1L", "cast(null as bigint)"])
def test_a_check_constraint_wants_true(spark: SparkSession, tmp_path: Path, value: str) -> None:
    frame = spark.sql(f'select {value} as Id, "it\'s" as name')
    shown = "-1" if value == "-1L" else "NULL"

    assert refusal(
        CheckConstraintViolationError,
        frame.toDF("id", "name"),
        tmp_path,
        simple_schema("id long", "name string"),
        positive="ID > 0 and name <> '\"'",
    ) == (
        "CHECK constraint positive (ID > 0 and name <> '\"') violated by row with values: "
        f'(id: {shown}, name: "it\'s")\n'
        "hint: leave such rows out, or drop the constraint; null does not satisfy it either"
    )


def test_of_several_constraints_the_one_that_is_broken_is_named(
    spark: SparkSession, tmp_path: Path
) -> None:
    frame = spark.sql("select 5L as id")

    message = refusal(
        CheckConstraintViolationError,
        frame,
        tmp_path,
        simple_schema("id long"),
        above="id > 0",
        below="id < 4",
        other="id <> 7",
    )

    assert message.startswith(
        "CHECK constraint below (id < 4) violated by row with values: (id: 5)\n"
    )


def test_an_invariant_wants_true(spark: SparkSession, tmp_path: Path) -> None:
    text = '{"expression":{"expression":"id > 3"}}'
    schema = StructType((StructField("id", LONG, True, {"delta.invariants": text}),))

    assert refusal(InvariantViolationError, spark.sql("select 3L as id"), tmp_path, schema) == (
        "the invariant (id > 3) of column id does not hold for the row (id: 3)\n"
        "hint: leave such rows out; null does not satisfy an invariant either"
    )


def test_a_given_value_of_a_generated_column_is_checked(
    spark: SparkSession, tmp_path: Path
) -> None:
    generated = StructField("g", LONG, True, {"delta.generationExpression": "id * 2"})
    schema = StructType((StructField("id", LONG), generated))

    assert stored(spark.sql("select 3L as id, 6L as g"), tmp_path, schema) == [{"id": 3, "g": 6}]
    assert refusal(
        GeneratedColumnViolationError,
        spark.sql("select 3L as id, 7L as g"),
        tmp_path / "other",
        schema,
    ) == (
        "column g is generated as (id * 2), but the row (id: 3, g: 7) gives it another value\n"
        "hint: leave column g out of the data, so that it is computed"
    )


def text(name: str, declared: str) -> StructField:
    return StructField(name, STRING, True, {"__CHAR_VARCHAR_TYPE_STRING": declared})


def test_texts_are_cut_and_filled_as_they_were_declared(
    spark: SparkSession, tmp_path: Path
) -> None:
    schema = StructType((text("v", "varchar(3)"), text("c", "char(3)")))
    frame = spark.sql(
        "select * from values ('ab   ', 'a'), (null, null), ('äöü', 'äöü') as t(v, c)"
    )

    rows = stored(frame.coalesce(1), tmp_path, schema)

    assert sorted((row["v"] or "", row["c"] or "") for row in rows) == [
        ("", ""),
        ("ab ", "a  "),
        ("äöü", "äöü"),
    ]


def test_a_text_that_is_too_long_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    schema = StructType((text("v", "varchar(3)"), StructField("id", LONG)))

    assert refusal(
        TextTooLongError, spark.sql("select 'abcd' as v, 1L as id"), tmp_path, schema
    ) == (
        'column v is varchar(3), but the row (v: "abcd", id: 1) has a longer text\n'
        "hint: shorten the text; only spaces at its end are cut off"
    )


def test_texts_inside_of_columns_are_looked_at_too(spark: SparkSession, tmp_path: Path) -> None:
    declared = "struct<a:array<varchar(2)>,m:map<char(2),varchar(2)>>"
    inner = StructType(
        (StructField("a", ArrayType(STRING)), StructField("m", MapType(STRING, STRING)))
    )
    schema = StructType((StructField("s", inner, True, {"__CHAR_VARCHAR_TYPE_STRING": declared}),))

    def frame(element: str, key: str, value: str) -> DataFrame:
        return spark.sql(
            f"select named_struct('a', array('{element}'), 'm', map('{key}', '{value}')) as s"
        )

    assert stored(frame("ab ", "k", "v"), tmp_path, schema) == [
        {"s": {"a": ["ab"], "m": {"k ": "v"}}}
    ]
    for number, values in enumerate([("abc", "k", "v"), ("a", "abc", "v"), ("a", "k", "abc")]):
        refusal(TextTooLongError, frame(*values), tmp_path / str(number), schema)


def test_a_long_row_is_shown_in_part(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.sql("select cast(null as bigint) as id, repeat('x', 10000) as name")

    message = refusal(
        NotNullViolationError, frame, tmp_path, simple_schema("id long not null", "name string")
    )

    assert len(message) < 5000
    assert "xxx...)" in message
