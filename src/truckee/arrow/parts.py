"""Parts of files: what one task or one thread reads.

A part is a range of bytes, with the row groups that start in it. So a large file is read
by several tasks, and every row group by exactly one of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from heapq import heapreplace
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from truckee.scan.scan_file import BELIEVED_SIZE, ScanFile
from truckee.storage.base import Storage

_LARGEST_TASK = 64 << 20
_COST_OF_A_FILE = 4 << 20
# Each part is an object, and the size of a file may be absurd, though it is its own.
_MOST_PARTS = 10_000
_ASKED_AT_ONCE = 16


class FilePart(Struct, frozen=True):
    """The row groups of a file that start at a byte from `start` up to, but excluding, `end`."""

    file: ScanFile
    start: int
    end: int

    @property
    def size(self) -> int:
        """The number of bytes, according to the log."""
        return max(0, min(self.end, self.file.size) - self.start)


def with_true_sizes(files: Iterable[ScanFile], storage: Storage) -> list[ScanFile]:
    """Return files whose sizes are not far beyond their true ones.

    Files that are huge according to the log are asked for their size. One that does not exist has
    size 0: its only part is read, and reports that it is missing.
    """
    found = list(files)
    huge = [number for number, file in enumerate(found) if file.size > BELIEVED_SIZE]
    if huge:
        with ThreadPoolExecutor(_ASKED_AT_ONCE) as pool:
            sizes = pool.map(lambda number: _true_size(storage, found[number].path), huge)
            for number, size in zip(huge, sizes, strict=True):
                found[number] = replace(found[number], size=size)
    return found


def _true_size(storage: Storage, path: str) -> int:
    try:
        with storage.open_input(path) as file:
            return file.seek(0, os.SEEK_END)
    except FileNotFoundError:
        return 0


def tasks(files: Iterable[ScanFile]) -> list[tuple[FilePart, ...]]:
    """Return the parts of files, grouped into tasks of about the same size.

    The files are those of `with_true_sizes`.
    There is a task for each core or, if these would be too large, a multiple of that: every task
    takes time to start, and no core waits for a last, partial round. Parts that are decoded
    together are in one task.
    """
    files = list(files)
    total = sum(file.size + _COST_OF_A_FILE for file in files)
    cores = os.cpu_count() or 1
    wanted = cores * max(1, -(-total // (cores * _LARGEST_TASK)))
    largest = max(_COST_OF_A_FILE, total // wanted)
    groups = read_together(part for file in files for part in cut(file, largest))
    groups.sort(key=_cost, reverse=True)
    bins: list[tuple[int, int, list[FilePart]]]
    bins = [(0, number, []) for number in range(min(wanted, len(groups)))]
    for group in groups:
        filled, number, members = bins[0]
        heapreplace(bins, (filled + _cost(group), number, [*members, *group]))
    return [tuple(members) for _, _, members in bins]


def _cost(group: Sequence[FilePart]) -> int:
    return max(part.size for part in group) + _COST_OF_A_FILE


def cut(file: ScanFile, largest: int) -> Iterator[FilePart]:
    """Yield the parts of a file of at most this many bytes, up to `_MOST_PARTS`."""
    count = min(max(1, -(-file.size // largest)), _MOST_PARTS)
    length = -(-file.size // count)
    for number in range(count):
        # The size in the log may be wrong; the last part takes the rest of the file.
        end = (number + 1) * length if number + 1 < count else 1 << 62
        yield FilePart(file, number * length, end)


def row_groups(metadata: Any, part: FilePart) -> Iterator[tuple[int, int]]:
    """Yield the row groups of a part, each with the index of its first row in the file."""
    first = 0
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        if part.start <= _begins(group) < part.end:
            yield number, first
        first += group.num_rows


def _begins(group: Any) -> int:
    if not group.num_columns:
        return 0
    column = group.column(0)
    return int(column.dictionary_page_offset or column.data_page_offset)


def read_together(parts: Iterable[FilePart]) -> list[tuple[FilePart, ...]]:
    """Return the parts, grouped by file and bytes, so that each is read from the disk once.

    A feed names a file once for every version that deleted rows of it with a vector.
    """
    groups: dict[tuple[str, int, int, bool], list[FilePart]] = {}
    for part in parts:
        # In a change file, rows carry their type; that a log names it as a data file too is absurd.
        has_types = part.file.change is not None and part.file.change.type is None
        groups.setdefault((part.file.path, part.start, part.end, has_types), []).append(part)
    return [tuple(members) for members in groups.values()]
