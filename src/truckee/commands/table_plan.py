"""What a table will be after a command, checked before the command does anything."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import uuid4

from msgspec.structs import replace

from truckee.errors.log import NotADeltaTableError
from truckee.log.commit.race import now_ms
from truckee.log.commit.transaction import Transaction
from truckee.log.commit.verification import check_actions
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.protocol.actions import Action, DomainMetadata, Metadata, Protocol
from truckee.protocol.features import (
    check_writable,
    protocol_for,
    protocol_request,
    upgraded_protocol,
)
from truckee.protocol.properties import TableProperties
from truckee.protocol.schema import StructType
from truckee.protocol.stats_columns import check_stats_columns
from truckee.protocol.table_configuration import TableConfiguration
from truckee.storage.base import Storage

_KEPT = (
    TableProperties.enable_deletion_vectors.key,
    TableProperties.checkpoint_policy.key,
    TableProperties.enable_row_tracking.key,
    TableProperties.materialized_row_id_column_name.key,
    TableProperties.materialized_row_commit_version_column_name.key,
)


def existing_table(storage: Storage) -> Snapshot | None:
    """Return the latest version of the table in a storage, None if there is no table."""
    try:
        return load_snapshot(storage)
    except NotADeltaTableError:
        return None


def new_metadata(
    schema: StructType,
    *,
    partition_columns: Iterable[str] = (),
    configuration: Mapping[str, str] | None = None,
    description: str | None = None,
    name: str | None = None,
) -> Metadata:
    """Return the metadata of a table that does not exist yet."""
    return Metadata(
        id=str(uuid4()),
        name=name,
        description=description,
        schema_string=schema.to_json(),
        partition_columns=list(partition_columns),
        configuration=dict(configuration or {}),
        created_time=now_ms(),
    )


def with_kept_properties(
    configuration: Mapping[str, str], replaced: Snapshot | None
) -> dict[str, str]:
    """Return the configuration of a table that replaces another one.

    What the old one says of deletion vectors, row tracking and V2 checkpoints stays, as in
    delta-spark, unless the new configuration says something else; its other properties are gone.
    """
    old = {} if replaced is None else replaced.metadata.configuration
    return {**{key: old[key] for key in _KEPT if key in old}, **configuration}


@dataclass(frozen=True)
class TablePlan:
    """A table as it will be: `snapshot` is the table now, None if there is none.

    Properties that request features or protocol versions go to its protocol, not to its metadata.
    """

    storage: Storage
    snapshot: Snapshot | None
    configuration: TableConfiguration
    domains: tuple[DomainMetadata, ...] = field(default=())

    @property
    def metadata(self) -> Metadata:
        """The metadata that the table will have."""
        return self.configuration.metadata

    @property
    def protocol(self) -> Protocol:
        """The protocol that the table will have."""
        return self.configuration.protocol

    @property
    def schema(self) -> StructType:
        """The columns that the table will have."""
        return self.configuration.schema

    @property
    def properties(self) -> TableProperties:
        """The properties that the table will have."""
        return self.configuration.properties

    @property
    def changes_metadata(self) -> bool:
        """Whether the table will have other metadata than now."""
        return self.snapshot is None or self.snapshot.metadata != self.metadata

    def check(self, operation: str, actions: Sequence[Action] = ()) -> None:
        """Raise what the commit would raise, as far as it is known now."""
        table = self.storage.root
        check_writable(self.protocol, self.metadata, table)
        if self.changes_metadata:
            check_stats_columns(self.configuration)
        check_actions(
            (*self.domains, *actions),
            table=table,
            operation=operation,
            before=None if self.snapshot is None else self.snapshot.configuration,
            after=self.configuration,
        )

    def transaction(self) -> Transaction:
        """Return a transaction that changes the table as planned."""
        transaction = Transaction(self.storage, self.snapshot)
        if self.changes_metadata:
            transaction.set_metadata(self.metadata)
        if self.snapshot is None or self.snapshot.protocol != self.protocol:
            transaction.set_protocol(self.protocol)
        transaction.stage(*self.domains)
        return transaction


def table_plan(
    storage: Storage,
    snapshot: Snapshot | None,
    metadata: Metadata,
    *,
    features: Iterable[str] = (),
    domains: Iterable[DomainMetadata] = (),
) -> TablePlan:
    """Return a table with new metadata, and the smallest protocol that covers it.

    `features` are wanted beyond those that the metadata and its properties ask for.
    """
    request = protocol_request(metadata.configuration)
    clean = replace(metadata, configuration=dict(request.configuration))
    wanted = (*request.features, *features)
    versions = (request.min_reader_version, request.min_writer_version)
    if snapshot is None:
        protocol = protocol_for(clean, wanted, versions=versions)
    else:
        protocol = upgraded_protocol(snapshot.protocol, clean, wanted, versions=versions)
    after = TableConfiguration(
        clean, protocol, {} if snapshot is None else snapshot.domain_metadata
    )
    return TablePlan(storage, snapshot, after, tuple(domains))
