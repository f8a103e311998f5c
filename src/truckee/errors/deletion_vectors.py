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

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, ClassVar

from truckee.errors.base import DeltaError

if TYPE_CHECKING:
    from typing_extensions import Self

RESTORE_HINT = (
    "\nhint: without its vector, it is not known which rows of this data file are deleted; "
    "restore the vector's file from a backup, or RESTORE the table to an earlier version"
)


@dataclass(eq=False, kw_only=True)
class DeletionVectorError(DeltaError):
    """A deletion vector that cannot be used.

    The code that finds the problem rarely knows the data file: `at` adds it further up the stack.
    """

    code: ClassVar[str] = "DELTA_CANNOT_READ_DELETION_VECTOR"
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


@dataclass(eq=False, kw_only=True)
class InvalidZ85Error(DeletionVectorError):
    """A descriptor has text that is not valid Z85, a form of base85."""

    text: str
    reason: str

    def __str__(self) -> str:
        return f"{self.where} has text that is not valid Z85: {self.text!r}: {self.reason}"


@dataclass(eq=False, kw_only=True)
class UnknownStorageTypeError(DeletionVectorError):
    """A descriptor has an unknown storage type, so its bytes cannot be found."""

    storage_type: str

    def __str__(self) -> str:
        return (
            f"{self.where} has the unknown storage type {self.storage_type!r}; "
            "expected 'u', 'i', 'p' or 'r'\n"
            "hint: the table was written by a newer engine; upgrade truckee"
        )


@dataclass(eq=False, kw_only=True)
class InvalidDescriptorError(DeletionVectorError):
    """A descriptor contradicts itself or the protocol."""

    unique_id: str
    reason: str

    def __str__(self) -> str:
        return f"{self.where} has an invalid descriptor {self.unique_id!r}: {self.reason}"


@dataclass(eq=False, kw_only=True)
class MissingDeletionVectorError(DeletionVectorError):
    """The file that a descriptor points at does not exist."""

    path: str

    def __str__(self) -> str:
        return f"{self.where} is gone: there is no file '{self.path}'{RESTORE_HINT}"


@dataclass(eq=False, kw_only=True)
class CorruptDeletionVectorError(DeletionVectorError):
    """The bytes are not a deletion vector: wrong version, wrong magic, or truncated."""

    path: str
    reason: str

    def __str__(self) -> str:
        return f"{self.where} in {self.path} is corrupt: {self.reason}{RESTORE_HINT}"


@dataclass(eq=False, kw_only=True)
class DeletionVectorSizeMismatchError(DeletionVectorError):
    """The length in the file differs from the length in the descriptor."""

    code: ClassVar[str] = "DELTA_DELETION_VECTOR_SIZE_MISMATCH"
    path: str
    expected: int
    found: int

    def __str__(self) -> str:
        return (
            f"{self.where} in {self.path} is {self.found} bytes long, "
            f"but its descriptor says {self.expected}{RESTORE_HINT}"
        )


@dataclass(eq=False, kw_only=True)
class DeletionVectorChecksumMismatchError(DeletionVectorError):
    """The checksum of the bytes is not the one that was written with them."""

    code: ClassVar[str] = "DELTA_DELETION_VECTOR_CHECKSUM_MISMATCH"
    path: str
    expected: int
    found: int

    def __str__(self) -> str:
        return (
            f"{self.where} in {self.path} has the CRC-32 {self.found:08x}, "
            f"but {self.expected:08x} was written with it{RESTORE_HINT}"
        )


@dataclass(eq=False, kw_only=True)
class DeletionVectorCardinalityMismatchError(DeletionVectorError):
    """The number of marked rows differs from the descriptor's cardinality."""

    code: ClassVar[str] = "DELTA_DELETION_VECTOR_CARDINALITY_MISMATCH"
    path: str
    expected: int
    found: int

    def __str__(self) -> str:
        return (
            f"{self.where} in {self.path} marks {self.found} rows, "
            f"but its descriptor says {self.expected}{RESTORE_HINT}"
        )


@dataclass(eq=False, kw_only=True)
class InvalidRowIndexError(DeletionVectorError):
    """A vector marks rows beyond the end of its data file."""

    code: ClassVar[str] = "DELTA_DELETION_VECTOR_INVALID_ROW_INDEX"
    row_index: int
    num_records: int

    def __str__(self) -> str:
        return (
            f"{self.where} marks row {self.row_index}, "
            f"but the file has {self.num_records} rows, counted from 0\n"
            "hint: the vector belongs to another file, or the file was replaced; "
            "restore the file that the vector was written for"
        )


@dataclass(eq=False, kw_only=True)
class RowIndexOutOfRangeError(DeltaError):
    """A row index is negative, or larger than the format allows."""

    code: ClassVar[str] = "DELTA_DELETION_VECTOR_INVALID_ROW_INDEX"
    row_index: int
    largest: int

    def __str__(self) -> str:
        return f"row index {self.row_index} is not between 0 and {self.largest}"
