"""The versions of a feed, from the starting and ending version or timestamp of the options.

Commits at 10 (version 0), 20 (version 1) and 30 (version 2):

| start     | end       | range                                                         |
|-----------|-----------|---------------------------------------------------------------|
| time 11   |           | 1.. : a start is the first commit at or after its time        |
| version 0 | time 29   | 0..1: an end is the last commit at or before its time         |
| time 21   | time 29   | 2..1: between two commits, no rows and no error               |
| version 2 | time 21   | refused: it ends before it starts                             |
| version 1 | version 9 | 1..9: the part that exists when it is read                    |
"""

from __future__ import annotations

from msgspec import Struct

from truckee.errors.changes import InvalidRangeError, StartAfterLatestError
from truckee.errors.log import TimestampTooLateError
from truckee.log.files.history import commit_timestamps, version_as_of, version_at_or_after
from truckee.options.feed import Bound, FeedOptions
from truckee.storage.base import Storage


class VersionRange(Struct, frozen=True):
    """Versions of a feed, both ends included. No end means the latest when the feed is read."""

    start: int
    end: int | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is no version in it, now and later."""
        return self.end is not None and self.end < self.start


def resolved_range(storage: Storage, options: FeedOptions, *, latest: int) -> VersionRange:
    """Return the versions that the options ask for; `latest` is the table's latest version.

    The start is resolved before the end, and rules are checked in the order of the spec: an end
    after the latest version is allowed. Raises `TimestampTooLateError`,
    `TimestampTooEarlyError`, `StartAfterLatestError` or `InvalidRangeError`. With
    `options.out_of_range`, a range after the latest version has no rows instead.
    """
    assert options.start is not None, "options without a start were refused"
    start = _start_version(storage, options.start, options.out_of_range, latest)
    end = _end_version(storage, options.end, options.out_of_range, latest)
    if start > latest:
        if options.out_of_range:
            return VersionRange(start, start - 1)
        raise StartAfterLatestError(table=storage.root, start=start, latest=latest)
    if end is not None and end < start:
        if end == start - 1 and _is_window(options):
            return VersionRange(start, end)
        raise InvalidRangeError(start=start, end=end)
    return VersionRange(start, end)


def _is_window(options: FeedOptions) -> bool:
    """Whether both ends are timestamps in order, so that there may be no commit between them."""
    assert options.start is not None
    start_ms = options.start.timestamp_ms
    end_ms = None if options.end is None else options.end.timestamp_ms
    return start_ms is not None and end_ms is not None and start_ms <= end_ms


def _start_version(storage: Storage, start: Bound, out_of_range: bool, latest: int) -> int:
    if start.version is not None:
        return start.version
    assert start.timestamp_ms is not None
    return version_from(storage, start.timestamp_ms, latest=latest, out_of_range=out_of_range)


def version_from(storage: Storage, timestamp_ms: int, *, latest: int, out_of_range: bool) -> int:
    """Return the first version at or after a time, for a read that starts there.

    A time after the latest commit raises `TimestampTooLateError`; with `out_of_range`, it is the
    next version.
    """
    version = version_at_or_after(storage, timestamp_ms)
    if version is not None:
        return version
    if out_of_range:
        return latest + 1
    raise TimestampTooLateError(
        table=storage.root,
        timestamp_ms=timestamp_ms,
        latest_ms=commit_timestamps(storage, latest, latest)[latest],
        latest=latest,
    )


def _end_version(
    storage: Storage, end: Bound | None, out_of_range: bool, latest: int
) -> int | None:
    if end is None:
        return None
    if end.version is not None:
        return end.version
    assert end.timestamp_ms is not None
    try:
        return version_as_of(storage, end.timestamp_ms)
    except TimestampTooLateError:
        if out_of_range:
            return latest
        raise
