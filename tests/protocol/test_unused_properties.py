"""Properties that nothing acts on are listed, and warned of when they are set."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import truckee
from truckee.protocol.properties import Property, TableProperties, validated_properties
from truckee.protocol.unused_properties import UNUSED_PROPERTIES, UnusedPropertyWarning

# Read under another name: as the older name of the feed, and by the version in its name.
READ_OTHERWISE = ("enable_change_data_capture", "enable_iceberg_compat_v")

# Named where a clone leaves them out or a vacuum passes over what they belong to; neither makes
# them do what they are set for.
NAMED_ONLY = ("universal_formats", "commit_coordinator_conf", "coordinated_table_conf")


def test_setting_a_property_without_effect_is_warned_of() -> None:
    with pytest.warns(UnusedPropertyWarning) as warned:
        found = validated_properties(
            {"delta.RANDOMIZEfilePrefixes": "true", "delta.appendOnly": "true"}
        )

    assert found == {"delta.randomizeFilePrefixes": "true", "delta.appendOnly": "true"}
    assert [str(warning.message) for warning in warned] == [
        "table property delta.randomizeFilePrefixes has no effect on truckee: "
        "files are written without a random prefix"
    ]
    assert [warning.filename for warning in warned] == [__file__]


# Invariant 30.
def test_a_property_is_listed_if_and_only_if_nothing_reads_it() -> None:
    sources = Path(truckee.__file__).parent.rglob("*.py")
    code = "\n".join(path.read_text() for path in sources if path.name != "properties.py")

    unread = {
        found.key
        for name, found in vars(TableProperties).items()
        if isinstance(found, Property)
        and not name.startswith(READ_OTHERWISE)
        and (name in NAMED_ONLY or re.search(rf'\.{name}\b|"{name}"', code) is None)
    }

    assert unread == set(UNUSED_PROPERTIES)
