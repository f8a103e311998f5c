"""Actions that must not be committed to this table, with or without other writers.

DeltaError
└── InvalidCommitError
    ├── PartitionValuesMismatchError      a file's partition values do not fit the table
    ├── AppendOnlyTableError              rows would be removed from an append-only table
    ├── DuplicateActionsError             one path is added or removed twice
    ├── DuplicateDomainMetadataError      one domain is written twice
    ├── DomainMetadataNotSupportedError   a domain, but the table lacks the feature
    ├── MissingNumRecordsError            a deletion vector, but no count of the file's rows
    ├── TightBoundsError                  a new deletion vector, but statistics marked as exact
    ├── DeletionVectorsNotWritableError   a deletion vector, but the table does not enable them
    ├── TableContainsChangeColumnsError   the feed is enabled, but columns have its names
    ├── ReservedChangeColumnsError        new columns have its names, and the feed is on
    ├── UnexpectedChangeFilesError        change files, but no data changed
    ├── ColumnMappingChangeWithFilesError columns renamed and files written in one commit
    ├── RowIdsWithoutStatisticsError      row ids are needed, but the number of rows is unknown
    ├── ProtocolDowngradeError            the protocol would lose features
    ├── NoVersionLeftError                the table is at the last version that there is
    └── MissingMetadataError              a first commit without metadata
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from truckee.errors.base import DeltaError


@dataclass(eq=False, kw_only=True)
class InvalidCommitError(DeltaError):
    """Something in the staged actions breaks a rule of the protocol; nothing was written."""

    code: ClassVar[str] = "DELTA_INVALID_COMMIT"
    table: str


@dataclass(eq=False, kw_only=True)
class PartitionValuesMismatchError(InvalidCommitError):
    """A file whose partition values are not exactly those of the table's partition columns."""

    code: ClassVar[str] = "DELTA_INVALID_PARTITIONING_SCHEMA"
    path: str
    expected: tuple[str, ...]
    found: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"the file '{self.path}' has values for the partition columns "
            f"[{', '.join(self.found)}], but the table {self.table} is partitioned by "
            f"[{', '.join(self.expected)}]\n"
            "hint: give each file one value for every partition column, under its physical name"
        )


@dataclass(eq=False, kw_only=True)
class AppendOnlyTableError(InvalidCommitError):
    """A commit would remove rows from an append-only table."""

    code: ClassVar[str] = "DELTA_CANNOT_MODIFY_APPEND_ONLY"
    operation: str
    path: str

    def __str__(self) -> str:
        return (
            f"{self.operation} would remove the file '{self.path}', but the table {self.table} is "
            "append-only\n"
            "hint: set the table property 'delta.appendOnly' to 'false' to allow it"
        )


@dataclass(eq=False, kw_only=True)
class DuplicateActionsError(InvalidCommitError):
    """More than one action of a kind for one path, or an add and a remove that cancel out."""

    code: ClassVar[str] = "DELTA_DUPLICATE_ACTIONS_FOUND"
    path: str
    kind: str

    def __str__(self) -> str:
        return (
            f"the commit has {self.kind} for the file '{self.path}'; the table {self.table} allows "
            "at most one add and one remove of a path, and both only with different deletion "
            "vectors\nhint: stage each file once"
        )


@dataclass(eq=False, kw_only=True)
class DuplicateDomainMetadataError(InvalidCommitError):
    """One metadata domain is written twice."""

    code: ClassVar[str] = "DELTA_DUPLICATE_DOMAIN_METADATA_INTERNAL_ERROR"
    domain: str

    def __str__(self) -> str:
        return (
            f"the commit writes the metadata domain '{self.domain}' of the table {self.table} "
            "twice\nhint: stage each domain once"
        )


@dataclass(eq=False, kw_only=True)
class DomainMetadataNotSupportedError(InvalidCommitError):
    """A metadata domain is written to a table that does not have the feature."""

    code: ClassVar[str] = "DELTA_DOMAIN_METADATA_NOT_SUPPORTED"
    domain: str

    def __str__(self) -> str:
        return (
            f"the commit writes the metadata domain '{self.domain}', but the protocol of the table "
            f"{self.table} does not have the feature domainMetadata\n"
            "hint: set the table property 'delta.feature.domainMetadata' to 'supported' first"
        )


@dataclass(eq=False, kw_only=True)
class MissingNumRecordsError(InvalidCommitError):
    """A file has a deletion vector, but its statistics do not say how many rows it has."""

    code: ClassVar[str] = "DELTA_DELETION_VECTOR_MISSING_NUM_RECORDS"
    path: str

    def __str__(self) -> str:
        return (
            f"the file '{self.path}' of the table {self.table} has a deletion vector, but its "
            "statistics have no numRecords\n"
            "hint: take the number of rows from the footer of the Parquet file"
        )


@dataclass(eq=False, kw_only=True)
class TightBoundsError(InvalidCommitError):
    """A file gets a deletion vector, but its statistics are still marked as exact."""

    code: ClassVar[str] = "DELTA_ADDING_DELETION_VECTORS_WITH_TIGHT_BOUNDS_DISALLOWED"
    path: str

    def __str__(self) -> str:
        return (
            f"the file '{self.path}' of the table {self.table} gets a deletion vector, but its "
            "statistics do not say that their bounds are wide\n"
            "hint: write the statistics with tightBounds false"
        )


@dataclass(eq=False, kw_only=True)
class DeletionVectorsNotWritableError(InvalidCommitError):
    """A file gets a deletion vector, but the table does not enable them."""

    code: ClassVar[str] = "DELTA_ADDING_DELETION_VECTORS_DISALLOWED"
    path: str

    def __str__(self) -> str:
        return (
            f"the file '{self.path}' has a deletion vector, but the table {self.table} does not "
            "enable them\n"
            "hint: set the table property 'delta.enableDeletionVectors' to 'true', or rewrite the "
            "file without the deleted rows"
        )


@dataclass(eq=False, kw_only=True)
class TableContainsChangeColumnsError(InvalidCommitError):
    """The change data feed is enabled, but the table has columns with the feed's names."""

    code: ClassVar[str] = "DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS"
    columns: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"the change data feed cannot be switched on for the table {self.table}, because it "
            f"has the columns [{', '.join(self.columns)}], whose names the feed needs\n"
            "hint: rename these columns first"
        )


@dataclass(eq=False, kw_only=True)
class ReservedChangeColumnsError(InvalidCommitError):
    """A new column has one of the feed's names, and the feed is enabled."""

    code: ClassVar[str] = "RESERVED_CDC_COLUMNS_ON_WRITE"
    columns: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"the columns [{', '.join(self.columns)}] cannot be written to the table {self.table}, "
            "because its change data feed is on and needs these names\n"
            "hint: rename these columns, or set the table property 'delta.enableChangeDataFeed' to "
            "'false'"
        )


@dataclass(eq=False, kw_only=True)
class UnexpectedChangeFilesError(InvalidCommitError):
    """A commit has change files, but is marked as changing no data."""

    code: ClassVar[str] = "DELTA_UNEXPECTED_CHANGE_FILES_FOUND"
    paths: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"the commit to the table {self.table} changes no data (dataChange is false), but has "
            f"the change files [{', '.join(self.paths)}]\n"
            "hint: leave out the change files, or mark the data files as changed"
        )


@dataclass(eq=False, kw_only=True)
class ColumnMappingChangeWithFilesError(InvalidCommitError):
    """One commit changes column names and writes files while the feed is enabled."""

    code: ClassVar[str] = "DELTA_BLOCK_COLUMN_MAPPING_AND_CDC_OPERATION"
    operation: str

    def __str__(self) -> str:
        return (
            f"{self.operation} would map, drop or rename columns of the table {self.table} and "
            "write files in one commit, which its change data feed cannot tell apart\n"
            "hint: change the columns in a commit of their own"
        )


@dataclass(eq=False, kw_only=True)
class RowIdsWithoutStatisticsError(InvalidCommitError):
    """Rows need ids, but the number of rows of a new file is unknown."""

    code: ClassVar[str] = "DELTA_ROW_ID_ASSIGNMENT_WITHOUT_STATS"
    path: str

    def __str__(self) -> str:
        return (
            f"the rows of the file '{self.path}' need ids in the table {self.table}, but its "
            "statistics have no numRecords\n"
            "hint: take the number of rows from the footer of the Parquet file"
        )


@dataclass(eq=False, kw_only=True)
class ProtocolDowngradeError(InvalidCommitError):
    """A new protocol drops what the old one required."""

    code: ClassVar[str] = "DELTA_INVALID_PROTOCOL_DOWNGRADE"
    dropped: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"the new protocol of the table {self.table} would drop "
            f"[{', '.join(self.dropped)}]; a protocol only ever grows\n"
            "hint: keep what the old protocol has, and add to it"
        )


@dataclass(eq=False, kw_only=True)
class MissingMetadataError(InvalidCommitError):
    """The first commit of a table has no metadata."""

    code: ClassVar[str] = "DELTA_METADATA_ABSENT"

    def __str__(self) -> str:
        return (
            f"the first commit of the table {self.table} has no metadata\n"
            "hint: set the table's metadata before the commit"
        )


@dataclass(eq=False, kw_only=True)
class NoVersionLeftError(InvalidCommitError):
    """The table is at the last version that a log can have."""

    version: int

    def __str__(self) -> str:
        return (
            f"the table {self.table} is at version {self.version}, after which there is no other\n"
            "hint: a file of its log has a wrong version in its name; remove it"
        )
