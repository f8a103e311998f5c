"""delta-spark for the tests of this folder: one process for the whole run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from interop.delta_spark import DeltaSpark, DeltaSparkMissingError


@pytest.fixture(scope="session")
def delta_spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DeltaSpark]:
    """A running delta-spark; its tests are skipped, with a line that says so, where it cannot."""
    log = tmp_path_factory.mktemp("delta-spark") / "stderr.log"
    try:
        engine = DeltaSpark(log)
    except DeltaSparkMissingError as missing:
        pytest.skip(f"delta-spark left out: {missing}")
    yield engine
    engine.close()
