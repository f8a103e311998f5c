"""Actions that must not be committed to this table, with or without other writers."""

from __future__ import annotations

from truckee.errors.base import DeltaError

_SHOWN = 80


class InvalidCommitError(DeltaError, code="DELTA_INVALID_COMMIT", state="2D521"):
    """Something in the staged actions breaks a rule of the protocol; nothing was written."""

    table: str


class PartitionValuesMismatchError(
    InvalidCommitError, code="DELTA_INVALID_PARTITIONING_SCHEMA", state="XXKDS"
):
    """A file whose partition values are not exactly those of the table's partition columns."""

    path: str
    expected: tuple[str, ...]
    found: tuple[str, ...]
    text = (
        "the file '{path}' has values for the partition columns [{found}], but the table {table} "
        "is partitioned by [{expected}]"
    )
    hint = "give each file one value for every partition column, under its physical name"


class AppendOnlyTableError(
    InvalidCommitError,
    code="DELTA_CANNOT_MODIFY_APPEND_ONLY",
    state="42809",
    spark="UnsupportedOperationException",
):
    """A commit would remove rows from an append-only table."""

    operation: str
    path: str
    text = "{operation} would remove the file '{path}', but the table {table} is append-only"
    hint = "set the table property 'delta.appendOnly' to 'false' to allow it"


class DuplicateActionsError(InvalidCommitError, code="DELTA_DUPLICATE_ACTIONS_FOUND"):
    """More than one action of a kind for one path, or an add and a remove that cancel out."""

    path: str
    kind: str
    text = (
        "the commit has {kind} for the file '{path}'; the table {table} allows at most one add and "
        "one remove of a path, and both only with different deletion vectors"
    )
    hint = "stage each file once"


class DuplicateDomainMetadataError(
    InvalidCommitError, code="DELTA_DUPLICATE_DOMAIN_METADATA_INTERNAL_ERROR", state="42601"
):
    """One metadata domain is written twice."""

    domain: str
    text = "the commit writes the metadata domain '{domain}' of the table {table} twice"
    hint = "stage each domain once"


class DomainMetadataNotSupportedError(
    InvalidCommitError, code="DELTA_DOMAIN_METADATA_NOT_SUPPORTED", state="0A000"
):
    """A metadata domain is written to a table that does not have the feature."""

    domain: str
    text = (
        "the commit writes the metadata domain '{domain}', but the protocol of the table {table} "
        "does not have the feature domainMetadata"
    )
    hint = "set the table property 'delta.feature.domainMetadata' to 'supported' first"


class MissingNumRecordsError(InvalidCommitError, code="DELTA_DELETION_VECTOR_MISSING_NUM_RECORDS"):
    """A file has a deletion vector, but its statistics do not say how many rows it has."""

    path: str
    text = (
        "the file '{path}' of the table {table} has a deletion vector, but its statistics have no "
        "numRecords"
    )
    hint = "take the number of rows from the footer of the Parquet file"


class TightBoundsError(
    InvalidCommitError,
    code="DELTA_ADDING_DELETION_VECTORS_WITH_TIGHT_BOUNDS_DISALLOWED",
    state="42000",
):
    """A file gets a deletion vector, but its statistics are still marked as exact."""

    path: str
    text = (
        "the file '{path}' of the table {table} gets a deletion vector, but its statistics do not "
        "say that their bounds are wide"
    )
    hint = "write the statistics with tightBounds false"


class DeletionVectorsNotWritableError(
    InvalidCommitError, code="DELTA_ADDING_DELETION_VECTORS_DISALLOWED", state="0A000"
):
    """A file gets a deletion vector, but the table does not enable them."""

    path: str
    text = "the file '{path}' has a deletion vector, but the table {table} does not enable them"
    hint = (
        "set the table property 'delta.enableDeletionVectors' to 'true', or rewrite the file "
        "without the deleted rows"
    )


class TableContainsChangeColumnsError(
    InvalidCommitError, code="DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS", state="42711"
):
    """The change data feed is enabled, but the table has columns with the feed's names."""

    columns: tuple[str, ...]
    text = (
        "the change data feed cannot be switched on for the table {table}, because it has the "
        "columns [{columns}], whose names the feed needs"
    )
    hint = "rename these columns first"


class ReservedChangeColumnsError(
    InvalidCommitError, code="RESERVED_CDC_COLUMNS_ON_WRITE", state="42939"
):
    """A new column has one of the feed's names, and the feed is enabled."""

    columns: tuple[str, ...]
    text = (
        "the columns [{columns}] cannot be written to the table {table}, because its change data "
        "feed is on and needs these names"
    )
    hint = "rename these columns, or set the table property 'delta.enableChangeDataFeed' to 'false'"


class UnexpectedChangeFilesError(
    InvalidCommitError, code="DELTA_UNEXPECTED_CHANGE_FILES_FOUND", state="XXKDS"
):
    """A commit has change files, but is marked as changing no data."""

    paths: tuple[str, ...]
    text = (
        "the commit to the table {table} changes no data (dataChange is false), but has the change "
        "files [{paths}]"
    )
    hint = "leave out the change files, or mark the data files as changed"


class ColumnMappingChangeWithFilesError(
    InvalidCommitError, code="DELTA_BLOCK_COLUMN_MAPPING_AND_CDC_OPERATION", state="42KD4"
):
    """One commit changes column names and writes files while the feed is enabled."""

    operation: str
    text = (
        "{operation} would map, drop or rename columns of the table {table} and write files in one "
        "commit, which its change data feed cannot tell apart"
    )
    hint = "change the columns in a commit of their own"


class RowIdsWithoutStatisticsError(
    InvalidCommitError, code="DELTA_ROW_ID_ASSIGNMENT_WITHOUT_STATS", state="22000"
):
    """Rows need ids, but the number of rows of a new file is unknown."""

    path: str
    text = (
        "the rows of the file '{path}' need ids in the table {table}, but its statistics have no "
        "numRecords"
    )
    hint = "take the number of rows from the footer of the Parquet file"


class ProtocolDowngradeError(
    InvalidCommitError, code="DELTA_INVALID_PROTOCOL_DOWNGRADE", state="KD004"
):
    """A new protocol drops what the old one required."""

    dropped: tuple[str, ...]
    text = (
        "the new protocol of the table {table} would drop [{dropped}]; a protocol only ever grows"
    )
    hint = "keep what the old protocol has, and add to it"


class MissingMetadataError(InvalidCommitError, code="DELTA_METADATA_ABSENT", state="XXKDS"):
    """The first commit of a table has no metadata."""

    text = "the first commit of the table {table} has no metadata"
    hint = "set the table's metadata before the commit"


class NoVersionLeftError(InvalidCommitError):
    """The table is at the last version that a log can have."""

    version: int
    text = "the table {table} is at version {version}, after which there is no other"
    hint = "a file of its log has a wrong version in its name; remove it"


class UnreadableCommitError(InvalidCommitError):
    """The commit would have values that no reader of the log accepts."""

    reason: str
    text = (
        "the next version of the table {table} could not be read: {reason}; nothing was committed"
    )
    hint = "a value in the table's log or in the request is out of range"


class InvalidStateError(DeltaError, code="DELTA_INVALID_COMMIT", state="2D521"):
    """The log has a value from which the next commit cannot be computed; nothing was committed."""

    key: str
    found: str
    needs: str
    text = (
        "the next commit depends on {key} of the table, which is {found_start} and must be "
        "{needs}; nothing was committed"
    )
    hint = (
        "the log is damaged, or another program wrote a wrong value; restore the table to a "
        "version before it, or repair the log"
    )

    def found_start(self) -> str:
        """Return the value, or as much of it as a message shows."""
        return self.found if len(self.found) <= _SHOWN else f"{self.found[:_SHOWN]}..."
