"""Spark's own cases of changelogs give the same rows here, with every identity."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import truckee
from changelog_cases import BY_ID, CASES, CUT, NET, UPDATES, Case, cases_table, events, number
from truckee.errors import KeysNotUniqueError
from truckee.table import DeltaTable

Seen = Counter[tuple[str, int, str, int]]
AS_ROWS = {"update_preimage": "delete", "update_postimage": "insert"}
ENGINES = ("spark", "arrow")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return cases_table(tmp_path_factory.mktemp("cases") / "t").path


def seen(
    engine: str, spark: SparkSession, table: Path, start: int = 2, end: int = 11, **shape: Any
) -> dict[str, Seen]:
    """The rows of a feed by case; the table's versions are one ahead of those of the cases."""
    if engine == "spark":
        frame = DeltaTable.forPath(spark, str(table)).changes(start, end, **shape)
        rows = [row.asDict() for row in frame.collect()]
    else:
        rows = truckee.open(str(table)).changes(start, end, **shape).to_arrow().to_pylist()
    found: dict[str, Seen] = defaultdict(Counter)
    for row in rows:
        version = row["_commit_version"] - 1
        found[row["case"]][row["_change_type"], row["id"], row["name"], version] += 1
    return found


def expected(cases: dict[str, Case], *, updates: bool = True) -> dict[str, Seen]:
    return {case: of_case(case, text, updates=updates) for case, (_, text) in cases.items()}


def of_case(case: str, text: str, *, updates: bool = True) -> Seen:
    return Counter(
        (e.kind if updates else AS_ROWS.get(e.kind, e.kind), number(case, e.id), e.name, e.version)
        for e in events(text)
    )


def chosen(found: dict[str, Seen], cases: dict[str, Case]) -> dict[str, Seen]:
    return {case: found.get(case, Counter()) for case in cases}


@pytest.mark.parametrize("engine", ENGINES)
def test_carry_overs_are_dropped_and_updates_are_paired(
    engine: str, spark: SparkSession, table: Path
) -> None:
    by_id = seen(engine, spark, table, changeFeed="derived", computeUpdates=True)
    by_key = seen(engine, spark, table, changeFeed="derived", computeUpdates=True, keys="id")
    apart = seen(engine, spark, table, changeFeed="auto", computeUpdates=False)

    known = {**UPDATES, **BY_ID}
    assert chosen(by_id, known) == expected(known)
    assert chosen(by_key, UPDATES) == expected(UPDATES)
    assert chosen(apart, known) == expected(known, updates=False)


@pytest.mark.parametrize("engine", ENGINES)
def test_without_deduplication_every_row_is_shown(
    engine: str, spark: SparkSession, table: Path
) -> None:
    found = seen(engine, spark, table, changeFeed="derived", deduplicationMode="NONE")

    assert found == {case: of_case(case, given) for case, (given, _) in CASES.items()}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("updates", [True, False])
def test_net_changes_follow_what_was_before_and_is_after(
    engine: str, spark: SparkSession, table: Path, updates: bool
) -> None:
    asked: dict[str, Any] = {
        "changeFeed": "derived",
        "deduplicationMode": "netChanges",
        "computeUpdates": updates,
    }
    by_id = seen(engine, spark, table, **asked)
    by_key = seen(engine, spark, table, **asked, keys=["id"])
    part = seen(engine, spark, table, 4, 7, **asked, keys=["id"])

    assert chosen(by_id, NET) == expected(NET, updates=updates)
    assert chosen(by_key, NET) == expected(NET, updates=updates)
    assert part["N12"] == of_case("N12", CUT.seen, updates=updates)
    alone = {"N1": NET["N1"], "N2": NET["N2"]}
    single = seen(engine, spark, table, 4, 4, **asked, keys=["id"])
    assert chosen(single, alone) == expected(alone, updates=updates)


@pytest.mark.parametrize("engine", ENGINES)
def test_net_changes_of_whole_rows_have_one_sign(
    engine: str, spark: SparkSession, table: Path
) -> None:
    found = seen(engine, spark, table, deduplicationMode="netChanges", changeFeed="auto")
    unchanged = seen(
        engine,
        spark,
        table,
        changeFeed="derived",
        deduplicationMode="netChanges",
        keys="id",
        dropUnchanged=True,
        computeUpdates=True,
    )

    for case, (given, _) in NET.items():
        balance: Counter[tuple[int, str]] = Counter()
        for event in events(given):
            balance[number(case, event.id), event.name] += 1 if event.kind == "insert" else -1
        net = {(kind, i, name): n for (kind, i, name, _), n in found.get(case, {}).items()}
        assert net == {
            ("insert" if count > 0 else "delete", *row): abs(count)
            for row, count in balance.items()
            if count
        }
    assert "A to B to A" not in unchanged


@pytest.mark.parametrize("engine", ENGINES)
def test_keys_that_are_not_unique_are_told_with_an_example(
    engine: str, spark: SparkSession, table: Path
) -> None:
    for mode in ("dropCarryovers", "netChanges"):
        with pytest.raises(KeysNotUniqueError) as caught:
            seen(
                engine,
                spark,
                table,
                changeFeed="derived",
                deduplicationMode=mode,
                keys="case",
                computeUpdates=True,
            )
        assert caught.value.keys == ("case",)
        assert caught.value.count > 1
        assert '"case":' in caught.value.example
        assert '"_commit_version":' in caught.value.example
