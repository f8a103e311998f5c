"""Which rows of a data file a change of its deletion vector deleted and restored."""

from __future__ import annotations

from msgspec import Struct

from truckee.deletion_vectors.bitmap import RowBitmap


class RowDiff(Struct, frozen=True):
    """Rows that were live before and are deleted now, and the reverse."""

    deleted: RowBitmap
    restored: RowBitmap


def changed_rows(before: RowBitmap, after: RowBitmap) -> RowDiff:
    """Return the rows that replacing one deletion vector by another deleted and restored.

    Both mark deleted rows of the same data file. With before = {0, 1} and after = {1, 2}, row 2
    was deleted and row 0 restored; row 1 was already deleted and is not a change.
    """
    return RowDiff(deleted=after - before, restored=before - after)
