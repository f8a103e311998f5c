"""May this transaction land after that commit? Pure rules (protocol: conflict detection).

A transaction was planned against the version that it read. Each commit that others made since is
a *winner*. Where the plan would have come out the same after the winner, the transaction may
follow it; otherwise the first rule that is broken, in this order, is raised:

| the winner                                  | and mine                    | raises          |
|---------------------------------------------|-----------------------------|-----------------|
| changed the protocol                        | does too, or cannot follow  | ProtocolChanged |
| changed metadata in a way that matters      | anything                    | MetadataChanged |
| wrote a metadata domain                     | writes it too               | ...Transaction  |
| recorded a transaction of an application    | depends on that application | ...Transaction  |
| added a file to a partition (see isolation) | read that partition         | ...Append       |
| removed a path                              | read it, or the whole table | ...DeleteRead   |
| removed a path                              | removes it too              | ...DeleteDelete |

Files are compared by path alone: a commit that only changes a file's deletion vector removes the
path and adds it again, and so meets everyone who read or removes that path.

What is compared with the winner's new files depends on the isolation level:

| level               | new files of the winner that matter                                    |
|---------------------|------------------------------------------------------------------------|
| `Serializable`      | all                                                                    |
| `WriteSerializable` | those of winners that are no blind appends; all if I change metadata   |
| `SnapshotIsolation` | none                                                                   |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum

from truckee.errors.base import DeltaError
from truckee.errors.protocol import InvalidPartitionValueError
from truckee.errors.transaction import (
    ConcurrentAppendException,
    ConcurrentDeleteDeleteException,
    ConcurrentDeleteReadException,
    ConcurrentDomainMetadataException,
    ConcurrentTransactionException,
    MetadataChangedException,
    ProtocolChangedException,
)
from truckee.log.commits import Commit
from truckee.log.metadata_changes import disturbing_changes, enables_row_tracking
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
TIMESTAMP = PrimitiveType("timestamp")


class IsolationLevel(Enum):
    """How far a transaction is shielded from others; the value is the word in commitInfo."""

    SERIALIZABLE = "Serializable"
    WRITE_SERIALIZABLE = "WriteSerializable"
    SNAPSHOT_ISOLATION = "SnapshotIsolation"


@dataclass(frozen=True, kw_only=True)
class Reads:
    """What a transaction has looked at.

    A predicate is one read and speaks of partition columns by their logical names; whatever else
    is in it counts as unknown, and so as a match. `paths` are decoded.
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
    """A transaction as the rules see it: what it read, and what it is about to write.

    `before` is the table as of the last version that was checked; None for a table that is about
    to be created.
    """

    reads: Reads
    actions: tuple[Action, ...]
    isolation: IsolationLevel = IsolationLevel.SERIALIZABLE
    operation: str = ""
    before: TableConfiguration | None = None
    table: str = field(default="", compare=False)


def check(mine: Candidate, winner: Commit, *, settled: frozenset[str] = frozenset()) -> None:
    """Return if `mine` may land after `winner`; raise the first conflict otherwise.

    The decoded paths in `settled` are left out of the rules for files: somebody who knows the
    rows has already brought the two transactions together there.
    """
    _check_protocol(mine, winner)
    _check_metadata(mine, winner)
    _check_domains(mine, winner)
    _check_applications(mine, winner)
    _check_added_files(mine, winner, settled)
    _check_removed_files(mine, winner, settled)


def swapped_paths(winner: Commit) -> frozenset[str]:
    """Return the decoded paths whose deletion vector a commit changed: removed and added again."""
    removed = {decode_path(remove.path) for remove in winner.removes}
    return frozenset(path for add in winner.adds if (path := decode_path(add.path)) in removed)


def _operation(winner: Commit) -> str | None:
    return None if winner.commit_info is None else winner.commit_info.operation


def _check_protocol(mine: Candidate, winner: Commit) -> None:
    if mine.before is None:
        raise _protocol_conflict(winner, "this transaction creates the table")
    if winner.protocol is None:
        return
    if _written(mine, Protocol):
        raise _protocol_conflict(winner, "this transaction changes it too")
    dropped = mine.before.features - supported_features(winner.protocol)
    if dropped:
        raise _protocol_conflict(winner, f"dropped {', '.join(sorted(dropped))} from it")
    try:
        check_writable(winner.protocol, winner.metadata or mine.before.metadata, mine.table)
    except DeltaError as cause:
        raise _protocol_conflict(winner, "this writer cannot meet what it demands now") from cause


def _protocol_conflict(winner: Commit, reason: str) -> ProtocolChangedException:
    return ProtocolChangedException(
        version=winner.version, operation=_operation(winner), reason=reason
    )


def _check_metadata(mine: Candidate, winner: Commit) -> None:
    if winner.metadata is None:
        return
    assert mine.before is not None
    before = mine.before.metadata
    changes = disturbing_changes(before, winner.metadata)
    if not changes and enables_row_tracking(before, winner.metadata) and _moves_rows(mine):
        changes = ("rows have to keep their ids now, and this transaction moves rows",)
    if not changes and _written(mine, Metadata):
        changes = ("this transaction changes it too",)
    if changes:
        raise MetadataChangedException(
            version=winner.version, operation=_operation(winner), changed=", ".join(changes)
        )


def _written(mine: Candidate, kind: type[Action]) -> bool:
    return any(isinstance(action, kind) for action in mine.actions)


def _moves_rows(mine: Candidate) -> bool:
    """Whether rows may be written to another file than the one they were read from."""
    removed = {decode_path(a.path) for a in mine.actions if isinstance(a, RemoveFile)}
    added = {decode_path(a.path) for a in mine.actions if isinstance(a, AddFile)}
    return bool(removed) and bool(added - removed)


def _check_domains(mine: Candidate, winner: Commit) -> None:
    theirs = {action.domain for action in winner.actions if isinstance(action, DomainMetadata)}
    for action in mine.actions:
        # Both sides only ever raise the high-water mark of row ids, and so it can be merged.
        if not isinstance(action, DomainMetadata) or action.domain == ROW_TRACKING_DOMAIN:
            continue
        if action.domain in theirs:
            raise ConcurrentDomainMetadataException(
                version=winner.version, operation=_operation(winner), domain=action.domain
            )


def _check_applications(mine: Candidate, winner: Commit) -> None:
    for action in winner.actions:
        if isinstance(action, SetTransaction) and action.app_id in mine.reads.app_ids:
            raise ConcurrentTransactionException(
                version=winner.version, operation=_operation(winner), app_id=action.app_id
            )


def _check_added_files(mine: Candidate, winner: Commit, settled: frozenset[str]) -> None:
    if ROW_TRACKING_BACKFILL in (mine.operation, _operation(winner)):
        return
    for add in _adds_that_matter(mine, winner):
        if decode_path(add.path) not in settled and _should_have_read(mine, add):
            raise ConcurrentAppendException(
                version=winner.version,
                operation=_operation(winner),
                path=add.path,
                partition=_partition_text(mine.before, add.partition_values),
            )


def _adds_that_matter(mine: Candidate, winner: Commit) -> Iterable[AddFile]:
    match mine.isolation:
        case IsolationLevel.SNAPSHOT_ISOLATION:
            return ()
        case IsolationLevel.WRITE_SERIALIZABLE:
            blind = winner.commit_info is not None and winner.commit_info.is_blind_append is True
            return () if blind and not _written(mine, Metadata) else winner.adds
        case IsolationLevel.SERIALIZABLE:
            return winner.adds


def _should_have_read(mine: Candidate, add: AddFile) -> bool:
    """Whether the file lies in a part of the table that was read; when in doubt, it does."""
    if mine.reads.whole_table:
        return True
    assert mine.before is not None
    values = _typed_partition_values(mine.before, add)
    return any(may_be_true(predicate, values) for predicate in mine.reads.predicates)


def _typed_partition_values(table: TableConfiguration, add: AddFile) -> Mapping[str, object]:
    """Return the partition values of a file; those that cannot be told are left out."""
    values: dict[str, object] = {}
    for column in table.partition_fields:
        text = add.partition_values.get(column.physical_name)
        # Without a zone, what a timestamp means depends on where its writer was.
        if column.type == TIMESTAMP and text and not text.endswith("Z"):
            continue
        with suppress(InvalidPartitionValueError):
            values[column.name] = partition_values.parse(text, column.type)
    return values


def _check_removed_files(mine: Candidate, winner: Commit, settled: frozenset[str]) -> None:
    removes = {
        path: remove
        for remove in winner.removes
        if (path := decode_path(remove.path)) not in settled
    }
    for path, remove in removes.items():
        if mine.reads.whole_table or path in mine.reads.paths:
            raise _removal(ConcurrentDeleteReadException, mine, winner, remove)
    for action in mine.actions:
        if isinstance(action, RemoveFile) and decode_path(action.path) in removes:
            remove = removes[decode_path(action.path)]
            raise _removal(ConcurrentDeleteDeleteException, mine, winner, remove)


def _removal(
    kind: type[ConcurrentDeleteReadException] | type[ConcurrentDeleteDeleteException],
    mine: Candidate,
    winner: Commit,
    remove: RemoveFile,
) -> Exception:
    return kind(
        version=winner.version,
        operation=_operation(winner),
        path=remove.path,
        partition=_partition_text(mine.before, remove.partition_values),
    )


def _partition_text(
    table: TableConfiguration | None, values: Mapping[str, str | None] | None
) -> str | None:
    """Return the partition as `day=2024-01-01, kind=null`, or None where there is none."""
    if table is None or not table.partition_fields or values is None:
        return None
    texts = []
    for column in table.partition_fields:
        value = values.get(column.physical_name)
        texts.append(f"{column.name}={'null' if value is None else value}")
    return ", ".join(texts)
