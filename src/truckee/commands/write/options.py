"""Options of a write, and the session settings that are their defaults, typed and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from truckee.errors.commands.write import (
    DynamicOverwriteSchemaError,
    DynamicReplaceWhereError,
    IdempotentWriteOptionsError,
    ReplaceWhereOverwriteSchemaError,
    UnknownSaveModeError,
)
from truckee.errors.commands.write_rows import (
    ReplaceOptionsError,
    ReplaceWithDynamicError,
    ReplaceWithFilterError,
)
from truckee.errors.options import IllegalOptionError, UnsupportedOptionError
from truckee.options.delta_settings import warn_of_unused_settings
from truckee.options.text import Options
from truckee.protocol.properties import validated_properties
from truckee.spark.write.writer import FileOptions

_CONF = "spark.databricks.delta."
_PROPERTY_DEFAULTS = f"{_CONF}properties.defaults."
_MODES = {
    "append": "Append",
    "overwrite": "Overwrite",
    "ignore": "Ignore",
    "error": "ErrorIfExists",
    "errorifexists": "ErrorIfExists",
    "default": "ErrorIfExists",
}
WRITE_OPTIONS = (
    "mergeSchema",
    "overwriteSchema",
    "replaceWhere",
    "replaceOn",
    "replaceUsing",
    "targetAlias",
    "partitionOverwriteMode",
    "dataChange",
    "userMetadata",
    "txnAppId",
    "txnVersion",
    "compression",
    "maxRecordsPerFile",
    "optimizeWrite",
)
"""The options of a write, apart from properties of the table."""

_MATCHING = ("replaceOn", "replaceUsing")
_WHICH_ROWS = ("replaceWhere", *_MATCHING)
_CODECS = ("none", "uncompressed", "snappy", "gzip", "lzo", "brotli", "lz4", "lz4_raw", "zstd")


def save_mode(mode: str) -> str:
    """Return the name that commitInfo has for a save mode; UnknownSaveModeError for others."""
    if mode.lower() not in _MODES:
        raise UnknownSaveModeError(mode=mode)
    return _MODES[mode.lower()]


@dataclass(frozen=True, kw_only=True)
class WriteOptions:
    """The options of one write, apart from its mode.

    `dynamic_overwrite` is None if neither an option nor the session sets it.
    `properties` are the `delta.*` options, which become properties of a table that is created.
    `replace_on` and `replace_using` say which rows of the table match one of the data.
    """

    merge_schema: bool = False
    overwrite_schema: bool = False
    replace_where: str | None = None
    check_replace_where: bool = True
    replace_on: str | None = None
    replace_using: tuple[str, ...] = ()
    target_alias: str | None = None
    dynamic_overwrite: bool = False
    data_change: bool = True
    user_metadata: str | None = None
    txn_app_id: str | None = None
    txn_version: int | None = None
    resets_version: bool = False
    files: FileOptions = field(default_factory=FileOptions)
    properties: Mapping[str, str] = field(default_factory=dict)
    store: Mapping[str, str] = field(default_factory=dict)


def matching_option(options: WriteOptions) -> str | None:
    """Return which option says that rows which match those of the data are replaced."""
    if options.replace_on is not None:
        return "replaceOn"
    return "replaceUsing" if options.replace_using else None


def write_options(options: Options, settings: Mapping[str, str]) -> WriteOptions:
    """Return the options of a write; names are not case-sensitive.

    `settings` are the session's; those of Delta that have no effect are told. Raises if a value or
    a combination of options is wrong.
    """
    warn_of_unused_settings(settings)
    _check_matching(options)
    parsed = WriteOptions(
        merge_schema=_merges_schema(options, settings),
        overwrite_schema=options.boolean("overwriteSchema"),
        replace_where=options.get("replaceWhere"),
        check_replace_where=_setting(settings, "replaceWhere.constraintCheck.enabled", True),
        replace_on=options.get("replaceOn"),
        replace_using=_column_names(options.get("replaceUsing")),
        target_alias=options.get("targetAlias"),
        dynamic_overwrite=is_dynamic_overwrite(options, settings),
        data_change=options.boolean("dataChange", True),
        user_metadata=options.get("userMetadata", settings.get(f"{_CONF}commitInfo.userMetadata")),
        txn_app_id=options.get("txnAppId", settings.get(f"{_CONF}write.txnAppId")),
        txn_version=_txn_version(options, settings),
        resets_version=_resets_version(options, settings),
        files=_file_options(options),
        properties=validated_properties(
            {k: v for k, v in options.items() if k.lower().startswith("delta.")}
        ),
        store={k: v for k, v in options.items() if k.startswith(("fs.", "spark.hadoop.fs."))},
    )
    _check_together(parsed)
    return parsed


def default_properties(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the properties that the session gives to every table that it creates."""
    return validated_properties(
        {
            f"delta.{key[len(_PROPERTY_DEFAULTS) :]}": value
            for key, value in settings.items()
            if key.startswith(_PROPERTY_DEFAULTS)
        }
    )


def _merges_schema(options: Options, settings: Mapping[str, str]) -> bool:
    return options.boolean("mergeSchema", _setting(settings, "schema.autoMerge.enabled", False))


def _setting(settings: Mapping[str, str], name: str, default: bool) -> bool:
    return Options(settings).boolean(f"{_CONF}{name}", default)


def is_dynamic_overwrite(options: Options, settings: Mapping[str, str]) -> bool:
    """Return whether an overwrite replaces only the partitions that get rows."""
    if "partitionOverwriteMode" not in options:
        if options.boolean("overwriteSchema") or any(name in options for name in _WHICH_ROWS):
            return False  # the session's setting only applies to a plain overwrite
        return settings.get("spark.sql.sources.partitionOverwriteMode", "").lower() == "dynamic"
    text = options["partitionOverwriteMode"]
    if text.lower() not in ("static", "dynamic"):
        raise IllegalOptionError(
            option="partitionOverwriteMode", value=text, needs="static or dynamic"
        )
    return text.lower() == "dynamic"


def _txn_version(options: Options, settings: Mapping[str, str]) -> int | None:
    name = f"{_CONF}write.txnVersion"
    if "txnVersion" not in options and name in settings:
        return Options(settings).version(name)
    return options.version("txnVersion")


def _resets_version(options: Options, settings: Mapping[str, str]) -> bool:
    is_of_session = "txnVersion" not in options and f"{_CONF}write.txnVersion" in settings
    return is_of_session and _setting(settings, "write.txnVersion.autoReset.enabled", False)


def _file_options(options: Options) -> FileOptions:
    compression = options.get("compression", options.get("parquet.compression"))
    if compression is not None and compression.lower() not in _CODECS:
        needs = f"one of {', '.join(_CODECS)}"
        raise IllegalOptionError(option="compression", value=compression, needs=needs)
    return FileOptions(
        compression=compression,
        max_records_per_file=_max_records(options),
        parquet={k: v for k, v in options.items() if k.lower().startswith("parquet.")},
        optimize_write=(options.boolean("optimizeWrite") if "optimizeWrite" in options else None),
    )


def _max_records(options: Options) -> int | None:
    if "maxRecordsPerFile" not in options:
        return None
    text = options["maxRecordsPerFile"]
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise IllegalOptionError(option="maxRecordsPerFile", value=text, needs="an integer above 0")
    return int(text)


def _column_names(text: str | None) -> tuple[str, ...]:
    return () if text is None else tuple(name.strip() for name in text.split(","))


def _check_matching(options: Options) -> None:
    """Raise if options go with neither replaceOn nor replaceUsing, of which one is set."""
    given = [name for name in _MATCHING if name in options]
    if "targetAlias" in options and "replaceOn" not in options:
        hint = "it is what the condition of replaceOn calls the table"
        raise UnsupportedOptionError(
            option="targetAlias", operation="a write without replaceOn", hint=hint
        )
    if not given:
        return
    if len(given) > 1:
        raise ReplaceOptionsError(first=given[0], second=given[1])
    [option] = given
    if "replaceWhere" in options:
        raise ReplaceWithFilterError(option=option)
    if "partitionOverwriteMode" in options:
        raise ReplaceWithDynamicError(option=option)
    if options.boolean("overwriteSchema"):
        raise ReplaceOptionsError(first="overwriteSchema", second=option)
    if not options.boolean("dataChange", True):
        raise ReplaceOptionsError(first="dataChange", second=option)


def _check_together(options: WriteOptions) -> None:
    if options.txn_app_id is not None and options.txn_version is None:
        raise IdempotentWriteOptionsError(given="txnAppId", missing="txnVersion")
    if options.txn_version is not None and options.txn_app_id is None:
        raise IdempotentWriteOptionsError(given="txnVersion", missing="txnAppId")
    if options.dynamic_overwrite and options.replace_where is not None:
        raise DynamicReplaceWhereError
    if options.dynamic_overwrite and options.overwrite_schema:
        raise DynamicOverwriteSchemaError
    if options.overwrite_schema and options.replace_where is not None:
        raise ReplaceWhereOverwriteSchemaError
