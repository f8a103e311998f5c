"""TRUNCATE: every file leaves the table, and nothing else changes."""

from __future__ import annotations

import time

from truckee.commands.table_plan import planned_table
from truckee.commands.write.overwrite import every_file
from truckee.log.snapshot import load_snapshot
from truckee.storage.base import Storage

_OPERATION = "TRUNCATE"


def truncate_table(storage: Storage) -> int:
    """Remove all rows, and return the version without them; an empty table gets no new one."""
    start = time.monotonic()
    snapshot = load_snapshot(storage)
    replaced = every_file(snapshot)
    if not replaced.removed:
        return snapshot.version
    table = planned_table(storage, snapshot, snapshot.metadata)
    table.check(_OPERATION, replaced.actions)
    transaction = table.transaction()
    replaced.note(transaction)
    transaction.stage(*replaced.actions)
    metrics = {
        "numRemovedFiles": len(replaced.removed),
        "executionTimeMs": int(1000 * (time.monotonic() - start)),
    }
    return transaction.commit(_OPERATION, parameters={}, metrics=metrics)
