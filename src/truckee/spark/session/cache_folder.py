"""The folder in which truckee keeps what it made for later sessions: compiled classes, archives."""

from __future__ import annotations

import os
import stat
from pathlib import Path

_OWN = ("truckee-*.jar", "spark-classes-*.jsa")


def user_cache() -> Path | None:
    """Return the user's folder for truckee's caches, made if it is missing; None if there is none.

    There is none if its place is not known or not writable, or if another user could change it.
    """
    home = os.environ.get("XDG_CACHE_HOME")
    if not home and Path("~").expanduser() == Path("~"):
        return None
    folder = (Path(home) if home else Path("~/.cache").expanduser()) / "truckee"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError:
        return None
    return folder if is_private(folder) and os.access(folder, os.W_OK) else None


def is_private(path: Path) -> bool:
    """Return whether a file or folder is there, is ours, and nobody else may write to it."""
    try:
        status = path.stat()
    except OSError:
        return False
    own = status.st_uid == os.geteuid()
    return own and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def kept_files() -> list[Path]:
    """Return the files in that folder that truckee has made, by name."""
    folder = user_cache()
    if folder is None:
        return []
    return sorted(found for pattern in _OWN for found in folder.glob(pattern))
