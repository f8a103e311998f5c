"""Folders in which JARs are kept: those that nobody else can write to, and JARs that are whole.

Spark runs what is in a JAR, as the user who starts it. So a folder is used only if it and the
folders above it belong to the user or to root, and no one else may put files into it. In the last
bytes of a JAR, its comment, is a digest of its name and of all bytes before.
"""

from __future__ import annotations

import hashlib
import logging
import os
import stat
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

_log = logging.getLogger(__name__)

SEAL_SIZE = 64
"""The bytes that a JAR to be kept has for its digest, at its end."""


def users_folder() -> Path | None:
    """Return where truckee keeps files for the user; None if the user has no such place."""
    cache_home = os.environ.get("XDG_CACHE_HOME")
    if cache_home:
        return Path(cache_home) / "truckee"
    home = Path("~").expanduser()
    return None if home == Path("~") else home / ".cache" / "truckee"


def kept_jar(folders: Iterable[Path], name: str, content: Callable[[], bytes]) -> Path | None:
    """Return the JAR of this name in the first folder that can be used; None if none can.

    It is made if it is missing, damaged, or not safe from other users.
    """
    for folder in folders:
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError:
            continue
        place = folder.resolve()
        reason = danger_in(place)
        if reason is not None:
            _log.warning("truckee keeps no classes in %s: %s", folder, reason)
        elif is_ours(place / name) and _is_whole(place / name):
            return place / name
        elif os.access(place, os.W_OK):
            return _written(place, name, content())
    return None


def danger_in(folder: Path) -> str | None:
    """Return how other users could change what is in a folder; None if they cannot."""
    try:
        for place in (folder.resolve(), *folder.resolve().parents):
            found = place.stat()
            if not _is_owner_trusted(found):
                return f"{place} belongs to another user"
            shared = stat.S_IWGRP | stat.S_IWOTH
            if place != folder.resolve():
                # Where files cannot be deleted by others, a folder cannot be replaced.
                shared = 0 if found.st_mode & stat.S_ISVTX else stat.S_IWOTH
            if found.st_mode & shared and hasattr(os, "geteuid"):
                return f"other users may write to {place}"
    except OSError:
        return None  # it is not there
    return None


def _is_owner_trusted(found: os.stat_result) -> bool:
    return not hasattr(os, "geteuid") or found.st_uid in (0, os.geteuid())


def is_ours(kept: Path) -> bool:
    """Return whether there is a file that only the user or root can have written."""
    try:
        found = kept.lstat()
    except OSError:
        return False
    is_shared = hasattr(os, "geteuid") and found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return stat.S_ISREG(found.st_mode) and _is_owner_trusted(found) and not is_shared


def _is_whole(jar: Path) -> bool:
    try:
        data = jar.read_bytes()
    except OSError:
        return False
    return data == _sealed(jar.name, data)


def _sealed(name: str, data: bytes) -> bytes:
    kept = data[:-SEAL_SIZE]
    return kept + hashlib.sha256(name.encode() + b"\0" + kept).hexdigest().encode()


def _written(folder: Path, name: str, data: bytes) -> Path:
    with tempfile.NamedTemporaryFile(dir=folder, suffix=".tmp", delete=False) as staged:
        staged.write(_sealed(name, data))
    return Path(staged.name).replace(folder / name)
