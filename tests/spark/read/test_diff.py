"""`DeltaTable.diff` and `row_history`: the front door on Spark."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from diff_tables import Table
from staging import metadata
from truckee import DeltaTable
from truckee.errors import (
    DiffFileNotFoundError,
    HistoryFileNotFoundError,
    KeysNotUniqueError,
    VersionNotFoundError,
)

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
