"""Runs a command in this process, for tests."""

from __future__ import annotations

import json
from typing import Any

import pytest

from truckee.cli.main import main


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Return the exit code of a command, and what it printed on stdout and stderr."""
    code = main(arguments)
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def run_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    """Return what a command that must succeed without words printed with `--json`."""
    code, out, err = run(capsys, *arguments, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)
