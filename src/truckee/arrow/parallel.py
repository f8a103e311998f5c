"""Reads parts of files in several threads into one stream of batches, with bounded memory.

Decoding Parquet releases Python's lock, so threads use all cores. They put batches into one short
queue and wait while it is full, so memory depends on the number of threads and the size of a batch,
not on the size of the table. Batches come in the order in which they are ready, each with its
position, so that the order of the files can be restored.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import count
from queue import Empty, Full, Queue
from threading import Event, Lock, Thread

import pyarrow as pa

from truckee.arrow.file_columns import TableRead
from truckee.arrow.parts import FilePart, cut, with_true_sizes
from truckee.arrow.read import RowFilter, read_parts
from truckee.scan.scan_file import ScanFile
from truckee.storage.base import Storage
from truckee.storage.urls import is_object_url

_LARGEST_PART = 64 << 20
_FILES_AT_ONCE = 16
_BYTES_AT_ONCE = 8 << 20
_REMOTE_THREADS = 8
_WAIT_S = 0.1

BatchPlace = tuple[int, int]
"""The position of a batch: the number of its unit of work, and its number within the unit."""


def read_files(
    read: TableRead,
    files: Sequence[ScanFile],
    where: RowFilter | None = None,
    *,
    storage: Storage,
    threads: int | None = None,
) -> Iterator[tuple[BatchPlace, pa.RecordBatch]]:
    """Yield the rows of files as batches, each with its position in the order of the files.

    The first error of any thread is raised, and stops the others. Closing the iterator stops them
    too. A single thread yields in order, and does not read ahead.
    """
    units = _units(with_true_sizes(files, storage))
    number = min(threads or _default_threads(read.url), len(units))
    if number < 2:
        for index, unit in enumerate(units):
            batches = read_parts(read, unit, where, storage=storage, use_threads=threads is None)
            yield from (((index, place), batch) for place, batch in enumerate(batches))
        return
    yield from _Threads(read, units, where, storage).run(number)


def _default_threads(url: str) -> int:
    cores = os.cpu_count() or 1
    return max(_REMOTE_THREADS, cores) if is_object_url(url) else cores


def _units(files: Sequence[ScanFile]) -> list[tuple[FilePart, ...]]:
    """Return what a thread reads at a time: a part of a large file, or some small files.

    The ScanFiles of one physical file stay together, because they are decoded together.
    """
    by_path: dict[str, list[ScanFile]] = {}
    for file in files:
        by_path.setdefault(file.path, []).append(file)
    units: list[tuple[FilePart, ...]] = []
    small: list[FilePart] = []
    size = 0
    for members in by_path.values():
        # The sizes of one file in the log may differ.
        largest = max(members, key=lambda member: member.size)
        ranges = [(part.start, part.end) for part in cut(largest, _LARGEST_PART)]
        parts = [tuple(FilePart(member, *of) for member in members) for of in ranges]
        if len(parts) > 1:
            units.extend(parts)
            continue
        small.extend(parts[0])
        size += largest.size
        if len(small) >= _FILES_AT_ONCE or size >= _BYTES_AT_ONCE:
            units.append(tuple(small))
            small, size = [], 0
    return [*units, tuple(small)] if small else units


class _Threads:
    """The threads of one read, and the queue between them and the consumer."""

    def __init__(
        self,
        read: TableRead,
        units: Sequence[tuple[FilePart, ...]],
        where: RowFilter | None,
        storage: Storage,
    ) -> None:
        self._read = read
        self._units = units
        self._where = where
        self._storage = storage
        self._next = count()
        self._lock = Lock()
        self._stopped = Event()

    def run(self, number: int) -> Iterator[tuple[BatchPlace, pa.RecordBatch]]:
        """Yield the batches of all threads; None in the queue means that a thread is done."""
        queue: Queue[tuple[BatchPlace, pa.RecordBatch] | BaseException | None] = Queue(number)
        threads = [Thread(target=self._work, args=(queue,), daemon=True) for _ in range(number)]
        for thread in threads:
            thread.start()
        running = number
        try:
            while running:
                found = queue.get()
                if found is None:
                    running -= 1
                elif isinstance(found, BaseException):
                    raise found
                else:
                    yield found
        finally:
            self._stopped.set()
            _drain(queue)
            for thread in threads:
                thread.join()

    def _work(self, queue: Queue[tuple[BatchPlace, pa.RecordBatch] | BaseException | None]) -> None:
        try:
            while (unit := self._next_unit()) is not None:
                parts = self._units[unit]
                batches = read_parts(self._read, parts, self._where, storage=self._storage)
                for place, batch in enumerate(batches):
                    if not self._put(queue, ((unit, place), batch)):
                        return
            self._put(queue, None)
        except BaseException as error:
            self._put(queue, error)

    def _next_unit(self) -> int | None:
        with self._lock:
            unit = next(self._next)
        return unit if unit < len(self._units) else None

    def _put(
        self,
        queue: Queue[tuple[BatchPlace, pa.RecordBatch] | BaseException | None],
        item: tuple[BatchPlace, pa.RecordBatch] | BaseException | None,
    ) -> bool:
        """Put something into the queue when there is room; return False if the read was stopped."""
        while not self._stopped.is_set():
            try:
                queue.put(item, timeout=_WAIT_S)
            except Full:
                continue
            return True
        return False


def _drain(queue: Queue[tuple[BatchPlace, pa.RecordBatch] | BaseException | None]) -> None:
    while True:
        try:
            queue.get_nowait()
        except Empty:
            return
