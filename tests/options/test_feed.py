from __future__ import annotations

from datetime import datetime, timezone

import pytest

from truckee.errors.changes import MultipleBoundariesError, NoStartError, NullBoundaryError
from truckee.errors.options import (
    IllegalOptionError,
    InvalidTimestampError,
    InvalidVersionError,
    TimeTravelWithFeedError,
)
from truckee.options.feed import (
    Bound,
    FeedOptions,
    SchemaMode,
    bound,
    feed_options,
    is_feed_read,
)
from truckee.options.text import Options

PREFIX = "spark.databricks.delta."


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"readChangeFeed": "true"}, True),
        ({"readchangedata": "TRUE"}, True),
        ({"readChangeFeed": "false", "readChangeData": "true"}, True),
        ({"readChangeFeed": "false"}, False),
        ({"startingVersion": "1"}, False),
    ],
)
def test_either_spelling_of_the_switch_asks_for_the_feed(
    options: dict[str, str], expected: bool
) -> None:
    assert is_feed_read(Options(options)) is expected


def test_bounds_are_versions_or_timestamps() -> None:
    options = feed_options({"startingVersion": 3, "endingTimestamp": "1970-01-01 00:00:01"})

    assert options == FeedOptions(start=Bound(version=3), end=Bound(timestamp_ms=1000))


def test_timestamps_are_local_to_the_session() -> None:
    options = feed_options({"startingTimestamp": "1970-01-01"}, time_zone="-01:00")

    assert options.start == Bound(timestamp_ms=3_600_000)


def test_for_a_path_the_version_wins_over_the_timestamp() -> None:
    options = feed_options({"startingVersion": 3, "startingTimestamp": "nonsense"})

    assert options.start == Bound(version=3)


@pytest.mark.parametrize("which", ["starting", "ending"])
def test_a_table_of_the_catalog_refuses_a_bound_given_twice(which: str) -> None:
    given = {f"{which}Version": "x", f"{which}Timestamp": "y"}

    with pytest.raises(MultipleBoundariesError) as raised:
        feed_options(given, is_catalog_table=True)

    assert raised.value.sentence() == (
        f"both {which}Version and {which}Timestamp are set, expected one of them\n"
        f"hint: leave out {which}Version or {which}Timestamp"
    )
    assert raised.value.code == "DELTA_MULTIPLE_CDC_BOUNDARY"


def test_a_feed_needs_a_start() -> None:
    with pytest.raises(NoStartError) as raised:
        feed_options({"endingVersion": "nonsense"})

    assert raised.value.sentence() == (
        "a change feed needs a start, but none was given\n"
        "hint: set startingVersion or startingTimestamp"
    )
    assert raised.value.code == "DELTA_NO_START_FOR_CDC_READ"
    assert feed_options({}, needs_start=False) == FeedOptions()


def test_an_invalid_start_is_reported_before_an_invalid_end() -> None:
    with pytest.raises(InvalidTimestampError):
        feed_options({"startingTimestamp": "x", "endingVersion": "y"})
    with pytest.raises(InvalidVersionError) as raised:
        feed_options({"startingTimestamp": "2024-01-01", "endingVersion": None})

    assert raised.value.sentence() == (
        "endingVersion is 'null', which is not a version\nhint: give an integer such as 0 or 42"
    )


def test_switches_come_from_the_session_and_options_win() -> None:
    conf = {
        f"{PREFIX}changeDataFeed.timestampOutOfRange.enabled": "true",
        f"{PREFIX}changeDataFeed.defaultSchemaModeForColumnMappingTable": "LATEST",
        f"{PREFIX}vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration": "true",
    }
    given = {
        "startingVersion": 0,
        "changeDataFeed.timestampOutOfRange.enabled": False,
        "changeDataFeed.unsafeBatchReadOnIncompatibleSchemaChanges.enabled": True,
    }

    assert feed_options(given, conf=conf) == FeedOptions(
        start=Bound(version=0),
        out_of_range=False,
        schema_mode=SchemaMode.LATEST,
        unsafe_schema=True,
        within_retention=True,
    )


def test_an_unknown_schema_mode_is_refused() -> None:
    name = "changeDataFeed.defaultSchemaModeForColumnMappingTable"

    with pytest.raises(IllegalOptionError) as raised:
        feed_options({"startingVersion": 0, name: "newest"})

    assert raised.value.sentence() == (
        f"option {name} is 'newest', but needs to be legacy, latest or endVersion\n"
        f"hint: set {name} to such a value, or leave it out"
    )


@pytest.mark.parametrize("name", ["versionAsOf", "timestampAsOf"])
def test_a_feed_cannot_be_read_as_of_a_version(name: str) -> None:
    with pytest.raises(TimeTravelWithFeedError) as raised:
        feed_options({"startingVersion": 0, name: "1"})

    assert raised.value.sentence() == (
        f"option {name} is set, but a change feed cannot be read as of a version\n"
        "hint: give the range with startingVersion and endingVersion, or their timestamps"
    )
    assert raised.value.code == "DELTA_UNSUPPORTED_TIME_TRAVEL_VIEWS"


def test_a_version_can_be_chosen_for_its_schema_alone() -> None:
    switch = {"changeDataFeed.allowTimeTravelOptionsForSchema": True, "startingVersion": 0}

    by_version = feed_options({**switch, "versionAsOf": 2})
    by_time = feed_options({**switch, "timestampAsOf": "1970-01-02"})

    assert by_version.schema_as_of == Bound(version=2)
    assert by_time.schema_as_of == Bound(timestamp_ms=86_400_000)


def test_arguments_are_versions_if_they_are_integers_and_else_timestamps() -> None:
    moment = datetime(1970, 1, 1, 0, 0, 1, tzinfo=timezone.utc)

    assert bound(5, name="start") == Bound(version=5)
    assert bound("1970-01-02", name="start") == Bound(timestamp_ms=86_400_000)
    assert bound(moment, name="start") == Bound(timestamp_ms=1000)


def test_an_argument_that_is_nothing_is_refused() -> None:
    with pytest.raises(NullBoundaryError) as raised:
        bound(None, name="start")

    assert raised.value.sentence() == (
        "start of the change feed is NULL\n"
        "hint: give a version as an integer, or a timestamp as text"
    )
    assert raised.value.code == "DELTA_CDC_READ_NULL_RANGE_BOUNDARY"
