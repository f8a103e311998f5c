"""The retention of a vacuum: the requested one, or the table's own."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass

from truckee.errors.commands.care import NegativeRetentionError, RetentionTooShortError
from truckee.errors.options import ArgumentTypeError
from truckee.protocol.properties import TableProperties

HOUR_MS = 3_600_000

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Retention:
    """Files that were removed before `cutoff_ms` may be deleted; `specified_ms` is the request."""

    cutoff_ms: int
    default_ms: int
    specified_ms: int | None = None
    is_checked: bool = True


def retention(
    properties: TableProperties,
    hours: float | None,
    *,
    now_ms: int,
    is_checked: bool = True,
    ignores_hours: bool = False,
) -> Retention:
    """Return the retention of a vacuum; raise if it is shorter than the table's, or negative.

    Hours are rounded to whole ones. `ignores_hours` uses the table's own retention, whatever
    was asked for, unless that is 0.
    """
    default_ms = properties.deleted_file_retention_ms
    specified_ms = _specified_ms(hours)
    if ignores_hours and specified_ms:
        _logger.warning(
            "the retention of %s hours is ignored; the table's own is used (setting "
            "spark.databricks.delta.vacuum.retentionWindowIgnore.enabled)",
            hours,
        )
        specified_ms = None
    if specified_ms is not None:
        _check(specified_ms, default_ms, is_checked)
    kept_ms = default_ms if specified_ms is None else specified_ms
    return Retention(
        cutoff_ms=now_ms - kept_ms,
        default_ms=default_ms,
        specified_ms=specified_ms,
        is_checked=is_checked,
    )


def _specified_ms(hours: float | None) -> int | None:
    if hours is None:
        return None
    if type(hours) not in (int, float) or not math.isfinite(hours):
        raise ArgumentTypeError(
            what="retentionHours",
            needs="be a number of hours",
            found=f"{type(hours).__name__} {hours}",
        )
    return math.floor(hours + 0.5) * HOUR_MS


def _check(specified_ms: int, default_ms: int, is_checked: bool) -> None:
    hours = specified_ms // HOUR_MS
    if specified_ms < 0:
        raise NegativeRetentionError(hours=hours)
    if is_checked and specified_ms < default_ms:
        raise RetentionTooShortError(hours=hours, least_hours=-(-default_ms // HOUR_MS))
