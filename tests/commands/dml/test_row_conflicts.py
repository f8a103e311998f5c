"""Commands side by side: those that touch different rows all commit, whatever file rows are in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from pyspark.sql import SparkSession

from dml_tables import FEED, VECTORS, Table, create_table, numbers
from truckee.commands.dml.command import CommandRun, commit_rows, run_command
from truckee.commands.dml.delete import delete, delete_plan
from truckee.commands.dml.outcome import DmlPlan
from truckee.commands.dml.settings import DmlSettings
from truckee.commands.dml.update import update, update_plan
from truckee.commands.merge.builder import merge_builder
from truckee.commands.merge.clauses import Clause, ClauseKind, Does
from truckee.commands.merge.merge import Merge, merge_plan
from truckee.errors.transaction import (
    ConcurrentAppendException,
    ConcurrentDeleteReadException,
    ConcurrentTransactionException,
    MetadataChangedException,
)
from truckee.log.commit.transaction import Transaction
from truckee.log.snapshot import Snapshot
from truckee.spark.read.frames import CommandReads

SETTINGS = DmlSettings()
Prepare = Callable[[Snapshot], DmlPlan]


def make(spark: SparkSession, tmp_path: Path) -> Table:
    properties = VECTORS | FEED
    return create_table(spark, tmp_path / "t", numbers(spark, 0, 10), properties=properties)


def deleting(table: Table, condition: str) -> DmlPlan:
    return delete_plan(table.spark, table.snapshot, condition, settings=SETTINGS)


def updating(table: Table, condition: str, **values: str) -> DmlPlan:
    return update_plan(table.spark, table.snapshot, condition, values, settings=SETTINGS)


def set_property(table: Table, name: str, value: str) -> None:
    before = table.snapshot.metadata
    transaction = Transaction(table.storage, table.snapshot)
    transaction.set_metadata(replace(before, configuration={**before.configuration, name: value}))
    transaction.commit("SET TBLPROPERTIES")


def vectors_on_disk(table: Table) -> set[str]:
    return {name for name in table.files_on_disk() if name.endswith(".bin")}


def vectors_in_log(table: Table) -> set[str]:
    adds = table.snapshot.files()
    return {add.deletion_vector.file_path for add in adds if add.deletion_vector is not None}


def test_deletes_of_different_rows_unite_their_vectors(spark: SparkSession, tmp_path: Path) -> None:
    table = make(spark, tmp_path)
    mine = deleting(table, "id = 1")
    delete(spark, table.storage, "id in (2, 3)")
    delete(spark, table.storage, "id = 4")

    version = commit_rows(CommandRun(spark, SETTINGS, CommandReads()), mine)

    assert version == 3
    assert [row[0] for row in table.rows()] == [0, 5, 6, 7, 8, 9]
    assert table.changes(3) == [(1, 10, 1, "delete", 3)]
    assert table.metrics["numDeletionVectorsUpdated"] == "1"
    assert table.info.read_version == 2
    assert vectors_in_log(table) <= vectors_on_disk(table)
    assert len(vectors_on_disk(table)) == 3


def test_rows_that_both_take_are_a_conflict(spark: SparkSession, tmp_path: Path) -> None:
    table = make(spark, tmp_path)
    [file] = table.snapshot.files()
    mine = deleting(table, "id in (1, 2)")
    delete(spark, table.storage, "id in (2, 3)")
    before = table.files_on_disk()

    with pytest.raises(ConcurrentDeleteReadException) as error:
        commit_rows(CommandRun(spark, SETTINGS, CommandReads()), mine)

    assert error.value.sentence() == (
        f"version 1 (DELETE) removed the file '{file.path}' from the table, and this transaction "
        "has read it\nhint: read the table again and repeat the operation"
    )
    assert table.version == 1
    assert table.files_on_disk() < before


def test_a_version_of_the_same_application_is_a_conflict_though_the_rows_are_others(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = make(spark, tmp_path)
    mine = deleting(table, "id = 1")
    delete(spark, table.storage, "id = 2")
    theirs = Transaction(table.storage, table.snapshot)
    theirs.set_transaction("app", 5)
    theirs.commit("WRITE")

    settings = DmlSettings(txn_app_id="app", txn_version=6)
    with pytest.raises(ConcurrentTransactionException) as error:
        commit_rows(CommandRun(spark, settings, CommandReads()), mine)

    assert (error.value.version, error.value.app_id) == (2, "app")
    assert table.version == 2


def test_the_last_rows_of_a_file_taken_by_two_remove_it(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = make(spark, tmp_path)
    mine = deleting(table, "id < 5")
    delete(spark, table.storage, "id >= 5")

    commit_rows(CommandRun(spark, SETTINGS, CommandReads()), mine)

    assert table.rows() == []
    assert table.last.adds == ()
    assert len(table.changes(2)) == 5


def test_the_switch_makes_a_conflict_of_every_file_that_both_touch(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = make(spark, tmp_path)
    mine = deleting(table, "id = 1")
    delete(spark, table.storage, "id = 2")

    run = CommandRun(spark, DmlSettings(row_level_conflicts=False), CommandReads())
    with pytest.raises(ConcurrentAppendException):
        commit_rows(run, mine)


def test_updates_of_different_rows_both_land(spark: SparkSession, tmp_path: Path) -> None:
    table = make(spark, tmp_path)
    mine = updating(table, "id % 4 = 1", v="v + 1")
    update(spark, table.storage, "id % 4 = 2", {"v": "v + 2"})
    update(spark, table.storage, "id % 4 = 2", {"v": "v + 2"})

    commit_rows(CommandRun(spark, SETTINGS, CommandReads()), mine)

    assert [row[1] - 10 * row[0] for row in table.rows()] == [0, 1, 4, 0, 0, 1, 4, 0, 0, 1]
    assert len(table.changes(3)) == 6


def test_a_row_that_an_update_brings_into_the_condition_is_a_conflict(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = make(spark, tmp_path)
    mine = deleting(table, "v % 100 = 10")
    update(spark, table.storage, "id = 5", {"v": "10"})

    with pytest.raises(ConcurrentAppendException):
        commit_rows(CommandRun(spark, SETTINGS, CommandReads()), mine)


@pytest.mark.parametrize(("ids", "conflicts"), [((100, 103), False), ((0, 3), True)])
def test_an_append_is_a_conflict_only_with_a_row_of_the_condition(
    spark: SparkSession, tmp_path: Path, ids: tuple[int, int], conflicts: bool
) -> None:
    table = make(spark, tmp_path)
    mine = updating(table, "id * 1 < 5", v="0")
    table.append(numbers(spark, *ids))

    if conflicts:
        with pytest.raises(ConcurrentAppendException):
            commit_rows(CommandRun(spark, SETTINGS, CommandReads()), mine)
    else:
        commit_rows(CommandRun(spark, SETTINGS, CommandReads()), mine)
        assert len(table.rows()) == 13


def test_write_serializable_lets_blind_appends_pass(spark: SparkSession, tmp_path: Path) -> None:
    table = make(spark, tmp_path)
    set_property(table, "delta.isolationLevel", "WriteSerializable")
    mine = deleting(table, "id * 1 < 5")
    table.append(numbers(spark, 0, 3))

    commit_rows(CommandRun(spark, SETTINGS, CommandReads()), mine)

    assert [row[0] for row in table.rows()] == [0, 1, 2, 5, 6, 7, 8, 9]


def test_a_change_of_metadata_is_a_conflict(spark: SparkSession, tmp_path: Path) -> None:
    table = make(spark, tmp_path)
    mine = deleting(table, "id = 1")
    set_property(table, "some.property", "1")
    delete(spark, table.storage, "id = 2")

    with pytest.raises(MetadataChangedException):
        commit_rows(CommandRun(spark, SETTINGS, CommandReads()), mine)


def interrupted(prepare: Prepare, event: Callable[[], object]) -> Prepare:
    """Let something happen between the first preparation of a command and its commit."""
    pending = [event]

    def prepared(snapshot: Snapshot) -> DmlPlan:
        ready = prepare(snapshot)
        if pending:
            pending.pop()()
        return ready

    return prepared


def test_a_command_is_run_again_when_its_rows_have_only_moved(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = make(spark, tmp_path)

    def moved() -> None:
        spark.conf.set("spark.databricks.delta.delete.deletionVectors.persistent", "false")
        delete(spark, table.storage, "id = 9")
        spark.conf.unset("spark.databricks.delta.delete.deletionVectors.persistent")

    def prepare(snapshot: Snapshot) -> DmlPlan:
        return update_plan(spark, snapshot, "id = 1", {"v": "v + 1"}, settings=SETTINGS)

    done = run_command(spark, table.storage, "UPDATE", interrupted(prepare, moved), SETTINGS)

    assert done == {"num_affected_rows": 1}
    assert table.version == 2
    assert table.rows()[:2] == [(0, 0, 0), (1, 11, 1)]
    assert len(table.rows()) == 9


def test_a_rewritten_file_whose_rows_were_changed_is_a_conflict(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = make(spark, tmp_path)
    mine = updating(table, "id = 1", v="v + 1")
    spark.conf.set("spark.databricks.delta.update.deletionVectors.persistent", "false")
    update(spark, table.storage, "id < 3", {"v": "v * 2"})
    spark.conf.unset("spark.databricks.delta.update.deletionVectors.persistent")

    with pytest.raises(ConcurrentDeleteReadException):
        commit_rows(CommandRun(spark, SETTINGS, CommandReads()), mine, may_run_again=True)


def test_a_merge_that_inserts_does_not_overlook_a_row_that_came_meanwhile(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = make(spark, tmp_path)
    source = spark.createDataFrame([(5, 0, 0), (50, 0, 0)], "id long, v int, part int").alias("s")
    merge = Merge(
        source=source,
        condition="t.id = s.id",
        clauses=(Clause(ClauseKind.NOT_MATCHED, Does.INSERT),),
        alias="t",
    )
    mine = merge_plan(spark, table.snapshot, merge, settings=SETTINGS)
    same = merge_plan(spark, table.snapshot, merge, settings=SETTINGS)
    gone = merge_plan(spark, table.snapshot, merge, settings=SETTINGS)
    delete(spark, table.storage, "id = 4")

    commit_rows(CommandRun(spark, SETTINGS, CommandReads()), mine)
    with pytest.raises(ConcurrentAppendException):
        commit_rows(CommandRun(spark, SETTINGS, CommandReads()), same)
    delete(spark, table.storage, "id >= 50")
    delete(spark, table.storage, "id = 5")
    with pytest.raises(ConcurrentDeleteReadException):
        commit_rows(CommandRun(spark, SETTINGS, CommandReads()), gone)

    assert [row[0] for row in table.rows()] == [0, 1, 2, 3, 6, 7, 8, 9]


def test_a_merge_by_builder_lands_beside_a_delete(spark: SparkSession, tmp_path: Path) -> None:
    table = make(spark, tmp_path)
    source = spark.createDataFrame([(5, -5, 0), (50, 0, 0)], "id long, v int, part int").alias("s")
    builder = merge_builder(spark, table.storage, source, "t.id = s.id", alias="t")

    builder.whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()

    assert len(table.rows()) == 11
