"""The options of a stream: where it starts, how much a batch takes, what it skips.

Rules about the text alone are checked here; rules that need the table are checked when the stream
starts. Options that say where a stream starts apply to the first run only; later runs continue from
the checkpoint.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

from truckee.errors.options import IllegalOptionError, PatternOptionError
from truckee.errors.stream_schema import SchemaLogNeedsDataLossCheckError
from truckee.errors.streaming import TimeTravelOfStreamError, TwoStartsError
from truckee.options.feed import OUT_OF_RANGE, SESSION_PREFIX, TIME_TRAVEL, is_feed_read
from truckee.options.feed_shape import (
    FEED_SCHEMA_MODE,
    SHAPE_OPTIONS,
    FeedShape,
    feed_shape,
)
from truckee.options.text import Options, boolean
from truckee.options.timestamps import timestamp_ms

DEFAULT_MAX_FILES = 1000
NO_FILE_LIMIT = 2147483639
"""The limit of files if only bytes are limited."""

SCHEMA_LOG = ("schemaTrackingLocation", "schemaLocation")
"""The option for the folder of the schema log, and its older name."""

STREAM_OPTIONS = (
    "readChangeFeed",
    "readChangeData",
    "startingVersion",
    "startingTimestamp",
    "endingVersion",
    "endingTimestamp",
    "maxFilesPerTrigger",
    "maxBytesPerTrigger",
    "ignoreDeletes",
    "ignoreChanges",
    "ignoreFileDeletion",
    "skipChangeCommits",
    "excludeRegex",
    "failOnDataLoss",
    *SCHEMA_LOG,
    "streamingSourceTrackingId",
    "allowSourceColumnRename",
    "allowSourceColumnDrop",
    "allowSourceColumnTypeChange",
    *SHAPE_OPTIONS,
    OUT_OF_RANGE,
)
"""The options of a stream. The end of a range is accepted, but has no effect."""

_UNITS = {"": 0, "b": 0, "k": 10, "m": 20, "g": 30, "t": 40, "p": 50}
_SIZE = re.compile(r"([0-9]+)([kmgtp]?b?)", re.ASCII)
_DIGITS = re.compile(r"[0-9]+", re.ASCII)
_ALLOW = {
    "rename": ("allowSourceColumnRename", "allowSourceColumnRenameAndDrop"),
    "drop": ("allowSourceColumnDrop", "allowSourceColumnRenameAndDrop"),
    "type": ("allowSourceColumnTypeChange",),
}


class Start(Struct, frozen=True):
    """Where a stream starts: at a version, after the latest one, or at a time; exactly one."""

    version: int | None = None
    timestamp_ms: int | None = None
    is_latest: bool = False


class AllowedChanges(Struct, frozen=True):
    """Which schema changes the user allows: version numbers as text, or `always`."""

    rename: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    type: tuple[str, ...] = ()


class StreamOptions(Struct, frozen=True, kw_only=True):
    """The options of a stream. Without a start, it begins with the current snapshot."""

    is_feed: bool = False
    start: Start | None = None
    max_files: int = DEFAULT_MAX_FILES
    max_bytes: int | None = None
    ignore_deletes: bool = False
    ignore_changes: bool = False
    skip_change_commits: bool = False
    exclude: str | None = None
    fail_on_data_loss: bool = True
    out_of_range: bool = False
    schema_location: str | None = None
    tracking_id: str | None = None
    allowed: AllowedChanges = AllowedChanges()
    shape: FeedShape = FeedShape()

    @property
    def is_changelog(self) -> bool:
        """Whether the feed is derived or netted, or follows its columns."""
        return self.is_feed and not self.shape.is_plain


def stream_options(
    options: Mapping[str, object],
    *,
    conf: Mapping[str, str] | None = None,
    time_zone: str = "UTC",
) -> StreamOptions:
    """Return the options of a stream as values; `conf` are settings of the session.

    Raises `IllegalOptionError`, `TwoStartsError`, `TimeTravelOfStreamError` and, for timestamps,
    `InvalidTimestampError`.
    """
    text = options if isinstance(options, Options) else Options(options)
    for name in TIME_TRAVEL:
        if name in text:
            raise TimeTravelOfStreamError(option=name)
    settings = conf or {}
    max_bytes = _size(text, "maxBytesPerTrigger")
    location = next((text[name] for name in SCHEMA_LOG if name in text), None)
    fail_on_data_loss = text.boolean("failOnDataLoss", True)
    if location is not None and not fail_on_data_loss:
        raise SchemaLogNeedsDataLossCheckError
    return StreamOptions(
        is_feed=is_feed_read(text),
        start=_start(text, time_zone),
        max_files=_count(text, DEFAULT_MAX_FILES if max_bytes is None else NO_FILE_LIMIT),
        max_bytes=max_bytes,
        ignore_deletes=text.boolean("ignoreDeletes"),
        ignore_changes=text.boolean("ignoreChanges") or text.boolean("ignoreFileDeletion"),
        skip_change_commits=text.boolean("skipChangeCommits"),
        exclude=_pattern(text, "excludeRegex"),
        fail_on_data_loss=fail_on_data_loss,
        out_of_range=_out_of_range(text, settings),
        schema_location=location,
        tracking_id=text.get("streamingSourceTrackingId"),
        allowed=_allowed(text, settings),
        shape=_shape(text) if is_feed_read(text) else FeedShape(),
    )


def _shape(options: Options) -> FeedShape:
    shape = feed_shape(options)
    if FEED_SCHEMA_MODE in options and shape.following is None:
        value = options[FEED_SCHEMA_MODE]
        raise IllegalOptionError(
            option=FEED_SCHEMA_MODE, value=value, needs="follow or superset in a stream"
        )
    return shape


def _start(options: Options, time_zone: str) -> Start | None:
    if "startingVersion" in options and "startingTimestamp" in options:
        raise TwoStartsError
    if "startingTimestamp" in options:
        name = "startingTimestamp"
        moment = timestamp_ms(options[name], option=name, time_zone=time_zone)
        return Start(timestamp_ms=moment)
    if "startingVersion" not in options:
        return None
    version = options["startingVersion"].strip()
    if version.lower() == "latest":
        return Start(is_latest=True)
    if not _DIGITS.fullmatch(version) or int(version) >= 1 << 63:
        raise IllegalOptionError(
            option="startingVersion", value=version, needs="a version from 0 on, or latest"
        )
    return Start(version=int(version))


def _count(options: Options, default: int) -> int:
    if "maxFilesPerTrigger" not in options:
        return default
    text = options["maxFilesPerTrigger"].strip()
    if not _DIGITS.fullmatch(text) or not 0 < int(text) < 1 << 31:
        raise IllegalOptionError(
            option="maxFilesPerTrigger", value=text, needs="a positive integer"
        )
    return int(text)


def _size(options: Options, name: str) -> int | None:
    """Return a number of bytes: digits and an optional unit, each 1024 times the one before."""
    if name not in options:
        return None
    text = options[name]
    match = _SIZE.fullmatch(text.strip().lower())
    size = int(match[1]) << _UNITS[match[2][:1]] if match else 0
    if not 0 < size < 1 << 63:
        raise IllegalOptionError(
            option=name, value=text, needs="a positive size such as 1048576, 512k or 10m"
        )
    return size


def _pattern(options: Options, name: str) -> str | None:
    if name not in options:
        return None
    try:
        re.compile(options[name])
    except re.error as error:
        raise PatternOptionError(
            option=name, value=options[name], needs=f"a regular expression ({error})"
        ) from error
    return options[name]


def _out_of_range(options: Options, settings: Mapping[str, str]) -> bool:
    value = options.get(OUT_OF_RANGE, settings.get(SESSION_PREFIX + OUT_OF_RANGE))
    return value is not None and boolean(OUT_OF_RANGE, value)


def _allowed(options: Options, settings: Mapping[str, str]) -> AllowedChanges:
    def given(kind: str) -> tuple[str, ...]:
        prefix = f"{SESSION_PREFIX}streaming."
        option = _ALLOW[kind][0]
        values = {option: options.get(option)}
        values |= {prefix + name: settings.get(prefix + name) for name in _ALLOW[kind]}
        return tuple(_agreed(name, text) for name, text in values.items() if text is not None)

    return AllowedChanges(rename=given("rename"), drop=given("drop"), type=given("type"))


def _agreed(name: str, text: str) -> str:
    value = text.strip().lower()
    if value != "always" and not _DIGITS.fullmatch(value):
        raise IllegalOptionError(option=name, value=text, needs="a version, or always")
    return value
