"""How many examples a law is tried on: new ones in each run."""

from __future__ import annotations

import os

_ALL = "TRUCKEE_ALL_EXAMPLES" in os.environ


def examples(number: int) -> int:
    """Return the number in `make test-long`, and a quarter of it otherwise."""
    return number if _ALL else number // 4
