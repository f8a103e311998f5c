from __future__ import annotations

import re
import warnings
from pathlib import Path

import pytest

import truckee
from truckee.options.delta_settings import (
    PREFIX,
    USED_SETTINGS,
    UnusedSettingWarning,
    unused_settings,
    warn_of_unused_settings,
)


def test_settings_that_are_read_and_those_of_others_are_not_told() -> None:
    settings = {
        "spark.master": "local",
        f"{PREFIX}schema.autoMerge.enabled": "true",
        f"{PREFIX}properties.defaults.enableChangeDataFeed": "true",
        f"{PREFIX}autocompact.enabled": "true",
    }

    assert unused_settings(settings) == {}


def test_a_misspelled_setting_is_told_with_the_nearest_name() -> None:
    with pytest.warns(UnusedSettingWarning) as told:
        warn_of_unused_settings({f"{PREFIX}schema.automerge.enable": "true"})

    assert [str(each.message) for each in told] == [
        "setting spark.databricks.delta.schema.automerge.enable has no effect on truckee: "
        "did you mean spark.databricks.delta.schema.autoMerge.enabled?"
    ]


def test_a_setting_is_told_only_if_it_asks_for_something_else() -> None:
    name = f"{PREFIX}merge.repartitionBeforeWrite.enabled"

    assert unused_settings({name: "TRUE"}) == {}
    assert unused_settings({name: "false"}) == {name: "rows always go to tasks by partition"}


def test_a_setting_without_effect_is_told_once() -> None:
    settings = {f"{PREFIX}checkpoint.partSize": "2"}

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        warn_of_unused_settings(settings)
        warn_of_unused_settings(settings)

    assert [str(each.message) for each in told] == [
        "setting spark.databricks.delta.checkpoint.partSize has no effect on truckee: "
        "a checkpoint is one file"
    ]


def test_what_only_makes_delta_sparks_log_cheaper_to_read_is_not_told() -> None:
    assert unused_settings({f"{PREFIX}snapshotPartitions": "2"}) == {}


def test_each_setting_that_is_listed_is_read_somewhere() -> None:
    listed = Path(truckee.__file__).parent / "options" / "delta_settings.py"
    code = "".join(
        path.read_text() for path in listed.parent.parent.rglob("*.py") if path != listed
    )
    ends = {re.split(r"\.", name)[-1] for name in USED_SETTINGS}

    assert sorted(end for end in ends if end not in code) == []
