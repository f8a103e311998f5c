"""Vacuum, restore, clone and optimize by one engine, looked at by the other.

Where truckee needs no JVM for a command, the test has none of ours either: rows come by
`truckee.open`.
"""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import truckee
from interop.delta_spark import DeltaSpark
from truckee import DeltaTable
from truckee.cli.main import main

pytestmark = pytest.mark.interop

_NO_CHECK = "spark.databricks.delta.retentionDurationCheck.enabled"
_FEED = ("id", "v", "_change_type", "_commit_version")


@pytest.fixture(scope="module")
def origin(delta_spark: DeltaSpark, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A table of delta-spark: partitions, vectors, the feed, an update, a dropped partition."""
    root = tmp_path_factory.mktemp("origin") / "t"
    delta_spark.sql(f"SET {_NO_CHECK} = false")
    # A vacuum lists in ten thousand tasks otherwise.
    delta_spark.sql("SET spark.sql.sources.parallelPartitionDiscovery.parallelism = 2")
    delta_spark.sql(
        f"CREATE TABLE delta.`{root}` (id LONG, v STRING, day STRING) USING delta "
        "PARTITIONED BY (day) TBLPROPERTIES (delta.enableChangeDataFeed = true, "
        "delta.enableDeletionVectors = true)"
    )
    delta_spark.sql(
        f"INSERT INTO delta.`{root}` SELECT /*+ COALESCE(1) */ id, concat('v', id), "
        "concat('a b/', id % 3) FROM range(30)"
    )
    delta_spark.sql(f"DELETE FROM delta.`{root}` WHERE id IN (3, 4, 5)")
    delta_spark.sql(f"UPDATE delta.`{root}` SET v = 'new' WHERE id IN (6, 7)")
    delta_spark.sql(f"DELETE FROM delta.`{root}` WHERE day = 'a b/2'")
    yield root
    delta_spark.sql(f"RESET {_NO_CHECK}")


@pytest.fixture
def path(origin: Path, tmp_path: Path) -> Path:
    """A table of its own for a test."""
    return Path(shutil.copytree(origin, tmp_path / "t"))


def orphaned(root: Path) -> None:
    """Put files and folders beside those of the table: left over, hidden, empty, nested."""
    for name in ("left.parquet", "x y%.parquet", "_hidden/a.parquet", ".b", "d/e/f.parquet"):
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"")
    (root / "empty").mkdir()
    (root / "_empty").mkdir()


def aged(root: Path) -> None:
    """Let every file be a day old, so that no clock has to be waited for."""
    for file in root.rglob("*"):
        if file.is_file() and "_delta_log" not in file.parts:
            old = file.stat().st_mtime - 86_400
            os.utime(file, (old, old))


def our_rows(root: Path, version: int | None = None) -> Counter[tuple[Any, ...]]:
    found = truckee.open(root).to_arrow(columns=["id", "v"], version=version)
    return Counter(tuple(row.values()) for row in found.to_pylist())


def their_rows(
    delta_spark: DeltaSpark, root: Path, version: int | None = None
) -> Counter[tuple[Any, ...]]:
    options = {} if version is None else {"versionAsOf": version}
    return Counter((row["id"], row["v"]) for row in delta_spark.read(root, **options))


def our_feed(root: Path, start: int) -> Counter[tuple[Any, ...]]:
    found = truckee.open(root).changes(startingVersion=start, columns=list(_FEED))
    return Counter(tuple(row.values()) for row in found.to_arrow().to_pylist())


def their_feed(delta_spark: DeltaSpark, root: Path, start: int) -> Counter[tuple[Any, ...]]:
    found = delta_spark.read(root, readChangeFeed="true", startingVersion=start)
    return Counter(tuple(row[name] for name in _FEED) for row in found)


def our_dry_run(root: Path, capsys: pytest.CaptureFixture[str], *options: str) -> set[str]:
    capsys.readouterr()
    command = ["vacuum", str(root), "--dry-run", "--json", "--retention", "0"]
    assert main([*command, "--no-retention-check", *options]) == 0
    named: list[str] = json.loads(capsys.readouterr().out)["paths"]
    return _files(root, named)


def their_dry_run(delta_spark: DeltaSpark, root: Path, mode: str = "") -> set[str]:
    found = delta_spark.sql(f"VACUUM delta.`{root}` {mode} RETAIN 0 HOURS DRY RUN")
    return _files(root, [row["path"] for row in found])


def _files(root: Path, named: list[str]) -> set[str]:
    """Return the files among names: theirs are URIs that are not encoded, ours are relative paths.

    Folders are left out: they name some that hold empty folders, which cannot be deleted yet.
    """
    paths = (root / name.removeprefix("file:") for name in named)
    return {str(path.relative_to(root)) for path in paths if not path.is_dir()}


def assert_alike(delta_spark: DeltaSpark, root: Path, expected: Counter[tuple[Any, ...]]) -> None:
    assert our_rows(root) == expected
    assert their_rows(delta_spark, root) == expected


def test_a_dry_run_names_the_files_that_delta_spark_names(
    delta_spark: DeltaSpark, path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    orphaned(path)
    aged(path)

    ours = our_dry_run(path, capsys)

    assert ours == their_dry_run(delta_spark, path)
    assert {"left.parquet", "x y%.parquet", "d/e/f.parquet"} <= ours
    assert any(name.startswith("_change_data") for name in ours)


def test_a_lite_dry_run_names_the_files_that_delta_spark_names(
    delta_spark: DeltaSpark, path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    orphaned(path)
    aged(path)

    ours = our_dry_run(path, capsys, "--lite")

    assert ours == their_dry_run(delta_spark, path, "LITE")
    assert ours != set()
    assert "left.parquet" not in ours


def test_a_vacuum_by_truckee_does_delta_spark_no_harm(
    delta_spark: DeltaSpark, path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    aged(path)
    before = their_rows(delta_spark, path)

    code = main(["vacuum", str(path), "--retention", "0", "--no-retention-check", "--yes"])

    assert code == 0
    assert_alike(delta_spark, path, before)
    assert their_dry_run(delta_spark, path) == set()
    delta_spark.sql(f"DELETE FROM delta.`{path}` WHERE id = 0")
    del before[(0, "v0")]
    assert_alike(delta_spark, path, before)


def test_a_vacuum_by_delta_spark_does_truckee_no_harm(
    spark: SparkSession, delta_spark: DeltaSpark, path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    DeltaTable.forPath(spark, path).delete("id = 1")
    DeltaTable.forPath(spark, path).update("id = 0", {"v": "'zero'"})
    aged(path)
    before = our_rows(path)
    assert (0, "zero") in before

    delta_spark.sql(f"VACUUM delta.`{path}` RETAIN 0 HOURS")

    assert_alike(delta_spark, path, before)
    assert our_dry_run(path, capsys) == set()


def test_a_restore_by_truckee_is_one_for_delta_spark(delta_spark: DeltaSpark, path: Path) -> None:
    before = their_rows(delta_spark, path, 1)
    restored = truckee.open(path).version + 1

    assert main(["restore", str(path), "--version", "1"]) == 0

    assert_alike(delta_spark, path, before)
    feed = our_feed(path, restored)
    assert feed == their_feed(delta_spark, path, restored)
    assert feed != Counter()


def test_a_restore_by_delta_spark_is_one_for_truckee(delta_spark: DeltaSpark, path: Path) -> None:
    before = our_rows(path, 2)
    restored = truckee.open(path).version + 1

    delta_spark.sql(f"RESTORE TABLE delta.`{path}` TO VERSION AS OF 2")

    assert_alike(delta_spark, path, before)
    assert our_feed(path, restored) == their_feed(delta_spark, path, restored)


@pytest.mark.parametrize("option", [(), ("--shallow",)], ids=["deep", "shallow"])
def test_a_clone_by_truckee_is_a_table_for_delta_spark(
    delta_spark: DeltaSpark, path: Path, option: tuple[str, ...]
) -> None:
    copy = path.with_name("copy")

    assert main(["clone", str(path), str(copy), *option]) == 0

    rows = our_rows(path)
    assert_alike(delta_spark, copy, rows)
    delta_spark.sql(f"DELETE FROM delta.`{copy}` WHERE id = 0")
    assert their_rows(delta_spark, path) == rows
    del rows[(0, "v0")]
    assert_alike(delta_spark, copy, rows)


def test_a_shallow_clone_by_delta_spark_is_a_table_for_truckee(
    delta_spark: DeltaSpark, path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = path.with_name("copy")
    delta_spark.sql(f"CREATE TABLE delta.`{copy}` SHALLOW CLONE delta.`{path}`")
    rows = our_rows(path)
    assert_alike(delta_spark, copy, rows)

    main(["vacuum", str(copy), "--retention", "0", "--no-retention-check", "--yes"])

    assert_alike(delta_spark, copy, rows)
    assert_alike(delta_spark, path, rows)


def test_rewrites_by_truckee_change_no_row_for_delta_spark(
    spark: SparkSession, delta_spark: DeltaSpark, path: Path
) -> None:
    delta_spark.sql(f"INSERT INTO delta.`{path}` VALUES (100, 'w', 'a b/0'), (101, 'x', 'a b/1')")
    rows = their_rows(delta_spark, path)
    first = truckee.open(path).version + 1
    optimize = DeltaTable.forPath(spark, path).optimize

    for run in (
        lambda: optimize().executeCompaction(),
        lambda: optimize().purge(),
        lambda: optimize().executeZOrderBy("id"),
    ):
        run()
        assert_alike(delta_spark, path, rows)

    assert truckee.open(path).version > first
    assert their_feed(delta_spark, path, first) == Counter()


def test_rewrites_by_delta_spark_change_no_row_for_truckee(
    delta_spark: DeltaSpark, path: Path
) -> None:
    delta_spark.sql(f"INSERT INTO delta.`{path}` VALUES (100, 'w', 'a b/0'), (101, 'x', 'a b/1')")
    rows = our_rows(path)
    first = truckee.open(path).version + 1

    delta_spark.sql(f"OPTIMIZE delta.`{path}`")
    delta_spark.sql(f"REORG TABLE delta.`{path}` APPLY (PURGE)")
    delta_spark.sql(f"OPTIMIZE delta.`{path}` ZORDER BY (id)")

    assert_alike(delta_spark, path, rows)
    assert truckee.open(path).version > first
    assert our_feed(path, first) == Counter()
