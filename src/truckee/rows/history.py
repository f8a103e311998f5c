"""The reads of a row history: every data file that a table ever had, once, with all of its rows."""

from __future__ import annotations

from collections.abc import Iterator

from truckee.changes.diff.history_request import missing_history_files
from truckee.changes.diff.row_timelines import RowTimelines
from truckee.changes.diff.snapshot_diff import DiffRead
from truckee.rows.plan import Read


def history_reads(timelines: RowTimelines) -> Iterator[Read]:
    """Yield the reads of all files of the timelines, one for each set of columns."""
    for read in timelines.reads:
        yield _read(timelines, read)


def _read(timelines: RowTimelines, read: DiffRead) -> Read:
    return Read(
        storage=read.storage,
        version=read.version,
        table=read.columns.of(timelines.newest.configuration),
        files=read.files,
        is_feed=False,
        ids=read.columns.ids,
        label=f"rows of versions {timelines.first} to {timelines.newest.version}",
        missing=lambda: missing_history_files(timelines, read.files),
    )
