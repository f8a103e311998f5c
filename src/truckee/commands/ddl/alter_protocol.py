"""The protocol of a table: raised on request, and lowered where nothing needs it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pyarrow.compute as pc
from msgspec.structs import replace

from truckee.commands.ddl.alter_properties import set_properties
from truckee.commands.ddl.history_truncation import truncate_protected, without_uses
from truckee.commands.schema.clustering import clustering_columns
from truckee.errors.commands.alter import (
    AbsentFeatureDropError,
    CheckpointProtectionDropError,
    FeatureDropError,
    HistoryTruncationError,
    UnknownFeatureDropError,
)
from truckee.log.commit.transaction import Transaction
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.log.upkeep.checkpoint_writer import write_checkpoint
from truckee.protocol.actions import DomainMetadata, Protocol
from truckee.protocol.feature_table import FEATURES
from truckee.protocol.features import active_features, check_writable, supported_features
from truckee.protocol.properties import TableProperties
from truckee.protocol.table_configuration import CLUSTERING_DOMAIN
from truckee.storage.base import Storage

_PROTECTION = "checkpointProtection"
_PROTECTED_BEFORE_KEY = TableProperties.require_checkpoint_protection_before_version.key
_SINCE_KEYS = (
    TableProperties.in_commit_timestamp_enablement_version.key,
    TableProperties.in_commit_timestamp_enablement_timestamp.key,
)

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
    soon as they are old enough (see `history_truncation`).
    """
    snapshot = load_snapshot(storage)
    check_writable(snapshot.protocol, snapshot.metadata, storage.root)
    feature = FEATURES.get(name)
    if feature is None:
        raise UnknownFeatureDropError(
            feature=name, reason="truckee does not know it", hint="check the spelling"
        )
    if name not in snapshot.configuration.features:
        raise AbsentFeatureDropError(
            feature=name, reason="the table does not have it", hint="see detail() for those it has"
        )
    _check_truncation(name, truncate_history)
    _check_unused(snapshot, name)
    if truncate_history and name == _PROTECTION:
        snapshot = truncate_protected(snapshot)
    elif truncate_history:
        snapshot = without_uses(snapshot, name)
    transaction = Transaction(storage, snapshot)
    transaction.read_whole_table()
    configuration = dict(snapshot.metadata.configuration)
    protocol = _without(snapshot.protocol, name)
    is_protected = feature.reader_writer and not truncate_history
    if is_protected:
        protocol = _with_protection(protocol)
        configuration[_PROTECTED_BEFORE_KEY] = str(snapshot.version + 1)
    if name == _PROTECTION:
        configuration.pop(_PROTECTED_BEFORE_KEY, None)
    if name == "inCommitTimestamp":
        configuration = {k: v for k, v in configuration.items() if k not in _SINCE_KEYS}
    if name == "clustering" and CLUSTERING_DOMAIN in snapshot.domain_metadata:
        removed = DomainMetadata(domain=CLUSTERING_DOMAIN, configuration="", removed=True)
        transaction.stage(removed)
    transaction.set_metadata(replace(snapshot.metadata, configuration=configuration))
    transaction.set_protocol(protocol, dropping=[name])
    version = transaction.commit(
        "DROP FEATURE", parameters={"featureName": name, "truncateHistory": truncate_history}
    )
    if is_protected:
        write_checkpoint(load_snapshot(storage, version))
    return version


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
    dependents = [
        other
        for other in sorted(snapshot.configuration.features)
        if other in FEATURES and name in FEATURES[other].needs
    ]
    if dependents:
        raise _refusal(name, f"{', '.join(dependents)} needs it", "drop that one first")
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


def _without(protocol: Protocol, name: str) -> Protocol:
    """Return the protocol with all features listed, except one."""
    left = tuple(sorted(supported_features(protocol) - {name}))
    reading = tuple(feature for feature in left if _asks_readers(feature))
    return Protocol(
        min_reader_version=3 if reading else 1,
        min_writer_version=7,
        reader_features=reading or None,
        writer_features=left,
    )


def _asks_readers(name: str) -> bool:
    return name in FEATURES and FEATURES[name].reader_writer


def _with_protection(protocol: Protocol) -> Protocol:
    features = sorted({*(protocol.writer_features or ()), _PROTECTION})
    return replace(protocol, writer_features=tuple(features))
