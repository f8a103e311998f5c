"""A table on a local disk, or on anything that is mounted as one.

A file appears under its name only when it is complete and on disk; a put-if-absent uses one of the
three ways of `exclusive`. It is on disk when its bytes are (fsync of the file) and its name is
(fsync of its folder). A killed process leaves a hidden file `.<name>.<unique>.tmp`, which listings
of a folder skip.
"""

from __future__ import annotations

import errno
import os
import posixpath
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from truckee.errors.storage import StorageError, StoragePermissionError, WriteOutcomeUnknownError
from truckee.storage.base import FileInfo, Owner
from truckee.storage.exclusive import Way, by_claim, by_link, by_rename, name_exclusively
from truckee.storage.read_bounds import DEFAULT_LIMITS, StorageLimits
from truckee.storage.urls import file_url_path, is_file_name, local_root, scheme_of

_STAGED_NAME = re.compile(r"\..+\.[0-9a-f]{32}\.tmp", re.DOTALL)

# Some file systems cannot sync a folder; then nothing else can be done.
_NO_FOLDER_SYNC = {errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EBADF}


class LocalStorage:
    """The files below one local folder, which need not exist before the first write."""

    owner: Owner | None = None

    def __init__(
        self,
        path: str,
        *,
        ways: Sequence[Way] = (by_link, by_rename, by_claim),
        limits: StorageLimits = DEFAULT_LIMITS,
    ) -> None:
        self._root = local_root(path)
        self._ways = tuple(ways)
        self._limits = limits

    def __repr__(self) -> str:
        return f"LocalStorage({self._root!r})"

    @property
    def root(self) -> str:
        """The absolute path of the folder."""
        return self._root

    def read(self, path: str) -> bytes:
        """Return the whole file; FileNotFoundError if there is none."""
        target = self._resolve(path)
        with typed_errors("read", target), _opened(target) as file:
            self._limits.check_read(str(target), os.fstat(file.fileno()).st_size)
            return file.read()

    def read_range(self, path: str, offset: int, length: int) -> bytes:
        """Return `length` bytes from `offset` on, fewer if the file ends before."""
        target = self._resolve(path)
        with typed_errors("read", target), _opened(target) as file:
            # The requested length is allocated, so it is limited to existing bytes.
            length = min(length, os.fstat(file.fileno()).st_size - offset)
            if offset < 0 or length <= 0:
                return b""
            file.seek(offset)
            return file.read(length)

    def open_input(self, path: str) -> BinaryIO:
        """Return the file opened for random access."""
        target = self._resolve(path)
        with typed_errors("read", target):
            return _opened(target)

    def list_from(self, path: str) -> Iterator[FileInfo]:
        """Yield the files beside `path` whose name is not less than its name, in order of name."""
        folder, first = posixpath.split(path)
        prefix = posixpath.join(folder, "")
        target = self._resolve(folder)
        with typed_errors("list", target):
            entries = [
                e for e in folder_entries(target) if e.name >= first and not is_staged(e.name)
            ]
            entries.sort(key=lambda entry: entry.name)
            for entry in entries:
                # Sizes and times are read one by one, because many callers stop before the end.
                info = _file_info(prefix, entry)
                if info is not None:
                    yield info

    def list_tree(self, folder: str) -> Iterator[FileInfo]:
        """Yield every file below a folder, in no particular order."""
        prefix = posixpath.join(folder, "")
        target = self._resolve(folder)
        with typed_errors("list", target):
            entries = list(folder_entries(target))
            subfolders = [e.name for e in entries if e.is_dir(follow_symlinks=False)]
            found = [_file_info(prefix, entry) for entry in entries]
        yield from (info for info in found if info is not None)
        for name in subfolders:
            yield from self.list_tree(prefix + name)

    def write(self, path: str, data: bytes) -> None:
        """Create or replace the file as a whole: no reader ever sees a part of it."""
        target = self._resolve(path)
        with typed_errors("write", target), _staged(target, data) as staged:
            remove_if_there(_hadoop_checksum(target))
            staged.replace(target)
            fsync_directory(target.parent)

    def write_from(self, path: str, fill: Callable[[BinaryIO], object]) -> None:
        """Create or replace a file that is too large for memory; `fill` writes its bytes."""
        target = self._resolve(path)
        with typed_errors("write", target):
            make_folder(target.parent)
            staged = staged_path(target)
            try:
                with staged.open("xb") as file:
                    fill(file)
                    file.flush()
                    os.fsync(file.fileno())
                remove_if_there(_hadoop_checksum(target))
                staged.replace(target)
                fsync_directory(target.parent)
            finally:
                with suppress(OSError):
                    remove_if_there(staged)

    def put_if_absent(self, path: str, data: bytes) -> None:
        """Create `path` as a whole, or raise FileExistsError and leave the file untouched."""
        target = self._resolve(path)
        with typed_errors("write", target), _staged(target, data) as staged:
            name_exclusively(staged, target, self._ways)
            try:
                fsync_directory(target.parent)
            except OSError as error:
                reason = f"its folder could not be synced to disk ({_reason(error)})"
                raise WriteOutcomeUnknownError(
                    action="write", path=str(target), reason=reason
                ) from error

    def leftovers(self, folder: str) -> Iterator[FileInfo]:
        """Yield the staged files of a folder that have not got their name yet.

        Most belong to killed writers; the newest may belong to a running one.
        """
        prefix = posixpath.join(folder, "")
        target = self._resolve(folder)
        with typed_errors("list", target):
            entries = [
                e for e in folder_entries(target) if is_staged_name(e.name) and not e.is_symlink()
            ]
            found = [_file_info(prefix, entry) for entry in entries]
        yield from (info for info in found if info is not None)

    def delete(self, path: str) -> None:
        """Delete a file of the table; it is not an error if there is none.

        Raises StorageError for a path that leaves the root, by its spelling or through a link.
        """
        target = self._resolve(path)
        with typed_errors("delete", target):
            self._check_own(target)
            remove_if_there(target)
            remove_if_there(_hadoop_checksum(target))

    def _check_own(self, target: Path) -> None:
        """Raise StorageError unless a path is below the root, without a link on the way."""
        folder = os.path.normpath(target.parent)
        real_root = os.path.realpath(self._root)
        for root in (self._root, real_root):
            below = os.path.relpath(folder, root)
            is_below = below != os.pardir and not below.startswith(os.pardir + os.sep)
            if is_below and os.path.realpath(folder) == os.path.normpath(f"{real_root}/{below}"):
                return
        reason = "it is outside the table's folder, or behind a link"
        raise StorageError(action="delete", path=str(target), reason=reason)

    def _resolve(self, path: str) -> Path:
        if not is_file_name(path):
            raise StorageError(action="open", path=repr(path), reason="it is not a valid file name")
        match scheme_of(path):
            case None:
                return Path(self._root, path)
            case "file":
                return Path(file_url_path(path))
        raise StorageError(action="open", path=path, reason="it is not on the local disk")


def _opened(target: Path) -> BinaryIO:
    """Open a regular file; StorageError for a folder, a pipe or a device.

    Without O_NONBLOCK, opening a pipe would wait for a writer.
    """
    file = open(target, "rb", opener=_open_at_once)  # noqa: SIM115
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise StorageError(action="read", path=str(target), reason="it is not a regular file")
    return file


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)


@contextmanager
def _staged(target: Path, data: bytes) -> Iterator[Path]:
    """Yield the path of a hidden file beside `target` with its bytes on disk; delete it at the end.

    Its folder is created first.
    """
    make_folder(target.parent)
    staged = staged_path(target)
    try:
        write_and_fsync(staged, data)
        yield staged
    finally:
        # A leftover file is hidden and harmless, but an error here would hide the outcome.
        with suppress(OSError):
            remove_if_there(staged)


def folder_entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    """Yield what is in a folder; one that does not exist is empty."""
    try:
        with os.scandir(folder) as entries:
            yield from entries
    except (FileNotFoundError, NotADirectoryError):
        return


def _file_info(prefix: str, entry: os.DirEntry[str]) -> FileInfo | None:
    """Return what a listing shows of an entry; None for a folder, or a file deleted meanwhile."""
    try:
        if not entry.is_file():
            return None
        status = entry.stat()
    except FileNotFoundError:
        return None
    return FileInfo(prefix + entry.name, status.st_size, status.st_mtime_ns // 1_000_000)


def _hadoop_checksum(target: Path) -> Path:
    """Return the path of Hadoop's checksum of a local file.

    Hadoop verifies a file by its checksum file if there is one. So Spark can read bytes that were
    not written through Hadoop only if there is no checksum file.
    """
    return target.with_name(f".{target.name}.crc")


@contextmanager
def typed_errors(action: str, path: Path) -> Iterator[None]:
    """Turn the operating system's errors into ours, except for the two normal answers.

    These are FileNotFoundError when reading and FileExistsError when writing.
    """
    try:
        yield
    except OSError as error:
        match action, error:
            case "read", FileNotFoundError():
                raise
            case "read", NotADirectoryError():
                raise FileNotFoundError(error.errno, error.strerror, str(path)) from error
            case "write", FileExistsError():
                raise
        denied = isinstance(error, PermissionError)
        kind = StoragePermissionError if denied else StorageError
        raise kind(action=action, path=str(path), reason=_reason(error)) from error


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


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
