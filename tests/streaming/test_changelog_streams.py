"""Streams of derived and netted feeds: each batch is whole commits, netted by itself."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from data_tables import DataTable, mapped, metadata, removed
from keyed_histories import Change, KeyedHistory
from streaming.streams import feed as feed_stream
from streaming.streams import reread
from truckee.arrow.compare.rows import arrow_rows
from truckee.errors import (
    ChangeDataNotRecordedError,
    ColumnNotFoundError,
    IllegalOptionError,
    NonAdditiveSchemaChangeError,
)
from truckee.streaming.table_stream import TableStream

pytestmark = pytest.mark.property


def batches(of: TableStream) -> list[list[dict[str, Any]]]:
    """The rows of all batches up to the latest version; offsets go through a checkpoint's JSON."""
    found, start = [], None
    while (end := of.latest_offset(start)) != start:
        assert end is not None
        end = reread(of, end)
        found.append(arrow_rows(of.changelog_batch(start, end)).to_arrow().to_pylist())
        start = end
    return found


def as_changes(rows: list[dict[str, Any]]) -> list[Change]:
    return [Change(r["_change_type"], r["id"], r["v"], r["_commit_version"]) for r in rows]


def combined(parts: list[list[Change]]) -> Counter[Change]:
    """The net of nets, by first and last image: what applying batch after batch comes to."""
    images: dict[int, list[Change]] = {}
    for change in [change for part in parts for change in part]:
        images.setdefault(change.id, []).append(change)
    found: Counter[Change] = Counter()
    gone = ("delete", "update_preimage")
    for of_key in images.values():
        of_key.sort(key=lambda c: (c.version, c.kind not in gone))
        was, is_ = of_key[0].kind in gone, of_key[-1].kind not in gone
        if was and is_:
            found[of_key[0]._replace(kind="update_preimage")] += 1
            found[of_key[-1]._replace(kind="update_postimage")] += 1
        elif was:
            found[of_key[0]._replace(kind="delete")] += 1
        elif is_:
            found[of_key[-1]._replace(kind="insert")] += 1
    return found


# Invariant 53.
@settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(
    seed=st.integers(0, 2**32),
    limit=st.integers(1, 12),
    source=st.sampled_from(["recorded", "derived", "auto"]),
)
def test_streamed_nets_combine_to_the_batch_net_at_every_cut(
    tmp_path_factory: pytest.TempPathFactory, seed: int, limit: int, source: str
) -> None:
    history = KeyedHistory(tmp_path_factory.mktemp("keyed") / "t", Random(seed), 8)
    options: dict[str, Any] = {
        "startingVersion": 1,
        "maxFilesPerTrigger": limit,
        "changeFeed": source,
        "keys": "id",
    }

    plain = batches(feed_stream(history.table.storage, **options))
    netted = batches(
        feed_stream(
            history.table.storage,
            **options,
            deduplicationMode="netChanges",
            computeUpdates=True,
        )
    )

    last = history.last
    assert Counter(as_changes([r for b in plain for r in b])) == Counter(history.feed(1, last))
    parts = [as_changes(batch) for batch in netted]
    cuts = [sorted({change.version for change in part}) for part in parts]
    assert combined(parts) == history.net(1, last, updates=True)
    for part, versions in zip(parts, cuts, strict=True):
        of_batch = [c for c in history.feed(1, last) if versions and c.version in versions]
        assert len({(c.id, c.kind) for c in part}) == len(part)
        assert {c.id for c in part} <= {c.id for c in of_batch}


def test_a_stream_begins_with_the_table_as_it_is(tmp_path: Path) -> None:
    history = KeyedHistory(tmp_path / "t", Random(7), 4)
    stream = feed_stream(
        history.table.storage, changeFeed="derived", deduplicationMode="netChanges"
    )
    start = stream.latest_offset(None)
    history._commit(Random(1))

    first = as_changes(arrow_rows(stream.changelog_batch(None, start)).to_arrow().to_pylist())
    end = stream.latest_offset(start)
    rest = as_changes(arrow_rows(stream.changelog_batch(start, end)).to_arrow().to_pylist())

    assert {(c.kind, c.id, c.v) for c in first} == {
        ("insert", key, v) for key, v in history.rows[4].items()
    }
    assert Counter(rest) == history.net(5, 5, updates=False)


def test_a_stream_follows_its_columns_under_the_names_it_was_loaded_with(tmp_path: Path) -> None:
    properties = {"delta.columnMapping.mode": "name"}
    table = DataTable(
        tmp_path / "t", mapped("id", "long", 1), mapped("a", "string", 2), properties=properties
    )
    one = table.file("one.parquet", {"col-1": [1], "col-2": ["x"]})
    table.commit(one)
    options = {"startingVersion": 0, "maxFilesPerTrigger": 1, "changeFeed": "derived"}
    stream = feed_stream(table.storage, schemaMode="follow", **options)
    strict = feed_stream(table.storage, **options)
    table.commit(metadata(mapped("id", "long", 1), mapped("b", "string", 2), properties=properties))
    table.commit(removed(one), table.file("two.parquet", {"col-1": [1], "col-2": ["y"]}))
    table.commit(
        metadata(
            mapped("id", "long", 1),
            mapped("b", "string", 2),
            mapped("new", "long", 3),
            properties=properties,
        )
    )
    table.commit(table.file("three.parquet", {"col-1": [2], "col-2": ["z"], "col-3": [5]}))

    rows = [row for batch in batches(stream) for row in batch]

    shown = [(r["_commit_version"], r["_change_type"], r["id"], r["a"]) for r in rows]
    assert sorted(shown) == [
        (1, "insert", 1, "x"),
        (3, "delete", 1, "x"),
        (3, "insert", 1, "y"),
        (5, "insert", 2, "z"),
    ]
    assert all("new" not in row for row in rows)
    with pytest.raises(NonAdditiveSchemaChangeError):
        batches(strict)
    again = feed_stream(table.storage, schemaMode="superset", **options)
    names = {name for batch in batches(again) for row in batch for name in row}
    assert {"id", "b", "new"} <= names


def test_what_a_stream_cannot_do_is_refused(tmp_path: Path) -> None:
    table = DataTable(tmp_path / "t", "id long", properties={})
    table.commit(table.file("a.parquet", {"id": [1]}))

    with pytest.raises(ChangeDataNotRecordedError, match="the option changeFeed set to auto"):
        batches(feed_stream(table.storage, startingVersion=0, deduplicationMode="netChanges"))
    with pytest.raises(IllegalOptionError, match="follow or superset in a stream"):
        feed_stream(table.storage, schemaMode="latest")
    with pytest.raises(ColumnNotFoundError):
        batches(feed_stream(table.storage, startingVersion=0, changeFeed="auto", keys="no"))
