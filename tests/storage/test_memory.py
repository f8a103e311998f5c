from __future__ import annotations

import pytest

from contracts.storage import StorageContract
from truckee.storage import MemoryStorage, open_storage


class TestMemoryStorage(StorageContract):
    @pytest.fixture
    def storage(self) -> MemoryStorage:
        return MemoryStorage()


def test_a_memory_url_means_the_same_bytes_each_time_it_is_opened() -> None:
    open_storage("memory://shared/t").write("a", b"1")

    assert open_storage("memory://shared/t/").read("a") == b"1"
    assert open_storage("memory://shared").read("t/a") == b"1"


def test_storages_made_by_hand_share_nothing() -> None:
    MemoryStorage().write("a", b"1")

    assert list(MemoryStorage().list_tree("")) == []
