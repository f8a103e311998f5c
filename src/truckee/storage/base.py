"""The one seam to the bytes of logs and deletion vectors (data files are the engine's)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple, Protocol


class FileInfo(NamedTuple):
    """A file as a listing shows it."""

    path: str
    size: int
    modified_ms: int


class Storage(Protocol):
    """Bytes by path, below one table root.

    A path is relative to the root, with `/` between its parts and nothing percent-encoded. An
    absolute path or URL of the same kind of store is taken as it is, since deletion vectors and
    data files of shallow clones lie outside the table.

    Whatever fails for a reason that lies with the store raises a StorageError. FileNotFoundError
    and FileExistsError are answers, and raised only where they are promised.
    """

    @property
    def root(self) -> str:
        """The table's root as a URL or path that Spark understands, with no slash at its end."""
        ...

    def read(self, path: str) -> bytes:
        """Return the whole file; FileNotFoundError if there is none."""
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
        """Create or replace the file as a whole: no reader ever sees half of it."""
        ...

    def put_if_absent(self, path: str, data: bytes) -> None:
        """Create `path` whole, or raise FileExistsError and leave what is there untouched.

        Of all that race for a path exactly one returns. FileExistsError means that the file there
        is another's. When the store broke off and cannot be asked what became of the request,
        WriteOutcomeUnknownError is raised: the file may be there now, or appear a little later.
        Then only its bytes can tell, so they should hold something unique, as commits do
        (`commitInfo.txnId`).
        """
        ...

    def delete(self, path: str) -> None:
        """Delete a file of the table; it is no error if there is none.

        Raises StorageError for a path that leaves the root, by its spelling or through a link:
        only what lies below the root is the table's to delete.
        """
        ...
