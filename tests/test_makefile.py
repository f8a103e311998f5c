"""The Makefile runs tests that exist, and helps on a machine that has little."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_every_test_that_the_makefile_names_exists() -> None:
    named = set(re.findall(r"\btests/[\w/.]+", (ROOT / "Makefile").read_text()))

    assert len(named) > 10
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_help_needs_nothing_but_a_shell_and_awk(tmp_path: Path) -> None:
    for name in ("sh", "awk"):
        found = shutil.which(name)
        assert found
        (tmp_path / name).symlink_to(found)
    make = shutil.which("make")
    assert make

    done = subprocess.run(
        [make, "help", "PYTHON=python3"],
        cwd=ROOT,
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )

    targets = re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert re.findall(r"^  make ([a-z-]+) ", done.stdout, re.MULTILINE) == targets
    assert "demo" in targets
