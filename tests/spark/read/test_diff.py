"""`DeltaTable.diff` and `row_history`: the front door on Spark."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from random import Random

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from diff_tables import Table
from plans import bytes_read, files_read, records_read
from session_settings import set_as
from staging import metadata
from truckee import DeltaTable
from truckee.errors import (
    DiffFileNotFoundError,
    HistoryFileNotFoundError,
    KeysNotUniqueError,
    VersionNotFoundError,
)
from truckee.spark.read.diff_frames import DiffFrame

pytestmark = pytest.mark.spark


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """A row is deleted by a vector, and a file is rewritten."""
    made = Table(tmp_path / "t")
    made.history.stage(metadata("id long", "name string"))
    made.add("a", {"id": [1, 2], "name": ["a", "b"]})
    made.add("b", {"id": [3, 3], "name": ["c", "d"]}).then()
    made.history.delete("a", rows=[0]).remove("b")
    return made.add("c", {"id": [3, 3], "name": ["c", "D"]}).then()


def test_a_notebook_shows_a_diff_as_a_page(spark: SparkSession, table: Table) -> None:
    found = DeltaTable.forPath(spark, str(table.root)).diff(0, 1)
    rows = sorted(map(tuple, found.collect()))
    html = found._repr_html_()

    assert rows == [(1, "a", "delete"), (3, "D", "insert"), (3, "d", "delete")]
    assert html is not None
    assert '<b>2</b><span><i class="delete"></i>rows deleted</span>' in html
    assert "<td>D</td>" in html


def test_errors_reach_the_user_as_ours(spark: SparkSession, table: Table) -> None:
    opened = DeltaTable.forPath(spark, str(table.root))

    with pytest.raises(KeysNotUniqueError) as raised:
        opened.diff(0, 1, keys=["id"]).collect()
    assert (raised.value.example, raised.value.count) == ('{"id":3}', 2)
    with pytest.raises(VersionNotFoundError):
        opened.diff(0, 7)

    (table.root / "b").unlink()
    with pytest.raises(DiffFileNotFoundError) as gone:
        opened.diff(0, 1).collect()
    assert (gone.value.path, gone.value.readable_from) == ("b", 1)
    with pytest.raises(HistoryFileNotFoundError):
        opened.row_history("id = 3")
    assert opened.row_history("id = 1").count() == 2


def test_a_filter_on_a_diff_leaves_out_files(spark: SparkSession, table: Table) -> None:
    (table.root / "b").unlink()

    found = DeltaTable.forPath(spark, str(table.root)).diff(0, 1).where("id < 3").collect()

    assert [tuple(row) for row in found] == [(1, "a", "delete")]


def test_as_many_bytes_are_read_as_the_files_that_differ_have(
    spark: SparkSession, tmp_path: Path
) -> None:
    made = Table(tmp_path / "t")
    made.history.stage(metadata("id long", "noise binary"))
    chosen = Random(5)
    for number in range(30):
        ids = range(100 * number, 100 * number + 100)
        noise = [chosen.randbytes(1000) for _ in ids]
        made.add(f"{number}.parquet", {"id": list(ids), "noise": noise})
    made.then().history.remove("7.parquet").delete("9.parquet", rows=[3])
    made.add("new.parquet", {"id": [1], "noise": [chosen.randbytes(100_000)]}).then()
    sizes = {path.name: path.stat().st_size for path in made.root.glob("*.parquet")}
    differing = sum(sizes[name] for name in ("7.parquet", "9.parquet", "new.parquet"))
    opened = DeltaTable.forPath(spark, str(made.root))

    # Hadoop does not count the bytes that it reads from a disk in several ranges at once.
    with set_as(spark, {"parquet.hadoop.vectored.io.enabled": "false"}):
        read = bytes_read(spark, lambda: opened.diff(0, 1).collect())

    assert min(sizes.values()) > 90_000
    # Spark reads the footer of a file more than once.
    assert differing <= read < 1.1 * differing


@pytest.mark.parametrize(
    "condition",
    ["id = 2", "2 = id AND name IN ('b', 'x')", "name = 'b' OR id IS NULL", "abs(id) = 2"],
)
def test_a_history_is_the_same_whoever_reads_the_files(
    spark: SparkSession, table: Table, monkeypatch: pytest.MonkeyPatch, condition: str
) -> None:
    opened = DeltaTable.forPath(spark, str(table.root))
    history = lambda: opened.row_history(condition, ["id"]).collect()  # noqa: E731
    by_driver = history()
    jobs_of_driver = records_read(spark, lambda: opened.row_history(condition, ["id"]))

    monkeypatch.setattr("truckee.changes.diff.history_request._LITTLE_BYTES", 0)
    by_spark = history()
    jobs_of_spark = records_read(spark, lambda: opened.row_history(condition, ["id"]))

    assert [tuple(row)[:4] for row in by_spark] == [(2, "b", "insert", 0)]
    assert by_driver == by_spark
    assert jobs_of_spark > 0
    assert (jobs_of_driver == 0) == (condition != "abs(id) = 2")


def test_spark_decides_what_a_condition_means_that_settings_have_a_say_in(
    spark: SparkSession, tmp_path: Path
) -> None:
    made = Table(tmp_path / "t")
    made.history.stage(metadata("id long", "at timestamp"))
    at = [datetime(2024, 1, 1, hour, tzinfo=timezone.utc) for hour in (0, 12)]
    made.add("a", {"id": [1, 2], "at": at}).then()
    opened = DeltaTable.forPath(spark, str(made.root))

    with set_as(spark, {"spark.sql.session.timeZone": "Asia/Kolkata"}):
        noon = opened.row_history("at = '2024-01-01 17:30:00'").collect()
    with set_as(spark, {"spark.sql.caseSensitive": "true"}), pytest.raises(AnalysisException):
        opened.row_history("ID = 1")

    assert [row.id for row in noon] == [2]


def test_what_both_versions_have_is_not_read(spark: SparkSession, tmp_path: Path) -> None:
    """Bytes follow the files that differ: a file of each side, and one whose vector changed."""
    made = Table(tmp_path / "t")
    made.history.stage(metadata("id long", "name string"))
    for number in range(6):
        ids = list(range(1000 * number, 1000 * number + 1000))
        made.add(f"f{number}", {"id": ids, "name": [f"name {i}" for i in ids]})
    made.then()
    made.history.delete("f1", rows=[3]).remove("f2")
    made.add("g", {"id": [1, 2], "name": ["x", "y"]}).then()

    with set_as(spark, {"spark.sql.adaptive.enabled": "false"}):  # Which hides the scans.
        found = DeltaTable.forPath(spark, str(made.root)).diff(0, 1)
        files = files_read(found)

    differing = [made.root / name for name in ("f1", "f2", "g")]
    assert sum(files) == len(differing)
    assert isinstance(found, DiffFrame)
    assert found.plan.size_in_bytes == sum(path.stat().st_size for path in differing)
    assert found.count() == 1 + 1000 + 2
