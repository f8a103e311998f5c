"""Timestamps as text, parsed without a JVM as Spark casts them to TIMESTAMP.

| text                          | is                                                  |
|-------------------------------|-----------------------------------------------------|
| `2024`, `2024-3`, `2024-3-17` | midnight of the first such day, in the session zone |
| `2024-03-17 1:2:3.5`          | a local time in the session zone                    |
| `2024-03-17T01:02:03Z`        | the same with a zone of its own: `Z`, `+02:00`, ... |
| `20240317010203000`           | not a timestamp                                     |
"""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from truckee.errors.options import InvalidTimestampError

_TIMESTAMP = re.compile(
    r"""(?P<year>\d{4,6})
        (?:-(?P<month>\d{1,2})
          (?:-(?P<day>\d{1,2})
            (?:[T ](?P<time>
              (?P<hour>\d{1,2})
              (?::(?P<minute>\d{1,2})
                (?::(?P<second>\d{1,2})
                  (?:\.(?P<fraction>\d*))?
                  (?P<zone>.+)?
                )?
              )?
            ))?
          )?
        )?""",
    re.ASCII | re.VERBOSE,
)
_OFFSET = re.compile(
    r"(?:(?:UTC|GMT|UT)?(?P<sign>[+-])(?P<hours>\d{1,2})(?::?(?P<minutes>\d{1,2}))?"
    r"(?::?(?P<seconds>\d{2}))?)",
    re.ASCII,
)
# The three-letter names that Java still knows, each with its zone in Java.
_SHORT_NAMES = {
    "ACT": "Australia/Darwin",
    "AET": "Australia/Sydney",
    "AGT": "America/Argentina/Buenos_Aires",
    "ART": "Africa/Cairo",
    "AST": "America/Anchorage",
    "BET": "America/Sao_Paulo",
    "BST": "Asia/Dhaka",
    "CAT": "Africa/Harare",
    "CNT": "America/St_Johns",
    "CST": "America/Chicago",
    "CTT": "Asia/Shanghai",
    "EAT": "Africa/Addis_Ababa",
    "ECT": "Europe/Paris",
    "IET": "America/Indiana/Indianapolis",
    "IST": "Asia/Kolkata",
    "JST": "Asia/Tokyo",
    "MIT": "Pacific/Apia",
    "NET": "Asia/Yerevan",
    "NST": "Pacific/Auckland",
    "PLT": "Asia/Karachi",
    "PNT": "America/Phoenix",
    "PRT": "America/Puerto_Rico",
    "PST": "America/Los_Angeles",
    "SST": "Pacific/Guadalcanal",
    "VST": "Asia/Ho_Chi_Minh",
    "EST": "-05:00",
    "MST": "-07:00",
    "HST": "-10:00",
}
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def timestamp_ms(value: str | date | datetime, *, option: str, time_zone: str = "UTC") -> int:
    """Return a timestamp in milliseconds since 1970, truncated.

    Text, dates and datetimes without a zone are local times of `time_zone`, the session's. If a
    clock change skips a local time, it counts as if the clock had not changed; if a local time
    occurs twice, the first one is taken. `option` is named in errors.
    """
    try:
        moment = _moment(value, time_zone)
    except (ValueError, OverflowError) as cause:
        raise InvalidTimestampError(option=option, value=str(value)) from cause
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def parsed_timestamp(text: str, time_zone: str) -> datetime:
    """Return the moment of a timestamp text, in `time_zone` unless it names a zone.

    ValueError or OverflowError if it is not a timestamp.
    """
    return _parsed(text.strip(), time_zone)


def _moment(value: str | date | datetime, time_zone: str) -> datetime:
    if isinstance(value, str):
        return _parsed(value.strip(), time_zone)
    if not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)  # noqa: DTZ001, the zone comes next
    return value if value.tzinfo else value.replace(tzinfo=zone(time_zone))


def _parsed(text: str, time_zone: str) -> datetime:
    match = _TIMESTAMP.fullmatch(text)
    if match is None:
        raise ValueError(text)
    fraction = (match["fraction"] or "").ljust(6, "0")[:6]
    local = datetime(  # noqa: DTZ001, the zone comes next
        int(match["year"]),
        int(match["month"] or 1),
        int(match["day"] or 1),
        int(match["hour"] or 0),
        int(match["minute"] or 0),
        int(match["second"] or 0),
        int(fraction),
    )
    return local.replace(tzinfo=zone((match["zone"] or time_zone).strip()))


def zone(name: str) -> tzinfo:
    """Return a time zone from an offset or a name, as Spark accepts them; else ValueError."""
    name = _SHORT_NAMES.get(name, name)
    if name in ("Z", "UTC", "GMT", "UT"):
        return timezone.utc
    offset = _OFFSET.fullmatch(name)
    if offset:
        hours, minutes, seconds = (
            int(offset[part] or 0) for part in ("hours", "minutes", "seconds")
        )
        delta = timedelta(hours=hours, minutes=minutes, seconds=seconds)
        if minutes > 59 or seconds > 59 or delta > timedelta(hours=18):
            raise ValueError(name)
        return timezone(-delta if offset["sign"] == "-" else delta)
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, OSError) as cause:
        raise ValueError(name) from cause
