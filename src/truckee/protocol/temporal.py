"""Dates and timestamps as the log writes them, counted in days and microseconds since 1970.

Python's `date` and `datetime` are not used, because their years end at 9999 and Spark's do not.
The calendar is the proleptic Gregorian one, which repeats every 400 years.
"""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

EPOCH_DATE = date(1970, 1, 1)
EPOCH_NTZ = datetime(1970, 1, 1)  # noqa: DTZ001 - a wall clock, which has no zone
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)

_DAYS_IN_400_YEARS = 146_097
_US_IN_DAY = 86_400_000_000
_CYCLE_US = _DAYS_IN_400_YEARS * _US_IN_DAY
# Two days less than a datetime's range, so that no zone offset leaves the range.
_FIRST_US = -719_160 * _US_IN_DAY
_LAST_US = 2_932_894 * _US_IN_DAY

_TEXT = re.compile(
    r"""\s*(?P<year>[+-]?\d{4,7})(?:-(?P<month>\d{1,2})(?:-(?P<day>\d{1,2}))?)?
    (?:[ T](?P<clock>(?P<hour>\d{1,2}):(?P<minute>\d{1,2})
        (?::(?P<second>\d{1,2})(?:\.(?P<fraction>\d{1,9}))?)?)
        \s*(?P<zone>[A-Za-z+-][A-Za-z0-9_/:+-]*)?)?\s*""",
    re.VERBOSE | re.ASCII,
)


def days_of(text: str) -> int:
    """Return the days since 1970 of `yyyy-MM-dd`; a time of day after it is ignored."""
    return _days(_matched(text))


def micros_of(text: str, zone: tzinfo | None, *, zone_required: bool = False) -> int:
    """Return the microseconds since 1970 of a timestamp in either of the log's formats.

    A text that names a zone is read in that zone, other text in `zone`. If `zone` is None, the text
    is a local time, counted as if in UTC. ValueError if it is not a timestamp, or lacks a zone that
    it needs.
    """
    match = _matched(text)
    if zone_required and match["zone"] is None:
        raise ValueError(f"{text!r} names no time zone")
    micros = _days(match) * _US_IN_DAY + _time_of_day_us(match)
    if zone is None:
        return micros
    zone = zone if match["zone"] is None else zone_of(match["zone"])
    return micros if zone is timezone.utc else micros - _offset_us(micros, zone)


def _matched(text: str) -> re.Match[str]:
    match = _TEXT.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is neither a date nor a timestamp")
    return match


def _days(match: re.Match[str]) -> int:
    cycles, year = divmod(int(match["year"]) - 2000, 400)
    day = date(2000 + year, int(match["month"] or 1), int(match["day"] or 1))
    return (day - EPOCH_DATE).days + cycles * _DAYS_IN_400_YEARS


def _time_of_day_us(match: re.Match[str]) -> int:
    if match["clock"] is None:
        return 0
    hour, minute, second = int(match["hour"]), int(match["minute"]), int(match["second"] or 0)
    if hour > 23 or minute > 59 or second > 59:
        raise ValueError(f"{match[0]!r} has no time of day")
    fraction = (match["fraction"] or "").ljust(6, "0")[:6]
    return ((hour * 60 + minute) * 60 + second) * 1_000_000 + int(fraction)


def _offset_us(micros: int, zone: tzinfo) -> int:
    # After Python's last year zones keep its rules, before its first year they use local mean time.
    if micros > _LAST_US:
        micros = micros % _CYCLE_US + _CYCLE_US
    wall = wall_clock_at(max(micros, _FIRST_US)).replace(tzinfo=zone)
    # When clocks are set forward or back, Python's default offset is the same as Java's.
    offset = zone.utcoffset(wall)
    assert offset is not None, zone
    return offset // timedelta(microseconds=1)


_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2}))?(?::?(\d{2}))?")


@lru_cache(maxsize=256)
def zone_of(text: str) -> tzinfo:
    """Return the time zone of `Z`, `UTC`, `+02:00`, `GMT+2` or `Europe/Berlin`."""
    if text.upper() in ("Z", "UTC", "GMT", "UT"):
        return timezone.utc
    match = _OFFSET.fullmatch(text.upper())
    if match is not None:
        hours, minutes, seconds = (int(part or 0) for part in match.groups()[1:])
        offset = timedelta(hours=hours, minutes=minutes, seconds=seconds)
        return timezone(-offset if match[1] == "-" else offset)
    try:
        return ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError(f"{text!r} is not a time zone") from error


def date_at(days: int) -> date:
    """Return the date this many days after 1970-01-01; OverflowError outside years 1 to 9999."""
    return EPOCH_DATE + timedelta(days=days)


def timestamp_at(micros: int) -> datetime:
    """Return the moment this many microseconds after 1970, in UTC; OverflowError as `date_at`."""
    return EPOCH + timedelta(microseconds=micros)


def wall_clock_at(micros: int) -> datetime:
    """Return the local time this many microseconds after 1970, without a zone."""
    return EPOCH_NTZ + timedelta(microseconds=micros)


def date_text(days: int) -> str:
    """Return `yyyy-MM-dd`; as in Spark, years after 9999 have a sign, and so have negative ones."""
    cycles, left = divmod(days, _DAYS_IN_400_YEARS)
    day = date_at(left)
    year = day.year + 400 * cycles
    sign = "-" if year < 0 else "+" if year > 9999 else ""
    return f"{sign}{abs(year):04d}-{day.month:02d}-{day.day:02d}"


def clock_text(micros: int, separator: str) -> str:
    """Return a date, a separator, and the time of day with all six digits of its fraction."""
    days, left = divmod(micros, _US_IN_DAY)
    return f"{date_text(days)}{separator}{wall_clock_at(left):%H:%M:%S.%f}"


def micros_since_epoch(moment: datetime) -> int:
    """Return the microseconds since 1970 of a datetime; a local time if it has no zone."""
    start = EPOCH_NTZ if moment.tzinfo is None else EPOCH
    return (moment - start) // timedelta(microseconds=1)
