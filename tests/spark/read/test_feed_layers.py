"""Files whose vectors change often: read once a layer, with every change of every row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace
from pyspark.sql import DataFrame, SparkSession

import truckee
from data_tables import DataTable, marked, removed, vector, with_vector
from plans import files_read, rows, rows_scanned
from staging import plan_changes
from truckee.options.feed import Bound, FeedOptions
from truckee.protocol.actions import AddFile
from truckee.spark.read.feed_layers import OFTEN, layer_digits, layered_paths


@pytest.fixture
def table(tmp_path: Path) -> DataTable:
    return DataTable(tmp_path / "t", "id long")


def commit_states(
    table: DataTable,
    file: AddFile,
    states: Sequence[frozenset[int]],
    before: frozenset[int] = frozenset(),
) -> Counter[tuple[int, str, int]]:
    """Commit one state of deleted rows after the other; return the changes that this makes."""
    expected: Counter[tuple[int, str, int]] = Counter()
    for after in states:
        old, new = (vector(*sorted(state)) if state else None for state in (before, after))
        version = table.commit(*marked(with_vector(file, old), new))
        expected.update((version, "delete", row) for row in after - before)
        expected.update((version, "insert", row) for row in before - after)
        before = after
    return expected


def feed(spark: SparkSession, table: DataTable, start: int) -> Counter[tuple[int, str, int]]:
    return rows_of(truckee.table_changes(spark, str(table), start))


def rows_of(frame: DataFrame) -> Counter[tuple[int, str, int]]:
    return Counter(rows(frame.select("_commit_version", "_change_type", "id")))


def planned_layers(table: DataTable, start: int) -> frozenset[str]:
    options = FeedOptions(start=Bound(version=start))
    files = plan_changes(table.storage, options).files
    return layered_paths(files, first_version=start)


def test_a_file_is_read_once_however_many_commits_delete_from_it(
    spark: SparkSession, table: DataTable
) -> None:
    file = table.file("a.parquet", {"id": list(range(100))})
    table.commit(file)
    expected = commit_states(table, file, [frozenset(range(n)) for n in range(1, 41)])

    frame = truckee.table_changes(spark, str(table), 2)

    assert files_read(frame) == [0, 0, 0, 1]
    assert rows_scanned(frame) == 100
    assert feed(spark, table, 2) == expected


def test_rows_that_come_and_go_are_in_as_many_layers(spark: SparkSession, table: DataTable) -> None:
    file = table.file("a.parquet", {"id": list(range(10))})
    table.commit(file)
    states = [{1, 2}, {2, 3}, {1}, set(), {1, 2, 3, 4}, {4}, {1}]
    expected = commit_states(table, file, [frozenset(state) for state in states])

    frame = truckee.table_changes(spark, str(table), 2)

    busiest = max(Counter(row for _, _, row in expected).values())
    assert files_read(frame) == [0, 0, 0, busiest]
    assert feed(spark, table, 2) == expected


def test_the_file_may_be_added_within_the_range(spark: SparkSession, table: DataTable) -> None:
    file = table.file("a.parquet", {"id": list(range(10))})
    version = table.commit(file)
    expected = commit_states(table, file, [frozenset(range(n)) for n in range(1, 6)])
    expected.update((version, "insert", row) for row in range(10))

    assert planned_layers(table, 1) == {"a.parquet"}
    assert feed(spark, table, 1) == expected


def test_a_file_that_is_removed_with_a_vector_stays_with_the_others(
    spark: SparkSession, table: DataTable
) -> None:
    file = table.file("a.parquet", {"id": list(range(10))})
    table.commit(file)
    expected = commit_states(table, file, [frozenset(range(n)) for n in range(1, 6)])
    version = table.commit(removed(with_vector(file, vector(*range(5)))))
    expected.update((version, "delete", row) for row in range(5, 10))

    assert planned_layers(table, 2) == frozenset()
    assert feed(spark, table, 2) == expected


@pytest.mark.parametrize("changes", [OFTEN - 1, OFTEN])
def test_a_few_changes_are_read_one_by_one(
    spark: SparkSession, table: DataTable, changes: int
) -> None:
    file = table.file("a.parquet", {"id": list(range(10))})
    table.commit(file)
    expected = commit_states(table, file, [frozenset(range(n)) for n in range(1, changes + 1)])

    assert bool(planned_layers(table, 2)) == (changes >= OFTEN)
    assert feed(spark, table, 2) == expected


def test_a_feed_may_outgrow_its_layers(spark: SparkSession, table: DataTable) -> None:
    file = table.file("a.parquet", {"id": list(range(200))})
    table.commit(file)
    states = [frozenset(range(n)) for n in range(1, 41)]
    expected = commit_states(table, file, states[:4])
    frame = truckee.table_changes(spark, str(table), 2)
    assert rows_of(frame) == expected

    expected |= commit_states(table, file, states[4:], before=states[3])

    assert rows_of(frame) == expected


def test_how_many_digits_a_feed_needs(table: DataTable) -> None:
    file = table.file("a.parquet", {"id": list(range(10))})
    table.commit(file)
    commit_states(table, file, [frozenset(range(n)) for n in range(1, 6)])
    options = FeedOptions(start=Bound(version=2))
    files = plan_changes(table.storage, options).files

    assert layer_digits(files[:2], first_version=2, may_grow=True) == 0
    assert layer_digits(files, first_version=2, may_grow=False) == 4  # versions 2..6: 0 to 9
    assert layer_digits(files, first_version=2, may_grow=True) == 6
    # The feed started so long ago that its versions cannot be told apart.
    assert layered_paths(files, first_version=-40_000) == frozenset()


def test_layers_of_several_files_with_partitions(spark: SparkSession, tmp_path: Path) -> None:
    table = DataTable(tmp_path / "parts", "id long", "p string", partition_by=("p",))
    files = [table.file(f"{p}.parquet", {"id": list(range(10))}, partition={"p": p}) for p in "xy"]
    table.commit(*files)
    state = {file.path: file for file in files}
    for n in range(1, 6):
        actions = []
        for file in files:
            actions += marked(state[file.path], vector(*range(n)))
            state[file.path] = with_vector(file, vector(*range(n)))
        table.commit(*actions)

    frame = truckee.table_changes(spark, str(table), 2)

    found = rows(frame.where("p = 'y'").select("_commit_version", "id", "p"))
    assert found == [(n + 1, n - 1, "y") for n in range(1, 6)]
    assert sum(files_read(frame.where("p = 'y'"))) == 1
    filtered = frame.where("_commit_version = 4 and _change_type = 'delete'")
    assert rows(filtered.select("id", "p")) == [(2, "x"), (2, "y")]
    assert frame.where("_change_type = 'insert'").count() == 0


def test_without_generated_code(spark: SparkSession, table: DataTable) -> None:
    file = table.file("a.parquet", {"id": list(range(10))})
    table.commit(file)
    expected = commit_states(
        table, file, [frozenset(state) for state in ({1}, {1, 2}, {2}, {2, 3})]
    )
    spark.conf.set("spark.sql.codegen.wholeStage", "false")
    spark.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    try:
        assert feed(spark, table, 2) == expected
    finally:
        spark.conf.set("spark.sql.codegen.wholeStage", "true")
        spark.conf.set("spark.sql.codegen.factoryMode", "FALLBACK")


def test_versions_far_apart_are_told_apart(spark: SparkSession, table: DataTable) -> None:
    file = table.file("a.parquet", {"id": list(range(10))})
    table.commit(file)
    states = [frozenset(range(n)) for n in range(1, 4)]
    expected: Counter[tuple[int, str, int]] = Counter()
    for _ in range(3):
        for _ in range(100):
            table.commit()
        expected += commit_states(table, file, states)
        table.commit(*marked(with_vector(file, vector(0, 1, 2)), None))
        expected.update((table.version, "insert", row) for row in range(3))

    assert feed(spark, table, 2) == expected


def test_a_vector_that_stays_the_same_changes_nothing(
    spark: SparkSession, table: DataTable
) -> None:
    file = table.file("a.parquet", {"id": list(range(10))})
    table.commit(file)
    expected = commit_states(table, file, [frozenset({1}), frozenset({1, 2})])
    same = with_vector(file, vector(1, 2))
    table.commit(removed(same), replace(same, tags={"touched": "yes"}))

    assert feed(spark, table, 2) == expected
