"""The actions of the transaction log as values: one JSON line is one action.

Field names on the wire are the protocol's camelCase names; here they are snake_case. Unknown
actions and unknown fields are ignored on read, as the protocol requires. Null fields are left out
on write; nulls inside maps are kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct, field

from truckee.protocol.deletion_vector import DeletionVectorDescriptor
from truckee.protocol.json_text import Int32, Int64, MomentMs


def _true() -> bool:
    # A default from a factory is always written: the protocol requires `dataChange` to be
    # written, but old writers left it out.
    return True


def _false() -> bool:
    return False


def _no_columns() -> list[str]:
    return []


def _no_properties() -> dict[str, str]:
    return {}


class AddFile(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A data file that is part of the table from this version on."""

    path: str
    partition_values: dict[str, str | None]
    size: Int64
    modification_time: Int64
    data_change: bool
    stats: str | None = None
    tags: dict[str, str | None] | None = None
    deletion_vector: DeletionVectorDescriptor | None = None
    base_row_id: Int64 | None = None
    default_row_commit_version: Int64 | None = None
    clustering_provider: str | None = None


class RemoveFile(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A data file that is no longer part of the table: its tombstone."""

    path: str
    deletion_timestamp: Int64 | None = None
    data_change: bool = field(default_factory=_true)
    extended_file_metadata: bool | None = None
    partition_values: dict[str, str | None] | None = None
    size: Int64 | None = None
    stats: str | None = None
    tags: dict[str, str | None] | None = None
    deletion_vector: DeletionVectorDescriptor | None = None
    base_row_id: Int64 | None = None
    default_row_commit_version: Int64 | None = None


def tombstone(
    add: AddFile, *, timestamp_ms: int | None = None, data_change: bool = True
) -> RemoveFile:
    """Return the removal of a live file, with everything the feed needs to read its rows."""
    return RemoveFile(
        path=add.path,
        deletion_timestamp=timestamp_ms,
        data_change=data_change,
        extended_file_metadata=True,
        partition_values=add.partition_values,
        size=add.size,
        stats=add.stats,
        tags=add.tags,
        deletion_vector=add.deletion_vector,
        base_row_id=add.base_row_id,
        default_row_commit_version=add.default_row_commit_version,
    )


class AddCDCFile(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A file of change rows. It is never part of the table's state."""

    path: str
    partition_values: dict[str, str | None]
    size: Int64
    data_change: bool = field(default_factory=_false)
    tags: dict[str, str | None] | None = None


class Format(Struct, frozen=True, kw_only=True):
    """How the data files are encoded; always Parquet today."""

    provider: str = field(default_factory=lambda: "parquet")
    options: dict[str, str] = field(default_factory=dict)


class Metadata(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The table's identity, schema, partitioning and properties (`metaData` on the wire).

    Pipelines create a table before they know its columns, and their first metadata has no schema.
    """

    id: str
    name: str | None = None
    description: str | None = None
    format: Format = field(default_factory=lambda: Format())
    schema_string: str | None = None
    partition_columns: list[str] = field(default_factory=_no_columns)
    configuration: dict[str, str] = field(default_factory=_no_properties)
    created_time: Int64 | None = None


class Protocol(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The versions and features that readers and writers of the table must support."""

    min_reader_version: Int32
    min_writer_version: Int32
    reader_features: tuple[str, ...] | None = None
    writer_features: tuple[str, ...] | None = None


class SetTransaction(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The last version that an application has written (`txn` on the wire)."""

    app_id: str
    version: Int64
    last_updated: Int64 | None = None


class DomainMetadata(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Configuration that belongs to one named domain."""

    domain: str
    configuration: str
    removed: bool = field(default_factory=_false)


class CheckpointMetadata(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The version of a V2 checkpoint."""

    version: Int64
    tags: dict[str, str | None] | None = None


class Sidecar(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A file below `_delta_log/_sidecars` that holds file actions of a V2 checkpoint."""

    path: str
    size_in_bytes: Int64
    modification_time: Int64
    tags: dict[str, str | None] | None = None


class CommitInfo(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Who wrote a commit, and how. The protocol does not fix its content, so types are wide."""

    in_commit_timestamp: MomentMs | None = None
    timestamp: Any = None
    user_id: Any = None
    user_name: Any = None
    operation: str | None = None
    operation_parameters: dict[str, Any] | None = None
    job: Any = None
    notebook: Any = None
    cluster_id: Any = None
    read_version: Any = None
    isolation_level: Any = None
    is_blind_append: bool | None = None
    operation_metrics: dict[str, Any] | None = None
    user_metadata: Any = None
    tags: dict[str, Any] | None = None
    engine_info: Any = None
    txn_id: Any = None


Action: TypeAlias = (
    AddFile
    | RemoveFile
    | AddCDCFile
    | Metadata
    | Protocol
    | SetTransaction
    | DomainMetadata
    | CommitInfo
    | CheckpointMetadata
    | Sidecar
)
FileAction: TypeAlias = AddFile | RemoveFile


class Line(Struct, omit_defaults=True):
    """One line of a commit: an object whose one key names the action.

    In-commit timestamps require `commitInfo` to be the first line; nothing else depends on the
    order of lines.
    """

    commitInfo: CommitInfo | None = None
    add: AddFile | None = None
    remove: RemoveFile | None = None
    cdc: AddCDCFile | None = None
    metaData: Metadata | None = None
    protocol: Protocol | None = None
    txn: SetTransaction | None = None
    domainMetadata: DomainMetadata | None = None
    checkpointMetadata: CheckpointMetadata | None = None
    sidecar: Sidecar | None = None

    def action(self) -> Action | None:
        """Return the action of this line, or None if its kind is unknown."""
        return (
            self.add
            or self.remove
            or self.cdc
            or self.commitInfo
            or self.metaData
            or self.protocol
            or self.txn
            or self.domainMetadata
            or self.sidecar
            or self.checkpointMetadata
        )


_KEY_OF: dict[type, str] = {
    AddFile: "add",
    RemoveFile: "remove",
    AddCDCFile: "cdc",
    Metadata: "metaData",
    Protocol: "protocol",
    SetTransaction: "txn",
    DomainMetadata: "domainMetadata",
    CommitInfo: "commitInfo",
    CheckpointMetadata: "checkpointMetadata",
    Sidecar: "sidecar",
}

_decoder = msgspec.json.Decoder(Line)
_encoder = msgspec.json.Encoder()


def decode_actions(data: bytes) -> list[Action]:
    """Return the actions of a commit in the order of its lines.

    Raises one of `NOT_JSON` if a line is not complete JSON or a field has the wrong type; the
    caller knows which file that was.
    """
    lines = _decoder.decode_lines(data)
    return [action for line in lines if (action := line.action()) is not None]


def encode_actions(actions: Iterable[Action]) -> bytes:
    """Return the bytes of a commit: one line an action, in the given order."""
    return _encoder.encode_lines([{_KEY_OF[type(action)]: action} for action in actions])
