"""How much is read from a store, and how long it is waited for.

A file of a log may be sparse and say that it has a terabyte, and a store may be hostile, or broken:
it may announce any length, list files without end, or never answer.

| setting, after `spark.truckee.storage.` | default  | bounds                                     |
|-----------------------------------------|----------|--------------------------------------------|
| `largestRead`                           | 2g       | a file that is read as a whole             |
| `mostListed`                            | 10000000 | the files of a listing of an object store  |
| `timeout`                               | 30       | seconds of a request to an object store    |
| `retryTimeout`                          | 60       | seconds in which a request is tried again  |

Files that are read as a whole are those of the log, except for Parquet files. The bounds are
settings of a session, options of a read, or of `truckee.open`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from truckee.errors.options import IllegalOptionError
from truckee.errors.storage import StorageError
from truckee.protocol.property_kinds import parse_bytes

LARGEST_READ = "spark.truckee.storage.largestRead"
MOST_LISTED = "spark.truckee.storage.mostListed"
TIMEOUT = "spark.truckee.storage.timeout"
RETRY_TIMEOUT = "spark.truckee.storage.retryTimeout"


class StorageLimits(NamedTuple):
    """The bounds of one storage."""

    largest_read: int = 2 << 30
    most_listed: int = 10_000_000
    timeout_s: int = 30
    retry_timeout_s: int = 60

    @classmethod
    def of(cls, options: Mapping[str, str] | None) -> StorageLimits:
        """Return the bounds that options ask for; IllegalOptionError for wrong texts."""
        given = {key.lower(): value for key, value in (options or {}).items()}

        def number(key: str, default: int, needs: str = "a number above 0") -> int:
            text = given.get(key.lower())
            if text is None:
                return default
            try:
                found = parse_bytes(text) if key == LARGEST_READ else int(text)
            except ValueError:
                found = 0
            if not 0 < found < 1 << 62:
                raise IllegalOptionError(option=key, value=text, needs=needs)
            return found

        return cls(
            number(LARGEST_READ, cls().largest_read, "a number of bytes, such as 2147483648 or 2g"),
            number(MOST_LISTED, cls().most_listed),
            number(TIMEOUT, cls().timeout_s, "a number of seconds above 0"),
            number(RETRY_TIMEOUT, cls().retry_timeout_s, "a number of seconds above 0"),
        )

    def check_read(self, path: str, size: int) -> None:
        """Raise StorageError if a file is too large to be read as a whole."""
        if size > self.largest_read:
            reason = f"it has {size} bytes, more than {LARGEST_READ} allows ({self.largest_read})"
            raise StorageError(action="read", path=path, reason=reason)

    def check_listed(self, path: str, count: int) -> None:
        """Raise StorageError if a listing has more files than it may have."""
        if count > self.most_listed:
            reason = f"its listing has more files than {MOST_LISTED} allows ({self.most_listed})"
            raise StorageError(action="list", path=path, reason=reason)


DEFAULT_LIMITS = StorageLimits()
