"""Everything on executors in processes of their own, whose Python has no truckee.

One run of `steps.py` for all tests. `TRUCKEE_CLUSTER_KILLS` adds a run in which an executor is
killed during each step, with speculation on.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from step_scripts import outcomes

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SCRIPT = Path(__file__).with_name("steps.py")
NO_TRUCKEE = [
    "WorkersWithoutTruckeeError",
    '[TRUCKEE_NOT_IN_WORKERS] format("truckee") runs in the Python workers of Spark, and their '
    "Python has no module truckee",
]
STORED = {"insert": 10, "delete": 6, "update_preimage": 9, "update_postimage": 9}
RUNS = ["calm", "kills"] if os.environ.get("TRUCKEE_CLUSTER_KILLS") else ["calm"]


@pytest.fixture(scope="module", params=RUNS)
def outcome(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    """What came of each step."""
    folder = tmp_path_factory.mktemp("cluster")
    python = str(python_without_truckee(folder))
    kills = ["kills"] if request.param == "kills" else []
    return outcomes([sys.executable, SCRIPT, folder, *kills], env={"PYSPARK_PYTHON": python})


def python_without_truckee(folder: Path) -> Path:
    """Return an interpreter with all packages of this one but truckee."""
    packages = folder / "packages"
    packages.mkdir()
    for place in {Path(path) for path in sys.path if path.endswith("-packages")}:
        for item in place.iterdir():
            if "truckee" not in item.name and item.suffix != ".pth":
                (packages / item.name).symlink_to(item)
    script = folder / "python"
    # -S: this interpreter's own packages, and truckee with them, are not on the path.
    script.write_text(f'#!/bin/sh\nPYTHONPATH={packages} exec {sys.executable} -S "$@"\n')
    script.chmod(0o755)
    return script


def test_the_workers_python_has_no_truckee(tmp_path: Path) -> None:
    python = python_without_truckee(tmp_path)

    imports = [
        subprocess.run([python, "-c", f"import {name}"], capture_output=True, check=False)
        for name in ("pyspark", "truckee")
    ]

    assert [done.returncode for done in imports] == [0, 1]
    assert b"No module named 'truckee'" in imports[1].stderr


# Invariant 47.
@pytest.mark.parametrize(
    ("step", "expected"),
    [
        ("workers", False),
        ("write", [100, 4950]),
        ("constraint", "CheckConstraintViolationError"),
        ("delete", [[10]]),
        ("update", [[9]]),
        ("merge", [[10, 5, 0, 5]]),
        # Deleted were 3, 13 ... 93, and inserted 100 to 104.
        ("read", [[95, 4950 - 480 + 510], {"a": 76, "m": 10, "u": 9}]),
        ("feed", {"insert": 105, "delete": 10, "update_preimage": 14, "update_postimage": 14}),
        ("stream", 143),
        ("retry", [100, 6, []]),
        ("clone", 95),
        ("stored", [STORED, 104, []]),
        ("format", [NO_TRUCKEE, NO_TRUCKEE, False]),
        ("shipped", [95, 3]),
    ],
)
def test_a_step_on_a_cluster_does_what_it_does_elsewhere(
    outcome: dict[str, Any], step: str, expected: Any
) -> None:
    assert outcome[step] == expected
