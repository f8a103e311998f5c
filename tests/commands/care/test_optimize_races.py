"""OPTIMIZE and PURGE beside DELETE, UPDATE, MERGE and append: both land, in either order.

A rewrite changes no rows, so whatever else is done meanwhile is done to the same rows. The one that
is held up, after it has written its files or in the very act of its commit, follows the other.
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

from dml_model import Append, Command, Delete, Merge, Model, Row, Sql, Update, applied, frame
from dml_tables import FEED, VECTORS, Table, create_table
from truckee.commands.care.optimize import optimize, purge
from truckee.commands.dml.delete import delete
from truckee.log.files.commits import read_commit
from truckee.protocol.deletion_vector import DeletionVectorDescriptor
from truckee.protocol.paths import commit_path
from truckee.spark.dml import row_bitmaps
from truckee.storage.local import LocalStorage
from writing import rust_rows

pytestmark = pytest.mark.slow


START: list[Row] = [(number, number, number % 2) for number in range(8)]
ALWAYS = Sql("true", lambda _: True)


def ids(*numbers: int) -> Sql:
    return Sql(f"{{}}.id in {tuple(numbers)}", lambda row: row[0] in numbers)


OTHERS: dict[str, Command] = {
    "delete": Delete(ids(1, 2)),
    "update": Update(ids(1, 6), (("v", Sql("{}.v + 100", lambda row: row[1] + 100)),)),
    "merge": Merge(((1, -1, 0), (2, -2, 0), (20, 1, 1)), matched_update=ALWAYS, insert=ALWAYS),
    "append": Append(((3, 33, 1), (30, 30, 0))),
    "delete all": Delete(ALWAYS),
}
REWRITES = ("compaction", "z-order", "purge")
KINDS: dict[str, dict[str, str]] = {
    "vectors": FEED | VECTORS,
    "rewrite": FEED,
    "row ids": FEED | VECTORS | {"delta.enableRowTracking": "true"},
}
STEP = 1 if "TRUCKEE_ALL_INTERLEAVINGS" in os.environ else 7
CASES = list(product(KINDS, REWRITES, OTHERS))[::STEP]


@pytest.fixture(scope="module")
def starts(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A table of two files, each with a row deleted where that is possible, to copy."""
    folder = tmp_path_factory.mktemp("starts")
    found = {}
    for number, (name, properties) in enumerate(KINDS.items()):
        rows = frame(spark, [*START[:4], (90, 0, 0)])
        table = create_table(spark, folder / str(number), rows, properties=properties)
        table.append(frame(spark, [*START[4:], (91, 0, 0)]))
        Delete(ids(90, 91)).on_table(table)
        found[name] = table.path
    return found


def rewritten(table: Table, kind: str, storage: LocalStorage | None = None) -> None:
    where = storage or table.storage
    if kind == "purge":
        purge(table.spark, where)
    else:
        optimize(table.spark, where, zorder_by=["v"] if kind == "z-order" else [])


def outcome(command: Command) -> Counter[Row]:
    model = Model(list(START))
    command.on_model(model)
    return Counter(model.rows)


class HeldUp(LocalStorage):
    """A storage in which something happens right before a commit file is created."""

    def __init__(self, path: str, version: int, happen: Callable[[], None]) -> None:
        super().__init__(path)
        self._version = version
        self._pending = [happen]

    def put_if_absent(self, path: str, data: bytes) -> None:
        if self._pending and path == commit_path(self._version):
            self._pending.pop()()
        super().put_if_absent(path, data)


# Invariant 35.
@pytest.mark.parametrize(("kind", "rewrite", "other"), CASES)
def test_a_rewrite_follows_what_was_done_to_its_rows_meanwhile(
    spark: SparkSession,
    starts: dict[str, Path],
    tmp_path: Path,
    kind: str,
    rewrite: str,
    other: str,
) -> None:
    table = Table(spark, shutil.copytree(starts[kind], tmp_path / "t"))
    start = table.version
    held = HeldUp(str(table.path), start + 1, lambda: OTHERS[other].on_table(table) and None)

    rewritten(table, rewrite, held)

    check(table, start, OTHERS[other])


@pytest.mark.parametrize(("kind", "rewrite", "other"), CASES[1:])
def test_commands_follow_a_rewrite_of_their_files(
    spark: SparkSession,
    starts: dict[str, Path],
    tmp_path: Path,
    kind: str,
    rewrite: str,
    other: str,
) -> None:
    table = Table(spark, shutil.copytree(starts[kind], tmp_path / "t"))
    start = table.version
    held = Table(spark, table.path)
    held.storage = HeldUp(str(table.path), start + 1, lambda: rewritten(table, rewrite))

    OTHERS[other].on_table(held)

    check(table, start, OTHERS[other])


def check(table: Table, start: int, other: Command) -> None:
    found = Counter(table.rows())
    assert found == outcome(other)
    theirs = [tuple(row[name] for name in ("id", "v", "part")) for row in rust_rows(table.path)]
    assert Counter(theirs) == found
    assert applied(START, table.changes(start + 1)) == found


@pytest.mark.parametrize("most_sent", [row_bitmaps.MOST_SENT, 0])
def test_deletions_move_along_with_the_rows_and_nothing_is_written_twice(
    spark: SparkSession,
    starts: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    most_sent: int,
) -> None:
    monkeypatch.setattr(row_bitmaps, "MOST_SENT", most_sent)
    table = Table(spark, shutil.copytree(starts["vectors"], tmp_path / "t"))
    table.append(frame(spark, [START[1], START[1], (None, None, None), (None, None, None)]))
    start, before = table.version, Counter(table.rows())
    meanwhile = Delete(Sql("{}.id is null or {}.id = 2", lambda _: None))
    held = HeldUp(str(table.path), start + 1, lambda: meanwhile.on_table(table) and None)

    rewritten(table, "compaction", held)

    assert Counter(table.rows()) == before - Counter({(None, None, None): 2, START[2]: 1})
    [add] = table.snapshot.files()
    assert add.deletion_vector is not None
    assert add.deletion_vector.cardinality == 3
    named = {vector.file_path for version in range(start + 2) for vector in vectors(table, version)}
    assert {path for path in table.files_on_disk() if path.endswith(".bin")} == {
        *named,
        add.deletion_vector.file_path,
    }
    assert table.info.operation == "OPTIMIZE"
    assert table.version == start + 2
    assert table.changes(start + 2) == []
    assert len(rust_rows(table.path)) == len(table.rows())


def vectors(table: Table, version: int) -> list[DeletionVectorDescriptor]:
    adds = read_commit(table.storage, version).adds
    return [add.deletion_vector for add in adds if add.deletion_vector is not None]


def test_a_bin_that_was_lost_does_not_keep_others_from_being_committed(
    spark: SparkSession, tmp_path: Path
) -> None:
    rows = frame(spark, START)
    table = create_table(spark, tmp_path / "t", rows, partition_by=["part"])
    table.append(rows)
    meanwhile = Delete(Sql("{}.part = 0 and {}.id = 2", lambda _: None))
    held = HeldUp(str(table.path), 2, lambda: meanwhile.on_table(table) and None)

    optimize(spark, held)

    assert len(table.rows()) == 14
    assert table.snapshot.num_files == 2
    files = {path for path in table.files_on_disk() if path.endswith(".parquet")}
    removed = {remove.path for version in (2, 3, 4) for remove in removes(table, version)}
    live = {add.path for add in table.snapshot.files()}
    assert len(files) == len(live | removed), "files of the lost bin are deleted"


def removes(table: Table, version: int) -> list:  # type: ignore[type-arg]
    return list(read_commit(table.storage, version).removes)


def test_a_column_added_meanwhile_is_no_obstacle(
    spark: SparkSession, starts: dict[str, Path], tmp_path: Path
) -> None:
    from truckee.table import DeltaTable

    table = Table(spark, shutil.copytree(starts["vectors"], tmp_path / "t"))
    opened = DeltaTable.forPath(spark, str(table.path))
    held = HeldUp(str(table.path), table.version + 1, lambda: opened.addColumn("new", "int"))

    rewritten(table, "compaction", held)

    assert table.snapshot.num_files == 1
    assert Counter(row[:3] for row in table.rows()) == Counter(START)
    assert {row[3] for row in table.rows()} == {None}


def test_a_deleted_row_is_told_from_one_whose_variant_has_the_same_json(
    spark: SparkSession, tmp_path: Path
) -> None:
    day = spark.sql("select cast(date'2024-01-01' as variant) as v")
    text = spark.sql("""select parse_json('"2024-01-01"') as v""")
    table = create_table(spark, tmp_path / "t", text.union(day), properties=VECTORS)
    table.append(text)
    meanwhile = "schema_of_variant(v) = 'DATE'"
    held = HeldUp(str(table.path), 2, lambda: delete(spark, table.storage, meanwhile) and None)

    optimize(spark, held)

    assert table.info.operation == "OPTIMIZE"
    assert table.snapshot.num_files == 1
    left = table.frame().selectExpr("schema_of_variant(v)").collect()
    assert [row[0] for row in left] == ["STRING", "STRING"]
