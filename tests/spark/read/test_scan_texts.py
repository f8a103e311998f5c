"""Files whose vectors change often: read once, with every change of every row."""

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
from truckee.protocol.actions import AddFile
from truckee.scan.scan_file import Change, RowSelection, ScanFile
from truckee.spark.read.scan import file_reads


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


def test_the_text_of_a_file_has_each_vector_once() -> None:
    one, two = vector(1), vector(1, 2)
    pairs = ((one, None), (two, one), (None, None))
    files = [
        ScanFile(
            path=path,
            size=1,
            modification_time=0,
            partition_values={},
            version=version,
            rows=RowSelection(*pair),
            stats='{"numRecords":9}' if version < 3 else None,
            change=Change("delete" if version < 3 else None, version, 7 if version < 3 else None),
        )
        for version, (path, pair) in enumerate(zip(("a", "a", "b"), pairs, strict=True), start=1)
    ]

    read = {file.path: rows.split("\n") for file, rows in file_reads(files, "/t")}

    assert read["b"] == ["-1\t0\t1", "-1\t-1\t\t3\t"]
    assert read["a"] == [
        "9\t2\t2",
        f"={one.inline_data().hex()}\t0\t{one.size_in_bytes}\t1",
        f"={two.inline_data().hex()}\t0\t{two.size_in_bytes}\t2",
        "0\t-1\tdelete\t1\t7000",
        "1\t0\tdelete\t2\t7000",
    ]


def test_a_file_is_read_once_however_many_commits_delete_from_it(
    spark: SparkSession, table: DataTable
) -> None:
    file = table.file("a.parquet", {"id": list(range(100))})
    table.commit(file)
    expected = commit_states(table, file, [frozenset(range(n)) for n in range(1, 41)])

    frame = truckee.table_changes(spark, str(table), 2)

    assert files_read(frame) == [1]
    assert rows_scanned(frame) == 40
    assert feed(spark, table, 2) == expected


def test_rows_that_come_and_go_are_there_as_often(spark: SparkSession, table: DataTable) -> None:
    file = table.file("a.parquet", {"id": list(range(10))})
    table.commit(file)
    states = [{1, 2}, {2, 3}, {1}, set(), {1, 2, 3, 4}, {4}, {1}]
    expected = commit_states(table, file, [frozenset(state) for state in states])

    frame = truckee.table_changes(spark, str(table), 2)

    assert files_read(frame) == [1]
    assert feed(spark, table, 2) == expected


def test_the_file_may_be_added_within_the_range(spark: SparkSession, table: DataTable) -> None:
    file = table.file("a.parquet", {"id": list(range(10))})
    version = table.commit(file)
    expected = commit_states(table, file, [frozenset(range(n)) for n in range(1, 6)])
    expected.update((version, "insert", row) for row in range(10))

    assert feed(spark, table, 1) == expected


def test_a_file_may_be_removed_with_its_vector(spark: SparkSession, table: DataTable) -> None:
    file = table.file("a.parquet", {"id": list(range(10))})
    table.commit(file)
    expected = commit_states(table, file, [frozenset(range(n)) for n in range(1, 6)])
    version = table.commit(removed(with_vector(file, vector(*range(5)))))
    expected.update((version, "delete", row) for row in range(5, 10))

    assert feed(spark, table, 2) == expected


def test_an_open_feed_shows_later_changes(spark: SparkSession, table: DataTable) -> None:
    file = table.file("a.parquet", {"id": list(range(200))})
    table.commit(file)
    states = [frozenset(range(n)) for n in range(1, 41)]
    expected = commit_states(table, file, states[:4])
    frame = truckee.table_changes(spark, str(table), 2)
    assert rows_of(frame) == expected

    expected |= commit_states(table, file, states[4:], before=states[3])

    assert rows_of(frame) == expected


def test_changes_of_several_files_with_partitions(spark: SparkSession, tmp_path: Path) -> None:
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
