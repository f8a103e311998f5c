"""SET and UNSET TBLPROPERTIES."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from truckee.commands.schema.clustering import check_clustering_request
from truckee.commands.schema.column_mapping import MODE_KEY, with_column_mapping
from truckee.commands.schema.row_tracking import (
    backfill_row_ids,
    check_row_tracking,
    with_row_tracking,
)
from truckee.commands.table_plan import TablePlan, table_plan
from truckee.errors.columns import ClusteringFeatureSetError
from truckee.errors.commands.alter import (
    ColumnMappingModeChangeError,
    ConstraintPropertyError,
    PropertyNotFoundError,
)
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.protocol.actions import Metadata
from truckee.protocol.properties import (
    CONSTRAINT_PREFIX,
    TableProperties,
    canonical_key,
    validated_properties,
)
from truckee.storage.base import Storage

_COMMENT = "comment"


def set_properties(storage: Storage, properties: Mapping[str, str]) -> int:
    """Set properties of a table, and return the version that has them.

    `delta.feature.<name>` = `supported`, `delta.minReaderVersion` and `delta.minWriterVersion`
    raise the protocol. So do other properties that need a feature. `comment` sets the description
    of the table. If rows without ids are to be tracked, they first get ids, in commits of their
    own.
    """
    snapshot = load_snapshot(storage)
    metadata = _changed(snapshot, properties)
    if _enables_row_tracking(snapshot, metadata):
        _plan(snapshot, metadata, "SET TBLPROPERTIES")
        snapshot = backfill_row_ids(snapshot)
        metadata = _changed(snapshot, properties)
    shown = {
        key.lower() if key.lower().startswith("delta.feature.") else key: value
        for key, value in properties.items()
    }
    return _commit(snapshot, metadata, "SET TBLPROPERTIES", {"properties": shown})


def check_properties(snapshot: Snapshot, properties: Mapping[str, str]) -> None:
    """Raise what `set_properties` would raise for a table; nothing is committed."""
    _plan(snapshot, _changed(snapshot, properties), "SET TBLPROPERTIES")


def _changed(snapshot: Snapshot, properties: Mapping[str, str]) -> Metadata:
    changes = validated_properties(properties, snapshot.metadata.configuration)
    refuse_constraints(changes)
    check_clustering_request(changes, ClusteringFeatureSetError)
    comment = changes.pop(_COMMENT, snapshot.metadata.description)
    return replace(
        snapshot.metadata,
        description=comment,
        configuration={**snapshot.metadata.configuration, **changes},
    )


def unset_properties(storage: Storage, keys: Iterable[str], *, if_exists: bool = True) -> int:
    """Unset properties of a table, and return the version that no longer has them."""
    snapshot = load_snapshot(storage)
    names = [canonical_key(key) for key in keys]
    refuse_constraints(names)
    configuration = dict(snapshot.metadata.configuration)
    description = snapshot.metadata.description
    for name in names:
        if name == _COMMENT:
            description = None
        elif configuration.pop(name, None) is None and not if_exists:
            raise PropertyNotFoundError(key=name, table=storage.root)
    metadata = replace(snapshot.metadata, description=description, configuration=configuration)
    parameters = {"properties": names, "ifExists": if_exists}
    return _commit(snapshot, metadata, "UNSET TBLPROPERTIES", parameters)


def refuse_constraints(keys: Iterable[str]) -> None:
    """Raise if constraints are to be set or unset as properties."""
    for key in keys:
        if key.lower().startswith(CONSTRAINT_PREFIX):
            raise ConstraintPropertyError(key=key)


def _commit(
    snapshot: Snapshot, metadata: Metadata, operation: str, parameters: Mapping[str, object]
) -> int:
    table = _plan(snapshot, metadata, operation)
    return table.transaction().commit(operation, parameters=parameters, allow_empty=True)


def _plan(snapshot: Snapshot, metadata: Metadata, operation: str) -> TablePlan:
    metadata = _with_mapping(snapshot, metadata)
    check_row_tracking(TableProperties.from_configuration(metadata.configuration))
    if _enables_row_tracking(snapshot, metadata):
        metadata = with_row_tracking(metadata)
    table = table_plan(snapshot.storage, snapshot, metadata)
    table.check(operation)
    return table


def _with_mapping(snapshot: Snapshot, metadata: Metadata) -> Metadata:
    old = snapshot.properties.column_mapping_mode
    new = TableProperties.from_configuration(metadata.configuration).column_mapping_mode
    if old == new:
        return metadata
    if (old, new) != ("none", "name"):
        raise ColumnMappingModeChangeError(old=old, new=new)
    configuration = {**metadata.configuration, MODE_KEY: new}
    return with_column_mapping(replace(metadata, configuration=configuration), keep_names=True)


def _enables_row_tracking(snapshot: Snapshot, metadata: Metadata) -> bool:
    properties = TableProperties.from_configuration(metadata.configuration)
    return properties.enable_row_tracking and not snapshot.properties.enable_row_tracking
