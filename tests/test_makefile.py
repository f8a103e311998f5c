"""The Makefile tells its targets, runs tests that exist, and helps where little is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
MAKEFILE = (ROOT / "Makefile").read_text()


def test_every_target_is_told_by_help_and_most_by_the_guide() -> None:
    phony = re.search(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)
    assert phony is not None
    told = re.findall(r"^([a-z-]+):.*## ", MAKEFILE, re.MULTILINE)
    guide = (ROOT / "CONTRIBUTING.md").read_text()

    assert sorted(phony[1].split()) == sorted([*told, "help"])
    assert {name for name in told if f"`make {name}`" not in guide} == {"clean"}


def test_every_test_that_the_makefile_names_exists() -> None:
    named = set(re.findall(r"\btests/[\w/.]+", MAKEFILE))

    assert len(named) > 10
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_the_site_is_built_without_the_environment_of_developers() -> None:
    without = _steps("docs", "VENV=nowhere")
    here = _steps("docs", f"VENV={Path(sys.prefix)}")

    assert "mkdocs build --strict" in without
    assert "requirements.lock" not in without
    assert "scripts.generated_docs" not in without
    assert "scripts.generated_docs" in here


def _steps(*arguments: str) -> str:
    """Return the commands that make would run."""
    command = ["make", "--dry-run", "PYTHON=python3", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


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

    targets = re.findall(r"^([a-z-]+):.*## ", MAKEFILE, re.MULTILINE)
    assert re.findall(r"^  make ([a-z-]+) ", done.stdout, re.MULTILINE) == targets
    assert "demo" in targets
