"""What can go wrong between truckee and the place where a table's bytes lie.

    DeltaError
    ├── PathOutsideTableError        a file outside the root, where reads are kept below it
    ├── NoAtomicRenameError          a commit where two writers could both win
    └── StorageError                 a read, write or listing failed, and why
        ├── StoragePermissionError     the store said no
        ├── WriteOutcomeUnknownError   the file may have been written, or not
        ├── InvalidUrlError            a path or URL that names no table
        ├── MissingObjectStoreError    a remote URL, and obstore is not installed
        └── ForkedProcessError         a remote store used on both sides of a fork

A missing file is the built-in FileNotFoundError, and a file that is already there the built-in
FileExistsError: both are answers that the log asks for, rather than failures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from truckee.errors.base import DeltaError


@dataclass(eq=False, kw_only=True)
class StorageError(DeltaError):
    """A read, write or listing failed for a reason that lies with the store."""

    code: ClassVar[str] = "DELTA_STORAGE_FAILURE"
    action: str
    path: str
    reason: str

    def __str__(self) -> str:
        return f"cannot {self.action} {self.path}: {self.reason}"


@dataclass(eq=False, kw_only=True)
class StoragePermissionError(StorageError):
    """The store refused, because of who asked."""

    code: ClassVar[str] = "DELTA_STORAGE_PERMISSION_DENIED"

    def __str__(self) -> str:
        return (
            f"no permission to {self.action} {self.path}: {self.reason}\n"
            "hint: check the owner and mode of the path, or the credentials for its store"
        )


@dataclass(eq=False, kw_only=True)
class WriteOutcomeUnknownError(StorageError):
    """A put-if-absent broke off, and nobody can tell yet whether the file is there."""

    code: ClassVar[str] = "DELTA_STORAGE_WRITE_OUTCOME_UNKNOWN"

    def __str__(self) -> str:
        return (
            f"it is not known whether {self.path} was written: {self.reason}\n"
            "hint: read the file back; if it holds what you meant to write, the write succeeded"
        )


@dataclass(eq=False, kw_only=True)
class InvalidUrlError(StorageError):
    """A path or URL that names no place where a table can lie."""

    code: ClassVar[str] = "DELTA_INVALID_TABLE_URL"

    def __str__(self) -> str:
        return (
            f"cannot {self.action} {self.path!r}: {self.reason}\n"
            "hint: give a local path, or a URL that starts with file:, s3a://, gs:// or abfss://"
        )


@dataclass(eq=False, kw_only=True)
class MissingObjectStoreError(StorageError):
    """A remote store was asked for, and the library that speaks to it is not installed."""

    code: ClassVar[str] = "DELTA_MISSING_OBJECT_STORE_SUPPORT"

    def __str__(self) -> str:
        return (
            f"cannot {self.action} {self.path}: {self.reason}\n"
            "hint: pip install 'truckee[object-store]'"
        )


@dataclass(eq=False, kw_only=True)
class ForkedProcessError(StorageError):
    """A forked process went on with a remote store that its parent had used."""

    code: ClassVar[str] = "DELTA_STORAGE_USED_ACROSS_FORK"

    def __str__(self) -> str:
        return (
            f"cannot {self.action} {self.path}: {self.reason}\n"
            "hint: start processes afresh, with multiprocessing.get_context('spawn')"
        )


@dataclass(eq=False, kw_only=True)
class PathOutsideTableError(DeltaError):
    """A file lies outside the table's root, and reads are kept below it."""

    code: ClassVar[str] = "DELTA_PATH_OUTSIDE_TABLE"
    table: str
    path: str
    setting: str
    exceptions: str

    def __str__(self) -> str:
        return (
            f"{self.path} lies outside the table {self.table}, and {self.setting} forbids to read "
            f"it\nhint: if you trust its folder, for example as the source of a clone, add it to "
            f"{self.exceptions}"
        )


@dataclass(eq=False, kw_only=True)
class NoAtomicRenameError(DeltaError):
    """A commit where the file system cannot create a file only if it is absent."""

    code: ClassVar[str] = "DELTA_STORAGE_WITHOUT_ATOMIC_RENAME"
    table: str
    scheme: str
    setting: str

    def __str__(self) -> str:
        return (
            f"{self.table} cannot be written: nothing is known of {self.scheme} that would keep "
            "two writers from committing the same version\n"
            f"hint: name {self.scheme} in {self.setting} if its rename fails where the target "
            "exists, for all clients at once"
        )
