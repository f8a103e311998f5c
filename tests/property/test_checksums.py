"""Law: the checksum of every version, added up or counted, is that of its replay."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from law_examples import examples
from property.strategies import histories
from staging import VECTORS_ON, create_table, metadata
from truckee.log.commit.transaction import Transaction
from truckee.log.snapshot import load_snapshot
from truckee.log.upkeep.checksum import verify_checksum
from truckee.storage import MemoryStorage

pytestmark = pytest.mark.property

PROPERTIES = {**VECTORS_ON, "delta.checkpointInterval": "3"}


@given(data=st.data())
@settings(deadline=None, max_examples=examples(60))
def test_every_version_agrees_with_its_checksum(data: st.DataObject) -> None:
    storage = MemoryStorage()
    features = {"delta.feature.domainMetadata": "supported"}
    first = metadata(
        "id long", "p string", partitioned_by=("p",), properties={**PROPERTIES, **features}
    )
    create_table(storage, first)

    for actions in data.draw(histories(properties=PROPERTIES)):
        transaction = Transaction(storage, load_snapshot(storage))
        transaction.stage(*actions)
        transaction.commit("WRITE")

    for version in range(load_snapshot(storage).version + 1):
        assert verify_checksum(load_snapshot(storage, version))
