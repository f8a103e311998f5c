"""What is found where a table was expected and is not."""

from __future__ import annotations

from pathlib import Path

from truckee.errors.log import NotADeltaTableError
from truckee.storage.base import Storage


def absent_table(storage: Storage) -> NotADeltaTableError:
    """Return the error that there is no table, which says whether there is anything at all.

    A store has no folders, so there nothing can be said of a path without files.
    """
    place = Path(storage.root)
    if place.is_absolute() and not place.exists():
        return NotADeltaTableError(table=storage.root, found="the path does not exist")
    if place.is_absolute() and not place.is_dir():
        return NotADeltaTableError(table=storage.root, found="it is a file, and no folder")
    return NotADeltaTableError(table=storage.root)
