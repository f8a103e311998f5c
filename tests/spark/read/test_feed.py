"""The change data feed as Spark reads it: which rows, which types, which versions."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from msgspec.structs import replace
from pyspark.sql import SparkSession

import truckee
from corpus import CorpusTable
from data_tables import DataTable, mapped, marked, metadata, removed, vector, with_vector
from plans import rows
from truckee.deletion_vectors.bitmap import RowBitmap
from truckee.deletion_vectors.store import write_deletion_vectors
from truckee.protocol.actions import Action, CommitInfo

# ruff: noqa: DTZ001  Spark's rows have moments without a zone


def feed(spark: SparkSession, table: object, start: int, end: int | None = None) -> Any:
    """The rows of a feed without their timestamps: (version, type, the table's columns)."""
    frame = truckee.table_changes(spark, str(table), start, end)
    own = frame.columns[:-3]
    return rows(frame.select("_commit_version", "_change_type", *(f"`{name}`" for name in own)))


def changes(version: int, kind: str, *ids: int) -> list[tuple[int, str, int]]:
    return [(version, kind, number) for number in ids]


class TestWorkedTables:
    """The tables that the specification works through."""

    def test_vectors_that_come_and_go(self, spark: SparkSession, tmp_path: Path) -> None:
        table = DataTable(tmp_path / "t", "id long")
        file = table.file("f.parquet", {"id": list(range(10))})
        (first,) = write_deletion_vectors(table.storage, [RowBitmap([0, 9])])
        states = [None, first, None, vector(0, 1, 4, 5), vector(0, 5), vector(3), None]
        table.commit(file)
        for before, after in pairwise(states):
            table.commit(*marked(with_vector(file, before), after))

        expected = [
            *changes(1, "insert", *range(10)),
            *changes(2, "delete", 0, 9),
            *changes(3, "insert", 0, 9),
            *changes(4, "delete", 0, 1, 4, 5),
            *changes(5, "insert", 1, 4),
            *changes(6, "insert", 0, 5),
            *changes(6, "delete", 3),
            *changes(7, "insert", 3),
        ]
        assert Counter(feed(spark, table, 0)) == Counter(expected)
        # Few changes of one file are read one by one, many in layers: alike.
        for version in range(1, 8):
            of_version = [change for change in expected if change[0] == version]
            assert Counter(feed(spark, table, version, version)) == Counter(of_version)

    @pytest.mark.golden
    def test_a_table_of_every_kind_of_commit(self, spark: SparkSession, corpus: Path) -> None:
        path = CorpusTable("cdf-dv", "kernelrs-cdf-table-with-cdc-and-dvs").path

        found = Counter(tuple(change[:2]) for change in feed(spark, path, 0))

        pairs = ("update_preimage", "update_postimage")
        assert found == {
            **{(version, "insert"): n for version, n in ((0, 1), (1, 4), (4, 1), (7, 1), (8, 1))},
            **{(version, "insert"): n for version, n in ((14, 2), (15, 2), (18, 2), (22, 1))},
            (25, "insert"): 3,
            **{(version, "delete"): n for version, n in ((2, 1), (5, 2), (10, 1), (16, 2))},
            (22, "delete"): 1,
            (24, "delete"): 6,
            **{(9, kind): 3 for kind in pairs},
            **{(version, kind): 1 for kind in pairs for version in (12, 18, 20)},
        }
        assert sum(found.values()) == 43
        of_18 = [change for change in feed(spark, path, 18, 18) if change[1] != "insert"]
        assert of_18 == [
            (18, "update_postimage", 9, "merge1-update"),
            (18, "update_preimage", 9, "insert4"),
        ]

    def test_deletes_one_after_the_other(self, spark: SparkSession, tmp_path: Path) -> None:
        table = DataTable(tmp_path / "t", "id long")
        file = table.file("f.parquet", {"id": list(range(5))})
        table.commit(file)
        table.commit(*marked(file, vector(3)))
        table.commit(*marked(with_vector(file, vector(3)), vector(3, 4)))
        table.commit(removed(with_vector(file, vector(3, 4))))

        assert feed(spark, table, 2) == [
            *changes(2, "delete", 3),
            *changes(3, "delete", 4),
            *changes(4, "delete", 0, 1, 2),
        ]


class TestCommits:
    """What one commit gives, by the actions that it has."""

    @pytest.fixture
    def table(self, tmp_path: Path) -> DataTable:
        """Version 1 has the ids 0..3 in one file."""
        table = DataTable(tmp_path / "t", "id long")
        table.commit(table.file("a.parquet", {"id": [0, 1, 2, 3]}))
        return table

    def a(self, table: DataTable) -> Any:
        return table.file("a.parquet", {"id": [0, 1, 2, 3]})

    def test_change_files_stand_for_the_whole_commit(
        self, spark: SparkSession, table: DataTable
    ) -> None:
        change = {"id": [1, 9], "_change_type": ["update_preimage", "update_postimage"]}
        table.commit(
            removed(self.a(table)),
            table.file("b.parquet", {"id": [0, 9, 2, 3]}),
            table.change_file("_change_data/c.parquet", change),
        )

        assert feed(spark, table, 2) == [(2, "update_postimage", 9), (2, "update_preimage", 1)]

    def test_a_change_file_without_rows_still_does(
        self, spark: SparkSession, table: DataTable
    ) -> None:
        nothing: dict[str, list[Any]] = {"id": [], "_change_type": []}
        table.commit(removed(self.a(table)), table.change_file("c.parquet", _typed(nothing)))

        assert feed(spark, table, 2) == []

    @pytest.mark.parametrize(
        ("missing", "expected"),
        [
            ((), []),
            (
                ("numTargetRowsDeleted",),
                [*changes(2, "delete", 0, 1, 2, 3), *changes(2, "insert", 0, 1, 2, 3)],
            ),
        ],
    )
    def test_a_merge_without_effect_gives_nothing_if_all_its_metrics_say_so(
        self, spark: SparkSession, table: DataTable, missing: tuple[str, ...], expected: list[Any]
    ) -> None:
        names = ("numTargetRowsInserted", "numTargetRowsUpdated", "numTargetRowsDeleted")
        metrics = {name: "0" for name in names if name not in missing}
        table.commit(
            CommitInfo(operation="MERGE", operation_metrics=metrics),
            removed(self.a(table)),
            table.file("b.parquet", {"id": [0, 1, 2, 3]}),
        )

        assert feed(spark, table, 2) == expected

    def test_rows_that_are_only_moved_are_no_change(
        self, spark: SparkSession, table: DataTable
    ) -> None:
        marked_file = with_vector(self.a(table), vector(1))
        table.commit(*marked(self.a(table), vector(1)))
        table.commit(
            removed(marked_file, data_change=False),
            replace(table.file("b.parquet", {"id": [0, 2, 3]}), data_change=False),
        )

        assert feed(spark, table, 2) == changes(2, "delete", 1)

    def test_an_added_file_with_a_vector_inserts_what_is_left(
        self, spark: SparkSession, table: DataTable
    ) -> None:
        table.commit(with_vector(table.file("b.parquet", {"id": [5, 6, 7]}), vector(1)))

        assert feed(spark, table, 2) == changes(2, "insert", 5, 7)

    def test_a_restore_over_vectors_inserts_the_difference(
        self, spark: SparkSession, table: DataTable
    ) -> None:
        file = self.a(table)
        table.commit(*marked(file, vector(0)))
        table.commit(*marked(with_vector(file, vector(0)), vector(0, 2)))
        table.commit(
            CommitInfo(operation="RESTORE"),
            *marked(with_vector(file, vector(0, 2)), vector(0)),
            table.file("b.parquet", {"id": [8]}),
        )

        assert feed(spark, table, 4) == [*changes(4, "insert", 2, 8)]

    def test_a_removed_file_of_unknown_size_is_read_all_the_same(
        self, spark: SparkSession, table: DataTable
    ) -> None:
        table.commit(replace(removed(self.a(table)), size=None))

        assert feed(spark, table, 2) == changes(2, "delete", 0, 1, 2, 3)

    def test_the_type_of_a_change_never_comes_from_a_data_file(
        self, spark: SparkSession, table: DataTable
    ) -> None:
        data = {"id": [5, 6], "_change_type": [None, "delete"], "_commit_version": [7, 7]}
        table.commit(table.file("b.parquet", data))

        assert feed(spark, table, 2) == changes(2, "insert", 5, 6)

    def test_a_commit_without_files_gives_nothing(
        self, spark: SparkSession, table: DataTable
    ) -> None:
        table.commit(CommitInfo(operation="OPTIMIZE"))

        frame = truckee.table_changes(spark, str(table), 2)
        assert frame.collect() == []
        assert [field.simpleString() for field in frame.schema] == [
            *("id:bigint", "_change_type:string"),
            *("_commit_version:bigint", "_commit_timestamp:timestamp"),
        ]


def _typed(data: dict[str, list[Any]]) -> Any:
    return pa.table(data, schema=pa.schema({"id": pa.int64(), "_change_type": pa.string()}))


def test_partition_values_come_from_the_log(spark: SparkSession, tmp_path: Path) -> None:
    table = DataTable(tmp_path / "t", "id long", "p string", partition_by=("p",))
    odd = "a b/c=%é"
    files = [
        table.file(f"p=x%25y/{n}.parquet", {"id": [n], "p": ["wrong"]}, partition={"p": value})
        for n, value in enumerate((odd, None, ""))
    ]
    table.commit(*files)
    table.commit(*(removed(file) for file in files))
    change = {"id": [7], "_change_type": ["delete"]}
    table.commit(
        table.change_file("_change_data/p=a%20b/c.parquet", change, partition={"p": odd}),
        table.change_file("_change_data/p=d/d.parquet", change, partition={"p": None}),
    )

    assert Counter(feed(spark, table, 1)) == Counter(
        [
            *((1, "insert", n, value) for n, value in enumerate((odd, None, None))),
            *((2, "delete", n, value) for n, value in enumerate((odd, None, None))),
            *((3, "delete", 7, value) for value in (odd, None)),
        ]
    )


@pytest.mark.parametrize("mode", ["name", "id"])
def test_tables_with_mapped_columns(spark: SparkSession, tmp_path: Path, mode: str) -> None:
    columns = (mapped("the", "long", 1), mapped("part", "string", 2))
    properties = {"delta.enableChangeDataFeed": "true", "delta.columnMapping.mode": mode}
    table = DataTable(tmp_path / "t", *columns, partition_by=("part",), properties=properties)

    def data(**more: list[Any]) -> pa.Table:
        field = pa.field("col-1", pa.int64(), metadata={"PARQUET:field_id": "1"})
        extra = [pa.field(name, pa.string()) for name in more]
        return pa.table([[1, 2], *more.values()], schema=pa.schema([field, *extra]))

    file = table.file("a.parquet", data(), partition={"col-2": "x"})
    table.commit(file)
    table.commit(*marked(file, vector(0)))
    change = data(_change_type=["update_preimage", "update_postimage"])
    table.commit(table.change_file("zz/cdc-1.parquet", change, partition={"col-2": "y"}))

    assert feed(spark, table, 1) == [
        (1, "insert", 1, "x"),
        (1, "insert", 2, "x"),
        (2, "delete", 1, "x"),
        (3, "update_postimage", 2, "y"),
        (3, "update_preimage", 1, "y"),
    ]


def test_a_column_added_within_the_range_is_null_before(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = DataTable(tmp_path / "t", "id long")
    table.commit(table.file("a.parquet", {"id": [1]}))
    table.commit(metadata("id long", "name string"))
    table.commit(table.file("b.parquet", {"id": [2], "name": ["x"]}))

    assert feed(spark, table, 0) == [(1, "insert", 1, None), (3, "insert", 2, "x")]
    assert feed(spark, table, 0, 1) == [(1, "insert", 1, None)]


class TestTimestamps:
    def times(self, spark: SparkSession, table: DataTable, start: int = 1) -> list[Any]:
        frame = truckee.table_changes(spark, str(table), start)
        return rows(frame.select("_commit_version", "_commit_timestamp").distinct())

    def test_the_time_of_a_commit_is_that_of_its_file(
        self, spark: SparkSession, tmp_path: Path
    ) -> None:
        table = DataTable(tmp_path / "t", "id long")
        table.touch(0, 1_704_067_200_000)
        for n, at_ms in enumerate((1_704_067_200_123, 1_704_067_200_123, 1_704_067_100_000)):
            table.commit(table.file(f"{n}.parquet", {"id": [n]}), at_ms=at_ms)

        # Times that do not increase are a millisecond after the one before.
        assert self.times(spark, table) == [
            (n + 1, datetime(2024, 1, 1, 0, 0, 0, (123 + n) * 1000)) for n in range(3)
        ]

    def test_times_in_commits_count_from_when_they_are_on(
        self, spark: SparkSession, tmp_path: Path
    ) -> None:
        table = DataTable(tmp_path / "t", "id long")
        table.touch(0, 1_704_067_200_000)
        table.commit(table.file("a.parquet", {"id": [1]}), at_ms=1_704_067_201_000)
        properties = {
            **table.metadata.configuration,
            "delta.enableInCommitTimestamps": "true",
            "delta.inCommitTimestampEnablementVersion": "2",
            "delta.inCommitTimestampEnablementTimestamp": "1704067202000",
        }
        table.commit(
            CommitInfo(in_commit_timestamp=1_704_067_202_000),
            replace(table.metadata, configuration=properties),
            at_ms=1_704_067_209_000,
        )
        table.commit(
            CommitInfo(in_commit_timestamp=1_704_067_203_456),
            table.file("b.parquet", {"id": [2]}),
            at_ms=1_704_067_210_000,
        )

        assert self.times(spark, table) == [
            (1, datetime(2024, 1, 1, 0, 0, 1)),
            (3, datetime(2024, 1, 1, 0, 0, 3, 456_000)),
        ]

    def test_many_vectors_of_one_file_have_each_their_time(
        self, spark: SparkSession, tmp_path: Path
    ) -> None:
        table = DataTable(tmp_path / "t", "id long")
        file = table.file("a.parquet", {"id": list(range(20))})
        table.touch(0, 1_704_067_199_000)
        table.commit(file, at_ms=1_704_067_200_000)
        state = file
        for n in range(1, 9):
            table.commit(*marked(state, vector(*range(n))), at_ms=1_704_067_200_000 + 1000 * n)
            state = with_vector(file, vector(*range(n)))

        assert self.times(spark, table, 2) == [
            (n + 1, datetime(2024, 1, 1, 0, 0, n)) for n in range(1, 9)
        ]


class TestOpenEnd:
    """With no end, the end is taken when a query runs."""

    @pytest.fixture
    def table(self, tmp_path: Path) -> DataTable:
        table = DataTable(tmp_path / "t", "id long")
        table.commit(table.file("a.parquet", {"id": list(range(10))}))
        return table

    def append(self, table: DataTable, *actions: Action) -> None:
        number = table.version
        table.commit(table.file(f"n{number}.parquet", {"id": [100 + number]}), *actions)

    def test_a_frame_shows_what_was_committed_since(
        self, spark: SparkSession, table: DataTable
    ) -> None:
        frame = truckee.table_changes(spark, str(table), 1)
        before = frame.count()
        self.append(table)
        after = frame.count()
        change = {"id": [1], "_change_type": ["update_postimage"]}
        table.commit(table.change_file("c.parquet", change))

        assert (before, after, frame.count()) == (10, 11, 12)
        assert rows(frame.select("*").where("_commit_version > 1").select("id")) == [1, 101]

    def test_an_end_beyond_the_latest_version_is_open_up_to_there(
        self, spark: SparkSession, table: DataTable
    ) -> None:
        frame = truckee.table_changes(spark, str(table), 1, 2)
        before = frame.count()
        self.append(table)
        self.append(table)

        assert (before, frame.count()) == (10, 11)

    def test_vectors_that_came_later_are_seen_too(
        self, spark: SparkSession, table: DataTable
    ) -> None:
        frame = truckee.table_changes(spark, str(table), 1).where("_change_type = 'delete'")
        file = table.file("a.parquet", {"id": list(range(10))})
        counts = [frame.count()]
        state = file
        for n in range(1, 6):
            table.commit(*marked(state, vector(*range(n))))
            state = with_vector(file, vector(*range(n)))
            counts.append(frame.count())

        assert counts == [0, 1, 2, 3, 4, 5]

    def test_a_query_that_is_run_again_shows_one_version_throughout(
        self, spark: SparkSession, table: DataTable
    ) -> None:
        file = table.file("a.parquet", {"id": list(range(10))})
        state = file
        for n in range(1, 5):
            table.commit(*marked(state, vector(*range(n))))
            state = with_vector(file, vector(*range(n)))
        first = truckee.table_changes(spark, str(table), 2)
        before = rows(first)
        table.commit(*marked(state, vector(*range(5))), table.file("z.parquet", {"id": [77]}))
        newer = first.count()

        # Spark keeps the plan of a frame that was run; the layers of its files are still there.
        again = rows(first)

        assert (len(before), newer) == (4, 6)
        assert again == before

    def test_all_parts_of_a_query_see_the_same_end(
        self, spark: SparkSession, table: DataTable
    ) -> None:
        frame = truckee.table_changes(spark, str(table), 1)
        frame.count()

        def commit() -> None:
            for _ in range(12):
                number = table.version
                change = {"id": [number], "_change_type": ["insert"]}
                data = table.file(f"m{number}.parquet", {"id": [number]})
                # One version has data, the next a change file: they are read by other branches.
                table.commit(data)
                table.commit(table.change_file(f"c{number}.parquet", change))

        with ThreadPoolExecutor(1) as pool:
            committing = pool.submit(commit)
            while not committing.done():
                versions = [row[0] for row in frame.select("_commit_version").distinct().collect()]
                assert sorted(versions) == list(range(1, max(versions) + 1))
            committing.result()

        assert frame.count() == 10 + 24
