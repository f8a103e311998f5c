"""Errors of deletion vectors: their descriptors, their files and the bitmaps inside.

DeletionVectorError                 knows the data file and the version it was found at
|-- InvalidZ85Error                 base85 text that nobody can have written
|-- UnknownStorageTypeError         a descriptor of a kind that is not known here
|-- InvalidDescriptorError          a descriptor that contradicts itself
|-- MissingDeletionVectorError      the vector's file is gone
|-- CorruptDeletionVectorError      version byte, magic or length are wrong
|-- DeletionVectorSizeMismatchError
|-- DeletionVectorChecksumMismatchError
|-- DeletionVectorCardinalityMismatchError
|-- InvalidRowIndexError            a vector marks rows that its data file does not have
RowIndexOutOfRangeError             a row index that no vector can hold
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, ClassVar

from truckee.errors.base import DeltaError

if TYPE_CHECKING:
    from typing_extensions import Self

RESTORE_HINT = (
    "\nhint: the rows of this data file cannot be told apart without its vector; "
    "restore the vector's file from a backup, or RESTORE the table to an earlier version"
)


@dataclass(eq=False, kw_only=True)
class DeletionVectorError(DeltaError):
    """A deletion vector that cannot be used.

    What found it rarely knows which data file it belongs to: `at` adds that on the way up.
    """

    code: ClassVar[str] = "DELTA_CANNOT_READ_DELETION_VECTOR"
    data_file: str = ""
    version: int | None = None

    def at(self, data_file: str, version: int | None) -> Self:
        """Return the same error with the data file and the version that it happened for."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return type(self)(**{**values, "data_file": data_file, "version": version})

    @property
    def where(self) -> str:
        """Which vector this is about, for the sentence of the error."""
        of = f" of data file '{self.data_file}'" if self.data_file else ""
        at = f" at version {self.version}" if self.version is not None else ""
        return f"the deletion vector{of}{at}"


@dataclass(eq=False, kw_only=True)
class InvalidZ85Error(DeletionVectorError):
    """Text that is not base85 as descriptors use it."""

    text: str
    reason: str

    def __str__(self) -> str:
        return f"{self.where} has text that is not valid Z85: {self.text!r}: {self.reason}"


@dataclass(eq=False, kw_only=True)
class UnknownStorageTypeError(DeletionVectorError):
    """A descriptor whose storage type is not known here; its bytes could be anywhere."""

    storage_type: str

    def __str__(self) -> str:
        return (
            f"{self.where} has the unknown storage type {self.storage_type!r}; "
            "expected 'u', 'i', 'p' or 'r'\n"
            "hint: the table was written by something newer; look for a newer truckee"
        )


@dataclass(eq=False, kw_only=True)
class InvalidDescriptorError(DeletionVectorError):
    """A descriptor that contradicts itself or the protocol."""

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
    """Bytes that are not a deletion vector: wrong version, wrong magic, or cut short."""

    path: str
    reason: str

    def __str__(self) -> str:
        return f"{self.where} in {self.path} is corrupt: {self.reason}{RESTORE_HINT}"


@dataclass(eq=False, kw_only=True)
class DeletionVectorSizeMismatchError(DeletionVectorError):
    """The length that the file states is not that of the descriptor."""

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
    """The bytes are not those that were written."""

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
    """The set of rows has another size than the descriptor says."""

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
    """A vector that marks rows beyond the end of its data file."""

    code: ClassVar[str] = "DELTA_DELETION_VECTOR_INVALID_ROW_INDEX"
    row_index: int
    num_records: int

    def __str__(self) -> str:
        return (
            f"{self.where} marks row {self.row_index}, "
            f"but the file has {self.num_records} rows, the first of them row 0\n"
            "hint: the vector belongs to another file, or the file was replaced; "
            "restore the file that the vector was written for"
        )


@dataclass(eq=False, kw_only=True)
class RowIndexOutOfRangeError(DeltaError):
    """A row index that cannot be held: negative, or larger than the format allows."""

    code: ClassVar[str] = "DELTA_DELETION_VECTOR_INVALID_ROW_INDEX"
    row_index: int
    largest: int

    def __str__(self) -> str:
        return f"row index {self.row_index} is not between 0 and {self.largest}"
