"""One checkpoint, two engines: a query that one of them began is continued by the other.

Each test runs twice, with either engine first. `begin` and `go_on` are runs of the same query.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from interop.delta_spark import DeltaSpark
from interop.stream_runs import stream_run
from truckee.doors.enable import enable

pytestmark = pytest.mark.interop

Run = Callable[..., dict[str, Any]]

_RUN = """
from stream_runs import stream_run
result = stream_run(spark, arguments)
"""
_ONE_BY_ONE = {"maxFilesPerTrigger": "1"}


class _Query:
    """A table, and a query over it whose checkpoint both engines use."""

    def __init__(self, spark: SparkSession, folder: Path, engines: tuple[Run, Run]) -> None:
        self.spark, self.folder, self._engines = spark, folder, engines
        self.source, self.target = str(folder / "s"), str(folder / "t")
        self.checkpoint = folder / "c"
        self.seen: Counter[str] = Counter()

    def sql(self, text: str) -> list[Any]:
        return self.spark.sql(text.format(s=f"delta.`{self.source}`")).collect()

    def create(self, **properties: str) -> None:
        listed = ", ".join(f"'delta.{name}' = '{value}'" for name, value in properties.items())
        self.sql(f"CREATE TABLE {{s}} (id BIGINT, v STRING) USING delta TBLPROPERTIES ({listed})")

    def add(self, *ids: int, files: int = 1) -> None:
        rows = self.spark.createDataFrame([(i, f"v{i}") for i in ids], "id long, v string")
        rows.repartition(files, "id").write.format("delta").mode("append").save(self.source)
        time.sleep(0.01)  # files of one time come in the order of their names

    def begin(self, **told: Any) -> str | None:
        return self._run(self._engines[0], told)

    def go_on(self, **told: Any) -> str | None:
        return self._run(self._engines[1], told)

    def _run(self, engine: Run, told: dict[str, Any]) -> str | None:
        """Run the query, count the rows of its batches, and return the class of its error."""
        given = {"options": {}, **told}
        found = engine(source=self.source, checkpoint=str(self.checkpoint), **given)
        self.seen.update(repr(row) for batch in found["batches"].values() for row in batch)
        error: str | None = found["error"]
        return error

    def forget_last_batch(self) -> None:
        """Leave the checkpoint as a crash does, after the batch was written and not recorded."""
        commits = self.checkpoint / "commits"
        last = max((file for file in commits.iterdir() if file.name.isdigit()), key=_number)
        last.unlink()
        (commits / f".{last.name}.crc").unlink(missing_ok=True)

    def written(self) -> list[tuple[Any, ...]]:
        return sorted(map(tuple, self.spark.read.format("delta").load(self.target).collect()))


def _number(file: Path) -> int:
    return int(file.name)


def _once(*ids: int) -> Counter[str]:
    return Counter(repr([number, f"v{number}"]) for number in ids)


@pytest.fixture(params=["truckee", "delta-spark"], ids="{} first".format)
def query(
    request: pytest.FixtureRequest, spark: SparkSession, delta_spark: DeltaSpark, tmp_path: Path
) -> _Query:
    enabled = enable(spark)

    def ours(**told: Any) -> dict[str, Any]:
        return stream_run(enabled, told)

    def theirs(**told: Any) -> dict[str, Any]:
        found: dict[str, Any] = delta_spark.run(_RUN, **told)
        return found

    engines = (ours, theirs) if request.param == "truckee" else (theirs, ours)
    return _Query(enabled, tmp_path, engines)


def test_an_initial_snapshot_is_read_on_where_the_other_engine_stopped(query: _Query) -> None:
    for number in range(5):
        query.add(number)

    assert query.begin(options=_ONE_BY_ONE, stop_at=2) is None
    query.sql("OPTIMIZE {s}")
    query.add(5)
    assert query.go_on(options=_ONE_BY_ONE, stop_at=4) is None
    assert query.begin(options=_ONE_BY_ONE) is None
    query.add(6)
    assert query.go_on() is None

    assert query.seen == _once(*range(7))


def test_a_first_batch_that_was_planned_has_the_same_rows_in_the_other_engine(
    query: _Query,
) -> None:
    query.add(0)
    query.add(1)

    assert query.begin(stop_at=0) is None
    query.add(2)
    assert query.go_on(stop_at=1) is None

    assert query.seen == _once(0, 1)
    assert query.begin() is None
    assert query.seen == _once(0, 1, 2)


def test_a_backlog_is_read_on_in_the_middle_of_a_commit(query: _Query) -> None:
    query.create(enableDeletionVectors="false")
    query.add(*range(10), files=4)
    query.add(*range(10, 20), files=4)
    from_the_start = {**_ONE_BY_ONE, "startingVersion": "0"}

    assert query.begin(options=from_the_start, stop_at=2) is None
    assert query.go_on(options=from_the_start, stop_at=5) is None
    query.add(20)
    assert query.begin(options=from_the_start) is None
    query.add(21)
    assert query.go_on(options=from_the_start) is None

    assert query.seen == _once(*range(22))


@pytest.mark.parametrize("vectors", ["true", "false"])
def test_a_feed_is_read_on_without_losing_or_doubling_a_change(query: _Query, vectors: str) -> None:
    query.create(enableChangeDataFeed="true", enableDeletionVectors=vectors)
    query.add(*range(6), files=2)
    query.sql("UPDATE {s} SET v = 'u' WHERE id % 2 = 0")
    query.sql("DELETE FROM {s} WHERE id = 3")
    told = {
        "options": {**_ONE_BY_ONE, "readChangeFeed": "true", "startingVersion": "0"},
        "before": 'rows = rows.drop("_commit_timestamp")',
    }

    assert query.begin(stop_at=1, **told) is None
    assert query.go_on(stop_at=2, **told) is None
    query.sql(
        "MERGE INTO {s} t USING (SELECT 4L AS id, 'm' AS v UNION ALL SELECT 9L, 'n') u "
        "ON u.id = t.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    assert query.begin(stop_at=4, **told) is None
    assert query.go_on(**told) is None

    feed = query.spark.read.format("delta").option("readChangeFeed", "true")
    recorded = feed.option("startingVersion", 0).load(query.source).drop("_commit_timestamp")
    assert query.seen == Counter(repr(list(row)) for row in recorded.collect())


def test_a_batch_that_the_other_engine_has_written_is_not_written_again(query: _Query) -> None:
    for number, run in enumerate((query.begin, query.go_on)):
        query.add(number)
        assert run(target=query.target) is None
        query.forget_last_batch()
    assert query.begin(target=query.target) is None
    query.add(2)
    assert query.go_on(target=query.target) is None

    assert query.written() == [(number, f"v{number}") for number in range(3)]


def test_counts_go_on_in_complete_mode(query: _Query) -> None:
    told = {
        "target": query.target,
        "mode": "complete",
        "before": 'rows = rows.groupBy("v").count()',
    }
    query.add(0)
    query.add(1)

    assert query.begin(**told) is None
    query.add(0)
    assert query.go_on(**told) is None
    query.forget_last_batch()
    assert query.begin(**told) is None
    query.add(1)
    assert query.go_on(**told) is None

    assert query.written() == [("v0", 2), ("v1", 2)]


def test_writes_of_a_batch_by_hand_happen_once(query: _Query) -> None:
    writes = (
        'batch.write.format("delta").mode("append").option("txnAppId", "app")'
        f'.option("txnVersion", number).save("{query.target}")'
    )
    query.add(0)

    assert query.begin(each=writes) is None
    query.forget_last_batch()
    assert query.go_on(each=writes) is None
    query.add(1)
    assert query.go_on(each=writes) is None
    query.forget_last_batch()
    assert query.begin(each=writes) is None

    assert query.written() == [(0, "v0"), (1, "v1")]


def test_a_schema_log_is_kept_by_both_engines(query: _Query) -> None:
    query.create(**{"columnMapping.mode": "name"})
    query.add(0)
    options = {
        "schemaTrackingLocation": str(query.checkpoint / "schemas"),
        "allowSourceColumnRename": "always",
    }

    assert query.begin(options=options) is None
    query.add(1)
    query.sql("ALTER TABLE {s} RENAME COLUMN v TO w")
    query.sql("INSERT INTO {s} VALUES (2, 'v2')")
    assert query.go_on(options=options) == "DELTA_STREAMING_METADATA_EVOLUTION"
    assert query.begin(options=options) is None
    query.sql("ALTER TABLE {s} RENAME COLUMN w TO x")
    query.sql("INSERT INTO {s} VALUES (3, 'v3')")
    assert query.begin(options=options) == "DELTA_STREAMING_METADATA_EVOLUTION"
    assert query.go_on(options=options) is None

    assert query.seen == _once(0, 1, 2, 3)
