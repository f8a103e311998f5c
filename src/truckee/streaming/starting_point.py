"""Where a stream starts if the options give a version or a time."""

from __future__ import annotations

from truckee.changes.version_range import version_from
from truckee.errors.log import VersionNotFoundError
from truckee.log.files.history import earliest_version, latest_version
from truckee.options.stream import Start
from truckee.storage.base import Storage


def starting_version(storage: Storage, start: Start, *, out_of_range: bool = False) -> int:
    """Return the first version that the stream reads.

    Its commit must exist; earlier commits may be gone. Raises `VersionNotFoundError` and
    `TimestampTooLateError`. With `out_of_range`, a start after the latest version is allowed, and
    the stream waits for it.
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
    return version_from(storage, start.timestamp_ms, latest=latest, out_of_range=out_of_range)
