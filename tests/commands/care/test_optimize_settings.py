"""What sessions and tables say of OPTIMIZE and auto compaction; no Spark."""

from __future__ import annotations

import re

import pytest

from truckee.commands.care.auto_compact import auto_compact_settings
from truckee.commands.care.optimize_settings import OptimizeSettings, optimize_settings
from truckee.errors.options import IllegalOptionError
from truckee.protocol.properties import TableProperties
from truckee.protocol.property_kinds import parse_bytes

GIB = 1 << 30
DELTA = "spark.databricks.delta."


def properties(**given: str) -> TableProperties:
    return TableProperties.from_configuration(
        {f"delta.{key.replace('_', '.')}": value for key, value in given.items()}
    )


@pytest.mark.parametrize(
    ("text", "size"),
    [("1024", 1024), ("1k", 1024), ("128m", 128 << 20), ("1 GB", GIB), ("2TiB", 2 << 40)],
)
def test_sizes_may_have_units(text: str, size: int) -> None:
    assert parse_bytes(text) == size


@pytest.mark.parametrize("text", [" ", "m", "-1", "1.5g", "1x", "١"])
def test_other_texts_are_no_sizes(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        parse_bytes(text)


def test_the_session_wins_over_the_size_that_a_table_asks_for() -> None:
    table = properties(targetFileSize="100mb")

    by_table = optimize_settings({}, table)
    by_session = optimize_settings({f"{DELTA}optimize.maxFileSize": "5m"}, table)

    assert optimize_settings({}, properties()) == OptimizeSettings()
    assert (by_table.max_file_size, by_table.min_file_size) == (100 << 20, 100 << 20)
    assert (by_session.max_file_size, by_session.min_file_size) == (5 << 20, 100 << 20)


@pytest.mark.parametrize(
    ("session", "table", "is_on"),
    [
        (None, {}, False),
        (None, {"autoOptimize_autoCompact": "true"}, True),
        (None, {"autoOptimize_autoCompact": "auto"}, True),
        (None, {"autoOptimize_autoCompact": "false"}, False),
        (None, {"autoOptimize": "true", "autoOptimize_autoCompact": "false"}, True),
        ("true", {}, True),
        ("false", {"autoOptimize_autoCompact": "true"}, False),
    ],
)
def test_auto_compaction_is_asked_for_by_the_session_or_else_by_the_table(
    session: str | None, table: dict[str, str], is_on: bool
) -> None:
    settings = {} if session is None else {f"{DELTA}autoCompact.enabled": session}

    found = auto_compact_settings(settings, properties(**table))

    assert (found is not None) == is_on


def test_auto_compaction_has_sizes_of_its_own() -> None:
    given = {f"{DELTA}autoCompact.maxFileSize": "10m", f"{DELTA}autoCompact.minNumFiles": "3"}

    found = auto_compact_settings(given, properties(autoOptimize_autoCompact="true"))

    assert found is not None
    assert (found.min_num_files, found.max_partitions) == (3, 128)
    assert found.optimize.max_file_size == 10 << 20
    assert found.optimize.min_file_size == 5 << 20


@pytest.mark.parametrize(
    "name", ["optimize.maxFileSize", "optimize.batchSize", "optimize.maxDeletedRowsRatio"]
)
def test_settings_that_mean_nothing_are_refused_by_name(name: str) -> None:
    with pytest.raises(IllegalOptionError) as caught:
        optimize_settings({f"{DELTA}{name}": "much"})

    assert caught.value.option == f"{DELTA}{name}"
