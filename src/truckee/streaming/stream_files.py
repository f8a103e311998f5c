"""Entries of a stream as ScanFiles: a table's rows, or its changes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from truckee.changes.file_index import version_files
from truckee.changes.version_diff import VersionDiff, version_diff
from truckee.log.files.commits import Commit
from truckee.protocol.actions import AddFile
from truckee.scan.scan_file import ScanFile
from truckee.streaming.entries import StreamedAction, VersionEntries, entries_between
from truckee.streaming.offset import StreamOffset


def files_between(
    version: VersionEntries,
    start: StreamOffset,
    end: StreamOffset,
    *,
    is_feed: bool,
    exclude: str | None = None,
) -> Iterator[ScanFile]:
    """Yield what to read of a version for the batch from `start`, which is excluded, to `end`.

    Files whose path, as spelled in the log, matches `exclude` are left out.
    """
    left_out = None if exclude is None else re.compile(exclude)
    files = tuple(
        entry.file
        for entry in entries_between(version, start.position, end.position)
        if entry.file is not None and not (left_out and left_out.search(entry.file.path))
    )
    for file in version_files(_diff(version, files, is_feed)):
        yield file if is_feed else replace(file, change=None)


def _diff(version: VersionEntries, files: tuple[StreamedAction, ...], is_feed: bool) -> VersionDiff:
    if is_feed and not version.is_snapshot:
        # A MERGE without effect has no files, so its commitInfo is not needed here.
        return version_diff(Commit(version.version, version.timestamp_ms or 0, files))
    added = tuple(file for file in files if isinstance(file, AddFile))
    return VersionDiff(version=version.version, timestamp_ms=version.timestamp_ms, added=added)
