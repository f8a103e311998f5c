"""Table properties (`delta.*` in `metaData.configuration`) as typed attributes.

`TableProperties` reads what a table has: a property is parsed when it is asked for, so a value
that nobody needs cannot stand in the way of opening a table. `validated` checks what a user wants
to set, and is as strict as Delta: unknown `delta.*` names and values of the wrong kind are refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, overload

from truckee.errors.protocol import (
    InvalidIntervalError,
    InvalidIsolationLevelError,
    InvalidTablePropertyError,
    RetentionMismatchError,
    UnknownTablePropertyError,
    UnsettableTablePropertyError,
)
from truckee.protocol.unused_properties import warn_of_unused

CONSTRAINT_PREFIX = "delta.constraints."
FEATURE_PREFIX = "delta.feature."
MIN_READER_VERSION_KEY = "delta.minReaderVersion"
MIN_WRITER_VERSION_KEY = "delta.minWriterVersion"

_DAY_MS = 24 * 3600 * 1000
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True)
class Kind(Generic[T_co]):
    """How the text of a property becomes a value: `parse` raises ValueError for other texts."""

    parse: Callable[[str], T_co]
    needs: str
    error: type[InvalidTablePropertyError] = InvalidTablePropertyError


def _boolean(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(text)
    return text.lower() == "true"


def _integer(text: str) -> int:
    # Python's int() would take spaces and underscores, which other engines then choke on.
    if not re.fullmatch(r"[+-]?[0-9]+", text):
        raise ValueError(text)
    return int(text)


def _integer_from(least: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        number = _integer(text)
        if number < least:
            raise ValueError(text)
        return number

    return parse


def _one_of(*words: str) -> Callable[[str], str]:
    by_lower = {word.lower(): word for word in words}

    def parse(text: str) -> str:
        if text.lower() not in by_lower:
            raise ValueError(text)
        return by_lower[text.lower()]

    return parse


_UNIT_US = {
    "microsecond": 1,
    "millisecond": 1000,
    "second": 1_000_000,
    "minute": 60_000_000,
    "hour": 3_600_000_000,
    "day": 86_400_000_000,
    "week": 7 * 86_400_000_000,
}
_INTERVAL_TERM = re.compile(
    r"([+-]?)\s*(\d+)(\.\d*)?\s+(microsecond|millisecond|second|minute|hour|day|week)s?(?=\s|$)\s*"
)


def parse_interval_ms(text: str) -> int:
    """Return the milliseconds of an interval such as `interval 30 days` or `1 week 12 hours`.

    Months and years have no fixed length and raise ValueError, as do negative intervals.
    """
    rest = text.strip().lower()
    rest = rest.removeprefix("interval ").strip()
    if not rest:
        raise ValueError(text)
    total_us = 0
    while rest:
        term = _INTERVAL_TERM.match(rest)
        if term is None or (term[3] and term[4] != "second"):
            raise ValueError(text)
        fraction_us = int((term[3] or ".")[1:].ljust(6, "0")[:6])
        amount_us = int(term[2]) * _UNIT_US[term[4]] + fraction_us
        total_us += -amount_us if term[1] == "-" else amount_us
        rest = rest[term.end() :]
    if total_us < 0:
        raise ValueError(text)
    return total_us // 1000


_BYTES = re.compile(r"\s*([0-9]+)\s*(?:([kmgtp]?)i?b?)\s*", re.ASCII | re.IGNORECASE)


def parse_bytes(text: str) -> int:
    """Return the bytes of a size such as `1073741824`, `128m` or `1gb`; a unit is 1024 of the next.

    Other texts raise ValueError.
    """
    found = _BYTES.fullmatch(text)
    if found is None:
        raise ValueError(text)
    return int(found[1]) << 10 * " kmgtp".index(found[2].lower() or " ")


_COLUMN_NAME_PART = re.compile(r"\s*(?:`((?:[^`]|``)+)`|([^`.,\s]+))\s*")


def parse_column_names(text: str) -> tuple[tuple[str, ...], ...]:
    """Return the paths in a list of column names: `a, b.c, `x.y`` is (a), (b, c) and (x.y)."""
    columns: list[tuple[str, ...]] = []
    parts: list[str] = []
    position = 0
    while True:
        part = _COLUMN_NAME_PART.match(text, position)
        if part is None:
            raise ValueError(text)
        parts.append(part[1].replace("``", "`") if part[1] else part[2])
        position = part.end()
        if position == len(text):
            return (*columns, tuple(parts))
        if text[position] == ",":
            columns.append(tuple(parts))
            parts = []
        position += 1


def _formats(text: str) -> tuple[str, ...]:
    formats = tuple(part.strip() for part in text.split(",") if part.strip())
    if len(set(formats)) != len(formats) or not set(formats) <= {"iceberg", "hudi"}:
        raise ValueError(text)
    return formats


BOOLEAN = Kind(_boolean, "true or false")
INTEGER = Kind(_integer, "an integer")
POSITIVE = Kind(_integer_from(1), "an integer above 0")
NOT_NEGATIVE = Kind(_integer_from(0), "an integer of 0 or more")
COUNT_OR_ALL = Kind(_integer_from(-1), "an integer of 0 or more, or -1 for all")
BYTES = Kind(parse_bytes, "a number of bytes, such as 104857600 or 100mb")
INTERVAL = Kind(
    parse_interval_ms,
    "an interval without months and years, such as 'interval 30 days'",
    InvalidIntervalError,
)
MAPPING_MODE = Kind(_one_of("none", "name", "id"), "none, name or id")
ISOLATION_LEVEL = Kind(
    _one_of("Serializable", "WriteSerializable", "SnapshotIsolation"),
    "Serializable",
    InvalidIsolationLevelError,
)
CHECKPOINT_POLICY = Kind(_one_of("classic", "v2"), "classic or v2")
AUTO_COMPACT = Kind(_one_of("true", "false", "auto", "legacy"), "true, false, auto or legacy")
COLUMN_NAMES = Kind(parse_column_names, "a list of column names with commas between them")
FORMATS = Kind(_formats, "a list of distinct formats out of iceberg and hudi")
TEXT = Kind(str, "a text")


class Property(Generic[T]):
    """One table property: its name, the kind of its value, and its default.

    `aliases` are older names, read where the property itself is not set. A property that is not
    `settable` is kept by writers themselves. `accepts` narrows what may be set, beyond what is
    understood when read.
    """

    def __init__(
        self,
        name: str,
        kind: Kind[T],
        default: T,
        *,
        aliases: tuple[str, ...] = (),
        settable: bool = True,
        accepts: Callable[[T], bool] | None = None,
    ) -> None:
        self.key = f"delta.{name}"
        self.kind = kind
        self.default = default
        self.aliases = tuple(f"delta.{alias}" for alias in aliases)
        self.settable = settable
        self.accepts = accepts

    @overload
    def __get__(self, instance: None, owner: type[TableProperties]) -> Property[T]: ...

    @overload
    def __get__(self, instance: TableProperties, owner: type[TableProperties]) -> T: ...

    def __get__(
        self, instance: TableProperties | None, owner: type[TableProperties]
    ) -> Property[T] | T:
        if instance is None:
            return self
        for key in (self.key, *self.aliases):
            if key in instance.configuration:
                return self.parse(instance.configuration[key])
        return self.default

    def parse(self, text: str) -> T:
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

    append_only = Property("appendOnly", BOOLEAN, False)
    enable_deletion_vectors = Property("enableDeletionVectors", BOOLEAN, False)
    enable_change_data_feed = Property(
        "enableChangeDataFeed", BOOLEAN, False, aliases=("enableChangeDataCapture",)
    )
    enable_change_data_capture = Property("enableChangeDataCapture", BOOLEAN, False)
    enable_row_tracking = Property("enableRowTracking", BOOLEAN, False)
    row_tracking_suspended = Property("rowTrackingSuspended", BOOLEAN, False)
    materialized_row_id_column_name = Property[str | None](
        "rowTracking.materializedRowIdColumnName", TEXT, None, settable=False
    )
    materialized_row_commit_version_column_name = Property[str | None](
        "rowTracking.materializedRowCommitVersionColumnName", TEXT, None, settable=False
    )
    enable_type_widening = Property("enableTypeWidening", BOOLEAN, False)
    enable_variant_shredding = Property("enableVariantShredding", BOOLEAN, False)
    isolation_level = Property(
        "isolationLevel", ISOLATION_LEVEL, "Serializable", accepts=lambda x: x == "Serializable"
    )

    column_mapping_mode = Property("columnMapping.mode", MAPPING_MODE, "none")
    max_column_id = Property("columnMapping.maxColumnId", INTEGER, 0, settable=False)

    checkpoint_interval = Property("checkpointInterval", POSITIVE, 10)
    checkpoint_policy = Property("checkpointPolicy", CHECKPOINT_POLICY, "classic")
    checkpoint_write_stats_as_json = Property("checkpoint.writeStatsAsJson", BOOLEAN, True)
    checkpoint_write_stats_as_struct = Property("checkpoint.writeStatsAsStruct", BOOLEAN, True)
    checkpoint_retention_ms = Property("checkpointRetentionDuration", INTERVAL, 2 * _DAY_MS)
    log_retention_ms = Property("logRetentionDuration", INTERVAL, 30 * _DAY_MS)
    enable_expired_log_cleanup = Property("enableExpiredLogCleanup", BOOLEAN, True)
    enable_full_retention_rollback = Property("enableFullRetentionRollback", BOOLEAN, True)
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

    enable_in_commit_timestamps = Property("enableInCommitTimestamps", BOOLEAN, False)
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

    randomize_file_prefixes = Property("randomizeFilePrefixes", BOOLEAN, False)
    random_prefix_length = Property("randomPrefixLength", POSITIVE, 2)
    parquet_format_version = Property[str | None]("parquet.format.version", TEXT, None)
    auto_optimize = Property[bool | None]("autoOptimize", BOOLEAN, None)
    auto_compact = Property[str | None]("autoOptimize.autoCompact", AUTO_COMPACT, None)
    optimize_write = Property[bool | None]("autoOptimize.optimizeWrite", BOOLEAN, None)
    target_file_size = Property[int | None]("targetFileSize", BYTES, None)
    symlink_format_manifest = Property(
        "compatibility.symlinkFormatManifest.enabled", BOOLEAN, False
    )
    enable_materialize_partition_columns = Property[bool | None](
        "enableMaterializePartitionColumnsFeature", BOOLEAN, None
    )
    write_partition_columns_to_parquet = Property("writePartitionColumnsToParquet", BOOLEAN, False)

    universal_formats = Property[tuple[str, ...]]("universalFormat.enabledFormats", FORMATS, ())
    universal_format_atomic_conversion = Property[bool | None](
        "universalFormat.iceberg.atomicConversion.supported", BOOLEAN, None
    )
    enable_iceberg_compat_v1 = Property[bool | None]("enableIcebergCompatV1", BOOLEAN, None)
    enable_iceberg_compat_v2 = Property[bool | None]("enableIcebergCompatV2", BOOLEAN, None)
    enable_iceberg_compat_v3 = Property[bool | None]("enableIcebergCompatV3", BOOLEAN, None)
    cast_iceberg_time_type = Property("castIcebergTimeType", BOOLEAN, False)
    ignore_iceberg_bucket_partition = Property("ignoreIcebergBucketPartition", BOOLEAN, False)

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
    ignore_protocol_defaults = Property("ignoreProtocolDefaults", BOOLEAN, False)


PROPERTIES: Mapping[str, Property[Any]] = {
    value.key.lower(): value
    for value in vars(TableProperties).values()
    if isinstance(value, Property)
}


def canonical_key(key: str) -> str:
    """Return a property's name as Delta spells it; names that Delta does not know stay."""
    known = PROPERTIES.get(key.lower())
    return key if known is None else known.key


def validated(
    changes: Mapping[str, str], existing: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return properties that a user wants to set, checked and under their canonical names.

    `existing` is the configuration they will be merged into. Constraints, requests for features
    and properties without the `delta.` prefix pass as they are. Warns of those without effect.
    """
    result = {}
    for key, value in changes.items():
        known = PROPERTIES.get(key.lower())
        if known is not None:
            known.check(value)
        elif _is_reserved_unknown(key.lower()):
            raise UnknownTablePropertyError(key=key)
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
