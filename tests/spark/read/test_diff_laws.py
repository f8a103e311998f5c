"""What a diff promises, whatever happened to a table: histories of the DML model, on both engines.

`TRUCKEE_DIFF_EXAMPLES` asks for more histories.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

import truckee
from commands.dml.test_dml_model import ROWS, VALUES, conditions, histories, run
from dml_model import Command, Delete, Model, Overwrite, Row, Update, frame
from dml_tables import FEED, VECTORS, Table, create_table
from schema_model import EXTRA, WIDENING, AddColumn, DropColumn, Rename, Widen
from streaming.streams import feed as feed_stream
from truckee.arrow.compare.rows import arrow_rows
from truckee.errors import KeysNotUniqueError
from truckee.log.files.commits import read_commit
from truckee.storage.local import LocalStorage
from truckee.streaming.table_stream import TableStream
from truckee.table import DeltaTable

pytestmark = [pytest.mark.property, pytest.mark.slow]

EXAMPLES = int(os.environ.get("TRUCKEE_DIFF_EXAMPLES", "2"))
TRACKED = {"delta.enableRowTracking": "true"}
SIGNS = {"insert": 1, "update_postimage": 1, "delete": -1, "update_preimage": -1}

Shown = tuple[Any, Any, Any, str]


# Invariant 58.
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(
    start=st.lists(ROWS, min_size=4, max_size=12, unique_by=lambda row: row[0]),
    features=st.lists(st.sampled_from([VECTORS, FEED, TRACKED]), unique_by=str),
    mapping=st.sampled_from(["none", "name", "id"]),
    partitioned=st.booleans(),
    luck=st.randoms(use_true_random=False),
    data=st.data(),
)
def test_the_laws_of_diffs(
    spark: SparkSession,
    start: list[Row],
    features: list[dict[str, str]],
    mapping: str,
    partitioned: bool,
    luck: Any,
    data: st.DataObject,
) -> None:
    commands = data.draw(with_schema_changes(is_mapped=mapping != "none"), label="commands")
    properties = {"delta.columnMapping.mode": mapping} if mapping != "none" else {}
    for feature in (WIDENING, *features):
        properties |= feature
    with tempfile.TemporaryDirectory() as folder:
        table = create_table(
            spark,
            Path(folder) / "t",
            frame(spark, start),
            properties=properties,
            partition_by=["part"] if partitioned else [],
        )
        model = Model(list(start))
        for command in commands:
            run(command, table, model)

        diffs = check_all_pairs(table, model)
        check_feeds(table, model, diffs, has_feed=FEED in features)
        check_histories(table, model)
        a, b = luck.randrange(len(model.past)), luck.randrange(len(model.past))
        check_on_spark(table, model, a, b)


def with_schema_changes(*, is_mapped: bool) -> st.SearchStrategy[list[Command]]:
    """Histories of the model with an overwrite and changes of the schema, the last ones at the end.

    A table that got a column is not restored any more: MERGE needs a source with all columns.
    """
    extra: list[st.SearchStrategy[Command]] = [
        st.builds(Overwrite, st.lists(ROWS, min_size=1, max_size=4).map(tuple)),
        st.just(Widen()),
        *([st.just(Rename()), st.just(Rename())] if is_mapped else []),
    ]
    tail: list[st.SearchStrategy[Command]] = [
        st.just(AddColumn()),
        st.one_of(st.builds(Delete, conditions()), st.builds(Update, conditions(), VALUES)),
        *([st.just(DropColumn())] if is_mapped else []),
    ]
    body = st.tuples(histories(), st.tuples(*extra)).flatmap(
        lambda drawn: st.permutations([*drawn[0], *drawn[1]])
    )
    return st.tuples(body, st.tuples(*tail)).map(lambda drawn: [*drawn[0], *drawn[1]])


Diffs = dict[tuple[int, int], list[Shown]]


def check_all_pairs(table: Table, model: Model) -> Diffs:
    opened = truckee.open(str(table.path))
    versions = range(len(model.past))
    found = {(a, b): local(opened, a, b) for a in versions for b in versions}
    for (a, b), rows in found.items():
        check_rows(model, a, b, rows)
        assert canon(rows) == negative(canon(found[b, a]))
        for c in versions:
            both = canon([*rows, *found[b, c]])
            assert canon(found[a, c]) == both
    return found


def check_feeds(table: Table, model: Model, diffs: Diffs, *, has_feed: bool) -> None:
    """A feed nets to the diff of its ends, recorded or derived, at once or cut into batches."""
    opened = truckee.open(str(table.path))
    last = len(model.past) - 1
    follow = {"schemaMode": "follow"}
    derived = {**follow, "changeFeed": "derived"}
    net = {"deduplicationMode": "netChanges"}
    for a in range(last):
        for b in range(a + 1, last + 1):
            assert canon(feed(opened, a + 1, b, **derived, **net)) == canon(diffs[a, b])
            if has_feed:
                assert canon(feed(opened, a + 1, b, **follow, **net)) == canon(diffs[a, b])
    for version in range(1, last + 1):
        told = feed(opened, version, version, **derived)
        assert canon(told) == canon(diffs[version - 1, version])
        if has_feed:
            recorded = feed(opened, version, version, **follow)
            assert canon(recorded) == canon(told)
            if is_marked_only(table, version):
                assert Counter(recorded) == Counter(told)
    storage = LocalStorage(str(table.path))
    for limit in (1, 3, 1000):
        stream = feed_stream(storage, startingVersion=1, maxFilesPerTrigger=limit, **derived, **net)
        batches = [shown(row) for batch in batches_of(stream) for row in batch]
        assert canon(batches) == canon(diffs[0, last])


def is_marked_only(table: Table, version: int) -> bool:
    """Whether a version did nothing but give files other vectors."""
    commit = read_commit(table.storage, version)
    paths = {add.path for add in commit.adds}
    return bool(paths) and paths == {remove.path for remove in commit.removes}


def feed(opened: truckee.LocalTable, start: int, end: int, **shape: Any) -> list[Shown]:
    return [shown(row) for row in opened.changes(start, end, **shape).to_arrow().to_pylist()]


def batches_of(stream: TableStream) -> Iterator[list[dict[str, Any]]]:
    offset = None
    while (end := stream.latest_offset(offset)) != offset:
        assert end is not None
        yield arrow_rows(stream.changelog_batch(offset, end)).to_arrow().to_pylist()
        offset = end


def shown(row: dict[str, Any]) -> Shown:
    """A row by its columns: one is spelled in two ways, and another is null wherever it is."""
    values = {name.casefold(): value for name, value in row.items()}
    assert values.get(EXTRA) is None
    return values["id"], values["v"], values["part"], values["_change_type"]


CONDITIONS = {
    "id = 5": lambda row: row[0] == 5,
    "v > 3 OR part IS NULL": lambda row: (row[1] is not None and row[1] > 3) or row[2] is None,
}


def check_histories(table: Table, model: Model) -> None:
    """The images that live at a version are its rows, whatever the files went through."""
    opened = truckee.open(str(table.path))
    for condition, holds in CONDITIONS.items():
        events = [
            (*shown(row), row["_commit_version"])
            for row in opened.row_history(condition).to_arrow().to_pylist()
        ]
        live: Counter[Row] = Counter()
        for version, rows in enumerate(model.past):
            changes = [event[:4] for event in events if event[4] == version]
            live.update(canon(changes))
            matching = {row: count for row, count in nonzero(live).items() if holds(row)}
            assert Counter(matching) == Counter(row for row in rows if holds(row))
            assert all(count > 0 for count in nonzero(live).values())
        for version, changes_ in enumerate(model.changes, start=1):
            if not changes_ and version not in model.untold:
                assert version not in {event[4] for event in events}
    # The driver reads what the first condition asks for, and Spark what the second one does.
    for condition in ("id = 5", "abs(id) = 5"):
        on_spark = DeltaTable.forPath(table.spark, str(table.path)).row_history(condition, ["id"])
        local_rows = opened.row_history("id = 5", ["id"]).to_arrow()
        assert [tuple(row) for row in on_spark.drop("_commit_timestamp").collect()] == [
            tuple(row.values()) for row in local_rows.drop_columns("_commit_timestamp").to_pylist()
        ]


def check_on_spark(table: Table, model: Model, a: int, b: int) -> None:
    opened = DeltaTable.forPath(table.spark, str(table.path))
    check_rows(model, a, b, [shown(row.asDict()) for row in opened.diff(a, b).collect()])
    try:
        keyed = [shown(row.asDict()) for row in opened.diff(a, b, keys=["id"]).collect()]
    except KeysNotUniqueError:
        assert has_same_ids(model.past[a]) or has_same_ids(model.past[b])
        return
    assert canon(keyed) == expected(model, a, b)
    check_keyed(keyed)
    assert sorted(keyed, key=str) == sorted(
        local(truckee.open(str(table.path)), a, b, keys=["id"]), key=str
    )


def check_rows(model: Model, a: int, b: int, rows: list[Shown]) -> None:
    assert canon(rows) == expected(model, a, b)
    # Nothing is shown that is on both sides.
    plain = Counter(row for row in rows if row[3] in ("insert", "delete"))
    twice = [row for row in plain if (*row[:3], "delete") in plain and row[3] == "insert"]
    assert twice == []


def check_keyed(rows: list[Shown]) -> None:
    """Each key once: as an insert, as a delete, or as the two images of an update."""
    kinds: dict[Any, list[str]] = {}
    for row in rows:
        kinds.setdefault(row[0], []).append(row[3])
    pair = ["update_postimage", "update_preimage"]
    assert all(sorted(of) in (["insert"], ["delete"], pair) for of in kinds.values())
    images = {(*row[:3], row[3]) for row in rows}
    assert not any(
        (*row[:3], "update_preimage") in images for row in rows if row[3] == "update_postimage"
    )


def has_same_ids(rows: list[Row]) -> bool:
    return any(count > 1 for count in Counter(row[0] for row in rows).values())


def expected(model: Model, a: int, b: int) -> Counter[Row]:
    found = Counter(model.past[b])
    found.subtract(Counter(model.past[a]))
    return nonzero(found)


def local(opened: truckee.LocalTable, a: int, b: int, **options: Any) -> list[Shown]:
    return [shown(row) for row in opened.diff(a, b, **options).to_arrow().to_pylist()]


def canon(rows: Iterable[tuple[Any, ...]]) -> Counter[Row]:
    found: Counter[Row] = Counter()
    for id_, v, part, kind in rows:
        found[id_, v, part] += SIGNS[kind]
    return nonzero(found)


def negative(counts: Counter[Row]) -> Counter[Row]:
    return Counter({row: -count for row, count in counts.items()})


def nonzero(counts: Counter[Row]) -> Counter[Row]:
    return Counter({row: count for row, count in counts.items() if count})
