"""Runs a command in this process, for tests."""

from __future__ import annotations

import json
import sys
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


def run_in_terminal(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    columns: int,
    *arguments: str,
) -> tuple[list[str], str]:
    """Return the lines and messages of a command that must succeed, on a terminal of some width."""
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    code, out, err = run(capsys, *arguments)
    assert code == 0, err
    return out.splitlines(), err
