"""Every error, one tree. Each module below holds the errors of one station of the path."""

from truckee.errors.base import DeltaError
from truckee.errors.protocol import (
    ColumnDefaultsNotEnabledError,
    DuplicateColumnsError,
    FeatureStatusError,
    InvalidIntervalError,
    InvalidIsolationLevelError,
    InvalidPartitionValueError,
    InvalidSchemaError,
    InvalidTablePropertyError,
    RetentionMismatchError,
    UnknownFeatureRequestError,
    UnknownTablePropertyError,
    UnsettableTablePropertyError,
    UnsupportedProtocolVersionError,
    UnsupportedReaderFeaturesError,
    UnsupportedWriterFeaturesError,
)
from truckee.errors.storage import (
    InvalidUrlError,
    MissingObjectStoreError,
    StorageError,
    StoragePermissionError,
    WriteOutcomeUnknownError,
)

__all__ = [
    "ColumnDefaultsNotEnabledError",
    "DeltaError",
    "DuplicateColumnsError",
    "FeatureStatusError",
    "InvalidIntervalError",
    "InvalidIsolationLevelError",
    "InvalidPartitionValueError",
    "InvalidSchemaError",
    "InvalidTablePropertyError",
    "InvalidUrlError",
    "MissingObjectStoreError",
    "RetentionMismatchError",
    "StorageError",
    "StoragePermissionError",
    "UnknownFeatureRequestError",
    "UnknownTablePropertyError",
    "UnsettableTablePropertyError",
    "UnsupportedProtocolVersionError",
    "UnsupportedReaderFeaturesError",
    "UnsupportedWriterFeaturesError",
    "WriteOutcomeUnknownError",
]
