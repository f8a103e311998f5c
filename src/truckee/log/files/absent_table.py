"""The errors for a path that has no table."""

from __future__ import annotations

from pathlib import Path

from truckee.errors.log import NoTableAtPathError, NotADeltaTableError, TablePathError
from truckee.protocol.paths import LOG_DIRECTORY
from truckee.storage.base import Storage

_NO_PATH = "the path does not exist"
_ONLY_PARQUET = f"it has Parquet files, but no {LOG_DIRECTORY}"


def absent_table(storage: Storage) -> NotADeltaTableError:
    """Return the error that there is no table; on a disk it says what is there instead.

    An object store has no folders, so a path without files cannot be distinguished there.
    """
    place = Path(storage.root)
    found = _found(place) if place.is_absolute() else None
    if found is None:
        return NotADeltaTableError(table=storage.root)
    error = NotADeltaTableError(table=storage.root, found=found)
    if found == _ONLY_PARQUET:
        error.hint += ", or make a table of these files with CONVERT TO DELTA"
    return error


def _found(place: Path) -> str | None:
    """Return what is at a path of a disk; None if it is a folder with a log that says nothing."""
    if not place.exists():
        return _NO_PATH
    if not place.is_dir():
        return "it is a file, not a folder"
    if (place / LOG_DIRECTORY).is_dir():
        return None
    around = next((folder for folder in place.parents if (folder / LOG_DIRECTORY).is_dir()), None)
    if around is not None:
        return f"it is a folder of the table {around}"
    if any(place.glob("*.parquet")) or any(place.glob("*=*/*.parquet")):
        return _ONLY_PARQUET
    tables = sorted(log.parent.name for log in place.glob(f"*/{LOG_DIRECTORY}"))
    if tables:
        more = f" and {len(tables) - 1} more" if len(tables) > 1 else ""
        return f"it has no {LOG_DIRECTORY}, but is a folder of tables: {tables[0]}{more}"
    return f"it has no {LOG_DIRECTORY}"


def unreadable_path(error: NotADeltaTableError) -> NotADeltaTableError:
    """Return the error that there is no table, as it is called where rows are read or changed."""
    return error.told_as(TablePathError if error.found == _NO_PATH else NoTableAtPathError)
