"""The request of a row history: a condition, the identifying columns, and a start."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from truckee.changes.diff.request import VersionOrTime, known_keys, version_at
from truckee.changes.diff.row_timelines import RowTimelines, row_timelines
from truckee.changes.missing_files import missing_paths
from truckee.conditions.literals import ConstantValue
from truckee.conditions.pruning import condition_predicate
from truckee.conditions.row_tests import (
    AndTest,
    ColumnValue,
    ComparisonTest,
    InTest,
    IsNullTest,
    Operand,
    OrTest,
    RowTest,
    row_test,
)
from truckee.errors.base import DeltaError
from truckee.errors.diff import HistoryFileNotFoundError, TooManyRowsError
from truckee.protocol.schema import PrimitiveType
from truckee.scan.pruning import pruned_scan_files
from truckee.scan.scan_file import ScanFile
from truckee.storage.base import Storage

MOST_ROWS = 200_000
_LITTLE_BYTES = 64 << 20
_WHOLE_NUMBERS = frozenset({"byte", "short", "integer", "long"})


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

    All rows that match `id = 7 AND day > '2024-01-01'` have the same id.
    """
    if keys is not None:
        return known_keys(keys, timelines.schema)
    try:
        test = row_test(condition, timelines.schema)
    except DeltaError:
        return ()
    return tuple(dict.fromkeys(_fixed_columns(test)))


def _fixed_columns(test: RowTest) -> Sequence[str]:
    match test:
        case AndTest(tests):
            return [name for each in tests for name in _fixed_columns(each)]
        case ComparisonTest("=", ColumnValue(path), ConstantValue()) if len(path) == 1:
            return [path[0]]
        case ComparisonTest("=", ConstantValue(), ColumnValue(path)) if len(path) == 1:
            return [path[0]]
    return []


def is_little_to_read(timelines: RowTimelines, condition: str, keys: Sequence[str] | None) -> bool:
    """Return whether a history can be read from few bytes, by any engine with the same result.

    So it is if the condition compares whole numbers or texts with constants: for others, settings
    of a session may decide what is true. Where rows are followed by their ids, every file is asked.
    """
    try:
        test = row_test(condition, timelines.schema)
    except DeltaError:
        return False
    if not _is_plain(test):
        return False
    files: Iterable[ScanFile] = (file for read in timelines.reads for file in read.files)
    if not timelines.has_row_ids or keys is not None:
        predicate = condition_predicate(test)
        newest = timelines.newest.configuration
        files = (
            file
            for read in timelines.reads
            for file in pruned_scan_files(read.files, read.columns.of(newest), predicate)
        )
    return sum(file.size for file in files) <= _LITTLE_BYTES


def _is_plain(test: RowTest) -> bool:
    match test:
        case AndTest(tests) | OrTest(tests):
            return all(map(_is_plain, tests))
        case ComparisonTest(_, left, right):
            kinds = {_kind(left), _kind(right)}
            return len(kinds) == 1 and None not in kinds
        case InTest(column, values):
            return {_kind(column)} == {_kind(value) for value in values} - {None}
        case IsNullTest(ColumnValue()):
            return True
    return False


def _kind(operand: Operand) -> str | None:
    """Return "number" or "text" for what is compared alike everywhere, None for anything else."""
    if not isinstance(operand, ColumnValue | ConstantValue):
        return None
    match operand.type:
        case PrimitiveType(name) if name in _WHOLE_NUMBERS:
            return "number"
        case PrimitiveType("string"):
            return "text"
    return None


def check_row_count(condition: str, count: int) -> None:
    """Raise `TooManyRowsError` if there are too many rows for a history."""
    if count > MOST_ROWS:
        raise TooManyRowsError(condition=condition, count=count, most=MOST_ROWS)


def missing_history_files(
    timelines: RowTimelines, files: Sequence[ScanFile]
) -> HistoryFileNotFoundError | None:
    """Return the error that names the missing files, None if all exist."""
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
