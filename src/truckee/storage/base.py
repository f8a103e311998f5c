"""The only way to the bytes of logs and deletion vectors; engines read data files themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple, Protocol


class FileInfo(NamedTuple):
    """A file as a listing shows it."""

    path: str
    size: int
    modified_ms: int


class Owner(Protocol):
    """For whom a storage was opened, and so for whom commits are made through it."""

    def user_metadata(self) -> str | None:
        """Return the text for a commit whose command gives none."""

    def committed(self, root: str, version: int) -> None:
        """Take note of a version of the table at `root` that was committed."""


class Storage(Protocol):
    """Bytes by path, below one table root.

    A path is relative to the root, with `/` between its parts and nothing percent-encoded. An
    absolute path or URL of the same kind of store is used as it is, because deletion vectors and
    data files of shallow clones are outside the table.

    A failure of the store raises a StorageError. FileNotFoundError and FileExistsError are normal
    answers, and raised only where a method documents them.
    """

    owner: Owner | None
    """The session that opened the storage; None without one, as in a worker or without Spark."""

    @property
    def root(self) -> str:
        """The table's root as a URL or path that Spark understands, with no slash at its end."""
        ...

    def read(self, path: str) -> bytes:
        """Return the whole file; FileNotFoundError if there is none.

        Raises StorageError for a file that is larger than the storage's limit, before it is read.
        """
        ...

    def read_range(self, path: str, offset: int, length: int) -> bytes:
        """Return `length` bytes from `offset` on, fewer if the file ends before."""
        ...

    def open_input(self, path: str) -> BinaryIO:
        """Return the file opened for random access, for Parquet readers."""
        ...

    def list_from(self, path: str) -> Iterator[FileInfo]:
        """Yield the files beside `path` whose name is not less than its name, in order of name.

        Folders are left out. A folder that does not exist is empty.
        """
        ...

    def list_tree(self, folder: str) -> Iterator[FileInfo]:
        """Yield every file below a folder, in no particular order."""
        ...

    def write(self, path: str, data: bytes) -> None:
        """Create or replace the file as a whole: no reader ever sees a part of it."""
        ...

    def put_if_absent(self, path: str, data: bytes) -> None:
        """Create `path` as a whole, or raise FileExistsError and leave the existing file untouched.

        Of several concurrent calls for a path exactly one returns. FileExistsError means that the
        file was created by another call. If the store fails and cannot report the outcome,
        WriteOutcomeUnknownError is raised: the file may exist now, or appear a little later. Then
        only its bytes show who wrote it, so they should contain something unique, as commits do
        (`commitInfo.txnId`).
        """
        ...

    def delete(self, path: str) -> None:
        """Delete a file of the table; it is not an error if there is none.

        Raises StorageError for a path that leaves the root, by its spelling or through a link:
        only files below the root may be deleted.
        """
        ...


def file_exists(storage: Storage, path: str) -> bool:
    """Return whether there is a file at a path, by reading one byte of it."""
    try:
        storage.read_range(path, 0, 1)
    except FileNotFoundError:
        return False
    return True
