r"""The schema log of a stream: the metadata that it reads with, from which version on.

A stream with such a log follows renamed and dropped columns and new types. Its files are in a
folder below the query's checkpoint, named 0, 1, 2, ...; the last one is valid:

    <location>/_schema_log_<table id>[_<tracking id>]/0

    v1
    {"tableId":..., "deltaCommitVersion":3, "dataSchemaJson":"...", "partitionSchemaJson":"...",
     "sourceMetadataPath":"<checkpoint>/sources/0", "tableConfigurations":{...},
     "protocolJson":"{\"protocol\":{...}}", "previousMetadataSeqNum":0}
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import Struct

from truckee.changes.read_schema import ReadSchema
from truckee.errors.stream_schema import (
    CorruptSchemaLogError,
    SchemaLocationError,
    SchemaLogConflictError,
)
from truckee.protocol.actions import Metadata, Protocol, decode_actions, encode_actions
from truckee.protocol.json_text import NOT_JSON
from truckee.protocol.schema import StructType, parse_schema
from truckee.protocol.table_configuration import TableConfiguration
from truckee.storage.base import Storage
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
        """The configuration that the stream reads with."""
        partitions = parse_schema(self.partition_schema_json)
        metadata = Metadata(
            id=self.table_id,
            schema_string=self.data_schema_json,
            partition_columns=list(partitions.names),
            configuration=dict(self.table_configurations or {}),
        )
        # Entries of old writers have no protocol; nothing here depends on its features.
        protocol = self._protocol or Protocol(min_reader_version=1, min_writer_version=2)
        return ReadSchema(self.delta_commit_version, TableConfiguration(metadata, protocol))

    @property
    def _protocol(self) -> Protocol | None:
        found = decode_actions((self.protocol_json or "").encode())
        return next((action for action in found if isinstance(action, Protocol)), None)

    def is_same(self, metadata: Metadata | None, protocol: Protocol | None) -> bool:
        """Return whether a commit with this metadata changes nothing that a stream records.

        A stream records the columns, the partition columns, `delta.*` properties and the protocol.
        """
        if protocol is not None and _demands(protocol) != _demands(self._protocol):
            return False
        if metadata is None:
            return True
        mine = self.read.metadata
        return (
            parse_schema(metadata.schema_string) == self.read.schema
            and metadata.partition_columns == mine.partition_columns
            and _own(metadata.configuration) == _own(mine.configuration)
        )


def schema_log_entry(
    table: TableConfiguration, version: int, *, source_path: str = ""
) -> LoggedMetadata:
    """Return the entry for the table at a version."""
    metadata = table.metadata
    return LoggedMetadata(
        table_id=metadata.id,
        delta_commit_version=version,
        data_schema_json=metadata.schema_string or table.schema.to_json(),
        partition_schema_json=StructType(table.partition_fields).to_json(),
        source_metadata_path=source_path,
        table_configurations=dict(metadata.configuration),
        protocol_json=encode_actions([table.protocol]).decode().strip(),
    )


class SchemaLog:
    """The entries of one stream; `source_path` is its folder in the checkpoint, if known."""

    def __init__(self, storage: Storage, source_path: str = "") -> None:
        self.location = storage.root
        self.source_path = source_path
        self._storage = storage

    def latest(self) -> LoggedMetadata | None:
        """Return the latest entry; `SchemaLogConflictError` if another source wrote it."""
        numbers = self._numbers()
        if not numbers:
            return None
        entry = self._read(numbers[-1])
        writer = entry.source_metadata_path
        if self.source_path and writer and writer != self.source_path:
            raise SchemaLogConflictError(location=self.location)
        return entry

    def before(self, entry: LoggedMetadata) -> LoggedMetadata | None:
        """Return the entry that the latest one has replaced, None if there is none."""
        number = entry.previous_metadata_seq_num
        if number is None:
            number = self._numbers()[-1] - 1
        return self._read(number) if number in self._numbers() else None

    def append(self, entry: LoggedMetadata) -> None:
        """Write the next entry; `SchemaLogConflictError` if another source wrote it first."""
        numbers = self._numbers()
        number = numbers[-1] + 1 if numbers else 0
        linked = msgspec.structs.replace(
            entry,
            source_metadata_path=self.source_path,
            previous_metadata_seq_num=number - 1 if number else None,
        )
        try:
            self._storage.put_if_absent(str(number), _FORMAT + msgspec.json.encode(linked))
        except FileExistsError as error:
            raise SchemaLogConflictError(location=self.location) from error

    def _numbers(self) -> list[int]:
        files = (file.path for file in self._storage.list_from("0"))
        return sorted(int(name) for name in files if name.isascii() and name.isdigit())

    def _read(self, number: int) -> LoggedMetadata:
        name = str(number)
        data = self._storage.read(name)
        if not data.startswith(_FORMAT):
            raise CorruptSchemaLogError(
                path=f"{self.location}/{name}", reason="it does not start with v1"
            )
        try:
            return msgspec.json.decode(data[len(_FORMAT) :], type=LoggedMetadata)
        except NOT_JSON as error:
            raise CorruptSchemaLogError(
                path=f"{self.location}/{name}", reason=str(error)
            ) from error


def log_location(location: str, table_id: str, tracking_id: str | None) -> str:
    """Return the folder of a stream's entries below the location that its options name."""
    suffix = "" if tracking_id is None else f"_{tracking_id}"
    return f"{location.rstrip('/')}/_schema_log_{table_id}{suffix}"


def check_location(location: str, source_path: str) -> None:
    """Raise `SchemaLocationError` unless a location is below the checkpoint of a source."""
    checkpoint = source_path.rpartition("/sources/")[0]
    if not f"{_plain(location)}/".startswith(f"{_plain(checkpoint)}/"):
        raise SchemaLocationError(location=location, checkpoint=checkpoint)


def _plain(url: str) -> str:
    is_local = "://" not in url or url.lower().startswith("file:")
    return local_root(url) if is_local else url.rstrip("/")


def _demands(protocol: Protocol | None) -> object:
    """Return a protocol in a form to compare, whatever the order of its features."""
    if protocol is None:
        return None
    versions = protocol.min_reader_version, protocol.min_writer_version
    features = protocol.reader_features or (), protocol.writer_features or ()
    return versions, *(frozenset(names) for names in features)


def _own(configuration: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in configuration.items() if key.startswith("delta.")}
