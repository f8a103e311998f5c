"""Whether a transaction may commit after another commit: pure rules (protocol: conflict detection).

A transaction was planned against the version that it read. Each later commit of others is a
*winner*. If the plan is still valid after the winner, the transaction may commit after it.
Otherwise `conflict_with` returns the first rule that is violated, in this order:

| the winner                                  | my transaction              | conflict        |
|---------------------------------------------|-----------------------------|-----------------|
| changed the protocol                        | does too, or lacks a feature| ProtocolChanged |
| changed metadata that affects others        | anything                    | MetadataChanged |
| wrote a metadata domain                     | writes it too               | ...Transaction  |
| recorded a transaction of an application    | depends on that application | ...Transaction  |
| added a file to a partition (see isolation) | read that partition         | ...Append       |
| added a file again                          | gives ids to its rows       | ...Append       |
| removed a path                              | read it, or the whole table | ...DeleteRead   |
| removed a path                              | removes it too              | ...DeleteDelete |

Files are compared by path alone: a commit that only changes a file's deletion vector removes the
path and adds it again, so it conflicts with every transaction that read or removes that path.

Which new files of the winner count depends on the isolation level:

| level               | new files of the winner that count                                     |
|---------------------|------------------------------------------------------------------------|
| `Serializable`      | all                                                                    |
| `WriteSerializable` | none of blind appends; all if my transaction changes metadata          |
| `SnapshotIsolation` | none                                                                   |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from truckee.errors.base import DeltaError
from truckee.errors.protocol import InvalidPartitionValueError
from truckee.errors.transaction import (
    ConcurrentAppendException,
    ConcurrentDeleteDeleteException,
    ConcurrentDeleteReadException,
    ConcurrentDomainMetadataException,
    ConcurrentTransactionException,
    DeltaConcurrentModificationException,
    MetadataChangedException,
    ProtocolChangedException,
)
from truckee.log.commit.metadata_changes import disturbing_changes, enables_row_tracking
from truckee.log.files.commits import Commit
from truckee.protocol import partition_values
from truckee.protocol.actions import (
    Action,
    AddFile,
    DomainMetadata,
    Metadata,
    Protocol,
    RemoveFile,
    SetTransaction,
)
from truckee.protocol.features import check_writable, supported_features
from truckee.protocol.paths import decode_path
from truckee.protocol.predicates import Predicate, may_be_true
from truckee.protocol.schema import PrimitiveType
from truckee.protocol.table_configuration import ROW_TRACKING_DOMAIN, TableConfiguration

ROW_TRACKING_BACKFILL = "ROW TRACKING BACKFILL"
ROW_TRACKING_UNBACKFILL = "ROW TRACKING UNBACKFILL"
# These add files again that the table has, with ids for their rows or without them.
_ADD_FILES_AGAIN = (ROW_TRACKING_BACKFILL, ROW_TRACKING_UNBACKFILL)
_TIMESTAMP = PrimitiveType("timestamp")

Conflict: TypeAlias = DeltaConcurrentModificationException


class IsolationLevel(Enum):
    """How far a transaction is isolated from others; the value is the text in commitInfo."""

    SERIALIZABLE = "Serializable"
    WRITE_SERIALIZABLE = "WriteSerializable"
    SNAPSHOT_ISOLATION = "SnapshotIsolation"


@dataclass(frozen=True, kw_only=True)
class Reads:
    """What a transaction has read.

    Each predicate is one read, on partition columns by their logical names; anything else in it
    counts as unknown, and so as a match. `paths` are decoded.
    """

    whole_table: bool = False
    predicates: tuple[Predicate, ...] = ()
    paths: frozenset[str] = frozenset()
    app_ids: frozenset[str] = frozenset()

    @property
    def looks_at_files(self) -> bool:
        """Whether the transaction depends on any data of the table."""
        return self.whole_table or bool(self.predicates) or bool(self.paths)


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A transaction for the rules: what it read, and what it writes.

    `before` is the table as of the last version that was checked; None if the transaction is about
    to create it.
    """

    reads: Reads
    actions: tuple[Action, ...]
    isolation: IsolationLevel = IsolationLevel.SERIALIZABLE
    operation: str = ""
    before: TableConfiguration | None = None
    table: str = field(default="", compare=False)


def conflict_with(mine: Candidate, winner: Commit) -> Conflict | None:
    """Return the first conflict of `mine` with `winner`, None if it may commit after it."""
    for rule in _RULES:
        conflict = rule(mine, winner)
        if conflict is not None:
            return conflict
    return None


def _operation(winner: Commit) -> str | None:
    return None if winner.commit_info is None else winner.commit_info.operation


def _protocol_conflict(mine: Candidate, winner: Commit) -> Conflict | None:
    if mine.before is None:
        return _protocol_changed(winner, "this transaction creates the table")
    if winner.protocol is None:
        return None
    if _written(mine, Protocol):
        return _protocol_changed(winner, "this transaction changes it too")
    dropped = mine.before.features - supported_features(winner.protocol)
    if dropped:
        return _protocol_changed(winner, f"dropped {', '.join(sorted(dropped))} from it")
    try:
        check_writable(winner.protocol, winner.metadata or mine.before.metadata, mine.table)
    except DeltaError as cause:
        conflict = _protocol_changed(winner, "this writer does not support the new protocol")
        conflict.__cause__ = cause
        return conflict
    return None


def _protocol_changed(winner: Commit, reason: str) -> ProtocolChangedException:
    return ProtocolChangedException(
        version=winner.version, operation=_operation(winner), reason=reason
    )


def _metadata_conflict(mine: Candidate, winner: Commit) -> Conflict | None:
    if winner.metadata is None:
        return None
    assert mine.before is not None
    before = mine.before.metadata
    changes = disturbing_changes(before, winner.metadata)
    if not changes and enables_row_tracking(before, winner.metadata) and _moves_rows(mine):
        changes = ("rows have to keep their ids now, and this transaction moves rows",)
    if not changes and _written(mine, Metadata):
        changes = ("this transaction changes it too",)
    if not changes:
        return None
    return MetadataChangedException(
        version=winner.version, operation=_operation(winner), changed=", ".join(changes)
    )


def _written(mine: Candidate, kind: type[Action]) -> bool:
    return any(isinstance(action, kind) for action in mine.actions)


def _moves_rows(mine: Candidate) -> bool:
    """Whether rows may be written to a file other than the one they were read from."""
    removed = {decode_path(a.path) for a in mine.actions if isinstance(a, RemoveFile)}
    added = {decode_path(a.path) for a in mine.actions if isinstance(a, AddFile)}
    return bool(removed) and bool(added - removed)


def _domain_conflict(mine: Candidate, winner: Commit) -> Conflict | None:
    theirs = {action.domain for action in winner.actions if isinstance(action, DomainMetadata)}
    for action in mine.actions:
        # Both sides only ever raise the high-water mark of row ids, so it can be merged.
        if not isinstance(action, DomainMetadata) or action.domain == ROW_TRACKING_DOMAIN:
            continue
        if action.domain in theirs:
            return ConcurrentDomainMetadataException(
                version=winner.version, operation=_operation(winner), domain=action.domain
            )
    return None


def _application_conflict(mine: Candidate, winner: Commit) -> Conflict | None:
    for action in winner.actions:
        if isinstance(action, SetTransaction) and action.app_id in mine.reads.app_ids:
            return ConcurrentTransactionException(
                version=winner.version, operation=_operation(winner), app_id=action.app_id
            )
    return None


def _added_file_conflict(mine: Candidate, winner: Commit) -> Conflict | None:
    if _operation(winner) in _ADD_FILES_AGAIN and mine.operation not in _ADD_FILES_AGAIN:
        return None
    for add in _adds_that_matter(mine, winner):
        if _should_have_read(mine, add):
            return ConcurrentAppendException(
                version=winner.version,
                operation=_operation(winner),
                path=add.path,
                partition=_partition_text(mine.before, add.partition_values),
            )
    return None


def _adds_that_matter(mine: Candidate, winner: Commit) -> Iterable[AddFile]:
    if mine.operation in _ADD_FILES_AGAIN:
        # Their rows may have ids already, which must not be given anew.
        return (add for add in winner.adds if decode_path(add.path) in mine.reads.paths)
    match mine.isolation:
        case IsolationLevel.SNAPSHOT_ISOLATION:
            return ()
        case IsolationLevel.WRITE_SERIALIZABLE:
            blind = winner.commit_info is not None and winner.commit_info.is_blind_append is True
            return () if blind and not _written(mine, Metadata) else winner.adds
        case IsolationLevel.SERIALIZABLE:
            return winner.adds


def _should_have_read(mine: Candidate, add: AddFile) -> bool:
    """Whether the file is in a part of the table that was read; true if it is unknown."""
    if mine.reads.whole_table or mine.operation in _ADD_FILES_AGAIN:
        return True
    assert mine.before is not None
    values = _typed_partition_values(mine.before, add)
    return any(may_be_true(predicate, values) for predicate in mine.reads.predicates)


def _typed_partition_values(table: TableConfiguration, add: AddFile) -> Mapping[str, object]:
    """Return the partition values of a file, without those that are ambiguous."""
    values: dict[str, object] = {}
    for column in table.partition_fields:
        text = add.partition_values.get(column.physical_name)
        # The meaning of a timestamp without a zone depends on the session of its writer.
        if column.type == _TIMESTAMP and text and not text.endswith("Z"):
            continue
        with suppress(InvalidPartitionValueError):
            values[column.name] = partition_values.parse(text, column.type)
    return values


def _removed_file_conflict(mine: Candidate, winner: Commit) -> Conflict | None:
    removes = {decode_path(remove.path): remove for remove in winner.removes}
    for path, remove in removes.items():
        if mine.reads.whole_table or path in mine.reads.paths:
            return _removal(ConcurrentDeleteReadException, mine, winner, remove)
    for action in mine.actions:
        if isinstance(action, RemoveFile) and decode_path(action.path) in removes:
            remove = removes[decode_path(action.path)]
            return _removal(ConcurrentDeleteDeleteException, mine, winner, remove)
    return None


def _removal(
    kind: type[ConcurrentDeleteReadException] | type[ConcurrentDeleteDeleteException],
    mine: Candidate,
    winner: Commit,
    remove: RemoveFile,
) -> Conflict:
    return kind(
        version=winner.version,
        operation=_operation(winner),
        path=remove.path,
        partition=_partition_text(mine.before, remove.partition_values),
    )


def _partition_text(
    table: TableConfiguration | None, values: Mapping[str, str | None] | None
) -> str | None:
    """Return the partition as `day=2024-01-01, kind=null`, or None if there is none."""
    if table is None or not table.partition_fields or values is None:
        return None
    texts = []
    for column in table.partition_fields:
        value = values.get(column.physical_name)
        texts.append(f"{column.name}={'null' if value is None else value}")
    return ", ".join(texts)


_RULES = (
    _protocol_conflict,
    _metadata_conflict,
    _domain_conflict,
    _application_conflict,
    _added_file_conflict,
    _removed_file_conflict,
)
