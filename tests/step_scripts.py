"""Scripts that take steps in a process of their own, and print a line of JSON after each.

print_outcome("delete", 10)                       in the script
outcomes([sys.executable, script, folder])        what came of each step, by its name
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import truckee

_SOURCES = [Path(truckee.__file__).parents[1], Path(__file__).parent]


def print_outcome(step: str, outcome: Any) -> None:
    """Tell what came of a step."""
    print(json.dumps([step, outcome], default=str), flush=True)


def outcomes(
    command: Sequence[str | Path], *, env: Mapping[str, str] | None = None, seconds: float = 600
) -> dict[str, Any]:
    """Run a script whose Python finds truckee and the tests, and return what it told."""
    done = subprocess.run(
        [str(part) for part in command],
        env={**script_environment(), **(env or {})},
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return dict(json.loads(line) for line in done.stdout.splitlines() if line.startswith('["'))


def script_environment() -> dict[str, str]:
    """Return the environment of this process, with a Python that finds truckee and the tests."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(str(source) for source in _SOURCES)}
