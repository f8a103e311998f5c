"""Commands that find many rows: tasks write the vectors, and the driver has descriptors only."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

import truckee
from dml_tables import FEED, KEEPS_SOURCE, VECTORS, Table, create_table, numbers
from session_settings import set_as
from truckee.commands.dml import marked_files
from truckee.commands.dml.command import CommandRun, commit_rows
from truckee.commands.dml.delete import delete, delete_plan
from truckee.commands.dml.settings import DmlSettings
from truckee.commands.dml.update import update
from truckee.commands.merge.builder import DeltaMergeBuilder, merge_builder
from truckee.commands.merge.clauses import Clause, ClauseKind, Does
from truckee.commands.merge.merge import Merge, merge_plan
from truckee.deletion_vectors.store import PartFiles, StoredRows
from truckee.errors.commands.dml import MultipleMatchesError
from truckee.errors.commands.write_rows import CheckConstraintViolationError
from truckee.errors.transaction import ConcurrentDeleteReadException
from truckee.spark.dml import row_bitmaps
from truckee.spark.dml.target import Target
from truckee.spark.read.frames import CommandReads

SETTINGS = DmlSettings()


@pytest.fixture(autouse=True)
def nothing_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """No bitmap is small enough for the driver."""
    monkeypatch.setattr(row_bitmaps, "MOST_SENT", 0)
    monkeypatch.setattr(marked_files, "MOST_SENT", 0)


def make(spark: SparkSession, tmp_path: Path, *, properties: dict[str, str] = VECTORS) -> Table:
    return create_table(spark, tmp_path / "t", numbers(spark, 0, 10), properties=properties)


def vectors_on_disk(table: Table) -> set[str]:
    return {name for name in table.files_on_disk() if name.endswith(".bin")}


def vectors_in_log(table: Table) -> set[str]:
    adds = table.snapshot.files()
    return {add.deletion_vector.file_path for add in adds if add.deletion_vector is not None}


def ids(table: Table) -> list[int]:
    return [row[0] for row in table.rows()]


def test_the_vector_that_a_task_wrote_is_the_one_in_the_log(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = make(spark, tmp_path)

    done = delete(spark, table.storage, "id in (0, 9)")

    [file] = table.snapshot.files()
    assert file.deletion_vector is not None
    assert file.deletion_vector.cardinality == 2
    assert [tuple(row) for row in done.collect()] == [(2,)]
    assert ids(table) == list(range(1, 9))
    assert vectors_on_disk(table) == vectors_in_log(table)


def test_old_and_new_rows_are_united_and_the_new_ones_alone_are_deleted(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = make(spark, tmp_path, properties=VECTORS | FEED)
    delete(spark, table.storage, "id in (0, 9)")
    old = vectors_in_log(table)

    delete(spark, table.storage, "id in (3, 4)")

    assert ids(table) == [1, 2, 5, 6, 7, 8]
    assert [row[0] for row in table.changes(2)] == [3, 4]
    assert vectors_on_disk(table) == old | vectors_in_log(table)
    assert table.metrics["numDeletionVectorsUpdated"] == "1"


def test_rows_of_one_file_that_several_tasks_found_are_one_vector(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = Table(spark, tmp_path / "t")
    rows = spark.range(0, 100_000, 1, 1)
    small = {"parquet.block.size": "65536", "parquet.page.size": "8192", **VECTORS}
    truckee.write(rows).options(**small).save(str(table.path))
    spark.conf.set("spark.sql.files.maxPartitionBytes", "100000")
    try:
        found = part_rows(spark, table)
        delete(spark, table.storage, "id % 2 = 0")
    finally:
        spark.conf.unset("spark.sql.files.maxPartitionBytes")

    assert len(found.vectors) > 1
    assert table.frame().where("id % 2 = 0 or id is null").count() == 0
    assert table.frame().count() == 50_000
    assert vectors_on_disk(table) == vectors_in_log(table)


def part_rows(spark: SparkSession, table: Table) -> StoredRows:
    """Return the even rows of the only file, as tasks find them; nothing of it is kept."""
    target = Target(spark, table.snapshot)
    parts = PartFiles(table.storage)
    [rows] = row_bitmaps.found_rows(target.rows.where("id % 2 = 0"), parts).values()
    assert isinstance(rows, StoredRows)
    for vector in rows.vectors:
        table.storage.delete(vector.file_path)
    return rows


def test_rows_of_an_update_are_marked_and_written_anew(spark: SparkSession, tmp_path: Path) -> None:
    table = make(spark, tmp_path, properties=VECTORS | FEED)

    update(spark, table.storage, "id >= 8", {"v": "v + 1"})

    assert [tuple(row)[:2] for row in table.rows()][-2:] == [(8, 81), (9, 91)]
    kinds = sorted(row[3] for row in table.changes(1))
    assert kinds == ["update_postimage"] * 2 + ["update_preimage"] * 2
    assert vectors_on_disk(table) == vectors_in_log(table)


@pytest.mark.parametrize("condition", ["id < 3", "id >= 0"])
def test_nothing_is_left_where_files_are_written_anew_or_removed(
    spark: SparkSession, tmp_path: Path, condition: str
) -> None:
    table = make(spark, tmp_path, properties={})

    delete(spark, table.storage, condition)

    assert ids(table) == ([] if condition == "id >= 0" else list(range(3, 10)))
    assert vectors_on_disk(table) == set()


def test_nothing_is_left_by_an_overwrite_of_rows(spark: SparkSession, tmp_path: Path) -> None:
    table = make(spark, tmp_path)
    delete(spark, table.storage, "id = 0")
    old = vectors_in_log(table)

    writer = truckee.write(numbers(spark, 5, 7)).mode("overwrite")
    writer.option("replaceWhere", "id between 5 and 6").save(table.storage.root)

    assert ids(table) == list(range(1, 10))
    assert vectors_on_disk(table) == old | vectors_in_log(table)


def test_vectors_are_united_again_after_each_commit_that_came_first(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = make(spark, tmp_path)
    mine = delete_plan(spark, table.snapshot, "id = 1", settings=SETTINGS)
    delete(spark, table.storage, "id in (2, 3)")
    delete(spark, table.storage, "id = 4")

    version = commit_rows(CommandRun(spark, SETTINGS, CommandReads()), mine)

    assert version == 3
    assert ids(table) == [0, 5, 6, 7, 8, 9]
    assert vectors_in_log(table) <= vectors_on_disk(table)
    assert len(vectors_on_disk(table)) == 3


def test_rows_that_both_take_are_a_conflict_and_leave_nothing(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = make(spark, tmp_path)
    mine = delete_plan(spark, table.snapshot, "id in (1, 2)", settings=SETTINGS)
    delete(spark, table.storage, "id in (2, 3)")

    with pytest.raises(ConcurrentDeleteReadException):
        commit_rows(CommandRun(spark, SETTINGS, CommandReads()), mine)

    assert vectors_on_disk(table) == vectors_in_log(table)


def source_of(spark: SparkSession, *ids: int) -> DataFrame:
    """Rows (id, v, part) whose v is -1, in two tasks."""
    rows = spark.createDataFrame([(each, -1, each % 2) for each in ids], "id long, v int, part int")
    return rows.repartition(2).alias("s")


def merging(table: Table, source: DataFrame, condition: str = "t.id = s.id") -> DeltaMergeBuilder:
    return merge_builder(table.spark, table.storage, source, condition, alias="t")


@pytest.mark.parametrize("keeps_source", ["all", "none"])
@pytest.mark.parametrize("joins", ["broadcast", "shuffle"])
@pytest.mark.parametrize("feed", [True, False])
def test_a_merge_finds_its_rows_by_vectors_and_leaves_only_those_of_the_log(
    spark: SparkSession, tmp_path: Path, keeps_source: str, joins: str, feed: bool
) -> None:
    table = make(spark, tmp_path, properties=VECTORS | (FEED if feed else {}))
    delete(spark, table.storage, "id = 0")
    old = vectors_in_log(table)
    conf = {KEEPS_SOURCE: keeps_source}
    if joins == "shuffle":
        conf["spark.sql.autoBroadcastJoinThreshold"] = "-1"

    with set_as(spark, conf):
        merge = merging(table, source_of(spark, 0, 1, 2, 3, 20))
        merge = merge.whenMatchedDelete("t.id = 1").whenMatchedUpdateAll("t.id = 2")
        merge = merge.whenNotMatchedInsertAll().whenNotMatchedBySourceDelete("t.id = 9")
        merge = merge.whenNotMatchedBySourceUpdate("t.id = 8", {"v": "t.v + 1"})
        [done] = merge.execute().collect()

    assert tuple(done) == (6, 2, 2, 2)
    values = {row[0]: row[1] for row in table.rows()}
    assert values == {0: -1, 2: -1, 3: 30, 4: 40, 5: 50, 6: 60, 7: 70, 8: 81, 20: -1}
    assert vectors_on_disk(table) == old | vectors_in_log(table)
    if feed:
        assert sorted((row[0], row[3]) for row in table.changes(2)) == [
            (0, "insert"),
            (1, "delete"),
            (2, "update_postimage"),
            (2, "update_preimage"),
            (8, "update_postimage"),
            (8, "update_preimage"),
            (9, "delete"),
            (20, "insert"),
        ]


def test_a_merge_writes_files_anew_from_rows_in_vectors(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = make(spark, tmp_path, properties=FEED)

    merge = merging(table, source_of(spark, 1, 2, 20))
    merge.whenMatchedDelete("t.id = 1").whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()

    assert ids(table) == [0, *range(2, 10), 20]
    assert table.metrics["numTargetRowsCopied"] == "8"
    kinds = sorted((row[0], row[3]) for row in table.changes(1))
    assert kinds[:2] == [(1, "delete"), (2, "update_postimage")]
    assert vectors_on_disk(table) == set()


def test_several_matches_are_told_and_leave_nothing(spark: SparkSession, tmp_path: Path) -> None:
    table = make(spark, tmp_path)

    with pytest.raises(MultipleMatchesError, match="id: 3"):
        merging(table, source_of(spark, 3, 3, 4)).whenMatchedUpdateAll().execute()

    assert vectors_on_disk(table) == set()


def test_a_row_that_matches_several_times_is_deleted_once(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = make(spark, tmp_path)

    [done] = merging(table, source_of(spark, 3, 3, 4)).whenMatchedDelete().execute().collect()

    assert tuple(done) == (2, 0, 2, 0)
    assert ids(table) == [0, 1, 2, *range(5, 10)]
    assert vectors_on_disk(table) == vectors_in_log(table)


@pytest.mark.parametrize("command", ["update", "merge"])
def test_rows_that_break_a_rule_leave_nothing(
    spark: SparkSession, tmp_path: Path, command: str
) -> None:
    rules = {"delta.constraints.positive": "v >= 0"}
    table = make(spark, tmp_path, properties=VECTORS | rules)

    commands = {
        "update": lambda: update(spark, table.storage, "id = 3", {"v": "-1"}),
        "merge": merging(table, source_of(spark, 3)).whenMatchedUpdateAll().execute,
    }

    with pytest.raises(CheckConstraintViolationError):
        commands[command]()

    assert vectors_on_disk(table) == set()


def test_a_merge_lands_beside_others_and_conflicts_with_the_same_rows(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = make(spark, tmp_path)
    merge = Merge(
        source=source_of(spark, 1, 2),
        condition="t.id = s.id",
        clauses=(Clause(ClauseKind.MATCHED, Does.DELETE, "t.id = 1"),),
        alias="t",
    )
    beside = merge_plan(spark, table.snapshot, merge, settings=SETTINGS)
    late = merge_plan(spark, table.snapshot, merge, settings=SETTINGS)
    delete(spark, table.storage, "id in (3, 4)")

    commit_rows(CommandRun(spark, SETTINGS, CommandReads()), beside)
    # Row 2 matches, so the merge depends on it, though no clause takes it.
    delete(spark, table.storage, "id = 2")
    with pytest.raises(ConcurrentDeleteReadException):
        commit_rows(CommandRun(spark, SETTINGS, CommandReads()), late)

    assert ids(table) == [0, *range(5, 10)]
    assert vectors_in_log(table) <= vectors_on_disk(table)
    assert len(vectors_on_disk(table)) == 3


@pytest.mark.parametrize("properties", [VECTORS, {}])
def test_rows_that_give_way_to_those_of_the_data_are_found_by_vectors(
    spark: SparkSession, tmp_path: Path, properties: dict[str, str]
) -> None:
    table = make(spark, tmp_path, properties=properties)

    writer = truckee.write(source_of(spark, 2, 3, 20)).mode("overwrite")
    writer.option("replaceUsing", "id").save(table.storage.root)

    assert {row[0]: row[1] for row in table.rows() if row[1] < 0} == {2: -1, 3: -1, 20: -1}
    assert ids(table) == [*range(10), 20]
    assert vectors_on_disk(table) == vectors_in_log(table)
