"""The files of the snapshot that a stream begins with, in an order that every run repeats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

import pyarrow as pa

from truckee.log.snapshot import Snapshot
from truckee.protocol.actions import AddFile

_SLICE = 4096


class SnapshotFiles(Sequence[AddFile]):
    """Files of a snapshot as rows of its `files_table`; objects are made only on request."""

    def __init__(self, snapshot: Snapshot, files: pa.Table) -> None:
        self._snapshot = snapshot
        self._files = files

    def __len__(self) -> int:
        return int(self._files.num_rows)

    def __iter__(self) -> Iterator[AddFile]:
        for start in range(0, len(self), _SLICE):
            yield from self._snapshot.add_files(self._files.slice(start, _SLICE))

    @overload
    def __getitem__(self, index: int) -> AddFile: ...

    @overload
    def __getitem__(self, index: slice) -> SnapshotFiles: ...

    def __getitem__(self, index: int | slice) -> AddFile | SnapshotFiles:
        places = range(len(self))[index]
        if isinstance(places, int):
            return self._snapshot.add_files(self._files.slice(places, 1))[0]
        assert places.step == 1
        return SnapshotFiles(self._snapshot, self._files.slice(places.start, len(places)))


def initial_files(snapshot: Snapshot) -> SnapshotFiles:
    """Return the live files by time and path; their positions are the indexes of a stream."""
    order = [("modification_time", "ascending"), ("path", "ascending")]
    return SnapshotFiles(snapshot, snapshot.files_table().sort_by(order))
