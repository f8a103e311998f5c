"""The settings of session and table for OPTIMIZE and REORG.

Sizes are bytes, or a number with a unit as in `128m` or `1gb`.

| setting of the session, after `spark.databricks.delta.`        | default           |
|----------------------------------------------------------------|-------------------|
| `optimize.maxFileSize`                                         | 1 GiB             |
| `optimize.minFileSize`                                         | 1 GiB             |
| `optimize.maxDeletedRowsRatio`                                 | 0.05              |
| `optimize.batchSize`                                           | one commit        |
| `optimize.zorder.checkStatsCollection.enabled`                 | true              |
| `optimize.clustering.mergeStrategy.minCubeSize.threshold`      | 100 GiB           |
| `optimize.clustering.mergeStrategy.minCubeSize.targetCubeSize` | 150 GiB           |

If the session sets neither, the table property `delta.targetFileSize` is used for
`optimize.maxFileSize` and `optimize.minFileSize`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from truckee.errors.options import IllegalOptionError
from truckee.options.delta_settings import warn_of_unused_settings
from truckee.options.text import Options
from truckee.protocol.properties import TableProperties
from truckee.protocol.property_kinds import parse_bytes

DELTA_SETTINGS = "spark.databricks.delta."
_RANGES = "spark.databricks.io.skipping.mdc.rangeId.max"
_GIB = 1 << 30


@dataclass(frozen=True, kw_only=True)
class OptimizeSettings:
    """How files are chosen, and how large new ones become."""

    max_file_size: int = _GIB
    min_file_size: int = _GIB
    max_deleted_ratio: float = 0.05
    batch_size: int | None = None
    checks_statistics: bool = True
    num_ranges: int = 1000
    sealed_cube_size: int = 100 * _GIB
    target_cube_size: int = 150 * _GIB
    max_reruns: int = 10
    user_metadata: str | None = None


def optimize_settings(
    settings: Mapping[str, str], properties: TableProperties | None = None
) -> OptimizeSettings:
    """Return what a session and the properties of a table say of OPTIMIZE."""
    warn_of_unused_settings(settings)
    given = Options(settings)
    target = None if properties is None else properties.target_file_size
    clustering = f"{DELTA_SETTINGS}optimize.clustering.mergeStrategy.minCubeSize."
    batch = f"{DELTA_SETTINGS}optimize.batchSize"
    return OptimizeSettings(
        max_file_size=size_setting(given, f"{DELTA_SETTINGS}optimize.maxFileSize", target or _GIB),
        min_file_size=size_setting(
            given, f"{DELTA_SETTINGS}optimize.minFileSize", target or _GIB, least=0
        ),
        max_deleted_ratio=_ratio(given, f"{DELTA_SETTINGS}optimize.maxDeletedRowsRatio", 0.05),
        batch_size=size_setting(given, batch, _GIB) if batch in given else None,
        checks_statistics=given.boolean(
            f"{DELTA_SETTINGS}optimize.zorder.checkStatsCollection.enabled", True
        ),
        num_ranges=size_setting(given, _RANGES, 1000, least=2),
        sealed_cube_size=size_setting(given, f"{clustering}threshold", 100 * _GIB),
        target_cube_size=size_setting(given, f"{clustering}targetCubeSize", 150 * _GIB),
        user_metadata=given.get(f"{DELTA_SETTINGS}commitInfo.userMetadata"),
    )


def size_setting(given: Options, name: str, default: int, *, least: int = 1) -> int:
    """Return a setting in bytes; IllegalOptionError unless it is a number of at least `least`."""
    if name not in given:
        return default
    try:
        number = parse_bytes(given[name])
    except ValueError:
        number = -1
    if number < least:
        needs = f"a number of at least {least}, with or without a unit such as mb"
        raise IllegalOptionError(option=name, value=given[name], needs=needs)
    return number


def _ratio(given: Options, name: str, default: float) -> float:
    try:
        ratio = float(given.get(name, str(default)))
    except ValueError:
        ratio = -1.0
    if not 0 <= ratio <= 1:
        raise IllegalOptionError(option=name, value=given[name], needs="a number from 0 to 1")
    return ratio
