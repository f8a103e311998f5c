"""Transaction: records what was read, collects what is staged, and makes one commit.

A transaction is optimistic: it holds no lock. It is planned against one snapshot, records what it
has read there, and commits by creating the file of the next version, which only one writer can do.
If another writer commits first, the transaction reads what the winners did. If its plan is still
valid after them, it tries the version after theirs; otherwise it fails with a typed error and
changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any
from uuid import uuid4

import msgspec

from truckee.errors.commands.clone import ManifestPropertyError
from truckee.errors.commit import MissingMetadataError, ProtocolDowngradeError
from truckee.log.commit.attempt import Base, StagedCommit, row_id_high_water_mark
from truckee.log.commit.conflicts import IsolationLevel, Reads
from truckee.log.commit.race import now_ms, write_commit
from truckee.log.commit.verification import check_actions
from truckee.log.running_command import record_commit
from truckee.log.snapshot import Snapshot
from truckee.log.upkeep.manifest import vector_count
from truckee.log.upkeep.upkeep import keep_up
from truckee.protocol.actions import (
    Action,
    AddCDCFile,
    AddFile,
    DomainMetadata,
    Metadata,
    Protocol,
    RemoveFile,
    SetTransaction,
)
from truckee.protocol.features import (
    check_writable,
    protocol_for,
    protocol_request,
    supported_features,
    upgraded_protocol,
)
from truckee.protocol.paths import decode_path
from truckee.protocol.predicates import Predicate
from truckee.protocol.properties import TableProperties
from truckee.protocol.table_configuration import ROW_TRACKING_DOMAIN
from truckee.storage.base import Storage

MAX_ATTEMPTS = 10_000_000


class Transaction:
    """One change of a table: planned against one version, committed as a whole or not at all.

    `snapshot` is what the change is planned against; None means that there is no table yet, and
    this transaction creates it. Record all reads before the commit: they decide which commits of
    others are conflicts. `isolation` overrides the table's own level.
    """

    def __init__(
        self,
        storage: Storage,
        snapshot: Snapshot | None,
        *,
        isolation: IsolationLevel | None = None,
        max_attempts: int = MAX_ATTEMPTS,
    ) -> None:
        self.storage = storage
        self.snapshot = snapshot
        self.read_version = -1 if snapshot is None else snapshot.version
        self._isolation = isolation
        self._max_attempts = max_attempts
        self._reads = Reads()
        self._metadata: Metadata | None = None
        self._protocol: Protocol | None = None
        self._dropping: frozenset[str] = frozenset()
        self._actions: list[Action] = []
        self._set_transactions: dict[str, SetTransaction] = {}
        self._is_committed = False

    def read_whole_table(self) -> None:
        """Record that the whole table was read: any change of data is a conflict."""
        self._reads = replace(self._reads, whole_table=True)

    def read_partitions(self, predicate: Predicate) -> None:
        """Record that the matching partitions were read: a file added there is a conflict.

        Record with `read_files` which of their files were read.
        """
        self._reads = replace(self._reads, predicates=(*self._reads.predicates, predicate))

    def read_files(self, files: Iterable[AddFile]) -> None:
        """Record that these files were read: the removal of one of them is a conflict."""
        self.read_paths(decode_path(file.path) for file in files)

    def read_paths(self, paths: Iterable[str]) -> None:
        """Record the same of files by their decoded paths."""
        self._reads = replace(self._reads, paths=self._reads.paths | set(paths))

    def read_app_id(self, app_id: str) -> int | None:
        """Return the last version that an application has recorded, None if there is none.

        From here on it is a conflict if another transaction records one for it.
        """
        self._reads = replace(self._reads, app_ids=self._reads.app_ids | {app_id})
        known = {} if self.snapshot is None else self.snapshot.set_transactions
        return known[app_id].version if app_id in known else None

    def set_transaction(self, app_id: str, version: int) -> bool:
        """Record with this commit that an application has written up to `version`.

        Returns whether that version is new. If not, this write was already committed, and
        `commit` will not change the table.
        """
        recorded = self.read_app_id(app_id)
        self._set_transactions[app_id] = SetTransaction(
            app_id=app_id, version=version, last_updated=now_ms()
        )
        return recorded is None or recorded < version

    def set_metadata(self, metadata: Metadata) -> None:
        """Set new metadata. The protocol is extended if the metadata needs it."""
        self._metadata = metadata

    def set_protocol(self, protocol: Protocol, *, dropping: Iterable[str] = ()) -> None:
        """Set a new protocol, which must have all features of the old one except `dropping`."""
        self._protocol = protocol
        self._dropping = frozenset(dropping)

    def stage(self, *actions: Action) -> None:
        """Add actions to the commit."""
        for action in actions:
            match action:
                case Metadata():
                    self.set_metadata(action)
                case Protocol():
                    self.set_protocol(action)
                case SetTransaction():
                    self._set_transactions[action.app_id] = action
                case _:
                    self._actions.append(action)

    @property
    def metadata(self) -> Metadata:
        """The metadata that the table will have."""
        if self._metadata is not None:
            return self._metadata
        if self.snapshot is None:
            raise MissingMetadataError(table=self.storage.root)
        return self.snapshot.metadata

    def commit(
        self,
        operation: str,
        *,
        parameters: Mapping[str, Any] | None = None,
        metrics: Mapping[str, object] | None = None,
        user_metadata: str | None = None,
        is_blind_append: bool | None = None,
        allow_empty: bool = False,
    ) -> int:
        """Write the staged actions as the next version, and return that version.

        When this returns, the commit is durable. If it raises, the table is unchanged, except that
        after a `StorageError` the outcome may be unknown. If nothing is staged, or an application
        has already recorded this write, nothing is written and the version that was read is
        returned; `allow_empty` writes a commit even if nothing is staged.

        Raises the errors of `truckee.errors.commit` before anything is written, and those of
        `truckee.errors.transaction` if others committed first.
        """
        assert not self._is_committed, "a transaction is committed once"
        if self._was_applied_before():
            return self.read_version
        owner = self.storage.owner
        if user_metadata is None and owner is not None:
            user_metadata = owner.user_metadata()
        staged = self._staged(operation, parameters or {}, metrics or {}, user_metadata)
        if not staged.all_actions and not allow_empty:
            return self.read_version
        if is_blind_append is not None:
            staged = replace(staged, is_blind_append=is_blind_append)
        self._verify(staged)
        version, actions = write_commit(
            self.storage,
            staged,
            self._base(staged),
            reads=self._reads,
            max_attempts=self._max_attempts,
        )
        self._is_committed = True
        record_commit(self.storage.root, operation, version, actions, staged.metrics)
        if owner is not None:
            owner.committed(self.storage.root, version)
        keep_up(self.storage, self.snapshot, version, actions)
        return version

    def _was_applied_before(self) -> bool:
        known = {} if self.snapshot is None else self.snapshot.set_transactions
        return any(
            app_id in known and known[app_id].version >= mine.version
            for app_id, mine in self._set_transactions.items()
            if app_id in self._reads.app_ids
        )

    def _staged(
        self,
        operation: str,
        parameters: Mapping[str, Any],
        metrics: Mapping[str, object],
        user_metadata: str | None,
    ) -> StagedCommit:
        metadata, protocol = self._changes()
        actions = (*self._set_transactions.values(), *self._actions)
        changes = tuple(change for change in (metadata, protocol) if change is not None)
        return StagedCommit(
            table=self.storage.root,
            operation=operation,
            txn_id=str(uuid4()),
            isolation=isolation_level((*changes, *actions), self._default_isolation()),
            is_blind_append=self._is_blind_append(),
            actions=actions,
            metadata=metadata,
            protocol=protocol,
            read_version=None if self.snapshot is None else self.read_version,
            parameters=parameters,
            metrics=metrics,
            user_metadata=user_metadata,
        )

    def _changes(self) -> tuple[Metadata | None, Protocol | None]:
        """Return the new metadata and the new protocol, each None if it does not change."""
        if self.snapshot is not None and self._metadata is None and self._protocol is None:
            return None, None
        request = protocol_request(self.metadata.configuration)
        metadata = self._metadata
        if metadata is not None and request.configuration != metadata.configuration:
            metadata = msgspec.structs.replace(metadata, configuration=request.configuration)
        versions = (request.min_reader_version, request.min_writer_version)
        after = metadata or self.metadata
        old = None if self.snapshot is None else self.snapshot.protocol
        start = self._protocol or old
        if start is None:
            return metadata, protocol_for(after, request.features, versions=versions)
        self._refuse_downgrade(old, start)
        new = upgraded_protocol(start, after, request.features, versions=versions)
        return metadata, None if new == old else new

    def _refuse_downgrade(self, old: Protocol | None, new: Protocol) -> None:
        lacking = set() if old is None else supported_features(old) - supported_features(new)
        dropped = lacking - self._dropping
        if dropped:
            raise ProtocolDowngradeError(table=self.storage.root, dropped=tuple(sorted(dropped)))

    def _default_isolation(self) -> IsolationLevel:
        if self._isolation is not None:
            return self._isolation
        properties = TableProperties.from_configuration(self.metadata.configuration)
        return IsolationLevel(properties.isolation_level)

    def _is_blind_append(self) -> bool:
        return not self._reads.looks_at_files and not any(
            isinstance(action, RemoveFile | AddCDCFile) for action in self._actions
        )

    def _verify(self, staged: StagedCommit) -> None:
        before = None if self.snapshot is None else self.snapshot.configuration
        after = staged.table_after(before)
        check_writable(after.protocol, after.metadata, self.storage.root)
        self._check_manifest(after.properties)
        check_actions(
            staged.actions,
            table=self.storage.root,
            operation=staged.operation,
            before=before,
            after=after,
        )

    def _check_manifest(self, properties: TableProperties) -> None:
        """Refuse to maintain a manifest if files have deletion vectors, or may get some."""
        if not properties.symlink_format_manifest:
            return
        if properties.enable_deletion_vectors:
            reason = "delta.enableDeletionVectors is true"
            raise ManifestPropertyError(table=self.storage.root, reason=reason)
        was_on = self.snapshot is not None and self.snapshot.properties.symlink_format_manifest
        if self.snapshot is not None and not was_on and (files := vector_count(self.snapshot)):
            reason = f"{files} files have deletion vectors"
            raise ManifestPropertyError(table=self.storage.root, reason=reason)

    def _base(self, staged: StagedCommit) -> Base:
        snapshot = self.snapshot
        if snapshot is None:
            return Base()
        properties = staged.table_after(snapshot.configuration).properties
        tracked = snapshot.domain_metadata.get(ROW_TRACKING_DOMAIN)
        return Base(
            version=snapshot.version,
            configuration=snapshot.configuration,
            timestamp_ms=snapshot.timestamp_ms if properties.enable_in_commit_timestamps else None,
            row_id_high_water_mark=-1 if tracked is None else row_id_high_water_mark(tracked),
        )


def isolation_level(actions: Iterable[Action], default: IsolationLevel) -> IsolationLevel:
    """Return the isolation level of a commit.

    A commit that only rearranges files changes no data, so new files of others do not conflict
    with it.
    """
    rearranges = False
    for action in actions:
        match action:
            case AddFile() | RemoveFile() | AddCDCFile():
                if action.data_change:
                    return default
                rearranges = True
            case DomainMetadata(domain=domain) if domain == ROW_TRACKING_DOMAIN:
                pass
            case _:
                return default
    return IsolationLevel.SNAPSHOT_ISOLATION if rearranges else default
