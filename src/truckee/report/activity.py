"""What the last commits of a table did, as far as the log shows: rows, files, and the feed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec
from msgspec import Struct

from truckee.changes.file_index import version_files
from truckee.changes.summary import summary
from truckee.changes.version_diff import version_diff
from truckee.errors.base import DeltaError
from truckee.log.files.commit_summary import metric_count
from truckee.log.files.commits import Commit, read_commits
from truckee.log.files.history import earliest_version
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.protocol.actions import CommitInfo, Metadata
from truckee.protocol.json_text import NOT_JSON
from truckee.protocol.properties import TableProperties

# The metrics of commands for inserted, updated and deleted rows. Counts from files would be too
# large: rows that share a file with a changed one are rewritten, but not changed.
_METRICS: Mapping[str, tuple[str | None, str | None, str | None]] = {
    "MERGE": ("numTargetRowsInserted", "numTargetRowsUpdated", "numTargetRowsDeleted"),
    "UPDATE": (None, "numUpdatedRows", None),
    "DELETE": (None, None, "numDeletedRows"),
}


class RowCounts(Struct, frozen=True):
    """Rows by type of change; None if the log does not have the number."""

    inserted: int | None = 0
    updated: int | None = 0
    deleted: int | None = 0


_UNKNOWN = RowCounts(None, None, None)


class Activity(Struct, frozen=True, kw_only=True):
    """One commit: what it was, what it did, and whether the feed was on (None: unknown).

    `user`, `condition` and `mode` are empty if the commit does not record them.
    """

    version: int
    timestamp_ms: int
    operation: str
    user: str
    condition: str
    mode: str
    rows: RowCounts
    files_added: int
    files_removed: int
    change_files: int
    is_feed_on: bool | None


def activities(snapshot: Snapshot, limit: int | None = None) -> list[Activity]:
    """Return the last `limit` commits up to the snapshot, oldest first; all of them if None.

    Reads commits, and vectors if their sizes alone do not show how many rows differ.
    """
    storage, latest = snapshot.storage, snapshot.version
    start = earliest_version(storage)
    if limit is not None:
        start = max(start, latest - limit + 1)
    commits = read_commits(storage, start, latest)
    return list(_activities(snapshot, commits, _feed_before(snapshot, start)))


def _feed_before(snapshot: Snapshot, start: int) -> bool | None:
    """Return whether the feed is on at the start, None if that version cannot be rebuilt."""
    try:
        return load_snapshot(snapshot.storage, start).properties.enable_change_data_feed
    except DeltaError:
        return None


def _activities(
    snapshot: Snapshot, commits: Iterable[Commit], is_feed_on: bool | None
) -> Iterator[Activity]:
    for commit in commits:
        if commit.metadata is not None:
            is_feed_on = _is_feed_on(commit.metadata)
        info = commit.commit_info or CommitInfo()
        parameters = info.operation_parameters or {}
        yield Activity(
            version=commit.version,
            timestamp_ms=commit.timestamp_ms,
            operation=info.operation or "unknown",
            user=info.user_name or "",
            condition=_condition(parameters.get("predicate")),
            mode=str(parameters.get("mode") or parameters.get("outputMode") or ""),
            rows=row_counts(snapshot, commit),
            files_added=len(commit.adds),
            files_removed=len(commit.removes),
            change_files=len(commit.cdc_files),
            is_feed_on=is_feed_on,
        )


def _condition(predicate: object) -> str:
    """Return the condition of a commit; writers record a list of conditions as JSON, or a text."""
    try:
        parts = msgspec.json.decode(str(predicate or "[]"), type=list[str])
    except NOT_JSON:
        return str(predicate)
    return " AND ".join(parts)


def _is_feed_on(metadata: Metadata) -> bool:
    return TableProperties.from_configuration(metadata.configuration).enable_change_data_feed


def row_counts(snapshot: Snapshot, commit: Commit) -> RowCounts:
    """Return how many rows a commit inserted, updated and deleted.

    A command's own metrics are used first; for other commits, files and vectors are counted.
    """
    info = commit.commit_info
    names = _METRICS.get((info.operation if info is not None else None) or "")
    if info is not None and names is not None:
        metrics = info.operation_metrics or {}
        counts = [0 if name is None else metric_count(metrics, name) for name in names]
        if None not in counts:
            return RowCounts(*counts)
    if commit.cdc_files:
        return _UNKNOWN
    try:
        found = summary(version_files(version_diff(commit)), snapshot.storage)
    except DeltaError:
        return _UNKNOWN
    rows = {count.change_type: count.rows for count in found}
    return RowCounts(inserted=rows.get("insert", 0), deleted=rows.get("delete", 0))
