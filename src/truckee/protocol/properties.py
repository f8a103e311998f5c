"""Table properties (`delta.*` in `metaData.configuration`) as typed attributes.

`TableProperties` reads a table's properties: each is parsed when it is used, so a bad value that
nobody needs does not prevent opening the table. `validated_properties` checks what a user wants to
set, and is as strict as Delta: unknown `delta.*` names and values of the wrong kind are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Generic, TypeVar, overload

from truckee.errors.protocol import (
    InvalidTablePropertyError,
    RetentionMismatchError,
    UnknownTablePropertyError,
    UnsettableTablePropertyError,
)
from truckee.protocol.property_kinds import (
    AUTO_COMPACT,
    BYTES,
    CHECKPOINT_POLICY,
    COLUMN_NAMES,
    COUNT_OR_ALL,
    FORMATS,
    INTEGER,
    INTERVAL,
    ISOLATION_LEVEL,
    MAPPING_MODE,
    NOT_NEGATIVE,
    POSITIVE,
    TEXT,
    TRUE_OR_FALSE,
    PropertyKind,
)
from truckee.protocol.unused_properties import warn_of_unused

CONSTRAINT_PREFIX = "delta.constraints."
FEATURE_PREFIX = "delta.feature."

_DAY_MS = 24 * 3600 * 1000
_T = TypeVar("_T")


class Property(Generic[_T]):
    """One table property: its name, the kind of its value, and its default.

    `aliases` are older names, read if the property itself is not set. A property that is not
    `settable` is maintained by writers. `accepts` restricts the values that may be set; more can be
    read.
    """

    def __init__(
        self,
        name: str,
        kind: PropertyKind[_T],
        default: _T,
        *,
        aliases: tuple[str, ...] = (),
        settable: bool = True,
        accepts: Callable[[_T], bool] | None = None,
    ) -> None:
        self.key = f"delta.{name}"
        self.kind = kind
        self.default = default
        self.aliases = tuple(f"delta.{alias}" for alias in aliases)
        self.settable = settable
        self.accepts = accepts

    @overload
    def __get__(self, instance: None, owner: type[TableProperties]) -> Property[_T]: ...

    @overload
    def __get__(self, instance: TableProperties, owner: type[TableProperties]) -> _T: ...

    def __get__(
        self, instance: TableProperties | None, owner: type[TableProperties]
    ) -> Property[_T] | _T:
        if instance is None:
            return self
        for key in (self.key, *self.aliases):
            if key in instance.configuration:
                return self.parse(instance.configuration[key])
        return self.default

    def parse(self, text: str) -> _T:
        """Return the value of a text, or raise InvalidTablePropertyError."""
        try:
            return self.kind.parse(text)
        except ValueError as error:
            raise self._refusal(text) from error

    def check(self, text: str) -> None:
        """Raise unless a user may set this property to this text."""
        if not self.settable:
            raise UnsettableTablePropertyError(key=self.key)
        value = self.parse(text)
        if self.accepts is not None and not self.accepts(value):
            raise self._refusal(text)

    def _refusal(self, text: str) -> InvalidTablePropertyError:
        return self.kind.error(key=self.key, value=text, needs=self.kind.needs)


@dataclass(frozen=True)
class TableProperties:
    """The properties of one table; each attribute is the value set, or Delta's default.

    Durations are in milliseconds. None means that there is no default.
    """

    configuration: Mapping[str, str]

    @classmethod
    def from_configuration(cls, configuration: Mapping[str, str]) -> TableProperties:
        """Return the properties that a table's configuration sets; nothing is checked yet."""
        return cls(configuration)

    @property
    def constraints(self) -> dict[str, str]:
        """The table's CHECK constraints: SQL by lower-case name."""
        return {
            key[len(CONSTRAINT_PREFIX) :].lower(): sql
            for key, sql in self.configuration.items()
            if key.lower().startswith(CONSTRAINT_PREFIX)
        }

    append_only = Property("appendOnly", TRUE_OR_FALSE, False)
    enable_deletion_vectors = Property("enableDeletionVectors", TRUE_OR_FALSE, False)
    enable_change_data_feed = Property(
        "enableChangeDataFeed", TRUE_OR_FALSE, False, aliases=("enableChangeDataCapture",)
    )
    enable_change_data_capture = Property("enableChangeDataCapture", TRUE_OR_FALSE, False)
    enable_row_tracking = Property("enableRowTracking", TRUE_OR_FALSE, False)
    row_tracking_suspended = Property("rowTrackingSuspended", TRUE_OR_FALSE, False)
    materialized_row_id_column_name = Property[str | None](
        "rowTracking.materializedRowIdColumnName", TEXT, None, settable=False
    )
    materialized_row_commit_version_column_name = Property[str | None](
        "rowTracking.materializedRowCommitVersionColumnName", TEXT, None, settable=False
    )
    enable_type_widening = Property("enableTypeWidening", TRUE_OR_FALSE, False)
    enable_variant_shredding = Property("enableVariantShredding", TRUE_OR_FALSE, False)
    isolation_level = Property(
        "isolationLevel", ISOLATION_LEVEL, "Serializable", accepts=lambda x: x == "Serializable"
    )

    column_mapping_mode = Property("columnMapping.mode", MAPPING_MODE, "none")
    max_column_id = Property("columnMapping.maxColumnId", INTEGER, 0, settable=False)

    checkpoint_interval = Property("checkpointInterval", POSITIVE, 10)
    checkpoint_policy = Property("checkpointPolicy", CHECKPOINT_POLICY, "classic")
    checkpoint_write_stats_as_json = Property("checkpoint.writeStatsAsJson", TRUE_OR_FALSE, True)
    checkpoint_write_stats_as_struct = Property(
        "checkpoint.writeStatsAsStruct", TRUE_OR_FALSE, True
    )
    checkpoint_retention_ms = Property("checkpointRetentionDuration", INTERVAL, 2 * _DAY_MS)
    log_retention_ms = Property("logRetentionDuration", INTERVAL, 30 * _DAY_MS)
    enable_expired_log_cleanup = Property("enableExpiredLogCleanup", TRUE_OR_FALSE, True)
    enable_full_retention_rollback = Property("enableFullRetentionRollback", TRUE_OR_FALSE, True)
    deleted_file_retention_ms = Property("deletedFileRetentionDuration", INTERVAL, 7 * _DAY_MS)
    sample_retention_ms = Property("sampleRetentionDuration", INTERVAL, 7 * _DAY_MS)
    set_transaction_retention_ms = Property[int | None](
        "setTransactionRetentionDuration", INTERVAL, None
    )
    drop_feature_retention_ms = Property(
        "dropFeatureTruncateHistory.retentionDuration", INTERVAL, _DAY_MS
    )
    require_checkpoint_protection_before_version = Property(
        "requireCheckpointProtectionBeforeVersion", NOT_NEGATIVE, 0, settable=False
    )

    enable_in_commit_timestamps = Property("enableInCommitTimestamps", TRUE_OR_FALSE, False)
    in_commit_timestamp_enablement_version = Property[int | None](
        "inCommitTimestampEnablementVersion", INTEGER, None
    )
    in_commit_timestamp_enablement_timestamp = Property[int | None](
        "inCommitTimestampEnablementTimestamp", INTEGER, None
    )

    data_skipping_num_indexed_cols = Property("dataSkippingNumIndexedCols", COUNT_OR_ALL, 32)
    data_skipping_stats_columns = Property[tuple[tuple[str, ...], ...] | None](
        "dataSkippingStatsColumns", COLUMN_NAMES, None
    )
    data_skipping_string_prefix_length = Property(
        "dataSkippingStringPrefixLength", NOT_NEGATIVE, 32
    )

    randomize_file_prefixes = Property("randomizeFilePrefixes", TRUE_OR_FALSE, False)
    random_prefix_length = Property("randomPrefixLength", POSITIVE, 2)
    parquet_format_version = Property[str | None]("parquet.format.version", TEXT, None)
    auto_optimize = Property[bool | None]("autoOptimize", TRUE_OR_FALSE, None)
    auto_compact = Property[str | None]("autoOptimize.autoCompact", AUTO_COMPACT, None)
    optimize_write = Property[bool | None]("autoOptimize.optimizeWrite", TRUE_OR_FALSE, None)
    target_file_size = Property[int | None]("targetFileSize", BYTES, None)
    symlink_format_manifest = Property(
        "compatibility.symlinkFormatManifest.enabled", TRUE_OR_FALSE, False
    )
    enable_materialize_partition_columns = Property[bool | None](
        "enableMaterializePartitionColumnsFeature", TRUE_OR_FALSE, None
    )
    write_partition_columns_to_parquet = Property(
        "writePartitionColumnsToParquet", TRUE_OR_FALSE, False
    )

    universal_formats = Property[tuple[str, ...]]("universalFormat.enabledFormats", FORMATS, ())
    universal_format_atomic_conversion = Property[bool | None](
        "universalFormat.iceberg.atomicConversion.supported", TRUE_OR_FALSE, None
    )
    enable_iceberg_compat_v1 = Property[bool | None]("enableIcebergCompatV1", TRUE_OR_FALSE, None)
    enable_iceberg_compat_v2 = Property[bool | None]("enableIcebergCompatV2", TRUE_OR_FALSE, None)
    enable_iceberg_compat_v3 = Property[bool | None]("enableIcebergCompatV3", TRUE_OR_FALSE, None)
    cast_iceberg_time_type = Property("castIcebergTimeType", TRUE_OR_FALSE, False)
    ignore_iceberg_bucket_partition = Property("ignoreIcebergBucketPartition", TRUE_OR_FALSE, False)

    redirect_reader_writer = Property[str | None]("redirectReaderWriter-preview", TEXT, None)
    redirect_writer_only = Property[str | None]("redirectWriterOnly-preview", TEXT, None)
    commit_coordinator = Property[str | None](
        "coordinatedCommits.commitCoordinator-preview", TEXT, None
    )
    commit_coordinator_conf = Property[str | None](
        "coordinatedCommits.commitCoordinatorConf-preview", TEXT, None
    )
    coordinated_table_conf = Property[str | None](
        "coordinatedCommits.tableConf-preview", TEXT, None
    )

    min_reader_version = Property[int | None]("minReaderVersion", POSITIVE, None)
    min_writer_version = Property[int | None]("minWriterVersion", POSITIVE, None)
    ignore_protocol_defaults = Property("ignoreProtocolDefaults", TRUE_OR_FALSE, False)


PROPERTIES: Mapping[str, Property[Any]] = {
    value.key.lower(): value
    for value in vars(TableProperties).values()
    if isinstance(value, Property)
}


def canonical_key(key: str) -> str:
    """Return a property's name as Delta spells it; unknown names are returned unchanged."""
    known = PROPERTIES.get(key.lower())
    return key if known is None else known.key


def validated_properties(
    changes: Mapping[str, str], existing: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return properties that a user wants to set, checked and under their canonical names.

    `existing` is the configuration they will be merged into. Constraints, requests for features
    and properties without the `delta.` prefix are not checked. Warns of those without effect.
    """
    result = {}
    for key, value in changes.items():
        known = PROPERTIES.get(key.lower())
        if known is not None:
            known.check(value)
        elif _is_reserved_unknown(key.lower()):
            near = get_close_matches(key.lower(), PROPERTIES, n=1, cutoff=0.8)
            raise UnknownTablePropertyError(
                key=key, nearest=PROPERTIES[near[0]].key if near else None
            )
        result[canonical_key(key)] = value
    _check_retention(result, {**(existing or {}), **result})
    warn_of_unused(result)
    return result


_FREE_PREFIXES = (CONSTRAINT_PREFIX, FEATURE_PREFIX, "delta.universalformat.config.")


def _is_reserved_unknown(lower_key: str) -> bool:
    return lower_key.startswith("delta.") and not lower_key.startswith(_FREE_PREFIXES)


def _check_retention(changes: Mapping[str, str], merged: Mapping[str, str]) -> None:
    keys = (TableProperties.log_retention_ms.key, TableProperties.deleted_file_retention_ms.key)
    if not any(key in changes for key in keys):
        return
    properties = TableProperties(merged)
    if properties.log_retention_ms < properties.deleted_file_retention_ms:
        raise RetentionMismatchError(
            log_retention_ms=properties.log_retention_ms,
            deleted_file_retention_ms=properties.deleted_file_retention_ms,
        )
