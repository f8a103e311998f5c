"""What a row's history was asked for: a condition, what identifies a row, and since when."""

from __future__ import annotations

from collections.abc import Sequence

from truckee.changes.diff_request import VersionOrTime, known_keys, version_at
from truckee.changes.missing_files import missing_paths
from truckee.changes.row_timelines import RowTimelines, row_timelines
from truckee.conditions.literals import ConstantValue
from truckee.conditions.typed import ColumnValue, Comparing, Every, Test, typed_condition
from truckee.errors.base import DeltaError
from truckee.errors.diff import HistoryFileNotFoundError, TooManyRowsError
from truckee.scan.scan_file import ScanFile
from truckee.storage.base import Storage

MOST_ROWS = 200_000


def requested_timelines(
    storage: Storage, start: VersionOrTime | None, *, time_zone: str = "UTC"
) -> RowTimelines:
    """Return the timelines of all files, from a version or a time on."""
    if start is None:
        return row_timelines(storage)
    return row_timelines(
        storage, version_at(storage, start, name="start", time_zone=time_zone).version
    )


def identifying_columns(
    timelines: RowTimelines, condition: str, keys: Sequence[str] | None
) -> tuple[str, ...]:
    """Return the columns that identify a row: the keys, or those that the condition fixes.

    All rows that `id = 7 AND day > '2024-01-01'` is true of have the same id.
    """
    if keys is not None:
        return known_keys(keys, timelines.schema)
    try:
        test = typed_condition(condition, timelines.schema)
    except DeltaError:
        return ()
    return tuple(dict.fromkeys(_fixed_columns(test)))


def _fixed_columns(test: Test) -> Sequence[str]:
    match test:
        case Every(tests):
            return [name for each in tests for name in _fixed_columns(each)]
        case Comparing("=", ColumnValue(path), ConstantValue()) if len(path) == 1:
            return [path[0]]
        case Comparing("=", ConstantValue(), ColumnValue(path)) if len(path) == 1:
            return [path[0]]
    return []


def check_row_count(condition: str, count: int) -> None:
    """Raise `TooManyRowsError` if there are more rows than a history is told of."""
    if count > MOST_ROWS:
        raise TooManyRowsError(condition=condition, count=count, most=MOST_ROWS)


def missing_history_files(
    timelines: RowTimelines, files: Sequence[ScanFile]
) -> HistoryFileNotFoundError | None:
    """Return the error that says which of the files are gone, None if all are there."""
    storage = timelines.newest.storage
    gone = list(missing_paths(storage, files))
    if not gone:
        return None
    missing = set(gone)
    last = [of.states[-1] for of in timelines.timelines if of.file.path in missing]
    is_needed = any(state.is_there for state in last)
    return HistoryFileNotFoundError(
        table=storage.root,
        first=timelines.first,
        path=gone[0],
        count=len(gone),
        readable_from=None if is_needed else max(state.version for state in last),
    )
