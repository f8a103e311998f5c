"""What a notebook shows of an error: lines of the caller, and the sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

import truckee
from truckee.errors import NotADeltaTableError


def test_only_lines_of_the_caller_are_shown(tmp_path: Path) -> None:
    with pytest.raises(NotADeltaTableError) as raised:
        truckee.open(tmp_path)

    place, line, empty, *rest = raised.value._render_traceback_()

    assert place.startswith(f"File {__file__}, line ")
    assert place.endswith(", in test_only_lines_of_the_caller_are_shown")
    assert line.endswith(" truckee.open(tmp_path)")
    assert empty == ""
    assert rest == [
        f"NotADeltaTableError: {raised.value}",
        "(the frames of libraries are left out; sys.last_value has them)",
    ]


def test_the_cause_is_named() -> None:
    error = NotADeltaTableError(table="t")
    error.__cause__ = OSError("disk")

    assert error._render_traceback_() == [f"NotADeltaTableError: {error}", "cause: OSError: disk"]
