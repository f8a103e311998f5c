"""Which engines can read or write a table, by the features that its protocol requires.

The features of other engines are from their documentation and sources at the time of writing;
truckee's own come from `FEATURES`.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from truckee.care.health.findings import Finding, Severity
from truckee.log.snapshot import Snapshot
from truckee.protocol.feature_table import FEATURES
from truckee.protocol.features import active_features

_LEGACY = frozenset(
    {
        "appendOnly",
        "invariants",
        "checkConstraints",
        "changeDataFeed",
        "generatedColumns",
        "identityColumns",
    }
)
_COMMON_READ = frozenset(
    {"columnMapping", "deletionVectors", "timestampNtz", "v2Checkpoint", "vacuumProtocolCheck"}
)


class Engine(Struct, frozen=True, kw_only=True):
    """The features with which an engine can read tables, and those with which it can write."""

    name: str
    reads: frozenset[str]
    writes: frozenset[str]


ENGINES = (
    Engine(
        name="delta-spark 4",
        reads=_COMMON_READ | {"typeWidening", "variantType", "typeWidening-preview"},
        writes=_COMMON_READ
        | _LEGACY
        | {
            "typeWidening",
            "typeWidening-preview",
            "variantType",
            "domainMetadata",
            "rowTracking",
            "clustering",
            "inCommitTimestamp",
            "allowColumnDefaults",
            "checkpointProtection",
            "icebergCompatV1",
            "icebergCompatV2",
        },
    ),
    Engine(
        name="deltalake 1",
        reads=_COMMON_READ,
        writes=frozenset(
            {
                "appendOnly",
                "invariants",
                "checkConstraints",
                "changeDataFeed",
                "generatedColumns",
                "timestampNtz",
            }
        ),
    ),
)


def truckee_engine(snapshot: Snapshot) -> Engine:
    """Return the features of truckee itself."""
    active = active_features(snapshot.metadata)
    reads = frozenset(name for name, feature in FEATURES.items() if feature.read)
    writes = frozenset(
        name
        for name, feature in FEATURES.items()
        if feature.write or (feature.read and feature.active is not None and name not in active)
    )
    return Engine(name="truckee", reads=reads, writes=writes)


def engine_findings(snapshot: Snapshot) -> Iterator[Finding]:
    """Yield the features that the table requires, and which engines support them."""
    asked = snapshot.configuration.features
    read = set(snapshot.protocol.reader_features or ()) or {
        name for name in asked if name in FEATURES and FEATURES[name].reader_writer
    }
    engines = (truckee_engine(snapshot), *ENGINES)
    readers = {engine.name: sorted(read - engine.reads) for engine in engines}
    writers = {engine.name: sorted(asked - engine.writes) for engine in engines}
    protocol = snapshot.protocol
    says = (
        f"protocol ({protocol.min_reader_version}, {protocol.min_writer_version}), "
        f"features: {', '.join(sorted(asked)) or 'none'}; read by {_able(readers)}; "
        f"written by {_able(writers)}"
    )
    unable = {name: lacking for name, lacking in writers.items() if lacking}
    if unable:
        says += "; " + "; ".join(
            f"{name} lacks {', '.join(lacking)}" for name, lacking in unable.items()
        )
    yield Finding(
        topic="features",
        severity=Severity.INFO,
        says=says,
        facts={
            "features": sorted(asked),
            "readersLack": readers,
            "writersLack": writers,
        },
    )


def _able(lacking: dict[str, list[str]]) -> str:
    return ", ".join(name for name, missing in lacking.items() if not missing) or "none of these"
