"""Optimized writes: rows are shuffled before they are written, so that files are few and large.

Spark's own rebalancing does it: rows of one partition of the table go to few tasks. By the sizes
that the shuffle has measured, small tasks are combined and large ones are split.

| setting of the session, after `spark.databricks.delta.optimizeWrite.` | default | meaning       |
|------------------------------------------------------------------------|---------|---------------|
| `enabled`                                                              |         | see below     |
| `binSize`                                                              | 512     | MiB of a task |

The option `optimizeWrite` of a write comes first, then the session, then the table property
`delta.autoOptimize.optimizeWrite`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame

from truckee.errors.options import IllegalOptionError
from truckee.options.text import Options
from truckee.spark.jvm.projection import column

_SETTINGS = "spark.databricks.delta.optimizeWrite."
_DEFAULT_MIB = 512


def is_optimized(option: bool | None, settings: Mapping[str, str], table: bool | None) -> bool:
    """Return whether a write is to be optimized, by its option, its session and its table."""
    if option is not None:
        return option
    return Options(settings).boolean(f"{_SETTINGS}enabled", bool(table))


def rebalancing_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the session settings that make `rebalanced` rows have the size asked for."""
    name = f"{_SETTINGS}binSize"
    text = Options(settings).get(name, str(_DEFAULT_MIB))
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise IllegalOptionError(option=name, value=text, needs="a number of MiB above 0")
    return {
        "spark.sql.adaptive.enabled": "true",
        "spark.sql.adaptive.coalescePartitions.enabled": "true",
        "spark.sql.adaptive.coalescePartitions.parallelismFirst": "false",
        "spark.sql.adaptive.optimizeSkewsInRebalancePartitions.enabled": "true",
        "spark.sql.adaptive.advisoryPartitionSizeInBytes": f"{text}m",
    }


def rebalanced(df: DataFrame, partition_columns: Sequence[str]) -> DataFrame:
    """Return the rows, those of one partition together in as few tasks as their size allows."""
    return df.hint("rebalance", *(column(name) for name in partition_columns))
