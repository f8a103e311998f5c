"""A diff of two versions by the change feed between them, if that is less to read.

The net changes of a range are the difference of its two ends. If rows of a file were marked, or the
file was rewritten, the change files have only a small part of its rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from truckee.changes.diff.columns import SideColumns
from truckee.changes.diff.snapshot_diff import DiffRead, SnapshotDiff, snapshot_diff
from truckee.changes.plan import ChangePlan, open_feed
from truckee.errors.base import DeltaError
from truckee.log.files.commits import Commit, read_commits
from truckee.log.snapshot import Snapshot
from truckee.options.feed import Bound, FeedOptions

_MOST_COMMITS = 200
_COST_OF_A_FILE = 1 << 20


def diff_plan(before: Snapshot, after: Snapshot, keys: Sequence[str] = ()) -> SnapshotDiff:
    """Return what to read for the rows that differ, from the files or from the feed.

    Raises the errors of `snapshot_diff`. The feed is used only if it is less to read, was enabled
    all the time, and no commit has files with `dataChange` false.
    """
    plan = snapshot_diff(before, after, keys)
    if not plan.compared or plan.has_row_ids or not plan.is_within_one_table:
        return plan
    start, end = sorted((before.version, after.version))
    if end - start > _MOST_COMMITS:
        return plan
    newest = before if before.version == end else after
    feed = _feed(newest, start + 1, end)
    if feed is None or feed.schema != newest.schema or _cost(feed) > _cost(plan) // 2:
        return plan
    columns = SideColumns(
        plan.schema, newest.partition_columns, feed.configuration.column_mapping_mode
    )
    read = DiffRead(newest.storage, end, columns, feed.files)
    return SnapshotDiff(
        before=before,
        after=after,
        schema=plan.schema,
        keys=plan.keys,
        compared=(read,),
        is_recorded=True,
        is_reversed=before.version > after.version,
    )


def _feed(newest: Snapshot, start: int, end: int) -> ChangePlan | None:
    """Return what to read for a feed, None if it may not be the difference of its ends."""
    options = FeedOptions(
        start=Bound(version=start), end=Bound(version=end), schema_as_of=Bound(version=end)
    )
    try:
        if not _has_all_changes(read_commits(newest.storage, start, end)):
            return None
        return open_feed(newest.storage, options, snapshot=newest).plan()
    except DeltaError:
        return None


def _has_all_changes(commits: Iterable[Commit]) -> bool:
    """Return whether the feed has all changes of rows, as far as the commits show.

    A writer may have changed rows in files with `dataChange` false, which the feed ignores.
    """
    for commit in commits:
        if not all(add.data_change for add in commit.adds):
            return False
        if not all(remove.data_change for remove in commit.removes):
            return False
    return True


def _cost(plan: ChangePlan | SnapshotDiff) -> int:
    return plan.size_in_bytes + _COST_OF_A_FILE * len({file.path for file in plan.files})
