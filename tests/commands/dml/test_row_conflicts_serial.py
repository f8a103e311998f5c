"""Pairs of commands at the same time: what comes of them is what some order of the two gives.

The second command is planned on a version, the first then commits, and the second goes on: it
was held up right after it read the table, with its files written, or in the very act of its
commit. Either both land, and the table is as if one had come after the other, or the second fails
with delta-spark's exception and nothing of it is there.

Where it is held up, which rows it is about and whether they are marked take turns from pair to
pair; `TRUCKEE_ALL_INTERLEAVINGS` asks for all of it.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dml_model import (
    Append,
    Command,
    Delete,
    Merge,
    Model,
    Overwrite,
    Row,
    Sql,
    Update,
    applied,
    frame,
)
from dml_tables import FEED, VECTORS, Table, create_table
from truckee.commands.dml.command import CommandRun, commit_rows, run_command
from truckee.commands.dml.delete import delete_plan
from truckee.commands.dml.outcome import DmlPlan
from truckee.commands.dml.settings import DmlSettings
from truckee.commands.dml.update import update_plan
from truckee.commands.merge.clauses import Clause, ClauseKind, Does
from truckee.commands.merge.merge import Merge as MergeGiven
from truckee.commands.merge.merge import merge_plan
from truckee.errors.transaction import DeltaConcurrentModificationException
from truckee.log.snapshot import Snapshot
from truckee.protocol.paths import commit_path
from truckee.spark.read.frames import CommandReads
from truckee.storage.local import LocalStorage

pytestmark = pytest.mark.slow

SETTINGS = DmlSettings()
START: list[Row] = [(number, number, number % 2) for number in range(8)]
POINTS = ("read", "prepare", "commit")


def ids(*numbers: int) -> Sql:
    return Sql(f"{{}}.id in {tuple(numbers)}", lambda row: row[0] in numbers)


ALWAYS = Sql("true", lambda _: True)
PLUS_100 = (("v", Sql("{}.v + 100", lambda row: row[1] + 100)),)
PLUS_1000 = (("v", Sql("{}.v + 1000", lambda row: row[1] + 1000)),)

FIRST: dict[str, Command] = {
    "delete": Delete(ids(1, 2)),
    "update": Update(ids(1, 2), PLUS_100),
    "merge": Merge(((1, -1, 0), (2, -2, 0), (20, 1, 1)), matched_update=ALWAYS, insert=ALWAYS),
    "append": Append(((3, 33, 1), (30, 30, 0))),
    "overwrite": Overwrite(((2, 22, 0), (50, 50, 1))),
}
SECOND: dict[str, dict[str, Command]] = {
    "same rows": {
        "delete": Delete(ids(2, 3)),
        "update": Update(ids(2, 3), PLUS_1000),
        "merge": Merge(((2, -7, 0), (3, -7, 1), (20, 9, 0)), matched_update=ALWAYS, insert=ALWAYS),
    },
    "other rows": {
        "delete": Delete(ids(5, 6)),
        "update": Update(ids(5, 6), PLUS_1000),
        "merge": Merge(((5, -7, 0), (6, -7, 1), (40, 9, 0)), matched_delete=ids(5, 5),
                       matched_update=ALWAYS, insert=ALWAYS),
    },
}  # fmt: skip

# Every pair is among each eleventh, and every place is with some of them.
STEP = 1 if "TRUCKEE_ALL_INTERLEAVINGS" in os.environ else 11
CASES = list(product(FIRST, ("delete", "update", "merge"), POINTS, SECOND, ("vectors", "rewrite")))[
    ::STEP
]


@pytest.fixture(scope="module")
def starts(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A table of one file to copy, by what becomes of a file."""
    folder = tmp_path_factory.mktemp("starts")
    rows = frame(spark, START)
    return {
        "vectors": create_table(spark, folder / "v", rows, properties=FEED | VECTORS).path,
        "rewrite": create_table(spark, folder / "r", rows, properties=FEED).path,
    }


# Invariant 20.
@pytest.mark.parametrize(("first", "second", "point", "rows", "how"), CASES)
def test_two_at_once_are_one_after_the_other_or_a_conflict(
    spark: SparkSession,
    starts: dict[str, Path],
    tmp_path: Path,
    first: str,
    second: str,
    point: str,
    rows: str,
    how: str,
) -> None:
    table = Table(spark, shutil.copytree(starts[how], tmp_path / "t"))
    one, two = FIRST[first], SECOND[rows][second]

    landed = run_held_up(table, two, point, lambda: one.on_table(table))

    found = Counter(table.rows())
    assert found in ([outcome(one, two), outcome(two, one)] if landed else [outcome(one)])
    assert applied(START, table.changes(1)) == found
    if first == "overwrite" or (first != "append" and rows == "same rows"):
        assert not landed
    elif rows == "other rows" and how == "vectors":
        assert landed


def outcome(*commands: Command) -> Counter[Row]:
    model = Model(list(START))
    for command in commands:
        command.on_model(model)
    return Counter(model.rows)


def run_held_up(table: Table, command: Command, point: str, meanwhile: Callable[[], None]) -> bool:
    """Run a command that is held up once, and return whether it landed."""
    pending = [meanwhile]

    def happen() -> None:
        if pending:
            pending.pop()()

    def prepare(snapshot: Snapshot) -> DmlPlan:
        if point == "read":
            happen()
        ready = prepared(table, snapshot, command)
        if point == "prepare":
            happen()
        return ready

    storage = HeldUp(str(table.path), happen) if point == "commit" else table.storage
    try:
        run_command(table.spark, storage, "COMMAND", prepare, SETTINGS)
    except DeltaConcurrentModificationException:
        return False
    return True


class HeldUp(LocalStorage):
    """A storage in which something happens right before the first commit file is created."""

    def __init__(self, path: str, happen: Callable[[], None]) -> None:
        super().__init__(path)
        self._happen = happen

    def put_if_absent(self, path: str, data: bytes) -> None:
        if path == commit_path(1):
            self._happen()
        super().put_if_absent(path, data)


def prepared(table: Table, snapshot: Snapshot, command: Command) -> DmlPlan:
    spark = table.spark
    match command:
        case Delete(where):
            given = where.of("t")
            return delete_plan(spark, snapshot, given, settings=SETTINGS, alias="t")
        case Update(where, values):
            new = {name: value.of("t") for name, value in values}
            return update_plan(spark, snapshot, where.of("t"), new, settings=SETTINGS, alias="t")
        case Merge():
            return merge_plan(spark, snapshot, _merge(table, command), settings=SETTINGS)
    raise AssertionError(command)


def _merge(table: Table, merge: Merge) -> MergeGiven:
    clauses = []
    if merge.matched_delete is not None:
        clauses.append(Clause(ClauseKind.MATCHED, Does.DELETE, merge.matched_delete.of("t")))
    clauses.append(Clause(ClauseKind.MATCHED, Does.UPDATE))
    clauses.append(Clause(ClauseKind.NOT_MATCHED, Does.INSERT))
    return MergeGiven(
        source=frame(table.spark, merge.source).alias("s"),
        condition="t.id = s.id",
        clauses=tuple(clauses),
        alias="t",
    )


def test_a_plan_is_committed_as_it_was_made(spark: SparkSession, tmp_path: Path) -> None:
    table = create_table(spark, tmp_path / "t", frame(spark, START), properties=VECTORS)
    plan = prepared(table, table.snapshot, Delete(ids(1, 2)))

    assert commit_rows(CommandRun(spark, SETTINGS, CommandReads()), plan) == 1
    assert len(table.rows()) == 6
