"""Errors of deletion vectors: their descriptors, their files and the bitmaps inside.

DeletionVectorError                 has the data file and the version
|-- InvalidZ85Error                 text that is not valid base85
|-- UnknownStorageTypeError         an unknown storage type
|-- InvalidDescriptorError          a descriptor that contradicts itself
|-- MissingDeletionVectorError      the vector's file is gone
|-- CorruptDeletionVectorError      version byte, magic or length are wrong
|-- DeletionVectorSizeMismatchError
|-- DeletionVectorChecksumMismatchError
|-- DeletionVectorCardinalityMismatchError
|-- InvalidRowIndexError            a vector marks rows that its data file does not have
RowIndexOutOfRangeError             a row index outside the format's limits
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from truckee.errors.base import DeltaError

if TYPE_CHECKING:
    from typing_extensions import Self

RESTORE_HINT = (
    "without its vector, it is not known which rows of this data file are deleted; "
    "restore the vector's file from a backup, or RESTORE the table to an earlier version"
)


class DeletionVectorError(DeltaError, code="DELTA_CANNOT_READ_DELETION_VECTOR", state="XXKDS"):
    """A deletion vector that cannot be used.

    The code that finds the problem rarely knows the data file: `at` adds it further up the stack.
    """

    data_file: str = ""
    version: int | None = None

    def at(self, data_file: str, version: int | None) -> Self:
        """Return the same error with its data file and version."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return type(self)(**{**values, "data_file": data_file, "version": version})

    @property
    def where(self) -> str:
        """The vector in question, for the sentence of the error."""
        of = f" of data file '{self.data_file}'" if self.data_file else ""
        at = f" at version {self.version}" if self.version is not None else ""
        return f"the deletion vector{of}{at}"


class InvalidZ85Error(DeletionVectorError):
    """A descriptor has text that is not valid Z85, a form of base85."""

    value: str
    reason: str
    text = "{where} has text that is not valid Z85: {value!r}: {reason}"


class UnknownStorageTypeError(DeletionVectorError):
    """A descriptor has an unknown storage type, so its bytes cannot be found."""

    storage_type: str
    text = "{where} has the unknown storage type {storage_type!r}; expected 'u', 'i', 'p' or 'r'"
    hint = "the table was written by a newer engine; upgrade truckee"


class InvalidDescriptorError(DeletionVectorError):
    """A descriptor contradicts itself or the protocol."""

    unique_id: str
    reason: str
    text = "{where} has an invalid descriptor {unique_id!r}: {reason}"


class MissingDeletionVectorError(DeletionVectorError):
    """The file that a descriptor points at does not exist."""

    path: str
    text = "{where} is gone: there is no file '{path}'"
    hint = RESTORE_HINT


class CorruptDeletionVectorError(DeletionVectorError):
    """The bytes are not a deletion vector: wrong version, wrong magic, or truncated."""

    path: str
    reason: str
    text = "{where} in {path} is corrupt: {reason}"
    hint = RESTORE_HINT


class DeletionVectorSizeMismatchError(
    DeletionVectorError, code="DELTA_DELETION_VECTOR_SIZE_MISMATCH"
):
    """The length in the file differs from the length in the descriptor."""

    path: str
    expected: int
    found: int
    text = "{where} in {path} is {found} bytes long, but its descriptor says {expected}"
    hint = RESTORE_HINT


class DeletionVectorChecksumMismatchError(
    DeletionVectorError, code="DELTA_DELETION_VECTOR_CHECKSUM_MISMATCH"
):
    """The checksum of the bytes is not the one that was written with them."""

    path: str
    expected: int
    found: int
    text = "{where} in {path} has the CRC-32 {found:08x}, but {expected:08x} was written with it"
    hint = RESTORE_HINT


class DeletionVectorCardinalityMismatchError(
    DeletionVectorError, code="DELTA_DELETION_VECTOR_CARDINALITY_MISMATCH"
):
    """The number of marked rows differs from the descriptor's cardinality."""

    path: str
    expected: int
    found: int
    text = "{where} in {path} marks {found} rows, but its descriptor says {expected}"
    hint = RESTORE_HINT


class InvalidRowIndexError(DeletionVectorError, code="DELTA_DELETION_VECTOR_INVALID_ROW_INDEX"):
    """A vector marks rows beyond the end of its data file."""

    row_index: int
    num_records: int
    text = "{where} marks row {row_index}, but the file has {num_records} rows, counted from 0"
    hint = (
        "the vector belongs to another file, or the file was replaced; restore the file that the "
        "vector was written for"
    )


class RowIndexOutOfRangeError(
    DeltaError, code="DELTA_DELETION_VECTOR_INVALID_ROW_INDEX", state="XXKDS"
):
    """A row index is negative, or larger than the format allows."""

    row_index: int
    largest: int
    text = "row index {row_index} is not between 0 and {largest}"
