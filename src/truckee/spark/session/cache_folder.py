"""The folder in which truckee keeps what it made for later sessions: compiled classes, archives."""

from __future__ import annotations

import os
from pathlib import Path

from truckee.spark.jvm.jar_folder import danger_in, is_ours, users_folder

_OWN = ("truckee-*.jar", "spark-classes-*.jsa")


def user_cache() -> Path | None:
    """Return the user's folder for truckee's caches, made if it is missing; None if there is none.

    There is none if its place is not known or not writable, or if another user could change it.
    """
    folder = users_folder()
    if folder is None:
        return None
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError:
        return None
    return folder if danger_in(folder) is None and os.access(folder, os.W_OK) else None


def is_private(path: Path) -> bool:
    """Return whether a file is there, and nobody else can have written it."""
    return is_ours(path) and danger_in(path.parent) is None


def kept_files() -> list[Path]:
    """Return the files in that folder that truckee has made, by name."""
    folder = user_cache()
    if folder is None:
        return []
    return sorted(found for pattern in _OWN for found in folder.glob(pattern))
