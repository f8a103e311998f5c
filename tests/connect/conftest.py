"""A Spark Connect server of truckee, in a process of its own, for the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from connect_server import running_server


@pytest.fixture(scope="package")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("served")


@pytest.fixture(scope="package")
def url(folder: Path) -> Iterator[str]:
    with running_server(folder) as found:
        yield found
