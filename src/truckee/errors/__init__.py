"""Every error, one tree. Each module below holds the errors of one station of the path."""

from truckee.errors.base import DeltaError
from truckee.errors.storage import (
    InvalidUrlError,
    MissingObjectStoreError,
    StorageError,
    StoragePermissionError,
    WriteOutcomeUnknownError,
)

__all__ = [
    "DeltaError",
    "InvalidUrlError",
    "MissingObjectStoreError",
    "StorageError",
    "StoragePermissionError",
    "WriteOutcomeUnknownError",
]
