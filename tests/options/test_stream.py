from __future__ import annotations

import pytest

from truckee.errors.options import IllegalOptionError, InvalidTimestampError
from truckee.errors.stream_schema import SchemaLogNeedsDataLossCheckError
from truckee.errors.streaming import TimeTravelOfStreamError, TwoStartsError
from truckee.options.stream import (
    NO_FILE_LIMIT,
    AllowedChanges,
    Start,
    StreamOptions,
    stream_options,
)


def test_without_options_a_batch_takes_a_thousand_files() -> None:
    assert stream_options({}) == StreamOptions(max_files=1000)


def test_names_are_the_same_in_any_case() -> None:
    given = {"MAXFILESPERTRIGGER": 7, "readchangefeed": True, "ignoreDELETES": "true"}

    assert stream_options(given) == StreamOptions(is_feed=True, max_files=7, ignore_deletes=True)


def test_the_old_name_of_the_feed_and_of_ignored_changes() -> None:
    options = stream_options({"readChangeData": "true", "ignoreFileDeletion": "true"})

    assert options == StreamOptions(is_feed=True, ignore_changes=True)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1", 1),
        ("512k", 512 << 10),
        ("10m", 10 << 20),
        ("10MB", 10 << 20),
        ("2g", 2 << 30),
        ("1t", 1 << 40),
        ("1p", 1 << 50),
        ("17b", 17),
    ],
)
def test_sizes_have_units(text: str, size: int) -> None:
    assert stream_options({"maxBytesPerTrigger": text}).max_bytes == size


def test_a_limit_of_bytes_alone_lifts_that_of_files() -> None:
    assert stream_options({"maxBytesPerTrigger": "1k"}).max_files == NO_FILE_LIMIT
    both = stream_options({"maxBytesPerTrigger": "1k", "maxFilesPerTrigger": 3})
    assert (both.max_files, both.max_bytes) == (3, 1024)


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "many", "", "2147483648"])
def test_a_limit_of_files_that_is_no_positive_number(text: str) -> None:
    with pytest.raises(IllegalOptionError) as raised:
        stream_options({"maxFilesPerTrigger": text})

    assert raised.value.code == "DELTA_ILLEGAL_OPTION"
    assert raised.value.sentence() == (
        f"option maxFilesPerTrigger is {text!r}, but needs to be a positive integer\n"
        "hint: set maxFilesPerTrigger to such a value, or leave it out"
    )


@pytest.mark.parametrize("text", ["0", "-1", "0k", "1.5m", "10 apples", "m", "9999999p"])
def test_a_limit_of_bytes_that_is_no_positive_size(text: str) -> None:
    with pytest.raises(IllegalOptionError) as raised:
        stream_options({"maxBytesPerTrigger": text})

    assert raised.value.sentence() == (
        f"option maxBytesPerTrigger is {text!r}, but needs to be a positive size such as 1048576, "
        "512k or 10m\n"
        "hint: set maxBytesPerTrigger to such a value, or leave it out"
    )


@pytest.mark.parametrize(
    ("given", "start"),
    [
        ({"startingVersion": 0}, Start(version=0)),
        ({"startingVersion": "latest"}, Start(is_latest=True)),
        ({"startingVersion": "LATEST"}, Start(is_latest=True)),
        ({"startingTimestamp": "1970-01-01 00:00:01"}, Start(timestamp_ms=1000)),
        ({}, None),
    ],
)
def test_where_a_stream_starts(given: dict[str, object], start: Start | None) -> None:
    assert stream_options(given).start == start


def test_a_start_in_the_zone_of_the_session() -> None:
    start = stream_options({"startingTimestamp": "1970-01-01 02:00:01"}, time_zone="+02:00").start

    assert start == Start(timestamp_ms=1000)


@pytest.mark.parametrize("text", ["-1", "1.0", "newest", "9223372036854775808"])
def test_a_start_that_is_no_version(text: str) -> None:
    with pytest.raises(IllegalOptionError) as raised:
        stream_options({"startingVersion": text})

    assert raised.value.sentence() == (
        f"option startingVersion is {text!r}, but needs to be a version from 0 on, or latest\n"
        "hint: set startingVersion to such a value, or leave it out"
    )


def test_a_start_that_is_no_timestamp() -> None:
    with pytest.raises(InvalidTimestampError):
        stream_options({"startingTimestamp": "yesterday"})


def test_two_starts() -> None:
    with pytest.raises(TwoStartsError) as raised:
        stream_options({"startingVersion": 1, "startingTimestamp": "2024-01-01"})

    assert raised.value.code == "DELTA_STARTING_VERSION_AND_TIMESTAMP_BOTH_SET"
    assert raised.value.sentence() == (
        "both startingVersion and startingTimestamp are set, expected one of them\n"
        "hint: leave out startingVersion or startingTimestamp"
    )


@pytest.mark.parametrize("name", ["versionAsOf", "timestampAsOf"])
def test_time_travel(name: str) -> None:
    with pytest.raises(TimeTravelOfStreamError) as raised:
        stream_options({name: "1"})

    assert raised.value.code == "DELTA_UNSUPPORTED_TIME_TRAVEL_VIEWS"
    assert raised.value.sentence() == (
        f"option {name} is set, but a stream cannot be read as of a version\n"
        "hint: set startingVersion or startingTimestamp to say where the stream starts"
    )


def test_a_pattern_that_is_no_regular_expression() -> None:
    assert stream_options({"excludeRegex": "_tmp$"}).exclude == "_tmp$"

    with pytest.raises(IllegalOptionError) as raised:
        stream_options({"excludeRegex": "("})

    assert raised.value.code == "DELTA_REGEX_OPT_SYNTAX_ERROR"
    assert raised.value.sentence() == (
        "option excludeRegex is '(', but needs to be a regular expression (missing ), "
        "unterminated subpattern at position 0)\n"
        "hint: set excludeRegex to such a value, or leave it out"
    )


def test_a_switch_that_is_neither_true_nor_false() -> None:
    with pytest.raises(IllegalOptionError):
        stream_options({"failOnDataLoss": "perhaps"})


def test_a_schema_log_needs_every_commit() -> None:
    with pytest.raises(SchemaLogNeedsDataLossCheckError) as raised:
        stream_options({"schemaLocation": "/c/s", "failOnDataLoss": "false"})

    assert raised.value.sentence() == (
        "schemaTrackingLocation is set, and failOnDataLoss is false\n"
        "hint: leave out failOnDataLoss, because a stream with a schema log needs all commits"
    )


def test_changes_that_the_user_has_agreed_to() -> None:
    conf = {"spark.databricks.delta.streaming.allowSourceColumnRenameAndDrop": "ALWAYS"}

    options = stream_options({"allowSourceColumnDrop": "7"}, conf=conf)

    assert options.allowed == AllowedChanges(rename=("always",), drop=("7", "always"))


def test_out_of_range_is_an_option_or_a_setting_of_the_session() -> None:
    name = "changeDataFeed.timestampOutOfRange.enabled"

    assert stream_options({name: True}).out_of_range
    assert stream_options({}, conf={f"spark.databricks.delta.{name}": "true"}).out_of_range
    assert not stream_options({}).out_of_range


@pytest.mark.parametrize("kind", ["Rename", "Drop", "TypeChange"])
def test_what_was_agreed_to_is_a_version_or_always(kind: str) -> None:
    name = f"allowSourceColumn{kind}"

    assert stream_options({name: " Always "}).allowed != AllowedChanges()
    with pytest.raises(IllegalOptionError) as raised:
        stream_options({name: "true"})

    assert raised.value.sentence() == (
        f"option {name} is 'true', but needs to be a version, or always\n"
        f"hint: set {name} to such a value, or leave it out"
    )
