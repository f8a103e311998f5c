"""Refused commits: another commit came first, or the actions do not fit the table.

    DeltaError
    ├── DeltaConcurrentModificationException   another transaction committed first
    │   ├── ConcurrentWriteException             the winning commits can no longer be read
    │   ├── ProtocolChangedException             the winner changed the protocol, or made the table
    │   ├── MetadataChangedException             the winner changed schema, partitions or properties
    │   ├── ConcurrentTransactionException       the winner wrote for an application I depend on
    │   │   └── ConcurrentDomainMetadataException  the winner wrote a metadata domain that I write
    │   ├── ConcurrentAppendException            the winner added a file that I should have read
    │   ├── ConcurrentDeleteReadException        the winner removed a file that I read
    │   └── ConcurrentDeleteDeleteException      the winner removed a file that I remove
    ├── MaxCommitRetriesExceededError          other writers were first too many times
    └── InvalidCommitError                     see `truckee.errors.commit`

The concurrent ones have delta-spark's names, because pipelines catch them by these names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from truckee.errors.base import DeltaError

_REPEAT = "read the table again and repeat the operation"


@dataclass(eq=False, kw_only=True)
class DeltaConcurrentModificationException(DeltaError):
    """Another transaction committed first, and this one cannot be placed after it.

    `version` and `operation` are those of the winning commit.
    """

    code: ClassVar[str] = "DELTA_CONCURRENT_MODIFICATION"
    version: int
    operation: str | None = None

    @property
    def winner(self) -> str:
        """The winning commit, for the sentence of the error."""
        return f"version {self.version} ({self.operation or 'an operation without a name'})"

    def heading(self) -> str:
        """Return the name of the error, for which pipelines search its text before they retry."""
        return f"{(self.plain or type(self)).__name__}: "

    def __str__(self) -> str:
        return f"{self.winner} was committed at the same time\nhint: {_REPEAT}"


@dataclass(eq=False, kw_only=True)
class ConcurrentWriteException(DeltaConcurrentModificationException):
    """Others committed since the table was read, and their commits are no longer in the log."""

    code: ClassVar[str] = "DELTA_CONCURRENT_WRITE"
    read_version: int

    def __str__(self) -> str:
        return (
            f"the table was read at version {self.read_version}, but version {self.version}, which "
            f"was committed since, is no longer in the log\nhint: {_REPEAT}"
        )


@dataclass(eq=False, kw_only=True)
class ProtocolChangedException(DeltaConcurrentModificationException):
    """The winner changed the table's protocol, or created the table."""

    code: ClassVar[str] = "DELTA_PROTOCOL_CHANGED"
    reason: str

    def __str__(self) -> str:
        if self.version == 0:
            return (
                f"{self.winner} created the table at the same time\n"
                "hint: create the table before several writers write to it"
            )
        return (
            f"{self.winner} changed the protocol of the table, and {self.reason}\nhint: {_REPEAT}"
        )


@dataclass(eq=False, kw_only=True)
class MetadataChangedException(DeltaConcurrentModificationException):
    """The winner changed the schema, the partitioning or the properties of the table."""

    code: ClassVar[str] = "DELTA_METADATA_CHANGED"
    changed: str

    def __str__(self) -> str:
        return (
            f"{self.winner} changed the metadata of the table: {self.changed}\n"
            f"hint: {_REPEAT} with the new metadata"
        )


@dataclass(eq=False, kw_only=True)
class ConcurrentTransactionException(DeltaConcurrentModificationException):
    """The winner recorded progress of an application that this transaction depends on."""

    code: ClassVar[str] = "DELTA_CONCURRENT_TRANSACTION"
    app_id: str = ""

    def __str__(self) -> str:
        return (
            f"{self.winner} recorded a transaction of application '{self.app_id}', which this "
            "transaction depends on\n"
            "hint: make sure that no two writers, or two runs of one streaming query, share an "
            "application id or a checkpoint location"
        )


@dataclass(eq=False, kw_only=True)
class ConcurrentDomainMetadataException(ConcurrentTransactionException):
    """The winner wrote a metadata domain that this transaction writes too."""

    domain: str

    def __str__(self) -> str:
        return (
            f"{self.winner} wrote the metadata domain '{self.domain}', which this transaction "
            f"writes too\nhint: {_REPEAT}"
        )


@dataclass(eq=False, kw_only=True)
class _ConcurrentFileException(DeltaConcurrentModificationException):
    """The winner added or removed a file that this transaction depends on."""

    path: str
    partition: str | None = None

    @property
    def where(self) -> str:
        """The partition of the file; None means that the table has no partitions."""
        return "the table" if self.partition is None else f"partition [{self.partition}]"


@dataclass(eq=False, kw_only=True)
class ConcurrentAppendException(_ConcurrentFileException):
    """The winner added a file that this transaction would have had to read."""

    code: ClassVar[str] = "DELTA_CONCURRENT_APPEND"

    def __str__(self) -> str:
        hint = _REPEAT
        if self.partition is not None:
            hint += "; a condition on the partition columns keeps writers of other partitions apart"
        return (
            f"{self.winner} added the file '{self.path}' to {self.where}, which this transaction "
            f"has read\nhint: {hint}"
        )


@dataclass(eq=False, kw_only=True)
class ConcurrentDeleteReadException(_ConcurrentFileException):
    """The winner removed a file that this transaction has read."""

    code: ClassVar[str] = "DELTA_CONCURRENT_DELETE_READ"

    def __str__(self) -> str:
        return (
            f"{self.winner} removed the file '{self.path}' from {self.where}, and this transaction "
            f"has read it\nhint: {_REPEAT}"
        )


@dataclass(eq=False, kw_only=True)
class ConcurrentDeleteDeleteException(_ConcurrentFileException):
    """The winner removed a file that this transaction removes too."""

    code: ClassVar[str] = "DELTA_CONCURRENT_DELETE_DELETE"

    def __str__(self) -> str:
        return (
            f"{self.winner} removed the file '{self.path}' from {self.where}, and this transaction "
            f"removes it too\nhint: {_REPEAT}"
        )


@dataclass(eq=False, kw_only=True)
class MaxCommitRetriesExceededError(DeltaError):
    """Other writers were faster, too many times in a row."""

    code: ClassVar[str] = "DELTA_MAX_COMMIT_RETRIES_EXCEEDED"
    version: int
    start_version: int
    attempts: int
    actions: int
    seconds: float

    def __str__(self) -> str:
        return (
            f"the commit was tried {self.attempts} times, for versions {self.start_version} to "
            f"{self.version}, with {self.actions} actions, in {self.seconds:.1f} s, and another "
            "writer was faster each time\n"
            "hint: use fewer concurrent writers for this table, or let each commit less often"
        )
