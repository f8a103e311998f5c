"""Names in a Hive metastore, by Derby, in a process of its own: one run of `hive_steps.py`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from step_scripts import outcomes

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SCRIPT = Path(__file__).with_name("hive_steps.py")


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What came of each step."""
    return outcomes([sys.executable, SCRIPT, tmp_path_factory.mktemp("hive")])


def test_the_metastore_is_told_a_name_a_place_and_the_provider_delta(
    outcome: dict[str, Any],
) -> None:
    assert outcome["entry"] == {
        "provider": "delta",
        "type": "MANAGED",
        "columns": [],
        "partition columns": 0,
        "properties of Delta": [],
        "comment": "all of them",
    }


def test_statements_change_the_rows_of_a_name(outcome: dict[str, Any]) -> None:
    assert outcome["rows"] == [[1, "a", 1], [3, "b", 30], [4, "c", 40]]


def test_columns_partitions_and_properties_are_those_of_the_log(outcome: dict[str, Any]) -> None:
    assert outcome["shown"] == {
        "columns": [
            ["id", "bigint", None, False],
            ["day", "string", "of sale", True],
            ["n", "int", None, False],
        ],
        "partitions": [["a"], ["b"], ["c"]],
        "properties": [
            ["delta.enableChangeDataFeed", "true"],
            ["delta.enableDeletionVectors", "true"],
        ],
        "table": ["all of them", "MANAGED"],
    }


def test_what_the_metastore_says_of_columns_does_not_count(outcome: dict[str, Any]) -> None:
    assert outcome["old_entry"] == [
        ["id", "gone"],
        [["id", "bigint"], ["day", "string"], ["n", "int"]],
        [[3, "b", 30], [4, "c", 40]],
    ]


def test_a_table_that_was_changed_elsewhere_is_read_as_it_is_at_once(
    outcome: dict[str, Any],
) -> None:
    assert outcome["changed_elsewhere"] == [
        [[[1]], [[1]]],
        [[1, None], [2, "new"]],
        [[1], [2]],
        [["id"], ["s"]],
        ["id", "s"],
    ]


def test_dropping_a_second_name_leaves_the_table(outcome: dict[str, Any]) -> None:
    assert outcome["external"] == ["EXTERNAL", [3], [3]]


def test_a_renamed_table_keeps_its_rows_and_its_history(outcome: dict[str, Any]) -> None:
    assert outcome["renamed"] == [["after"], 5, 2]


def test_tables_of_hive_stay_those_of_hive(outcome: dict[str, Any]) -> None:
    assert outcome["beside_hive_tables"] == ["hive", [[1, 1], [3, 60], [4, 80]]]


def test_a_name_is_streamed_from_and_to(outcome: dict[str, Any]) -> None:
    # Inserted were four rows, deleted was one, and updated were one, one and two.
    assert outcome["stream"] == [
        ["delete", 1],
        ["insert", 4],
        ["update_postimage", 4],
        ["update_preimage", 4],
    ]


def test_a_managed_table_is_deleted_with_its_name(outcome: dict[str, Any]) -> None:
    assert outcome["dropped"] == [False, False, True]
