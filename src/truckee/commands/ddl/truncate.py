"""TRUNCATE TABLE: all files of a table are removed, in one commit."""

from __future__ import annotations

import time

from truckee.commands.table_plan import table_plan
from truckee.commands.write.overwrite import every_file
from truckee.log.running_command import running
from truckee.log.snapshot import load_snapshot
from truckee.storage.base import Storage


def truncate_table(storage: Storage) -> int:
    """Remove every row of a table; return the version without rows.

    If the table has no files, there is no commit. Raises AppendOnlyTableError if rows may only be
    appended.
    """
    started = time.monotonic()
    snapshot = load_snapshot(storage)
    table = table_plan(storage, snapshot, snapshot.metadata)
    replaced = every_file(snapshot)
    table.check("TRUNCATE", replaced.actions)
    transaction = table.transaction()
    transaction.read_whole_table()
    transaction.stage(*replaced.actions)
    metrics = {
        "numRemovedFiles": len(replaced.actions),
        "executionTimeMs": int((time.monotonic() - started) * 1000),
    }
    with running("TRUNCATE", storage.root):
        return transaction.commit("TRUNCATE", metrics=metrics)
