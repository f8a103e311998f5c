from __future__ import annotations

import pytest

from truckee.errors.options import (
    BothTimeTravelOptionsError,
    InvalidTimestampError,
    TimeTravelVersionError,
)
from truckee.options.feed import Bound
from truckee.options.text import Options
from truckee.options.time_travel import split_path, time_travel


def test_without_options_no_version_is_named() -> None:
    assert time_travel(Options(), time_zone="UTC") is None


def test_a_table_can_be_read_as_of_a_version_or_a_time() -> None:
    by_version = time_travel(Options({"VersionAsOf": 3}), time_zone="UTC")
    by_time = time_travel(Options({"timestampAsOf": "1970-01-02"}), time_zone="+01:00")

    assert by_version == Bound(version=3)
    assert by_time == Bound(timestamp_ms=23 * 3_600_000)


def test_a_version_and_a_time_at_once_are_refused() -> None:
    with pytest.raises(BothTimeTravelOptionsError):
        time_travel(Options({"versionAsOf": 1, "timestampAsOf": "2024-01-01"}), time_zone="UTC")


def test_a_version_that_is_no_number_is_refused() -> None:
    with pytest.raises(TimeTravelVersionError) as raised:
        time_travel(Options({"versionAsOf": "x"}), time_zone="UTC")

    assert str(raised.value) == (
        "[DELTA_TIME_TRAVEL_INVALID_BEGIN_VALUE] versionAsOf is 'x', which is not a version\n"
        "hint: give an integer such as 0 or 42"
    )


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/t@v7", ("/t", Bound(version=7))),
        ("s3://b/t@V12", ("s3://b/t", Bound(version=12))),
        ("/t@19700101000001500", ("/t", Bound(timestamp_ms=1500))),
        ("/t", ("/t", None)),
        ("/t@v", ("/t@v", None)),
        ("/t@1970010100000150", ("/t@1970010100000150", None)),
        ("/a@v1/t", ("/a@v1/t", None)),
    ],
)
def test_a_path_can_end_in_a_version_or_a_time(
    path: str, expected: tuple[str, Bound | None]
) -> None:
    assert split_path(path, time_zone="UTC") == expected


def test_a_time_in_a_path_is_local_to_the_session() -> None:
    _, bound = split_path("/t@19700101000001500", time_zone="-01:00")

    assert bound == Bound(timestamp_ms=3_601_500)


def test_a_time_in_a_path_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidTimestampError) as raised:
        split_path("/t@20241301000000000", time_zone="UTC")

    assert raised.value.sentence() == (
        "the end of the path: The provided timestamp ('2024-13-01 00:00:00.000') cannot be "
        "converted to a valid timestamp\n"
        "hint: write it as '2024-01-31', '2024-01-31 23:59:59' or '2024-01-31T23:59:59.999Z'"
    )
