"""Histories in one line: `history().add("a").then().remove("a").storage` has two versions.

Actions are staged until `then()` or `commit()` makes a version of them. Version 0 gets a protocol
and metadata by default, unless it was given some.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from staging import metadata
from truckee.deletion_vectors.bitmap import RowBitmap, encode
from truckee.log.files.commits import Commit, read_commit
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.protocol.actions import (
    Action,
    AddCDCFile,
    AddFile,
    CommitInfo,
    DomainMetadata,
    Metadata,
    Protocol,
    RemoveFile,
    SetTransaction,
    encode_actions,
)
from truckee.protocol.deletion_vector import DeletionVectorDescriptor
from truckee.protocol.paths import commit_path
from truckee.storage.base import Storage
from truckee.storage.memory import MemoryStorage
from values import inline_in_log

PROTOCOL = Protocol(
    min_reader_version=3,
    min_writer_version=7,
    reader_features=("deletionVectors", "v2Checkpoint"),
    writer_features=("deletionVectors", "v2Checkpoint", "domainMetadata", "inCommitTimestamp"),
)


def history(storage: Storage | None = None) -> History:
    """Return an empty history, in memory by default."""
    return History(MemoryStorage() if storage is None else storage)


def vector(*rows: int) -> DeletionVectorDescriptor:
    """Return an inline deletion vector that marks these rows."""
    return inline_in_log(encode(RowBitmap(rows)), cardinality=len(rows))


class History:
    """A table that is built with one call for each fact."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._version = 0
        self._staged: list[Action] = []
        self._live: dict[str, AddFile] = {}

    def stage(self, *actions: Action) -> History:
        for action in actions:
            match action:
                case AddFile():
                    self._live[action.path] = action
                case RemoveFile():
                    self._live.pop(action.path, None)
                case _:
                    pass
        self._staged += actions
        return self

    def add(self, path: str, **fields: Any) -> History:
        defaults: dict[str, Any] = {
            "partition_values": {},
            "size": 100,
            "modification_time": 1_700_000_000_000,
            "data_change": True,
            "stats": '{"numRecords":10}',
        }
        return self.stage(AddFile(path=path, **{**defaults, **fields}))

    def remove(self, path: str, **fields: Any) -> History:
        known = self._live.get(path)
        if known is not None and "deletion_vector" not in fields:
            fields["deletion_vector"] = known.deletion_vector
        return self.stage(RemoveFile(path=path, deletion_timestamp=1_700_000_000_000, **fields))

    def delete(self, path: str, rows: list[int]) -> History:
        """Mark rows of a live file as deleted."""
        old = self._live[path]
        return self.remove(path).stage(replace(old, deletion_vector=vector(*rows)))

    def cdc(self, path: str) -> History:
        return self.stage(AddCDCFile(path=path, partition_values={}, size=10))

    def txn(self, app_id: str, version: int, last_updated: int | None = None) -> History:
        return self.stage(SetTransaction(app_id=app_id, version=version, last_updated=last_updated))

    def domain(self, name: str, configuration: str = "{}", *, removed: bool = False) -> History:
        return self.stage(DomainMetadata(domain=name, configuration=configuration, removed=removed))

    def info(self, **fields: Any) -> History:
        return self.stage(CommitInfo(**fields))

    def then(self) -> History:
        """Make a version of what is staged, and go on."""
        if self._version == 0:
            kinds = {type(action) for action in self._staged}
            if Metadata not in kinds:
                self._staged.insert(0, metadata())
            if Protocol not in kinds:
                self._staged.insert(0, PROTOCOL)
        if not self._staged:
            self.info()
        # In-commit timestamps demand that this one comes first.
        self._staged.sort(key=lambda action: not isinstance(action, CommitInfo))
        self._storage.put_if_absent(
            commit_path(self._version), encode_actions(self._staged) or b"\n"
        )
        self._version += 1
        self._staged = []
        return self

    def empty(self, versions: int) -> History:
        """Make versions in which nothing happened."""
        for _ in range(versions):
            self.then()
        return self

    def commit(self) -> Commit:
        """Make a version of what is staged, and return it."""
        return read_commit(self.then()._storage, self._version - 1)

    @property
    def storage(self) -> Storage:
        """The table, with all that is staged as its last version."""
        if self._staged:
            self.then()
        return self._storage

    def snapshot(self, version: int | None = None) -> Snapshot:
        return load_snapshot(self.storage, version)


def live_paths(snapshot: Snapshot) -> list[str]:
    return sorted(file.path for file in snapshot.files())
