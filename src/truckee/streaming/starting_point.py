"""Where a stream starts that was told to start at a version or a time."""

from __future__ import annotations

from truckee.errors.log import TimestampTooLateError, VersionNotFoundError
from truckee.log.history import (
    commit_timestamps,
    earliest_version,
    latest_version,
    version_at_or_after,
)
from truckee.options.stream import Start
from truckee.storage.base import Storage


def starting_version(storage: Storage, start: Start, *, out_of_range: bool = False) -> int:
    """Return the first version that the stream reads.

    Its commit has to be there, though what came before it need not. Raises `VersionNotFoundError`
    and `TimestampTooLateError`; with `out_of_range`, what lies after the latest version is waited
    for instead.
    """
    latest = latest_version(storage)
    if start.version is not None:
        earliest = earliest_version(storage)
        if start.version < earliest or (start.version > latest and not out_of_range):
            raise VersionNotFoundError(
                table=storage.root, version=start.version, earliest=earliest, latest=latest
            )
        return start.version
    assert start.timestamp_ms is not None
    found = version_at_or_after(storage, start.timestamp_ms)
    if found is not None:
        return found
    if out_of_range:
        return latest + 1
    raise TimestampTooLateError(
        table=storage.root,
        timestamp_ms=start.timestamp_ms,
        latest_ms=commit_timestamps(storage, latest, latest)[latest],
        latest=latest,
    )
