"""ALTER TABLE ... CLUSTER BY: the columns that OPTIMIZE orders a table by; no file changes."""

from __future__ import annotations

from collections.abc import Sequence

from truckee.commands.schema.clustering import clustering_domain, clustering_features, no_clustering
from truckee.commands.table_plan import table_plan
from truckee.errors.columns import ClusteringOfPartitionedTableError
from truckee.log.detail import clustering_names
from truckee.log.snapshot import load_snapshot
from truckee.protocol.table_configuration import CLUSTERING_DOMAIN
from truckee.storage.base import Storage


def cluster_by(storage: Storage, columns: Sequence[tuple[str, ...]]) -> int:
    """Cluster a table by columns from now on; an empty list ends it. Return the version.

    A table that was never clustered gets the features for it. If it is not clustered and the list
    is empty, there is no commit.
    """
    snapshot = load_snapshot(storage)
    if snapshot.partition_columns:
        raise ClusteringOfPartitionedTableError(partition_columns=snapshot.partition_columns)
    if not columns and CLUSTERING_DOMAIN not in snapshot.domain_metadata:
        return snapshot.version
    domain = no_clustering()
    if columns:
        domain = clustering_domain(snapshot.schema, columns, snapshot.metadata)
    table = table_plan(
        storage, snapshot, snapshot.metadata, features=clustering_features(), domains=[domain]
    )
    table.check("CLUSTER BY")
    parameters = {
        "oldClusteringColumns": ",".join(clustering_names(snapshot)),
        "newClusteringColumns": ",".join(".".join(path) for path in columns),
    }
    return table.transaction().commit("CLUSTER BY", parameters=parameters)
