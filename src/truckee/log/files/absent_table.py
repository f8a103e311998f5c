"""The errors for a path that has no table."""

from __future__ import annotations

from pathlib import Path

from truckee.errors.log import NoTableAtPathError, NotADeltaTableError, TablePathError
from truckee.storage.base import Storage

_NO_PATH = "the path does not exist"


def absent_table(storage: Storage) -> NotADeltaTableError:
    """Return the error that there is no table; it says whether the path exists at all.

    An object store has no folders, so a path without files cannot be distinguished there.
    """
    place = Path(storage.root)
    if place.is_absolute() and not place.exists():
        return NotADeltaTableError(table=storage.root, found=_NO_PATH)
    if place.is_absolute() and not place.is_dir():
        return NotADeltaTableError(table=storage.root, found="it is a file, not a folder")
    return NotADeltaTableError(table=storage.root)


def unreadable_path(error: NotADeltaTableError) -> NotADeltaTableError:
    """Return the error that there is no table, as it is called where rows are read or changed."""
    kind = TablePathError if error.found == _NO_PATH else NoTableAtPathError
    return kind(table=error.table, found=error.found)
