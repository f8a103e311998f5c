from __future__ import annotations

from datetime import date, datetime, timedelta, timezone

import pytest

from truckee.errors.options import InvalidTimestampError
from truckee.options.timestamps import timestamp_ms

HOUR_MS = 3_600_000
NOON = 1_704_110_400_000  # 2024-01-01T12:00:00Z


def at(value: str | date, time_zone: str = "UTC") -> int:
    return timestamp_ms(value, option="startingTimestamp", time_zone=time_zone)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-01-01 12:00:00", NOON),
        ("2024-1-1 12:0:0", NOON),
        ("2024-01-01T12:00:00", NOON),
        ("  2024-01-01 12:00:00  ", NOON),
        ("2024-01-01 12:00", NOON),
        ("2024-01-01 12", NOON),
        ("2024-01-01", NOON - 12 * HOUR_MS),
        ("2024-01", NOON - 12 * HOUR_MS),
        ("2024", NOON - 12 * HOUR_MS),
        ("2024-01-01 12:00:00.5", NOON + 500),
        ("2024-01-01 12:00:00.", NOON),
        ("2024-01-01 12:00:00.123456789", NOON + 123),
        ("2024-01-01T12:00:00Z", NOON),
        ("2024-01-01T12:00:00.25+02:00", NOON - 2 * HOUR_MS + 250),
        ("2024-01-01T12:00:00-7", NOON + 7 * HOUR_MS),
        ("2024-01-01T12:00:00+0530", NOON - 5 * HOUR_MS - HOUR_MS // 2),
        ("2024-01-01T12:00:00 UTC+1", NOON - HOUR_MS),
        ("2024-01-01 12:00:00 Europe/Berlin", NOON - HOUR_MS),
        ("2024-01-01 12:00:00 PST", NOON + 8 * HOUR_MS),
        ("1969-12-31 23:59:59.9999", -1),
    ],
)
def test_text_that_spark_can_cast_is_a_timestamp(text: str, expected: int) -> None:
    assert at(text) == expected


def test_text_without_a_zone_is_local_to_the_session() -> None:
    assert at("2024-01-01 12:00:00", "America/New_York") == NOON + 5 * HOUR_MS
    assert at("2024-07-01", "Europe/Berlin") == at("2024-06-30T22:00:00Z")
    assert at("2024-01-01 12:00:00", "+03:00") == NOON - 3 * HOUR_MS


def test_a_local_time_that_the_clock_skips_or_repeats_is_as_spark_has_it() -> None:
    assert at("2024-03-31 02:30:00", "Europe/Berlin") == at("2024-03-31T01:30:00Z")
    assert at("2024-10-27 02:30:00", "Europe/Berlin") == at("2024-10-27T00:30:00Z")


def test_dates_and_datetimes_are_timestamps_too() -> None:
    zone = timezone(timedelta(hours=2))

    assert at(date(2024, 1, 1)) == NOON - 12 * HOUR_MS
    local = datetime(2024, 1, 1, 12)  # noqa: DTZ001
    assert at(local, "+01:00") == NOON - HOUR_MS
    assert at(datetime(2024, 1, 1, 12, tzinfo=zone), "+01:00") == NOON - 2 * HOUR_MS


@pytest.mark.parametrize(
    "text",
    [
        "20240102030405006",
        "",
        "null",
        "yesterday",
        "238",
        "2024-13-01",
        "2024-02-30",
        "2024-01-01T",
        "2024-01-01 24:00:00",
        "2024-01-01 12:60",
        "2024-01-01T12:00Z",
        "2024-01-01T12:00:00+19:00",
        "2024-01-01T12:00:00+02:60",
        "2024-01-01T12:00:00 Nowhere/City",
        "2024-01-01T12:00:00 ../etc/passwd",
    ],
)
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(InvalidTimestampError) as raised:
        at(text)

    assert raised.value.sentence() == (
        f"startingTimestamp: The provided timestamp ({text!r}) cannot be converted to a "
        "valid timestamp\n"
        "hint: write it as '2024-01-31', '2024-01-31 23:59:59' or '2024-01-31T23:59:59.999Z'"
    )
    assert raised.value.code == "DELTA_TIMESTAMP_INVALID"
