"""Writes to a local disk that are still there after the power went.

A file is durable when its bytes are (fsync of the file) and its name is (fsync of its folder).
"""

from __future__ import annotations

import errno
import os

# A folder cannot be synced on some file systems, and there is nothing else to be done there.
_NO_FOLDER_SYNC = {errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EBADF}


def staged_path(target: str) -> str:
    """Return a fresh hidden name beside `target`, for its bytes until they are whole."""
    folder, name = os.path.split(target)
    return os.path.join(folder, f".{name}.{os.urandom(16).hex()}.tmp")


def is_staged(name: str) -> bool:
    """Return whether a file of this name is one that is being written, or was when all stopped."""
    return name.startswith(".") and name.endswith(".tmp")


def write_and_fsync(path: str, data: bytes) -> None:
    """Create the file `path` with its bytes on disk; what is there already is an error."""
    with open(path, "xb", buffering=0) as file:
        view = memoryview(data)
        while view:
            view = view[file.write(view) :]
        os.fsync(file.fileno())


def fsync_directory(folder: str) -> None:
    """Make the names in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NO_FOLDER_SYNC:
            raise
    finally:
        os.close(descriptor)


def make_folder(folder: str) -> None:
    """Create a folder and those above it, each with a durable name."""
    if os.path.isdir(folder):
        return
    above = os.path.dirname(folder)
    make_folder(above)
    try:
        os.mkdir(folder)
    except FileExistsError:
        if not os.path.isdir(folder):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), folder) from None
    fsync_directory(above)


def remove_if_there(path: str) -> None:
    """Delete a file; it is no error if there is none."""
    try:
        os.unlink(path)
    except (FileNotFoundError, NotADirectoryError):
        pass
