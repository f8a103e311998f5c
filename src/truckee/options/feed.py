"""The options of a change feed: where it starts and ends, and how strict it is.

Rules about the text alone are checked here, the start before the end. Rules that need the table
are checked when the range is resolved.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from enum import Enum

from msgspec import Struct

from truckee.errors.changes import MultipleBoundariesError, NoStartError, NullBoundaryError
from truckee.errors.options import IllegalOptionError, TimeTravelWithFeedError
from truckee.options.feed_shape import (
    FEED_SCHEMA_MODE,
    SHAPE_OPTIONS,
    ColumnFollowing,
    FeedShape,
    feed_shape,
)
from truckee.options.text import Options, boolean
from truckee.options.timestamps import timestamp_ms

READ_CHANGE_FEED = ("readChangeFeed", "readChangeData")
TIME_TRAVEL = ("versionAsOf", "timestampAsOf")

OUT_OF_RANGE = "changeDataFeed.timestampOutOfRange.enabled"
SCHEMA_MODE = "changeDataFeed.defaultSchemaModeForColumnMappingTable"
UNSAFE_SCHEMA = "changeDataFeed.unsafeBatchReadOnIncompatibleSchemaChanges.enabled"
TIME_TRAVEL_SCHEMA = "changeDataFeed.allowTimeTravelOptionsForSchema"
WITHIN_RETENTION = "vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration"

FEED_SWITCHES = (OUT_OF_RANGE, SCHEMA_MODE, UNSAFE_SCHEMA, TIME_TRAVEL_SCHEMA, WITHIN_RETENTION)
"""Each can be an option of one read, or a setting of the session with the prefix below."""

BATCH_READ_OPTIONS = (
    *TIME_TRAVEL,
    *READ_CHANGE_FEED,
    "startingVersion",
    "startingTimestamp",
    "endingVersion",
    "endingTimestamp",
    *SHAPE_OPTIONS,
    *FEED_SWITCHES,
)
"""The options of a batch read, of rows and of changes."""

SESSION_PREFIX = "spark.databricks.delta."


class Bound(Struct, frozen=True):
    """One end of a range, given as a version or as a timestamp: exactly one of them is set."""

    version: int | None = None
    timestamp_ms: int | None = None


class SchemaMode(Enum):
    """Which schema a feed is read with."""

    LEGACY = "legacy"
    LATEST = "latest"
    END_VERSION = "endVersion"


class FeedOptions(Struct, frozen=True, kw_only=True):
    """The options of a change feed.

    `end` is None if the feed goes up to the latest version at the time of the read. `schema_as_of`
    names the version whose schema is used instead of the latest one. `within_retention` refuses a
    start before the retention period of deleted files. It is off by default: a read finds out
    itself whether the files still exist.
    """

    start: Bound | None = None
    end: Bound | None = None
    out_of_range: bool = False
    schema_mode: SchemaMode = SchemaMode.END_VERSION
    unsafe_schema: bool = False
    schema_as_of: Bound | None = None
    within_retention: bool = False
    shape: FeedShape = FeedShape()


def is_feed_read(options: Options) -> bool:
    """Return whether a read is of the change feed; both spellings of the option are accepted."""
    return any(options.boolean(name) for name in READ_CHANGE_FEED)


def feed_options(
    options: Mapping[str, object],
    *,
    conf: Mapping[str, str] | None = None,
    time_zone: str = "UTC",
    is_catalog_table: bool = False,
    needs_start: bool = True,
) -> FeedOptions:
    """Return the options of a feed as values.

    `conf` are settings of the session. If a bound is given both as a version and as a timestamp, a
    table of the catalog refuses it, and a path takes the version. Raises the errors of options, and
    `NoStartError` if a start is needed and missing.
    """
    text = options if isinstance(options, Options) else Options(options)
    if is_catalog_table:
        for bound in ("starting", "ending"):
            if f"{bound}Version" in text and f"{bound}Timestamp" in text:
                raise MultipleBoundariesError(bound=bound)
    if needs_start and not ("startingVersion" in text or "startingTimestamp" in text):
        raise NoStartError
    start, end = _bound(text, "starting", time_zone), _bound(text, "ending", time_zone)
    switches = {name: _switch(name, text, conf or {}) for name in FEED_SWITCHES}
    return FeedOptions(
        start=start,
        end=end,
        out_of_range=_on(switches, OUT_OF_RANGE),
        schema_mode=_asked_mode(text) or _schema_mode(switches[SCHEMA_MODE]),
        unsafe_schema=_on(switches, UNSAFE_SCHEMA),
        schema_as_of=_schema_as_of(text, _on(switches, TIME_TRAVEL_SCHEMA), time_zone),
        within_retention=_on(switches, WITHIN_RETENTION),
        shape=feed_shape(text),
    )


def bound(value: int | str | date | datetime | None, *, name: str, time_zone: str = "UTC") -> Bound:
    """Return a bound from an argument: an integer is a version, anything else a timestamp.

    These are the rules of the SQL function `table_changes`. Raises `NullBoundaryError` for None.
    """
    if value is None:
        raise NullBoundaryError(argument=name)
    if isinstance(value, int):
        return Bound(version=value)
    return Bound(timestamp_ms=timestamp_ms(value, option=name, time_zone=time_zone))


def _bound(options: Options, prefix: str, time_zone: str) -> Bound | None:
    version = options.version(f"{prefix}Version")
    if version is not None:
        return Bound(version=version)
    name = f"{prefix}Timestamp"
    if name not in options:
        return None
    return Bound(timestamp_ms=timestamp_ms(options[name], option=name, time_zone=time_zone))


def _switch(name: str, options: Options, conf: Mapping[str, str]) -> str | None:
    return options.get(name, conf.get(SESSION_PREFIX + name))


def _on(switches: Mapping[str, str | None], name: str) -> bool:
    text = switches[name]
    return text is not None and boolean(name, text)


def _asked_mode(options: Options) -> SchemaMode | None:
    """Return `schemaMode`, None if it is not set, or if it names a way to follow columns."""
    text = options.get(FEED_SCHEMA_MODE)
    if text is None or text.strip().lower() in {mode.value for mode in ColumnFollowing}:
        return None
    for mode in SchemaMode:
        if mode.value.lower() == text.strip().lower():
            return mode
    needs = "legacy, latest, endVersion, follow or superset"
    raise IllegalOptionError(option=FEED_SCHEMA_MODE, value=text, needs=needs)


def _schema_mode(text: str | None) -> SchemaMode:
    if text is None:
        return SchemaMode.END_VERSION
    for mode in SchemaMode:
        if mode.value.lower() == text.strip().lower():
            return mode
    raise IllegalOptionError(option=SCHEMA_MODE, value=text, needs="legacy, latest or endVersion")


def _schema_as_of(options: Options, allowed: bool, time_zone: str) -> Bound | None:
    given = [name for name in TIME_TRAVEL if name in options]
    if not given:
        return None
    if not allowed:
        raise TimeTravelWithFeedError(option=given[0])
    version = options.version_as_of()
    if version is not None:
        return Bound(version=version)
    name = "timestampAsOf"
    return Bound(timestamp_ms=timestamp_ms(options[name], option=name, time_zone=time_zone))
