"""Errors of storage: paths, permissions, and failed reads, writes and listings.

A missing file is the built-in FileNotFoundError, and a file that is already there the built-in
FileExistsError: the log expects both as normal answers.
"""

from __future__ import annotations

from truckee.errors.base import DeltaError


class StorageError(DeltaError, code="DELTA_STORAGE_FAILURE", state="58030"):
    """A read, write or listing failed in the store."""

    action: str
    path: str
    reason: str
    text = "cannot {action} {path}: {reason}"


class StoragePermissionError(StorageError, code="DELTA_STORAGE_PERMISSION_DENIED", state="42501"):
    """The store denied access."""

    text = "no permission to {action} {path}: {reason}"
    hint = "check the owner and mode of the path, or the credentials for its store"


class CredentialsNotFoundError(
    StorageError, code="DELTA_STORAGE_CREDENTIALS_NOT_FOUND", state="42501"
):
    """Neither the options nor the environment have credentials, and the machine has no role."""

    text = (
        "cannot {action} {path}: there are no credentials in the options or the environment, and "
        "the machine gave none ({reason})"
    )
    hint = (
        "set them in the environment (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, "
        "GOOGLE_APPLICATION_CREDENTIALS, or AZURE_STORAGE_ACCOUNT_KEY), or give Spark's settings "
        "of the store; profiles such as those of ~/.aws are not read"
    )


class WriteOutcomeUnknownError(
    StorageError, code="DELTA_STORAGE_WRITE_OUTCOME_UNKNOWN", state="08007"
):
    """A put-if-absent was interrupted, and it is unknown whether the file was written."""

    text = "it is not known whether {path} was written: {reason}"
    hint = "read the file back; if it holds what you meant to write, the write succeeded"


class InvalidUrlError(StorageError, code="DELTA_INVALID_TABLE_URL", state="42602"):
    """A path or URL that cannot be the path of a table."""

    text = "cannot {action} {path!r}: {reason}"
    hint = "give a local path, or a URL that starts with file:, s3a://, gs:// or abfss://"


class MissingObjectStoreError(
    StorageError, code="DELTA_MISSING_OBJECT_STORE_SUPPORT", state="56038"
):
    """A remote store is needed, but the library for it is not installed."""

    text = "cannot {action} {path}: {reason}"
    hint = "pip install 'truckee[object-store]'"


class ForkedProcessError(StorageError, code="DELTA_STORAGE_USED_ACROSS_FORK"):
    """A forked process used a remote store that its parent had opened."""

    text = "cannot {action} {path}: {reason}"
    hint = "start processes with multiprocessing.get_context('spawn')"


class PathOutsideTableError(DeltaError, code="DELTA_PATH_OUTSIDE_TABLE", state="42501"):
    """A file is outside the table's root, and the settings forbid to read such files."""

    table: str
    path: str
    setting: str
    exceptions: str
    text = "{path} is outside the table {table}, and {setting} forbids reading it"
    hint = "if you trust its folder, for example as the source of a clone, add it to {exceptions}"


class NoAtomicRenameError(DeltaError, code="DELTA_STORAGE_WITHOUT_ATOMIC_RENAME", state="0A000"):
    """The file system is not known to create a file only if it is absent, which commits need."""

    table: str
    scheme: str
    setting: str
    text = (
        "{table} cannot be written: {scheme} is not known to prevent two writers from committing "
        "the same version"
    )
    hint = (
        "name {scheme} in {setting} if its rename fails where the target exists, for all clients "
        "at once"
    )
