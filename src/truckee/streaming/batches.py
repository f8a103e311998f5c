"""Which entries make up a batch: pure functions from (start, limits) to an end, and back.

A batch is determined in two steps. First its end is found: entries are admitted one by one until a
limit or the end of the table is reached. Later, perhaps after a restart, the entries between two
offsets are read, without limits. Both steps walk the same entries, so every entry is in exactly one
batch.

Limit 3, commits of two files each, one number for each file:

    version 0: 0 1   version 1: 0 1
    admitted after (0, BASE): (0, 0) (0, 1) (0, END) (1, BASE) (1, 0)   -> offset (1, 0)
    admitted after (1, 0):    (1, 1) (1, END)                           -> offset (2, BASE)

Limits are counted down as entries are admitted. A file is admitted if there is room *before* it is
counted. So a file that is larger than the limit is still admitted, and a batch is never empty for
lack of room. A group is admitted completely or not at all; its size is counted even if it is
refused, so that nothing after it is admitted.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence

from truckee.errors.streaming import OffsetWentBackError
from truckee.options.stream import StreamOptions
from truckee.streaming.entries import Admission, Entry, VersionEntries, entries_between
from truckee.streaming.offset import (
    BASE,
    END,
    METADATA_CHANGE,
    POST_METADATA_CHANGE,
    Position,
    StreamOffset,
)


def admitted_entries(
    versions: Iterable[VersionEntries], after: Position, budget: Budget | None = None
) -> Iterator[Entry]:
    """Yield the entries after a position that one batch may take, all if there is no budget.

    Versions come in order, and the next one is read only if there is room. Nothing is admitted
    after a change of metadata that the stream has not recorded.
    """
    for found in versions:
        barrier = _barrier(found, after)
        if barrier is not None:
            yield from entries_between(found, after, (found.version, barrier))
            return
        is_cut = yield from _admitted_of(found, after, budget)
        if is_cut or (budget is not None and not budget.has_room):
            return


def _barrier(found: VersionEntries, after: Position) -> int | None:
    """Return the index at which a change of metadata stops a batch, None if none does."""
    if not found.is_barrier:
        return None
    steps = (METADATA_CHANGE, POST_METADATA_CHANGE)
    return next((index for index in steps if after < (found.version, index)), None)


def _admitted_of(
    found: VersionEntries, after: Position, budget: Budget | None
) -> Generator[Entry, None, bool]:
    """Yield the entries of a version for a batch, and return whether the batch ends there."""
    entries = entries_between(found, after)
    if budget is None:
        yield from entries
        return False
    if found.admission is Admission.ONE_BY_ONE:
        for entry in entries:
            if not budget.admits(entry.size):
                return True
            yield entry
        return False
    group = list(entries)
    if found.admission is Admission.CHANGE_FILES:
        group = [entry for entry in group if entry.file is not None]
    if not budget.admits_group([entry.size for entry in group]):
        return True
    yield from group
    return False


def offset_at(last: Entry, previous: StreamOffset) -> StreamOffset:
    """Return the offset of a batch that ends with an entry.

    The end of a version is the beginning of the next one, which need not exist.
    """
    assert last.position > previous.position
    if last.index == END:
        return StreamOffset(table_id=previous.table_id, version=last.version + 1)
    return StreamOffset(
        table_id=previous.table_id,
        version=last.version,
        index=last.index,
        is_initial=previous.is_initial and last.version == previous.version,
    )


def first_batch_start(end: StreamOffset, starting_version: int | None) -> StreamOffset:
    """Return where the first batch of a stream starts, given its end.

    A stream without a given start begins with a snapshot. If the batch ends inside that snapshot,
    the end has its version. Otherwise the snapshot was read completely, and its version is no
    longer known. The snapshot just before the end has the same rows as the original snapshot and
    the changes after it.
    """
    if starting_version is not None:
        version, is_initial = starting_version, False
    elif end.is_initial:
        version, is_initial = end.version, True
    else:
        version, is_initial = end.version - 1, True
    return StreamOffset(table_id=end.table_id, version=version, is_initial=is_initial)


def last_version_of(start: StreamOffset, end: StreamOffset) -> int:
    """Return the last version whose commit a batch needs.

    A batch that ends at the base of a version does not open that version.
    """
    ends_inside = end.index > BASE and end.index not in (METADATA_CHANGE, POST_METADATA_CHANGE)
    return end.version if ends_inside and start.position < end.position else end.version - 1


def check_order(start: StreamOffset, end: StreamOffset, *, table: str) -> None:
    """Raise `OffsetWentBackError` if a batch would end before it starts."""
    if end.position < start.position or (end.is_initial and not start.is_initial):
        raise OffsetWentBackError(table=table, previous=start.to_json(), found=end.to_json())


class Budget:
    """What is left for one batch. With 100 bytes and files of 60 each, two are admitted: 120."""

    def __init__(self, files: int, size: int | None = None) -> None:
        self._files = files
        self._size = float("inf") if size is None else size
        self._has_seen_something = False

    @property
    def has_room(self) -> bool:
        """Whether another file may be admitted."""
        return self._files > 0 and self._size > 0

    def admits(self, size: int | None) -> bool:
        """Return whether an entry of this many bytes is admitted; None is a sentinel, and free."""
        self._has_seen_something = True
        if size is None:
            return True
        had_room = self.has_room
        self._take(1, size)
        return had_room

    def admits_group(self, sizes: Sequence[int | None]) -> bool:
        """Return whether a group is admitted; sentinels count as files without bytes.

        The first entry of a batch is always admitted.
        """
        if not sizes:
            return True
        had_seen_something, self._has_seen_something = self._has_seen_something, True
        self._take(len(sizes), sum(size or 0 for size in sizes))
        return not had_seen_something or (self._files >= 0 and self._size >= 0)

    def _take(self, files: int, size: int) -> None:
        self._files -= files
        self._size -= size


def budget(options: StreamOptions) -> Budget:
    """Return what one batch of a stream may take."""
    return Budget(options.max_files, options.max_bytes)
