"""The settings of session and table for OPTIMIZE, REORG and auto compaction.

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
| `autoCompact.enabled`                                          | the table's       |
| `autoCompact.maxFileSize`                                      | 128 MiB           |
| `autoCompact.minFileSize`                                      | half of that      |
| `autoCompact.minNumFiles`                                      | 50                |
| `autoCompact.maxNumModifiedPartitions`                         | 128               |

If the session sets neither, the table property `delta.targetFileSize` is used for
`optimize.maxFileSize` and `optimize.minFileSize`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from truckee.errors.options import IllegalOptionError
from truckee.options.text import Options
from truckee.protocol.properties import TableProperties
from truckee.protocol.property_kinds import parse_bytes

_DELTA = "spark.databricks.delta."
_RANGES = "spark.databricks.io.skipping.mdc.rangeId.max"
_MIB = 1 << 20
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


@dataclass(frozen=True, kw_only=True)
class AutoCompactSettings:
    """When a compaction follows a write, and which files it considers."""

    min_num_files: int = 50
    max_partitions: int = 128
    optimize: OptimizeSettings


def optimize_settings(
    settings: Mapping[str, str], properties: TableProperties | None = None
) -> OptimizeSettings:
    """Return what a session and the properties of a table say of OPTIMIZE."""
    given = Options(settings)
    target = None if properties is None else properties.target_file_size
    clustering = f"{_DELTA}optimize.clustering.mergeStrategy.minCubeSize."
    batch = f"{_DELTA}optimize.batchSize"
    return OptimizeSettings(
        max_file_size=_bytes(given, f"{_DELTA}optimize.maxFileSize", target or _GIB),
        min_file_size=_bytes(given, f"{_DELTA}optimize.minFileSize", target or _GIB, least=0),
        max_deleted_ratio=_ratio(given, f"{_DELTA}optimize.maxDeletedRowsRatio", 0.05),
        batch_size=_bytes(given, batch, _GIB) if batch in given else None,
        checks_statistics=given.boolean(
            f"{_DELTA}optimize.zorder.checkStatsCollection.enabled", True
        ),
        num_ranges=_bytes(given, _RANGES, 1000, least=2),
        sealed_cube_size=_bytes(given, f"{clustering}threshold", 100 * _GIB),
        target_cube_size=_bytes(given, f"{clustering}targetCubeSize", 150 * _GIB),
        user_metadata=given.get(f"{_DELTA}commitInfo.userMetadata"),
    )


def auto_compact_settings(
    settings: Mapping[str, str], properties: TableProperties
) -> AutoCompactSettings | None:
    """Return how to compact after a write, None if neither session nor table asks for it.

    The session takes precedence over the table. If `delta.autoOptimize`, the old name, is true, it
    takes precedence over the new one.
    """
    given = Options(settings)
    wanted = bool(properties.auto_optimize) or properties.auto_compact not in (None, "false")
    if not given.boolean(f"{_DELTA}autoCompact.enabled", wanted):
        return None
    largest = _bytes(given, f"{_DELTA}autoCompact.maxFileSize", 128 * _MIB)
    smallest = _bytes(given, f"{_DELTA}autoCompact.minFileSize", largest // 2)
    return AutoCompactSettings(
        min_num_files=_bytes(given, f"{_DELTA}autoCompact.minNumFiles", 50),
        max_partitions=_bytes(given, f"{_DELTA}autoCompact.maxNumModifiedPartitions", 128),
        optimize=OptimizeSettings(max_file_size=largest, min_file_size=smallest),
    )


def _bytes(given: Options, name: str, default: int, *, least: int = 1) -> int:
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
