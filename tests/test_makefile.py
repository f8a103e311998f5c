"""The Makefile runs tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_every_test_that_the_makefile_names_exists() -> None:
    named = set(re.findall(r"\btests/[\w/.]+", (ROOT / "Makefile").read_text()))

    assert len(named) > 10
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []
