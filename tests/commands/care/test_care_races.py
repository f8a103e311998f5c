"""Vacuum, clone and restore beside DELETE, UPDATE, MERGE and append, in either order.

A vacuum and a clone are no obstacle. A restore takes away rows that others may be changing, so of
two at once the later one fails, unless it could as well have come after the other.
`TRUCKEE_ALL_INTERLEAVINGS` asks for all of it.
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

from commands.care.test_optimize_races import FEED, OTHERS, START, VECTORS, HeldUp, check, ids
from dml_model import Command, Delete, Model, Row, applied, frame
from dml_tables import Table, create_table
from truckee.care.vacuum.plan import VacuumOptions, plan_vacuum
from truckee.care.vacuum.vacuum import carry_out
from truckee.commands.care.clone import CloneRequest, clone_table
from truckee.commands.care.restore import restore_table, restore_target
from truckee.errors.transaction import DeltaConcurrentModificationException
from truckee.log.snapshot import load_snapshot
from truckee.storage.base import Storage
from truckee.storage.local import LocalStorage

pytestmark = pytest.mark.slow

GONE: list[Row] = [(90, 0, 0), (91, 0, 0)]
STEP = 1 if "TRUCKEE_ALL_INTERLEAVINGS" in os.environ else 3
KINDS = {"vectors": FEED | VECTORS, "rewrite": FEED}


@pytest.fixture(scope="module")
def starts(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Tables of START whose version before had two rows more, to copy."""
    folder = tmp_path_factory.mktemp("starts")
    found = {}
    for name, properties in KINDS.items():
        rows = frame(spark, [*START, *GONE])
        table = create_table(spark, folder / name, rows, properties=properties)
        Delete(ids(90, 91)).on_table(table)
        found[name] = table.path
    return found


def vacuumed(storage: Storage) -> None:
    orphan = Path(storage.root) / "orphan.parquet"
    orphan.write_bytes(b"")
    os.utime(orphan, (0, 0))
    plan = plan_vacuum(storage, VacuumOptions())
    outcome = carry_out(plan, {})
    assert outcome.files == 1
    assert not orphan.exists()


def cloned(storage: Storage) -> None:
    target = LocalStorage(f"{storage.root}-copy")
    clone_table(load_snapshot(storage), target, CloneRequest(is_shallow=True))


def restored(storage: Storage) -> None:
    restore_table(storage, restore_target(storage, 0, None))


HARMLESS: dict[str, Callable[[Storage], None]] = {"vacuum": vacuumed, "clone": cloned}


@pytest.mark.parametrize(("kind", "care", "other"), list(product(KINDS, HARMLESS, OTHERS))[::STEP])
def test_commands_land_beside_a_vacuum_or_a_clone(
    spark: SparkSession, starts: dict[str, Path], tmp_path: Path, kind: str, care: str, other: str
) -> None:
    table = Table(spark, shutil.copytree(starts[kind], tmp_path / "t"))
    start = table.version
    held = Table(spark, table.path)
    held.storage = HeldUp(str(table.path), start + 1, lambda: HARMLESS[care](table.storage))

    OTHERS[other].on_table(held)

    check(table, start, OTHERS[other])
    if care == "clone":
        copy = Table(spark, tmp_path / "t-copy")
        assert Counter(copy.rows()) == Counter(START)


@pytest.mark.parametrize(("kind", "other"), list(product(KINDS, OTHERS))[::STEP])
def test_a_vacuum_lands_beside_commands(
    spark: SparkSession, starts: dict[str, Path], tmp_path: Path, kind: str, other: str
) -> None:
    table = Table(spark, shutil.copytree(starts[kind], tmp_path / "t"))
    start = table.version

    vacuumed(HeldUp(str(table.path), start + 1, lambda: OTHERS[other].on_table(table) and None))

    check(table, start, OTHERS[other])


@pytest.mark.parametrize(("kind", "other"), list(product(KINDS, OTHERS)))
def test_a_command_and_a_restore_are_one_after_the_other_or_a_conflict(
    spark: SparkSession, starts: dict[str, Path], tmp_path: Path, kind: str, other: str
) -> None:
    table = Table(spark, shutil.copytree(starts[kind], tmp_path / "t"))
    start = table.version
    held = Table(spark, table.path)
    held.storage = HeldUp(str(table.path), start + 1, lambda: restored(table.storage))

    expected = Counter([*START, *GONE])
    try:
        OTHERS[other].on_table(held)
    except DeltaConcurrentModificationException:
        assert other != "append"
    else:
        expected = after(OTHERS[other])

    assert Counter(table.rows()) == expected
    assert applied(START, table.changes(start + 1)) == expected


def after(command: Command) -> Counter[Row]:
    model = Model([*START, *GONE])
    command.on_model(model)
    return Counter(model.rows)


@pytest.mark.parametrize(("kind", "other"), list(product(KINDS, OTHERS))[::STEP])
def test_a_restore_fails_if_a_command_came_first(
    spark: SparkSession, starts: dict[str, Path], tmp_path: Path, kind: str, other: str
) -> None:
    table = Table(spark, shutil.copytree(starts[kind], tmp_path / "t"))
    start = table.version
    held = HeldUp(str(table.path), start + 1, lambda: OTHERS[other].on_table(table) and None)

    with pytest.raises(DeltaConcurrentModificationException):
        restored(held)

    check(table, start, OTHERS[other])
