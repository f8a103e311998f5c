"""The columns that a table is clustered by, recorded in a metadata domain of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from truckee.commands.schema.column_rules import checked_clustering_columns
from truckee.errors.columns import ClusteringFeatureError, PartitionsForClusteredTableError
from truckee.errors.commit import InvalidStateError
from truckee.log.snapshot import Snapshot
from truckee.protocol.actions import DomainMetadata, Metadata
from truckee.protocol.json_text import json_object, shown
from truckee.protocol.properties import TableProperties
from truckee.protocol.schema import StructType, nested_fields
from truckee.protocol.table_configuration import CLUSTERING_DOMAIN

_COLUMNS = "clusteringColumns"


def clustering_features() -> tuple[str, ...]:
    """Return the features of a table that records clustering columns."""
    return ("clustering", "domainMetadata")


def check_clustering_request(
    properties: Mapping[str, str],
    error: type[ClusteringFeatureError] = ClusteringFeatureError,
) -> None:
    """Raise if properties ask for the feature clustering: it comes with columns."""
    if any(key.lower() == "delta.feature.clustering" for key in properties):
        raise error


def check_replaced_clustering(snapshot: Snapshot | None, partitions: Sequence[str]) -> None:
    """Raise if a clustered table would be replaced by a partitioned one."""
    if partitions and snapshot is not None and "clustering" in snapshot.configuration.features:
        raise PartitionsForClusteredTableError(table=snapshot.storage.root)


def clustering_domain(
    schema: StructType, columns: Iterable[tuple[str, ...]], metadata: Metadata
) -> DomainMetadata:
    """Return the domain that records these columns, by their physical names.

    Raises ClusteringColumnError if the table cannot be clustered by them.
    """
    paths = checked_clustering_columns(
        schema,
        tuple(columns),
        partition_columns=tuple(metadata.partition_columns),
        properties=TableProperties.from_configuration(metadata.configuration),
    )
    return recorded_clustering(paths)


def clustering_columns(snapshot: Snapshot) -> tuple[tuple[str, ...], ...] | None:
    """Return the physical paths of a table's clustering columns, None if it records none."""
    domain = snapshot.domain_metadata.get(CLUSTERING_DOMAIN)
    return None if domain is None else clustered_columns(domain)


def clustering_paths(snapshot: Snapshot) -> list[list[str]] | None:
    """Return a table's clustering columns by their names now, None if it records none."""
    columns = clustering_columns(snapshot)
    known = {chain.physical_path: chain.path for chain in nested_fields(snapshot.schema)}
    return None if columns is None else [list(known.get(path, path)) for path in columns]


def clustered_columns(domain: DomainMetadata) -> tuple[tuple[str, ...], ...]:
    """Return the physical paths of the columns that a domain of clustering records.

    Raises InvalidStateError if it does not list columns.
    """
    found = json_object(f"the domain {CLUSTERING_DOMAIN}", domain.configuration)
    columns = found.get(_COLUMNS, [])
    try:
        # The protocol's example has one name for each column; Delta writes the names of its path.
        paths = msgspec.convert(columns, list[str | tuple[str, ...]])
    except msgspec.ValidationError as error:
        needs = "a list of column names"
        raise InvalidStateError(key=_COLUMNS, found=shown(columns), needs=needs) from error
    return tuple((path,) if isinstance(path, str) else path for path in paths)


def kept_clustering(snapshot: Snapshot | None, schema: StructType) -> DomainMetadata | None:
    """Return an empty domain if a new schema lacks one of the columns, else None."""
    columns = None if snapshot is None else clustering_columns(snapshot)
    if not columns:
        return None
    known = {chain.physical_path for chain in nested_fields(schema)}
    return None if known >= set(columns) else no_clustering()


def no_clustering() -> DomainMetadata:
    """Return the domain of a table with clustering enabled but without clustering columns."""
    return recorded_clustering(())


def recorded_clustering(paths: Iterable[tuple[str, ...]]) -> DomainMetadata:
    """Return the domain that records columns by these physical paths."""
    configuration = {
        _COLUMNS: [list(path) for path in paths],
        "domainName": CLUSTERING_DOMAIN,
    }
    return DomainMetadata(
        domain=CLUSTERING_DOMAIN, configuration=msgspec.json.encode(configuration).decode()
    )
