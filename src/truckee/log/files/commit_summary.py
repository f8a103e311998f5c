"""What a commit did, in a few words: `+3 rows`, `12 files -> 1`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from truckee.log.files.history import HistoryEntry

# The last of the inserted ones is of delta-rs alone, which calls written rows `num_added_rows`.
_INSERTED = ("numTargetRowsInserted", "numOutputRows", "numAddedRows")
_UPDATED = ("numTargetRowsUpdated", "numUpdatedRows")
_DELETED = ("numTargetRowsDeleted", "numDeletedRows")
# These operations only write rows that existed before.
_WRITE_NO_NEW_ROWS = ("DELETE", "UPDATE", "OPTIMIZE", "REORG", "RESTORE")


def commit_summary(entry: HistoryEntry) -> str:
    """Return what a commit did to rows, else to files, else its parameters.

    An insert of three rows is `+3 rows`; a MERGE that inserted one row, updated two and deleted
    three is `+1 ~2 -3 rows`; a compaction is `12 files -> 1`; a restore is `to version 3`.
    """
    metrics = entry.operation_metrics or {}
    return (
        _restored(entry)
        or _rows(entry.operation, metrics)
        or _files(metrics)
        or _parameter_text(entry.operation_parameters)
    )


def _restored(entry: HistoryEntry) -> str:
    """Return where RESTORE went back to: a version, or a time if it was asked for one."""
    if entry.operation != "RESTORE":
        return ""
    given = entry.operation_parameters or {}
    for name, lead in (("version", "to version "), ("timestamp", "to ")):
        value = str(given.get(name) or "null").strip('"')
        if value != "null":
            return lead + value
    return ""


def _rows(operation: str | None, metrics: Mapping[str, str | None]) -> str:
    inserted = 0 if operation in _WRITE_NO_NEW_ROWS else _count(metrics, _INSERTED)
    counts = (
        ("+", inserted),
        ("~", _count(metrics, _UPDATED)),
        ("-", _count(metrics, _DELETED)),
    )
    texts = [f"{sign}{count:,}" for sign, count in counts if count]
    if not texts:
        return ""
    return f"{' '.join(texts)} {'row' if texts[0][1:] == '1' and len(texts) == 1 else 'rows'}"


def _files(metrics: Mapping[str, str | None]) -> str:
    removed = _count(metrics, ("numRemovedFiles", "numDeletedFiles"))
    added = _count(metrics, ("numAddedFiles", "numFiles", "numRestoredFiles", "numCopiedFiles"))
    if removed and added:
        return f"{removed:,} {'file' if removed == 1 else 'files'} -> {added:,}"
    if removed or added:
        count, sign = (removed, "-") if removed else (added, "+")
        return f"{sign}{count:,} {'file' if count == 1 else 'files'}"
    return ""


def _parameter_text(parameters: Mapping[str, str | None] | None) -> str:
    known = (parameters or {}).items()
    said = [f"{key}={value}" for key, value in known if value not in (None, "", "[]", "{}")]
    return ", ".join(said)


def _count(metrics: Mapping[str, str | None], names: tuple[str, ...]) -> int:
    return metric_count(metrics, *names) or 0


def metric_count(metrics: Mapping[str, Any], *names: str) -> int | None:
    """Return the first of these metrics that is a number, None if there is none.

    delta-rs writes their names with underscores: `num_deleted_rows`. A zero counts too: a MERGE
    that inserted nothing has also a number of all rows that it wrote.
    """
    for name in (*names, *map(_underscored, names)):
        text = str(metrics.get(name, ""))
        if text.isdecimal() and len(text) < 20:
            return int(text)
    return None


def _underscored(name: str) -> str:
    return re.sub("[A-Z]", lambda found: f"_{found[0].lower()}", name)
