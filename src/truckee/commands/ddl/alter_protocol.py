"""The protocol of a table: raised on request, and lowered where nothing needs it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pyarrow.compute as pc
from msgspec.structs import replace

from truckee.commands.ddl.alter_properties import set_properties
from truckee.commands.ddl.history_truncation import truncate_protected, without_uses
from truckee.commands.schema.clustering import clustering_columns
from truckee.errors.commands.drop_feature import (
    AbsentFeatureDropError,
    CheckpointProtectionDropError,
    FeatureDropError,
    HistoryTruncationError,
    UnknownFeatureDropError,
)
from truckee.log.commit.transaction import Transaction
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.log.upkeep.checkpoint_writer import write_checkpoint
from truckee.protocol.actions import DomainMetadata
from truckee.protocol.feature_table import FEATURES
from truckee.protocol.features import (
    active_features,
    check_writable,
    smallest_protocol,
    supported_features,
)
from truckee.protocol.properties import TableProperties
from truckee.protocol.table_configuration import CLUSTERING_DOMAIN, ROW_TRACKING_DOMAIN
from truckee.storage.base import Storage

_PROTECTION = "checkpointProtection"
_PROTECTED_BEFORE_KEY = TableProperties.require_checkpoint_protection_before_version.key

# What goes with a feature.
_PROPERTIES = {
    _PROTECTION: (_PROTECTED_BEFORE_KEY,),
    "rowTracking": (
        TableProperties.enable_row_tracking.key,
        TableProperties.row_tracking_suspended.key,
        TableProperties.materialized_row_id_column_name.key,
        TableProperties.materialized_row_commit_version_column_name.key,
    ),
}
_DOMAINS = {"clustering": CLUSTERING_DOMAIN, "rowTracking": ROW_TRACKING_DOMAIN}

# Returns why a table still needs a feature, apart from its metadata; None if it does not.
_Trace = Callable[[Snapshot], str | None]


def upgrade_protocol(storage: Storage, reader_version: int, writer_version: int) -> int:
    """Raise the protocol versions of a table, and return the version that has them.

    Versions below those of the table change nothing.
    """
    snapshot = load_snapshot(storage)
    old = snapshot.protocol
    if old.min_reader_version >= reader_version and old.min_writer_version >= writer_version:
        return snapshot.version
    return set_properties(
        storage,
        {
            "delta.minReaderVersion": str(reader_version),
            "delta.minWriterVersion": str(writer_version),
        },
    )


def add_feature(storage: Storage, name: str) -> int:
    """Add a feature to a table's protocol, and return the version that has it."""
    return set_properties(storage, {f"delta.feature.{name}": "supported"})


def drop_unused_feature(storage: Storage, name: str, *, truncate_history: bool = False) -> int:
    """Remove a feature that a table does not use from its protocol; return the version.

    Even after a reader feature was dropped, earlier versions can only be read by clients that know
    it. A checkpoint keeps other clients from reading them, and `checkpointProtection` keeps writers
    from removing that checkpoint. With `truncate_history`, these versions are deleted instead, as
    soon as they are old enough (see `history_truncation`). The protocol becomes the lowest one with
    the features that are left: (1, 2) rather than (1, 7) with appendOnly and invariants.
    """
    snapshot = load_snapshot(storage)
    check_feature(snapshot, name, truncate_history=truncate_history)
    _check_unused(snapshot, name)
    if truncate_history and name == _PROTECTION:
        snapshot = truncate_protected(snapshot)
    elif truncate_history:
        snapshot = without_uses(snapshot, name)
    transaction = Transaction(storage, snapshot)
    transaction.read_whole_table()
    configuration = dict(snapshot.metadata.configuration)
    left = supported_features(snapshot.protocol) - {name}
    is_protected = FEATURES[name].reader_writer and not truncate_history
    if is_protected:
        left |= {_PROTECTION}
        configuration[_PROTECTED_BEFORE_KEY] = str(snapshot.version + 1)
    for key in _PROPERTIES.get(name, ()):
        configuration.pop(key, None)
    domain = _DOMAINS.get(name)
    if domain is not None and domain in snapshot.domain_metadata:
        transaction.stage(DomainMetadata(domain=domain, configuration="", removed=True))
    transaction.set_metadata(replace(snapshot.metadata, configuration=configuration))
    transaction.set_protocol(smallest_protocol(left), dropping=[name])
    version = transaction.commit(
        "DROP FEATURE", parameters={"featureName": name, "truncateHistory": truncate_history}
    )
    if is_protected:
        write_checkpoint(load_snapshot(storage, version))
    return version


def check_feature(snapshot: Snapshot, name: str, *, truncate_history: bool) -> None:
    """Raise unless a feature is one of the table's, and may be dropped in this way."""
    table = snapshot.storage.root
    check_writable(snapshot.protocol, snapshot.metadata, table)
    if name not in FEATURES:
        raise UnknownFeatureDropError(
            feature=name, reason="truckee does not know it", hint="check the spelling"
        )
    if name not in snapshot.configuration.features:
        raise AbsentFeatureDropError(
            feature=name, reason="the table does not have it", hint="see detail() for those it has"
        )
    _check_truncation(name, truncate_history)
    dependents = [
        other
        for other in sorted(snapshot.configuration.features)
        if other in FEATURES and name in FEATURES[other].needs
    ]
    if dependents:
        raise _refusal(name, f"{', '.join(dependents)} needs it", "drop that one first")


def _refusal(name: str, reason: str, hint: str) -> FeatureDropError:
    return FeatureDropError(feature=name, reason=reason, hint=hint)


def _check_truncation(name: str, is_truncated: bool) -> None:
    if is_truncated and not FEATURES[name].reader_writer and name != _PROTECTION:
        raise HistoryTruncationError(feature=name)
    if name == _PROTECTION and not is_truncated:
        raise CheckpointProtectionDropError


def _check_unused(snapshot: Snapshot, name: str) -> None:
    if name in active_features(snapshot.metadata):
        raise _refusal(
            name,
            f"the table uses it: {FEATURES[name].when}",
            "stop using it first: unset the property, or drop the constraint or the column",
        )
    trace = _TRACES[name](snapshot) if name in _TRACES else None
    if trace is not None:
        raise _refusal(name, trace, "rewrite or remove what is in the way first")


def _vectors(snapshot: Snapshot) -> str | None:
    vectors = snapshot.files_table().column("deletion_vector")
    count = len(vectors) - vectors.null_count
    return f"{count} files have deletion vectors" if count else None


def _clustering(snapshot: Snapshot) -> str | None:
    columns = clustering_columns(snapshot)
    if not columns:
        return None
    return f"the table is clustered by {', '.join('.'.join(path) for path in columns)}"


def _domains(snapshot: Snapshot) -> str | None:
    names = sorted(snapshot.domain_metadata)
    return f"the table has the metadata domains {', '.join(names)}" if names else None


def _row_ids(snapshot: Snapshot) -> str | None:
    ids = snapshot.files_table().column("base_row_id")
    return "rows have ids" if pc.any(pc.is_valid(ids)).as_py() else None


_TRACES: Mapping[str, _Trace] = {
    "deletionVectors": _vectors,
    "clustering": _clustering,
    "domainMetadata": _domains,
    "rowTracking": _row_ids,
}
