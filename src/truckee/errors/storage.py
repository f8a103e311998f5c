"""Errors of storage: paths, permissions, and failed reads, writes and listings.

    DeltaError
    ├── PathOutsideTableError        a file outside the table's root, which reads may not leave
    ├── NoAtomicRenameError          a store on which two writers could write the same version
    └── StorageError                 a read, write or listing failed
        ├── StoragePermissionError     the store denied access
        ├── CredentialsNotFoundError   neither the options nor the environment have any
        ├── WriteOutcomeUnknownError   it is unknown whether the file was written
        ├── InvalidUrlError            a path or URL that cannot be a table's
        ├── MissingObjectStoreError    a remote URL, but obstore is not installed
        └── ForkedProcessError         a remote store used on both sides of a fork

A missing file is the built-in FileNotFoundError, and a file that is already there the built-in
FileExistsError: the log expects both as normal answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from truckee.errors.base import DeltaError


@dataclass(eq=False, kw_only=True)
class StorageError(DeltaError):
    """A read, write or listing failed in the store."""

    code: ClassVar[str] = "DELTA_STORAGE_FAILURE"
    action: str
    path: str
    reason: str

    def __str__(self) -> str:
        return f"cannot {self.action} {self.path}: {self.reason}"


@dataclass(eq=False, kw_only=True)
class StoragePermissionError(StorageError):
    """The store denied access."""

    code: ClassVar[str] = "DELTA_STORAGE_PERMISSION_DENIED"

    def __str__(self) -> str:
        return (
            f"no permission to {self.action} {self.path}: {self.reason}\n"
            "hint: check the owner and mode of the path, or the credentials for its store"
        )


@dataclass(eq=False, kw_only=True)
class CredentialsNotFoundError(StorageError):
    """Neither the options nor the environment have credentials, and the machine has no role."""

    code: ClassVar[str] = "DELTA_STORAGE_CREDENTIALS_NOT_FOUND"

    def __str__(self) -> str:
        return (
            f"cannot {self.action} {self.path}: there are no credentials in the options or the "
            f"environment, and the machine gave none ({self.reason})\n"
            "hint: set them in the environment (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, "
            "GOOGLE_APPLICATION_CREDENTIALS, or AZURE_STORAGE_ACCOUNT_KEY), or give Spark's "
            "settings of the store; profiles such as those of ~/.aws are not read"
        )


@dataclass(eq=False, kw_only=True)
class WriteOutcomeUnknownError(StorageError):
    """A put-if-absent was interrupted, and it is unknown whether the file was written."""

    code: ClassVar[str] = "DELTA_STORAGE_WRITE_OUTCOME_UNKNOWN"

    def __str__(self) -> str:
        return (
            f"it is not known whether {self.path} was written: {self.reason}\n"
            "hint: read the file back; if it holds what you meant to write, the write succeeded"
        )


@dataclass(eq=False, kw_only=True)
class InvalidUrlError(StorageError):
    """A path or URL that cannot be the path of a table."""

    code: ClassVar[str] = "DELTA_INVALID_TABLE_URL"

    def __str__(self) -> str:
        return (
            f"cannot {self.action} {self.path!r}: {self.reason}\n"
            "hint: give a local path, or a URL that starts with file:, s3a://, gs:// or abfss://"
        )


@dataclass(eq=False, kw_only=True)
class MissingObjectStoreError(StorageError):
    """A remote store is needed, but the library for it is not installed."""

    code: ClassVar[str] = "DELTA_MISSING_OBJECT_STORE_SUPPORT"

    def __str__(self) -> str:
        return (
            f"cannot {self.action} {self.path}: {self.reason}\n"
            "hint: pip install 'truckee[object-store]'"
        )


@dataclass(eq=False, kw_only=True)
class ForkedProcessError(StorageError):
    """A forked process used a remote store that its parent had opened."""

    code: ClassVar[str] = "DELTA_STORAGE_USED_ACROSS_FORK"

    def __str__(self) -> str:
        return (
            f"cannot {self.action} {self.path}: {self.reason}\n"
            "hint: start processes with multiprocessing.get_context('spawn')"
        )


@dataclass(eq=False, kw_only=True)
class PathOutsideTableError(DeltaError):
    """A file is outside the table's root, and the settings forbid to read such files."""

    code: ClassVar[str] = "DELTA_PATH_OUTSIDE_TABLE"
    table: str
    path: str
    setting: str
    exceptions: str

    def __str__(self) -> str:
        return (
            f"{self.path} is outside the table {self.table}, and {self.setting} forbids reading "
            f"it\nhint: if you trust its folder, for example as the source of a clone, add it to "
            f"{self.exceptions}"
        )


@dataclass(eq=False, kw_only=True)
class NoAtomicRenameError(DeltaError):
    """The file system is not known to create a file only if it is absent, which commits need."""

    code: ClassVar[str] = "DELTA_STORAGE_WITHOUT_ATOMIC_RENAME"
    table: str
    scheme: str
    setting: str

    def __str__(self) -> str:
        return (
            f"{self.table} cannot be written: {self.scheme} is not known to prevent two writers "
            "from committing the same version\n"
            f"hint: name {self.scheme} in {self.setting} if its rename fails where the target "
            "exists, for all clients at once"
        )
