"""CREATE TABLE ... LIKE: an empty table with the columns, properties and protocol of another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from msgspec.structs import replace
from pyspark.sql import SparkSession

from truckee.commands.ddl.create import Creation, TableDefinition, create_table
from truckee.commands.schema.column_mapping import MAX_ID_KEY, without_column_mapping
from truckee.log.snapshot import Snapshot
from truckee.protocol.column_metadata import IDENTITY_HIGH_WATER_MARK_KEY
from truckee.protocol.feature_table import FEATURES
from truckee.protocol.features import supported_features
from truckee.protocol.properties import PROPERTIES
from truckee.protocol.schema import StructType
from truckee.storage.base import Storage

_TABLE_FEATURES = 7
_OF_ITS_OWN = frozenset({MAX_ID_KEY.lower()})
_NOT_COPIED = frozenset({"clustering", "checkpointProtection", "catalogManaged"})


@dataclass(frozen=True, kw_only=True)
class LikeRequest:
    """The name and location of the new table, and properties beyond those of the source."""

    name: str | None = None
    location: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    if_not_exists: bool = False


def create_like(spark: SparkSession, source: Snapshot, request: LikeRequest) -> Storage:
    """Create a table like another one, without its rows; return its storage.

    Clustering columns are not copied, nor properties that only make sense for the source.
    """
    definition = TableDefinition(
        schema=_schema(source.schema),
        partition_columns=source.partition_columns,
        properties={**copied_properties(source), **request.properties},
        comment=source.metadata.description,
        location=request.location,
        name=request.name,
    )
    creation = Creation.CREATE_IF_NOT_EXISTS if request.if_not_exists else Creation.CREATE
    return create_table(spark, definition, creation)


def _schema(schema: StructType) -> StructType:
    """Return the columns without what depends on files or rows: ids and high-water marks."""
    plain = without_column_mapping(schema)
    return StructType(
        tuple(
            replace(
                each,
                metadata={
                    key: value
                    for key, value in each.metadata.items()
                    if key != IDENTITY_HIGH_WATER_MARK_KEY
                },
            )
            for each in plain.fields
        )
    )


def copied_properties(source: Snapshot) -> dict[str, str]:
    """Return the properties of a table, and those that request its protocol."""
    found = {
        key: value
        for key, value in source.metadata.configuration.items()
        if key.lower() not in _OF_ITS_OWN and _is_settable(key)
    }
    protocol = source.protocol
    if protocol.min_writer_version < _TABLE_FEATURES:
        versions = {
            "delta.minReaderVersion": str(protocol.min_reader_version),
            "delta.minWriterVersion": str(protocol.min_writer_version),
        }
        return found | versions
    features = sorted((supported_features(protocol) & FEATURES.keys()) - _NOT_COPIED)
    return found | {f"delta.feature.{name}": "supported" for name in features}


def _is_settable(key: str) -> bool:
    known = PROPERTIES.get(key.lower())
    return known is None or known.settable
