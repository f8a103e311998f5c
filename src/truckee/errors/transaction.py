"""Refused commits: another commit came first, or the actions do not fit the table.

The concurrent ones have delta-spark's names, because pipelines catch them by these names.
"""

from __future__ import annotations

from truckee.errors.base import DeltaError

_REPEAT = "read the table again and repeat the operation"


class DeltaConcurrentModificationException(
    DeltaError, code="DELTA_CONCURRENT_MODIFICATION", state="2D521"
):
    """Another transaction committed first, and this one cannot be placed after it.

    `version` and `operation` are those of the winning commit.
    """

    version: int
    operation: str | None = None

    @property
    def winner(self) -> str:
        """The winning commit, for the sentence of the error."""
        return f"version {self.version} ({self.operation or 'an operation without a name'})"

    def heading(self) -> str:
        """Return the name of the error, for which pipelines search its text before they retry."""
        return f"{(self.plain or type(self)).__name__}: "

    text = "{winner} was committed at the same time"
    hint = _REPEAT


class ConcurrentWriteException(DeltaConcurrentModificationException, code="DELTA_CONCURRENT_WRITE"):
    """Others committed since the table was read, and their commits are no longer in the log."""

    read_version: int
    text = (
        "the table was read at version {read_version}, but version {version}, which was committed "
        "since, is no longer in the log"
    )
    hint = _REPEAT


class ProtocolChangedException(DeltaConcurrentModificationException, code="DELTA_PROTOCOL_CHANGED"):
    """The winner changed the table's protocol, or created the table."""

    reason: str

    def sentence(self) -> str:
        if self.version == 0:
            return (
                f"{self.winner} created the table at the same time\n"
                "hint: create the table before several writers write to it"
            )
        return (
            f"{self.winner} changed the protocol of the table, and {self.reason}\nhint: {_REPEAT}"
        )


class MetadataChangedException(DeltaConcurrentModificationException, code="DELTA_METADATA_CHANGED"):
    """The winner changed the schema, the partitioning or the properties of the table."""

    changed: str
    text = "{winner} changed the metadata of the table: {changed}"
    hint = _REPEAT + " with the new metadata"


class ConcurrentTransactionException(
    DeltaConcurrentModificationException, code="DELTA_CONCURRENT_TRANSACTION"
):
    """The winner recorded progress of an application that this transaction depends on."""

    app_id: str = ""
    text = (
        "{winner} recorded a transaction of application '{app_id}', which this transaction depends "
        "on"
    )
    hint = (
        "make sure that no two writers, or two runs of one streaming query, share an application "
        "id or a checkpoint location"
    )


class ConcurrentDomainMetadataException(ConcurrentTransactionException):
    """The winner wrote a metadata domain that this transaction writes too."""

    domain: str
    text = "{winner} wrote the metadata domain '{domain}', which this transaction writes too"
    hint = _REPEAT


class _ConcurrentFileException(DeltaConcurrentModificationException):
    """The winner added or removed a file that this transaction depends on."""

    path: str
    partition: str | None = None

    @property
    def where(self) -> str:
        """The partition of the file; None means that the table has no partitions."""
        return "the table" if self.partition is None else f"partition [{self.partition}]"


class ConcurrentAppendException(_ConcurrentFileException, code="DELTA_CONCURRENT_APPEND"):
    """The winner added a file that this transaction would have had to read."""

    def sentence(self) -> str:
        hint = _REPEAT
        if self.partition is not None:
            hint += "; a condition on the partition columns keeps writers of other partitions apart"
        return (
            f"{self.winner} added the file '{self.path}' to {self.where}, which this transaction "
            f"has read\nhint: {hint}"
        )


class ConcurrentDeleteReadException(_ConcurrentFileException, code="DELTA_CONCURRENT_DELETE_READ"):
    """The winner removed a file that this transaction has read."""

    text = "{winner} removed the file '{path}' from {where}, and this transaction has read it"
    hint = _REPEAT


class ConcurrentDeleteDeleteException(
    _ConcurrentFileException, code="DELTA_CONCURRENT_DELETE_DELETE"
):
    """The winner removed a file that this transaction removes too."""

    text = "{winner} removed the file '{path}' from {where}, and this transaction removes it too"
    hint = _REPEAT


class MaxCommitRetriesExceededError(
    DeltaError, code="DELTA_MAX_COMMIT_RETRIES_EXCEEDED", state="40000"
):
    """Other writers were faster, too many times in a row."""

    version: int
    start_version: int
    attempts: int
    actions: int
    seconds: float
    text = (
        "the commit was tried {attempts} times, for versions {start_version} to {version}, with "
        "{actions} actions, in {seconds:.1f} s, and another writer was faster each time"
    )
    hint = "use fewer concurrent writers for this table, or let each commit less often"
