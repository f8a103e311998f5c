"""The rows of a feed as `truckee changes` shows them, read without a JVM."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pyarrow as pa

from truckee.arrow.compare.change_order import changes_in_order
from truckee.arrow.scans import feed_rows
from truckee.arrow.texts import column_texts
from truckee.changes.plan import ChangeFeed

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_BY = ("_commit_version", "_commit_timestamp", "_change_type")


def changed_rows_in_order(feed: ChangeFeed, where: str | None) -> pa.Table:
    """Return the rows of a feed by version, then by the first column, which often is the key."""
    found = feed_rows(feed, where=where).to_arrow()
    return changes_in_order(found, ["_commit_version", found.column_names[0]])


def counted_changes(
    feed: ChangeFeed, where: str | None, versions: set[int]
) -> list[tuple[int, int | None, str, int]]:
    """Return the version, time, type and number of the changes of some versions."""
    rows = feed_rows(feed, columns=_BY, where=where).to_arrow()
    counts = rows.group_by(list(_BY)).aggregate([([], "count_all")]).to_pylist()
    return [
        (row[_BY[0]], _millis(row[_BY[1]]), row[_BY[2]], row["count_all"])
        for row in counts
        if row[_BY[0]] in versions
    ]


def _millis(at: datetime | None) -> int | None:
    return None if at is None else (at - _EPOCH) // timedelta(milliseconds=1)


def feed_texts(rows: pa.Table) -> list[tuple[Any, ...]]:
    """Return rows of a feed as texts, with their time in milliseconds."""
    *columns, times = rows.columns
    texts = [column_texts(column) for column in columns]
    # Counts, since Python's range of years is too small for what a log may say.
    micros = times.cast(pa.timestamp("us", tz=times.type.tz)).cast(pa.int64()).to_pylist()
    millis = [None if at is None else at // 1000 for at in micros]
    return list(zip(*texts, millis, strict=True))
