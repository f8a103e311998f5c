"""The features that a table requires of readers and writers, and what truckee supports.

A table states its requirements by two version numbers and, from reader 3 and writer 7 on, by lists
of features. Lower versions imply fixed sets of features:

| version  | implies                                        |
|----------|------------------------------------------------|
| writer 2 | appendOnly, invariants                         |
| writer 3 | those and checkConstraints                     |
| writer 4 | those and changeDataFeed, generatedColumns     |
| writer 5 | those and columnMapping (with reader 2)        |
| writer 6 | those and identityColumns                      |

If a writer does not implement a feature that the table supports, it may write to the table only if
it can tell that the feature is not active. A protocol only ever grows: features are added when the
metadata begins to use them, and are not dropped by writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from msgspec import Struct

from truckee.errors.protocol import (
    ColumnDefaultsNotEnabledError,
    FeatureStatusError,
    UnknownFeatureRequestError,
    UnsupportedProtocolVersionError,
    UnsupportedReaderFeaturesError,
    UnsupportedWriterFeaturesError,
)
from truckee.protocol.actions import Metadata, Protocol
from truckee.protocol.feature_table import (
    FEATURES,
    MAX_READER_VERSION,
    MAX_WRITER_VERSION,
    PREVIEW,
    Feature,
    MetadataFacts,
    features_markdown,
)
from truckee.protocol.properties import FEATURE_PREFIX, TableProperties
from truckee.protocol.schema import nested_fields, parse_schema

__all__ = [
    "FEATURES",
    "Feature",
    "ProtocolRequest",
    "active_features",
    "check_readable",
    "check_writable",
    "features_markdown",
    "protocol_for",
    "protocol_request",
    "smallest_protocol",
    "supported_features",
    "upgraded_protocol",
]

# The features that the protocol versions (1, 2), (1, 3), ... (2, 6) imply, by their pair.
_LEGACY_PROTOCOLS: Mapping[tuple[int, int], frozenset[str]] = {
    (2 if writer >= 5 else 1, writer): frozenset(
        feature.name for feature in FEATURES.values() if feature.writer_version <= writer
    )
    for writer in range(1, MAX_WRITER_VERSION)
}


def supported_features(protocol: Protocol) -> frozenset[str]:
    """Return the features that a protocol lists, or implies by its versions."""
    named = {*(protocol.reader_features or ()), *(protocol.writer_features or ())}
    if protocol.min_writer_version >= MAX_WRITER_VERSION:
        return frozenset(named)
    implied = (
        feature.name
        for feature in FEATURES.values()
        if feature.writer_version <= protocol.min_writer_version
        and feature.reader_version <= protocol.min_reader_version
    )
    return frozenset({*named, *implied})


def check_readable(protocol: Protocol, table: str = "") -> None:
    """Raise unless truckee can read a table with this protocol; `table` is named in errors."""
    named = protocol.reader_features or ()
    if not 1 <= protocol.min_reader_version <= MAX_READER_VERSION or (
        named and protocol.min_reader_version != MAX_READER_VERSION
    ):
        raise _unsupported_version(protocol, table)
    refused = {name: _why_not_read(name) for name in named if not _is_read(name)}
    if refused:
        raise UnsupportedReaderFeaturesError(table=table, features=refused)


def _is_read(name: str) -> bool:
    return name in FEATURES and FEATURES[name].read


def _why_not_read(name: str) -> str:
    return FEATURES[name].refused_because if name in FEATURES else "it is not known to truckee"


def _unsupported_version(protocol: Protocol, table: str) -> UnsupportedProtocolVersionError:
    return UnsupportedProtocolVersionError(
        table=table,
        reader_version=protocol.min_reader_version,
        writer_version=protocol.min_writer_version,
        reader_features=tuple(protocol.reader_features or ()),
        writer_features=tuple(protocol.writer_features or ()),
    )


def check_writable(protocol: Protocol, metadata: Metadata, table: str = "") -> None:
    """Raise unless truckee can write to a table with this protocol and metadata.

    A writer must also be able to read the table. A feature that truckee does not write is allowed
    if the metadata shows that it is not active.
    """
    check_readable(protocol, table)
    named = protocol.writer_features or ()
    if not 1 <= protocol.min_writer_version <= MAX_WRITER_VERSION or (
        named and protocol.min_writer_version != MAX_WRITER_VERSION
    ):
        raise _unsupported_version(protocol, table)
    declared = _metadata_facts(metadata)
    refused = {}
    for name in sorted(supported_features(protocol)):
        why = _why_not_written(name, declared)
        if why is not None:
            refused[name] = why
    if refused:
        raise UnsupportedWriterFeaturesError(table=table, features=refused)


def _why_not_written(name: str, declared: MetadataFacts) -> str | None:
    feature = FEATURES.get(name)
    if feature is None:
        return "it is not known to truckee"
    if feature.write or (feature.active is not None and not feature.active(declared)):
        return None
    return feature.refused_because


def _metadata_facts(metadata: Metadata) -> MetadataFacts:
    field_metadata, type_names = _schema_marks(metadata.schema_string)
    return MetadataFacts(
        TableProperties.from_configuration(metadata.configuration),
        field_metadata,
        type_names,
        bool(metadata.partition_columns),
    )


@lru_cache(maxsize=64)
def _schema_marks(schema_string: str | None) -> tuple[frozenset[str], frozenset[str]]:
    fields = [chain.field for chain in nested_fields(parse_schema(schema_string))]
    keys = frozenset(key for field in fields for key in field.metadata)
    return keys, frozenset(getattr(field.type, "name", "") for field in fields)


def active_features(metadata: Metadata) -> frozenset[str]:
    """Return the features that a table's metadata uses."""
    declared = _metadata_facts(metadata)
    return frozenset(
        feature.name
        for feature in FEATURES.values()
        if feature.active is not None and feature.active(declared)
    )


class ProtocolRequest(Struct, frozen=True):
    """What table properties request of the protocol, and the properties that are stored."""

    features: tuple[str, ...]
    min_reader_version: int
    min_writer_version: int
    configuration: dict[str, str]


def protocol_request(properties: Mapping[str, str]) -> ProtocolRequest:
    """Return properties split into requests for the protocol and properties of the metadata.

    `delta.feature.<name>=supported`, `delta.minReaderVersion`, `delta.minWriterVersion` and
    `delta.ignoreProtocolDefaults` are never stored.
    """
    versions = TableProperties.from_configuration(properties)
    features: list[str] = []
    configuration = {}
    for key, value in properties.items():
        if key.lower().startswith(FEATURE_PREFIX):
            features.append(_requested_feature(key, value))
        elif key not in _PROTOCOL_KEYS:
            configuration[key] = value
    return ProtocolRequest(
        tuple(features),
        versions.min_reader_version or 1,
        versions.min_writer_version or 1,
        configuration,
    )


_PROTOCOL_KEYS = (
    TableProperties.min_reader_version.key,
    TableProperties.min_writer_version.key,
    TableProperties.ignore_protocol_defaults.key,
)
_NAMES_BY_LOWER = {name.lower(): name for name in FEATURES}


def _requested_feature(key: str, status: str) -> str:
    name = _NAMES_BY_LOWER.get(key[len(FEATURE_PREFIX) :].lower())
    if name is None:
        raise UnknownFeatureRequestError(key=key)
    if status.lower() not in ("supported", "enabled"):
        raise FeatureStatusError(feature=name, status=status)
    return name


def protocol_for(
    metadata: Metadata, requested: Iterable[str] = (), *, versions: tuple[int, int] = (1, 1)
) -> Protocol:
    """Return the smallest protocol for a new table with this metadata.

    `requested` are names of features, `versions` the minimum reader and writer versions that were
    asked for. For metadata that uses no feature, the protocol is (1, 2).
    """
    return upgraded_protocol(
        Protocol(min_reader_version=1, min_writer_version=2),
        metadata,
        requested,
        versions=versions,
    )


def upgraded_protocol(
    protocol: Protocol,
    metadata: Metadata,
    requested: Iterable[str] = (),
    *,
    versions: tuple[int, int] = (1, 1),
) -> Protocol:
    """Return the protocol, extended by what the metadata and the request need.

    Nothing is ever dropped, and a protocol that already covers all of it is returned as it is. If a
    version without feature lists implies exactly what is needed, it is used: (1, 2) with check
    constraints becomes (1, 3), (1, 2) with a change data feed becomes (1, 7) and three features.
    """
    supported = supported_features(protocol)
    needed = _with_needs(_demanded(metadata, supported, requested)) | supported
    reader = max(protocol.min_reader_version, versions[0])
    writer = max(protocol.min_writer_version, versions[1])
    if (reader, writer) == (1, 5) and protocol.min_writer_version < writer:
        writer = 4  # all that 5 adds is column mapping, which readers of version 1 do not have
    asked_for = _LEGACY_PROTOCOLS.get((min(reader, 2), writer), frozenset())
    needed |= asked_for
    if needed == supported and (reader, writer) == (
        protocol.min_reader_version,
        protocol.min_writer_version,
    ):
        return protocol
    return _smallest_protocol(protocol, needed, reader, writer)


def _demanded(
    metadata: Metadata, supported: frozenset[str], requested: Iterable[str]
) -> frozenset[str]:
    active = active_features(metadata)
    demanded = set(requested)
    given = supported | demanded
    demanded |= {
        name for name in active if FEATURES[name].automatic and _other_stage(name) not in given
    }
    if "allowColumnDefaults" in active - supported - demanded:
        raise ColumnDefaultsNotEnabledError
    return frozenset(demanded)


def _other_stage(name: str) -> str:
    """Return the preview of a feature, or what it is the preview of.

    A table with the preview of a feature stays on it; the final one would require more.
    """
    return name.removesuffix(PREVIEW) if name.endswith(PREVIEW) else f"{name}{PREVIEW}"


def _with_needs(names: frozenset[str]) -> frozenset[str]:
    grown = names.union(*(FEATURES[name].needs for name in names))
    return names if grown == names else _with_needs(grown)


def smallest_protocol(features: Iterable[str]) -> Protocol:
    """Return the lowest protocol with exactly these features: by its versions, or with lists."""
    none = Protocol(min_reader_version=1, min_writer_version=1)
    return _smallest_protocol(none, frozenset(features), 1, 1)


def _smallest_protocol(
    before: Protocol, needed: frozenset[str], reader: int, writer: int
) -> Protocol:
    for versions, features in _LEGACY_PROTOCOLS.items():
        if features == needed and versions[0] >= reader and versions[1] >= writer:
            return Protocol(min_reader_version=versions[0], min_writer_version=versions[1])
    known = [FEATURES[name] for name in needed if name in FEATURES]
    reader = max([reader, *(feature.reader_version for feature in known)])
    read = {feature.name for feature in known if feature.reader_writer}
    return Protocol(
        min_reader_version=reader,
        min_writer_version=MAX_WRITER_VERSION,
        reader_features=(
            _extended(before.reader_features, read) if reader == MAX_READER_VERSION else None
        ),
        writer_features=_extended(before.writer_features, needed),
    )


def _extended(before: tuple[str, ...] | None, names: Iterable[str]) -> tuple[str, ...]:
    kept = tuple(before or ())
    return (*kept, *sorted(set(names) - set(kept)))
