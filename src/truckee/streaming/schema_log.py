"""The schema log of a stream: which metadata it reads with, from which version on.

A stream with such a log follows renames, drops and new types. Its files lie in a folder below the
query's checkpoint, named 0, 1, 2, ...; the last one counts:

    <location>/_schema_log_<table id>[_<tracking id>]/0

    v1
    {"tableId":..., "deltaCommitVersion":3, "dataSchemaJson":"...", "partitionSchemaJson":"...",
     "sourceMetadataPath":"<checkpoint>/sources/0", "tableConfigurations":{...},
     "protocolJson":"...", "previousMetadataSeqNum":0}
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import Struct

from truckee.changes.read_schema import ReadSchema
from truckee.errors.streaming import (
    CorruptSchemaLogError,
    SchemaLocationError,
    SchemaLogConflictError,
)
from truckee.protocol.actions import Metadata, Protocol
from truckee.protocol.schema import StructType, parse_schema
from truckee.storage import open_storage
from truckee.storage.urls import local_root

_FORMAT = b"v1\n"


class LoggedMetadata(Struct, frozen=True, kw_only=True, rename="camel"):
    """One entry: the table's metadata at a version."""

    table_id: str
    delta_commit_version: int
    data_schema_json: str
    partition_schema_json: str
    source_metadata_path: str = ""
    table_configurations: Mapping[str, str] | None = None
    protocol_json: str | None = None
    previous_metadata_seq_num: int | None = None

    @property
    def read(self) -> ReadSchema:
        """What the stream reads with."""
        partitions = parse_schema(self.partition_schema_json)
        metadata = Metadata(
            id=self.table_id,
            schema_string=self.data_schema_json,
            partition_columns=list(partitions.names),
            configuration=dict(self.table_configurations or {}),
        )
        return ReadSchema(self.delta_commit_version, metadata)

    def is_same(self, metadata: Metadata | None, protocol: Protocol | None) -> bool:
        """Whether a commit with these leaves all as it is that a stream takes note of.

        That are the columns, the partition columns, `delta.*` properties and the protocol.
        """
        if protocol is not None and protocol_json(protocol) != self.protocol_json:
            return False
        if metadata is None:
            return True
        mine = self.read.metadata
        return (
            parse_schema(metadata.schema_string) == parse_schema(mine.schema_string)
            and metadata.partition_columns == mine.partition_columns
            and _own(metadata.configuration) == _own(mine.configuration)
        )


def logged(
    metadata: Metadata, protocol: Protocol, version: int, *, source_path: str = ""
) -> LoggedMetadata:
    """Return metadata of a version as an entry."""
    schema = parse_schema(metadata.schema_string)
    fields = (schema.field(name) for name in metadata.partition_columns)
    partitions = StructType(tuple(field for field in fields if field is not None))
    return LoggedMetadata(
        table_id=metadata.id,
        delta_commit_version=version,
        data_schema_json=metadata.schema_string,
        partition_schema_json=partitions.to_json(),
        source_metadata_path=source_path,
        table_configurations=dict(metadata.configuration),
        protocol_json=protocol_json(protocol),
    )


class SchemaLog:
    """The entries of one stream; `source_path` is its folder in the checkpoint, if known."""

    def __init__(
        self, location: str, table_id: str, tracking_id: str | None, source_path: str = ""
    ) -> None:
        suffix = "" if tracking_id is None else f"_{tracking_id}"
        self.location = f"{location.rstrip('/')}/_schema_log_{table_id}{suffix}"
        self.source_path = source_path
        self._storage = open_storage(self.location)

    def entries(self) -> list[LoggedMetadata]:
        """Return all entries, oldest first."""
        names = [file.path for file in self._storage.list_from("0") if file.path.isdigit()]
        return [self._read(name) for name in sorted(names, key=int)]

    def latest(self) -> LoggedMetadata | None:
        """Return the entry that counts; `SchemaLogConflictError` if another source wrote it."""
        entries = self.entries()
        if not entries:
            return None
        writer = entries[-1].source_metadata_path
        if self.source_path and writer and writer != self.source_path:
            raise SchemaLogConflictError(location=self.location)
        return entries[-1]

    def append(self, entry: LoggedMetadata) -> None:
        """Write the next entry; `SchemaLogConflictError` if another source was faster."""
        number = len(self.entries())
        linked = msgspec.structs.replace(
            entry,
            source_metadata_path=self.source_path,
            previous_metadata_seq_num=number - 1 if number else None,
        )
        try:
            self._storage.put_if_absent(str(number), _FORMAT + msgspec.json.encode(linked))
        except FileExistsError as error:
            raise SchemaLogConflictError(location=self.location) from error

    def _read(self, name: str) -> LoggedMetadata:
        data = self._storage.read(name)
        if not data.startswith(_FORMAT):
            raise CorruptSchemaLogError(
                path=f"{self.location}/{name}", reason="it does not start with v1"
            )
        try:
            return msgspec.json.decode(data[len(_FORMAT) :], type=LoggedMetadata)
        except msgspec.DecodeError as error:
            raise CorruptSchemaLogError(
                path=f"{self.location}/{name}", reason=str(error)
            ) from error


def check_location(location: str, source_path: str) -> None:
    """Raise `SchemaLocationError` unless a location is below the checkpoint of a source."""
    checkpoint = source_path.rpartition("/sources/")[0]
    if not f"{_plain(location)}/".startswith(f"{_plain(checkpoint)}/"):
        raise SchemaLocationError(location=location, checkpoint=checkpoint)


def protocol_json(protocol: Protocol) -> str:
    """Return a protocol as the text that entries hold."""
    return msgspec.json.encode(protocol, order="deterministic").decode()


def _plain(url: str) -> str:
    is_local = "://" not in url or url.lower().startswith("file:")
    return local_root(url) if is_local else url.rstrip("/")


def _own(configuration: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in configuration.items() if key.startswith("delta.")}
