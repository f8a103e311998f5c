"""The rows of a version of a table, as Spark reads them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from msgspec.structs import replace
from pyspark.sql import DataFrame, SparkSession

import truckee
from data_tables import DataTable, mapped, marked, vector, with_vector
from plans import rows
from session_settings import set_as
from truckee.deletion_vectors.bitmap import RowBitmap
from truckee.deletion_vectors.store import write_deletion_vectors
from truckee.protocol.paths import encode_path
from truckee.protocol.schema import StructField, StructType, parse_type

BY_NAME = {"delta.columnMapping.mode": "name"}
BY_ID = {"delta.columnMapping.mode": "id"}


@pytest.fixture
def load(spark: SparkSession) -> Callable[[DataTable], DataFrame]:
    return lambda table: truckee.read(spark).load(str(table))


Load = Callable[[DataTable], DataFrame]

# ruff: noqa: DTZ001  Spark's rows have moments without a zone
PARTITION_VALUES = [
    ("byte", "-7", -7),
    ("short", "300", 300),
    ("integer", "70000", 70000),
    ("long", "5000000000", 5_000_000_000),
    ("float", "1.5", 1.5),
    ("double", "-2.5E-10", -2.5e-10),
    ("boolean", "true", True),
    ("string", "a b/c=d%20é:*'\"", "a b/c=d%20é:*'\""),
    ("string", "__HIVE_DEFAULT_PARTITION__", "__HIVE_DEFAULT_PARTITION__"),
    ("binary", "\x01\x00z", bytearray(b"\x01\x00z")),
    ("date", "2024-02-29", date(2024, 2, 29)),
    ("timestamp", "2024-02-29 01:02:03.5", datetime(2024, 2, 29, 1, 2, 3, 500_000)),
    ("timestamp", "2024-02-29T01:02:03.000004Z", datetime(2024, 2, 29, 1, 2, 3, 4)),
    ("timestamp_ntz", "2024-02-29 01:02:03", datetime(2024, 2, 29, 1, 2, 3)),
    ("decimal(10,2)", "12.30", Decimal("12.30")),
]


@pytest.mark.parametrize(("kind", "text", "value"), PARTITION_VALUES)
def test_partition_columns_of_every_type(
    tmp_path: Path, load: Load, kind: str, text: str, value: Any
) -> None:
    table = DataTable(tmp_path / "t", "id long", f"p {kind}", partition_by=("p",))
    files = [
        table.file("a.parquet", {"id": [1]}, partition={"p": text}),
        table.file("b.parquet", {"id": [2]}, partition={"p": None}),
        table.file("c.parquet", {"id": [3]}, partition={"p": ""}),
    ]
    table.commit(*files)

    frame = load(table)

    assert rows(frame) == [(1, value), (2, None), (3, None)]
    assert rows(frame.where("p is not null").select("id")) == [1]
    assert rows(frame.where("p is null").select("id")) == [2, 3]


def test_timestamps_without_a_zone_are_local_times_of_the_session(
    spark: SparkSession, tmp_path: Path, load: Load
) -> None:
    table = DataTable(tmp_path / "t", "id long", "p timestamp", partition_by=("p",))
    table.commit(table.file("a.parquet", {"id": [1]}, partition={"p": "2024-01-01 00:00:00"}))
    frame = load(table)

    with set_as(spark, {"spark.sql.session.timeZone": "America/New_York"}):
        here = frame.where("p = timestamp'2024-01-01 00:00:00'").count()
        elsewhere = frame.where("p = timestamp'2024-01-01 00:00:00Z'").count()

    assert (here, elsewhere) == (1, 0)


def test_an_hour_that_the_clock_strikes_twice_is_found(
    spark: SparkSession, tmp_path: Path, load: Load
) -> None:
    table = DataTable(tmp_path / "t", "at timestamp")
    moment = pa.array([1730615400000000], pa.timestamp("us", tz="UTC"))  # 06:30Z, 01:30 again
    file = table.file("a.parquet", {"at": moment})
    bounds = '{"at":"2024-11-03T06:30:00.000Z"}'
    stats = f'{{"numRecords":1,"minValues":{bounds},"maxValues":{bounds},"nullCount":{{"at":0}}}}'
    table.commit(replace(file, stats=stats))

    with set_as(spark, {"spark.sql.session.timeZone": "America/New_York"}):
        found = load(table).where("at = timestamp'2024-11-03 06:30:00Z'").count()

    assert found == 1


def test_a_path_may_have_any_characters(tmp_path: Path, load: Load) -> None:
    table = DataTable(tmp_path / "a table %41 +", "id long")
    names = ["a b.parquet", "100%25.parquet", "ä#?&=+.parquet", "p=x%3Ay/[1]{2}*.parquet"]
    table.commit(*(table.file(name, {"id": [n]}) for n, name in enumerate(names)))

    assert rows(load(table)) == [0, 1, 2, 3]


def test_a_file_may_lie_outside_the_table(tmp_path: Path, load: Load) -> None:
    table = DataTable(tmp_path / "t", "id long")
    outside = tmp_path / "else where" / "a.parquet"
    file = table.file(str(outside), {"id": [1, 2, 3]})
    (marks,) = write_deletion_vectors(table.storage, [RowBitmap([1])])
    inside = tmp_path / "t" / marks.file_path
    there = inside.rename(outside.with_name("a vector.bin"))
    marks = replace(marks, storage_type="p", path_or_inline_dv=encode_path(str(there)))

    table.commit(with_vector(file, marks))

    assert file.path == f"file:{tmp_path}/else%20where/a.parquet"
    assert rows(load(table)) == [1, 3]


def test_columns_that_a_file_lacks_are_null(tmp_path: Path, load: Load) -> None:
    table = DataTable(tmp_path / "t", "id long", "name string")
    old = table.file("a.parquet", {"id": [1]})
    table.commit(old, table.file("b.parquet", {"name": ["x"], "id": [2]}))

    assert rows(load(table)) == [(1, None), (2, "x")]
    assert rows(load(table).where("name is null").select("id")) == [1]


def test_columns_that_the_table_lacks_are_passed_over(tmp_path: Path, load: Load) -> None:
    table = DataTable(tmp_path / "t", "id long", "p string", partition_by=("p",))
    data = {"_change_type": [None, "x"], "__is_cdc": [False, False], "p": ["y", "y"], "id": [1, 2]}
    table.commit(table.file("a.parquet", data, partition={"p": "z"}))

    assert load(table).columns == ["id", "p"]
    assert rows(load(table)) == [(1, "z"), (2, "z")]


def test_with_the_feed_off_a_column_may_be_called_change_type(tmp_path: Path, load: Load) -> None:
    table = DataTable(tmp_path / "t", "id long", "_change_type string", properties={})
    table.commit(table.file("a.parquet", {"id": [1], "_change_type": ["mine"]}))

    assert rows(load(table)) == [(1, "mine")]


@pytest.mark.parametrize("properties", [BY_NAME, BY_ID], ids=["name", "id"])
def test_columns_are_found_by_physical_names_or_ids_at_every_depth(
    tmp_path: Path, load: Load, properties: dict[str, str]
) -> None:
    inner = replace(mapped("y", "string", 3), name="y.z")
    struct = replace(mapped("s", "long", 2), type=StructType((inner,)))
    columns = (replace(mapped("id", "long", 1), name="the id"), struct, mapped("p", "string", 4))
    table = DataTable(tmp_path / "t", *columns, partition_by=("p",), properties=properties)
    if properties is BY_ID:  # the names in the file mean nothing
        nested = pa.struct([_numbered("junk", pa.string(), 3)])
        schema = pa.schema([_numbered("x", pa.int64(), 1), _numbered("y", nested, 2)])
    else:  # the ids mean nothing
        nested = pa.struct([_numbered("col-3", pa.string(), 9)])
        schema = pa.schema([_numbered("col-1", pa.int64(), 8), _numbered("col-2", nested, 7)])
    structs = [{nested.field(0).name: text} for text in ("a", "b")]
    data = pa.table([[1, 2], structs], schema=schema)
    file = table.file("a.parquet", data, partition={"col-4": "q"}, stats=False)
    table.commit(file)
    table.commit(*marked(file, vector(0)))

    frame = load(table)

    assert frame.columns == ["the id", "s", "p"]
    assert [row.asDict(recursive=True) for row in frame.collect()] == [
        {"the id": 2, "s": {"y.z": "b"}, "p": "q"}
    ]
    assert frame.where("`the id` = 2 and s.`y.z` = 'b' and p = 'q'").count() == 1
    assert frame.select("s.`y.z`").collect()[0][0] == "b"
    assert all("delta." not in field.json() for field in frame.schema.fields)


def _numbered(name: str, kind: pa.DataType, number: int) -> pa.Field:
    return pa.field(name, kind, metadata={"PARQUET:field_id": str(number)})


def test_a_view_of_a_table_mapped_by_id_is_seen_by_the_session(
    spark: SparkSession, tmp_path: Path, load: Load
) -> None:
    table = DataTable(tmp_path / "t", mapped("id", "long", 1), properties=BY_ID)
    schema = pa.schema([_numbered("col-1", pa.int64(), 1)])
    table.commit(table.file("a.parquet", pa.table([[1, 2]], schema=schema)))

    load(table).createOrReplaceTempView("mapped_by_id")

    assert spark.sql("select sum(id) from mapped_by_id").first()[0] == 3  # type: ignore[index]
    joined = spark.range(5).join(load(table), "id")
    assert rows(joined) == [1, 2]


def test_a_row_knows_its_file(tmp_path: Path, load: Load) -> None:
    table = DataTable(tmp_path / "t", "id long")
    first, second = (table.file(name, {"id": [1, 2]}) for name in ("a.parquet", "b.parquet"))

    table.commit(first, second)
    frame = load(table)
    assert rows(frame.selectExpr("_metadata.file_name", "_metadata.row_index", "id")) == [
        ("a.parquet", 0, 1),
        ("a.parquet", 1, 2),
        ("b.parquet", 0, 1),
        ("b.parquet", 1, 2),
    ]

    table.commit(*marked(second, vector(0)))
    frame = load(table)
    files = frame.selectExpr("substring_index(input_file_name(), '/', -1)", "id")
    assert rows(files) == [("a.parquet", 1), ("a.parquet", 2), ("b.parquet", 2)]


class TestVectors:
    """A file of 1000 rows in ten row groups, read in splits, with rows of its last one marked."""

    MARKED = (0, 250, 901, 950, 999)

    @pytest.fixture
    def table(self, tmp_path: Path) -> DataTable:
        table = DataTable(tmp_path / "t", "id long", "name string")
        data = {"id": list(range(1000)), "name": [f"n{i}" for i in range(1000)]}
        file = table.file("a.parquet", data, rows_per_group=100)
        plain = table.file("b.parquet", {"id": [5000], "name": ["plain"]})
        table.commit(file, plain)
        table.commit(*marked(file, vector(*self.MARKED)))
        return table

    def check(self, frame: DataFrame) -> None:
        left = [i for i in range(1000) if i not in self.MARKED]
        assert rows(frame.select("id")) == [*left, 5000]
        # The filter leaves the last row group alone to be read: rows keep their numbers.
        assert rows(frame.where("id >= 948").select("id")) == [
            *[i for i in left if i >= 948],
            5000,
        ]
        assert rows(frame.where("id in (249, 250, 999, 998)").select("name")) == ["n249", "n998"]
        assert frame.count() == 996

    def test_rows_in_the_last_row_group(self, load: Load, table: DataTable) -> None:
        self.check(load(table))

    def test_files_without_statistics(self, tmp_path: Path, load: Load, table: DataTable) -> None:
        data = {"id": [1, 2, 3], "name": ["x", "y", "z"]}
        unknown = table.file("c.parquet", data, stats=False)
        table.commit(with_vector(unknown, vector(0, 2)))

        assert rows(load(table).where("name in ('x', 'y', 'z')").select("name")) == ["y"]
        assert load(table).count() == 997

    def test_in_many_small_splits(self, spark: SparkSession, load: Load, table: DataTable) -> None:
        with set_as(spark, {"spark.sql.files.maxPartitionBytes": "2000"}):
            self.check(load(table))

    def test_with_the_reader_that_is_not_vectorized(
        self, spark: SparkSession, load: Load, table: DataTable
    ) -> None:
        with set_as(spark, {"spark.sql.parquet.enableVectorizedReader": "false"}):
            self.check(load(table))

    def test_without_generated_code(
        self, spark: SparkSession, load: Load, table: DataTable
    ) -> None:
        with set_as(
            spark,
            {
                "spark.sql.codegen.wholeStage": "false",
                "spark.sql.codegen.factoryMode": "NO_CODEGEN",
            },
        ):
            self.check(load(table))

    def test_a_file_may_have_no_row_left(self, load: Load, table: DataTable) -> None:
        file = table.file("d.parquet", {"id": [7, 8], "name": ["u", "v"]})
        table.commit(with_vector(file, vector(0, 1)))

        assert load(table).where("name in ('u', 'v')").count() == 0
        self.check(load(table))

    def test_more_rows_than_the_statistics_say_are_all_read(
        self, load: Load, table: DataTable
    ) -> None:
        first = table.file("e.parquet", {"id": [1, 2, 3, 4], "name": ["p"] * 4})
        second = table.file("f.parquet", {"id": [1, 2, 3, 4], "name": ["q"] * 4})
        table.commit(
            with_vector(replace(first, stats='{"numRecords":2}'), vector(0)),
            with_vector(replace(second, stats='{"numRecords":4}'), vector(0, 1)),
        )

        found = load(table).where("name in ('p', 'q')").select("name", "id")
        assert rows(found) == [("p", 2), ("p", 3), ("p", 4), ("q", 3), ("q", 4)]


def test_an_unreferenced_vector_between_two_others(tmp_path: Path, load: Load) -> None:
    table = DataTable(tmp_path / "t", "id long")
    files = [table.file(f"{n}.parquet", {"id": [10 * n, 10 * n + 1]}) for n in range(2)]
    first, _, last = write_deletion_vectors(
        table.storage, [RowBitmap([0]), RowBitmap([0, 1]), RowBitmap([1])]
    )

    table.commit(with_vector(files[0], first), with_vector(files[1], last))

    assert first.path_or_inline_dv == last.path_or_inline_dv
    assert rows(load(table)) == [1, 10]


def test_a_size_that_the_log_does_not_know_is_looked_up(tmp_path: Path, load: Load) -> None:
    table = DataTable(tmp_path / "t", "id long")
    file = table.file("a.parquet", {"id": list(range(1000))}, rows_per_group=10)
    table.commit(replace(file, size=0))

    assert load(table).count() == 1000


def test_column_names_may_have_dots_and_backticks(tmp_path: Path, load: Load) -> None:
    odd = StructField("a.b`c", parse_type("long"))
    table = DataTable(tmp_path / "t", odd)
    file = table.file("a.parquet", {"a.b`c": [1, 2]}, stats=False)
    table.commit(with_vector(replace(file, stats='{"numRecords":2}'), vector(0)))

    assert rows(load(table)) == [2]
    assert rows(load(table).where("`a.b``c` = 2")) == [2]
