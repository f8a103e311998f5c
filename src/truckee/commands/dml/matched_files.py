"""Condition -> {file: row indexes}: the first half of DELETE, UPDATE and MERGE.

One scan over the files that statistics and partition values do not rule out. It reads only the
columns that the condition needs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from truckee.deletion_vectors.bitmap import RowBitmap
from truckee.deletion_vectors.store import StoredRows
from truckee.protocol.actions import AddFile
from truckee.scan.scan_file import num_records
from truckee.spark.dml.row_bitmaps import FileRows
from truckee.spark.dml.target import Target


@dataclass(frozen=True)
class TouchedFile:
    """A live file, and those of its rows that a command matches; there is at least one.

    `id` is the number of the file in the target's scan.
    """

    id: int
    add: AddFile
    rows: RowBitmap | StoredRows

    @property
    def num_records(self) -> int | None:
        """The number of rows in the file, deleted ones included; None if unknown."""
        return num_records(self.add.stats)

    @property
    def num_deleted(self) -> int:
        """The number of rows that the file's deletion vector marks."""
        return num_deleted(self.add)

    @property
    def num_live(self) -> int | None:
        """The number of rows in the file, deleted ones excluded; None if unknown."""
        total = self.num_records
        return None if total is None else total - self.num_deleted

    @property
    def is_whole(self) -> bool:
        """Whether it is known that no other live row is in the file."""
        return self.num_live == len(self.rows)


def num_live(files: Iterable[TouchedFile]) -> int | None:
    """Return how many live rows files have in total; None if one of the counts is unknown."""
    total = 0
    for file in files:
        if file.num_live is None:
            return None
        total += file.num_live
    return total


def num_touched(files: Iterable[TouchedFile]) -> int:
    """Return how many rows of files a command matches."""
    return sum(len(file.rows) for file in files)


def num_deleted(add: AddFile) -> int:
    """Return how many rows of a file its deletion vector marks."""
    return 0 if add.deletion_vector is None else add.deletion_vector.cardinality


def touched_files(target: Target, rows: FileRows) -> list[TouchedFile]:
    """Return rows of the target by file, with what the log says of each file."""
    ids = sorted(rows)
    pairs = zip(target.add_files(ids), ids, strict=True)
    return [TouchedFile(number, add, rows[number]) for add, number in pairs]
