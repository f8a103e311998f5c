"""Files that are removed from a table: the `remove` action for a live `add`."""

from __future__ import annotations

from collections.abc import Iterable

from truckee.log.commit.race import now_ms
from truckee.protocol.actions import AddFile, RemoveFile, tombstone
from truckee.protocol.stats import parse_stats


def file_removals(adds: Iterable[AddFile], *, data_change: bool = True) -> list[RemoveFile]:
    """Return the tombstones of live files, all with the same time."""
    timestamp_ms = now_ms()
    return [tombstone(add, timestamp_ms=timestamp_ms, data_change=data_change) for add in adds]


def num_rows(adds: Iterable[AddFile]) -> int | None:
    """Return how many rows live files have, without deleted ones; None if unknown."""
    total = 0
    for add in adds:
        stats = parse_stats(add.stats)
        if stats is None or stats.num_records is None:
            return None
        deleted = 0 if add.deletion_vector is None else add.deletion_vector.cardinality
        total += stats.num_records - deleted
    return total
