"""The rows of a feed as `truckee changes` shows them, read without a JVM."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pyarrow as pa

from truckee.arrow.compare.change_order import changes_in_order
from truckee.arrow.scans import feed_rows
from truckee.arrow.texts import column_texts
from truckee.changes.plan import ChangeFeed
from truckee.errors.log import utc_text

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_BY = ("_commit_version", "_commit_timestamp", "_change_type")


def changed_rows_in_order(feed: ChangeFeed, where: str | None) -> pa.Table:
    """Return the rows of a feed by version, then by the first column, which often is the key."""
    found = feed_rows(feed, where=where).to_arrow()
    return changes_in_order(found, ["_commit_version", found.column_names[0]])


def counted_changes(
    feed: ChangeFeed, where: str | None, versions: set[int]
) -> list[tuple[int, str | None, str, int]]:
    """Return the version, time, type and number of the changes of some versions."""
    rows = feed_rows(feed, columns=_BY, where=where).to_arrow()
    counts = rows.group_by(list(_BY)).aggregate([([], "count_all")]).to_pylist()
    return [
        (row[_BY[0]], _told(row[_BY[1]]), row[_BY[2]], row["count_all"])
        for row in counts
        if row[_BY[0]] in versions
    ]


def _told(at: datetime | None) -> str | None:
    return None if at is None else utc_text((at - _EPOCH) // timedelta(milliseconds=1))


def feed_texts(rows: pa.Table) -> list[tuple[str | None, ...]]:
    """Return rows of a feed as texts, their time as it is printed everywhere."""
    columns = [column_texts(column) for column in rows.columns]
    columns[-1] = [None if text is None else _feed_time(text) for text in columns[-1]]
    return list(zip(*columns, strict=True))


def _feed_time(text: str) -> str:
    day, _, time = text.partition(" ")
    seconds, _, fraction = time.partition(".")
    return f"{day}T{seconds}.{fraction:0<3.3}Z"
