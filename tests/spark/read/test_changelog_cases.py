"""Spark's own cases of changelogs give the same rows here, with every identity."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from msgspec.structs import replace
from pyspark.sql import SparkSession

import truckee
from changelog_cases import (
    APART,
    BY_ID,
    BY_ID_AND_NAME,
    CASES,
    CUT,
    KEPT,
    NET,
    NOT_UNIQUE,
    OTHER_TYPES,
    PRESERVED,
    ROW_ID,
    ROW_VERSION,
    TRACKED,
    UPDATES,
    Case,
    cases_table,
    events,
    number,
    recorded_table,
)
from data_tables import DataTable, removed
from streaming.streams import feed as feed_stream
from truckee.arrow.compare.rows import arrow_rows
from truckee.doors.enable import enable
from truckee.errors import (
    KeysNotUniqueError,
    RowIdsNotUniqueError,
    UpdatesNeedCarryoversDroppedError,
)
from truckee.protocol.actions import AddFile, CommitInfo
from truckee.protocol.schema import PrimitiveType, StructField, StructType
from truckee.storage.local import LocalStorage
from truckee.table import DeltaTable

Seen = Counter[tuple[str, int, str, int]]
AS_ROWS = {"update_preimage": "delete", "update_postimage": "insert"}
ENGINES = ("spark", "arrow", "stream")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return cases_table(tmp_path_factory.mktemp("cases") / "t").path


def rows_of(
    engine: str, spark: SparkSession, table: Path, start: int, end: int, **shape: Any
) -> list[dict[str, Any]]:
    if engine == "spark":
        frame = DeltaTable.forPath(spark, str(table)).changes(start, end, **shape)
        return [row.asDict(recursive=True) for row in frame.collect()]
    if engine == "arrow":
        return truckee.open(str(table)).changes(start, end, **shape).to_arrow().to_pylist()
    return streamed(table, start, end, **shape)


def streamed(table: Path, start: int, end: int, **shape: Any) -> list[dict[str, Any]]:
    """The rows of a stream; a net is that of all versions, which are one batch."""
    limit = 1000 if shape.get("deduplicationMode") == "netChanges" else 1
    if isinstance(keys := shape.get("keys"), list):
        shape["keys"] = ",".join(keys)
    stream = feed_stream(
        LocalStorage(str(table)), startingVersion=start, maxFilesPerTrigger=limit, **shape
    )
    found: list[dict[str, Any]] = []
    offset = None
    while (until := stream.latest_offset(offset)) != offset:
        assert until is not None
        found += arrow_rows(stream.changelog_batch(offset, until)).to_arrow().to_pylist()
        offset = until
    return [row for row in found if row["_commit_version"] <= end]


def seen(
    engine: str, spark: SparkSession, table: Path, start: int = 2, end: int = 11, **shape: Any
) -> dict[str, Seen]:
    """The rows of a feed by case; the table's versions are one ahead of those of the cases."""
    found: dict[str, Seen] = defaultdict(Counter)
    for row in rows_of(engine, spark, table, start, end, **shape):
        assert all(row[name] == made(row["name"]) for name, made in OTHER_TYPES.items())
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

    # P19 is P9 with columns of other types, which all rows of the table have.
    known = {**UPDATES, **BY_ID}
    assert chosen(by_id, known) == expected(known)
    assert chosen(by_key, UPDATES) == expected(UPDATES)
    assert chosen(apart, known) == expected(known, updates=False)
    assert chosen(apart, APART) == expected(APART)


@pytest.mark.parametrize("engine", ENGINES)
def test_without_deduplication_every_row_is_shown(
    engine: str, spark: SparkSession, table: Path
) -> None:
    found = seen(engine, spark, table, changeFeed="derived", deduplicationMode="NONE")

    assert found == {case: of_case(case, given) for case, (given, _) in CASES.items()}
    assert chosen(found, KEPT) == expected(KEPT)


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
    assert chosen(by_id, NET) == expected(NET, updates=updates)
    assert chosen(by_key, NET) == expected(NET, updates=updates)
    if engine == "stream":
        return  # A stream has no end.
    part = seen(engine, spark, table, 4, 7, **asked, keys=["id"])
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
@pytest.mark.parametrize("identity", [{"keys": "id,name"}, {}], ids=["keys", "row ids"])
def test_several_columns_identify_a_row_together(
    engine: str, spark: SparkSession, tmp_path: Path, identity: dict[str, str]
) -> None:
    table = cases_table(tmp_path / "t", tuple(BY_ID_AND_NAME)).path

    found = seen(engine, spark, table, changeFeed="derived", computeUpdates=True, **identity)

    assert chosen(found, BY_ID_AND_NAME) == expected(BY_ID_AND_NAME)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_recorded_feed_has_no_carry_overs_and_is_shown_as_it_is(
    engine: str, spark: SparkSession, tmp_path: Path
) -> None:
    """P8: what nothing was asked to identify stays what it was, and costs no shuffle."""
    text = "I 1:Alice@1, D 2:Bob@2, I 2:Bob@2"
    table = recorded_table(tmp_path / "t", text).path

    rows = rows_of(engine, spark, table, 1, 10, computeUpdates=True)

    assert in_versions(rows) == Counter(e[:4] for e in events(text))
    frame = DeltaTable.forPath(spark, str(table)).changes(1, 10, computeUpdates=True)
    assert "Exchange" not in str(frame._jdf.queryExecution().executedPlan())


@pytest.mark.parametrize("engine", ENGINES)
def test_updates_of_a_recorded_feed_are_paired_although_nothing_is_dropped(
    engine: str, spark: SparkSession, tmp_path: Path
) -> None:
    """P13, and a copy that deduplication would drop."""
    text = "I 1:Alice@1, D 1:Alice@2, I 1:Robert@2, D 2:Bob@2, I 2:Bob@2"
    table = recorded_table(tmp_path / "t", text).path
    asked = {"computeUpdates": True, "keys": "id"}

    kept = rows_of(engine, spark, table, 1, 10, deduplicationMode="none", **asked)
    dropped = rows_of(engine, spark, table, 1, 10, deduplicationMode="dropCarryovers", **asked)

    paired = "I 1:Alice@1, U- 1:Alice@2, U+ 1:Robert@2"
    assert in_versions(kept) == Counter(e[:4] for e in events(paired + ", U- 2:Bob@2, U+ 2:Bob@2"))
    assert in_versions(dropped) == Counter(e[:4] for e in events(paired))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("mode", ["dropCarryovers", "netChanges"])
def test_rows_that_got_new_ids_when_they_were_moved_are_no_changes(
    engine: str, spark: SparkSession, tmp_path: Path, mode: str
) -> None:
    """A writer that does not say that it kept the ids of rows may have given them new ones."""
    table = DataTable(tmp_path / "t", "id long", "name string", properties=TRACKED)
    old = replace(named_rows(table, "old", {1: "a", 2: "b", 3: "c"}), base_row_id=0)
    table.commit(PRESERVED, old)
    new = replace(named_rows(table, "new", {1: "a", 2: "B"}), base_row_id=100)
    table.commit(CommitInfo(operation="TEST"), removed(old), new)

    rows = rows_of(
        engine,
        spark,
        table.path,
        2,
        2,
        changeFeed="derived",
        deduplicationMode=mode,
        computeUpdates=True,
    )

    assert in_versions(rows) == Counter(e[:4] for e in events("D 2:b@2, I 2:B@2, D 3:c@2"))


def named_rows(table: DataTable, name: str, rows: dict[int, str]) -> AddFile:
    return table.file(f"{name}.parquet", pa.table({"id": list(rows), "name": list(rows.values())}))


def in_versions(rows: list[dict[str, Any]]) -> Seen:
    return Counter((r["_change_type"], r["id"], r["name"], r["_commit_version"]) for r in rows)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("source", ["derived", "auto"])
def test_updates_are_not_told_from_rows_that_were_moved_if_those_are_kept(
    engine: str, spark: SparkSession, table: Path, source: str
) -> None:
    """P12."""
    with pytest.raises(UpdatesNeedCarryoversDroppedError) as caught:
        seen(
            engine,
            spark,
            table,
            changeFeed=source,
            computeUpdates=True,
            deduplicationMode="none",
        )

    assert str(caught.value) == (
        "[INVALID_CDC_OPTION.UPDATE_DETECTION_REQUIRES_CARRY_OVER_REMOVAL] computeUpdates is true "
        f"and deduplicationMode is none, but with changeFeed {source} rows that a commit only "
        "moved would look like updates\n"
        "hint: set deduplicationMode to dropCarryovers or netChanges"
    )


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("mode", ["dropCarryovers", "netChanges"])
@pytest.mark.parametrize("case", NOT_UNIQUE)
def test_several_changes_of_one_row_in_one_version_are_refused(
    engine: str, spark: SparkSession, tmp_path: Path, mode: str, case: str
) -> None:
    """P14, by keys and by row ids."""
    table = cases_table(tmp_path / "t", (case,)).path
    asked = {"changeFeed": "derived", "deduplicationMode": mode, "computeUpdates": True}

    with pytest.raises(KeysNotUniqueError) as by_key:
        seen(engine, spark, table, **asked, keys="id")
    with pytest.raises(RowIdsNotUniqueError) as by_id:
        seen(engine, spark, table, **asked)

    side, same = case.split()[1], number(case, 1)
    assert str(by_key.value) == (
        f"[DELTA_KEYS_NOT_UNIQUE] id does not identify a row: 2 rows {side} by one version have "
        f'{{"id":{same},"_commit_version":3}}\n'
        "hint: name more columns as keys, or none; with row tracking, row ids identify rows by "
        "themselves"
    )
    assert str(by_id.value) == (
        "[DELTA_ROW_IDS_NOT_UNIQUE] row ids do not identify a row, although row tracking is on: "
        f'2 rows {side} by one version have {{"row_id":{same},"_commit_version":3}}\n'
        "hint: name the columns that identify a row as keys, so that row ids are not used"
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_a_field_of_a_struct_identifies_a_row(
    engine: str, spark: SparkSession, tmp_path: Path
) -> None:
    """P20."""
    long, text = PrimitiveType("long"), PrimitiveType("string")
    payload = StructType((StructField("id", long), StructField("name", text)))
    table = DataTable(tmp_path / "t", StructField("payload", payload), properties=TRACKED)
    first, second = (
        replace(
            table.file(
                f"{name}.parquet",
                pa.table(
                    {
                        "payload": [{"id": 1, "name": name}, {"id": 2, "name": "same"}],
                        ROW_ID: [1, 2],
                        ROW_VERSION: [changed, 1],
                    }
                ),
            ),
            base_row_id=0,
        )
        for name, changed in (("original", 1), ("CHANGED", 2))
    )
    table.commit(PRESERVED, first)
    table.commit(PRESERVED, removed(first), second)

    for identity in ({"keys": "payload.id"}, {}):
        asked = {"changeFeed": "derived", **identity}
        apart = rows_of(engine, spark, table.path, 1, 2, computeUpdates=False, **asked)
        paired = rows_of(engine, spark, table.path, 1, 2, computeUpdates=True, **asked)

        assert [told(row) for row in sorted(apart, key=in_order)] == [
            ("insert", 1, "original", 1),
            ("insert", 2, "same", 1),
            ("delete", 1, "original", 2),
            ("insert", 1, "CHANGED", 2),
        ]
        assert [told(row) for row in sorted(paired, key=in_order)][2:] == [
            ("update_preimage", 1, "original", 2),
            ("update_postimage", 1, "CHANGED", 2),
        ]


def in_order(row: dict[str, Any]) -> tuple[Any, ...]:
    is_after = row["_change_type"] in ("insert", "update_postimage")
    return row["_commit_version"], is_after, row["payload"]["id"]


def told(row: dict[str, Any]) -> tuple[Any, ...]:
    payload = row["payload"]
    return row["_change_type"], payload["id"], payload["name"], row["_commit_version"]


RANGES = {
    "FROM VERSION 2 TO VERSION 2": {2},
    "FROM VERSION 1 EXCLUSIVE TO VERSION 3": {2, 3},
    "FROM VERSION 1 EXCLUSIVE TO VERSION 3 EXCLUSIVE": {2},
    "FROM VERSION 1": {1, 2, 3},
}


@pytest.fixture(scope="module")
def three_inserts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    table = DataTable(tmp_path_factory.mktemp("ranges") / "t", "id long")
    for version in (1, 2, 3):
        table.commit(table.file(f"{version}.parquet", {"id": [version]}))
    return table.path


@pytest.mark.parametrize("range_", RANGES)
def test_ranges_hold_the_ends_that_they_say(
    spark: SparkSession, three_inserts: Path, range_: str
) -> None:
    """P22, in SQL and with the options that Spark has for it."""
    name = f"delta.`{three_inserts}`"
    words = range_.replace("VERSION ", "").split()
    options: dict[str, Any] = {"startingVersion": words[1]}
    if "TO" in words:
        options["endingVersion"] = words[words.index("TO") + 1]
    if words[2:3] == ["EXCLUSIVE"]:
        options["startingBoundInclusive"] = "false"
    if words[-1] == "EXCLUSIVE" and "TO" in words:
        options["endingBoundInclusive"] = "false"
    enable(spark)

    by_sql = spark.sql(f"SELECT * FROM {name} CHANGES {range_}").collect()
    by_reader = spark.read.options(**options).changes(name).collect()

    for rows in (by_sql, by_reader):
        assert {(row["id"], row["_commit_version"], row["_change_type"]) for row in rows} == {
            (version, version, "insert") for version in RANGES[range_]
        }
