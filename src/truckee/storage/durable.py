"""Writes to a local disk that survive a power failure.

A file is durable when its bytes are (fsync of the file) and its name is (fsync of its folder).
"""

from __future__ import annotations

import errno
import os
import re
from contextlib import suppress
from pathlib import Path

_STAGED_NAME = re.compile(r"\..+\.[0-9a-f]{32}\.tmp", re.DOTALL)

# Some file systems cannot sync a folder; then nothing else can be done.
_NO_FOLDER_SYNC = {errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EBADF}


def staged_path(target: Path) -> Path:
    """Return a new hidden name beside `target`, for its bytes until they are complete."""
    return target.with_name(f".{target.name}.{os.urandom(16).hex()}.tmp")


def is_staged(name: str) -> bool:
    """Return whether a file of this name is being written, or was when its writer stopped."""
    return name.startswith(".") and name.endswith(".tmp")


def is_staged_name(name: str) -> bool:
    """Return whether a name has exactly the form of `staged_path`."""
    return _STAGED_NAME.fullmatch(name) is not None


def write_and_fsync(path: Path, data: bytes) -> None:
    """Create the file `path` with its bytes on disk; an existing file is an error."""
    with path.open("xb", buffering=0) as file:
        view = memoryview(data)
        while view:
            view = view[file.write(view) :]
        os.fsync(file.fileno())


def fsync_directory(folder: Path) -> None:
    """Make the names in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NO_FOLDER_SYNC:
            raise
    finally:
        os.close(descriptor)


def make_folder(folder: Path) -> None:
    """Create a folder and those above it, each with a durable name."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    try:
        folder.mkdir()
    except FileExistsError:
        if not folder.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "Not a directory", str(folder)) from None
    fsync_directory(folder.parent)


def remove_if_there(path: Path) -> None:
    """Delete a file; it is not an error if there is none."""
    with suppress(FileNotFoundError, NotADirectoryError):
        path.unlink()
