"""The caller's own lines, for tracebacks in notebooks and for warnings.

A notebook shows the frames of every library between a cell and the error, dozens of them for a
command. What its reader can change is in the cell.
"""

from __future__ import annotations

import os
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

_OWN_FOLDER = str(Path(__file__).resolve().parents[1]) + os.sep
_OTHERS = ("pyspark", "py4j", "IPython", "ipykernel")


def caller_lines(error: BaseException) -> list[str]:
    """Return the lines that a notebook shows for an error, the sentence of the error last."""
    frames = traceback.extract_tb(error.__traceback__)
    shown = [frame for frame in frames if not _is_inner(frame.filename)]
    name = (getattr(error, "plain", None) or type(error)).__name__
    lines = [line for frame in shown for line in _frame_lines(frame)]
    lines += [f"{name}: {error}"]
    if error.__cause__ is not None:
        lines.append(f"cause: {type(error.__cause__).__name__}: {error.__cause__}")
    if len(shown) < len(frames):
        lines.append("(the frames of libraries are left out; sys.last_value has them)")
    return lines


def warn_caller(text: str, category: type[Warning]) -> None:
    """Warn of the line of the caller that reached truckee, however deep inside this is called."""
    frame = _outside(sys._getframe())
    if frame.f_code.co_filename == threading.__file__:
        frame = _waiting_caller() or frame
    names = frame.f_globals
    warnings.warn_explicit(
        text,
        category,
        frame.f_code.co_filename,
        frame.f_lineno,
        module=names.get("__name__"),
        registry=names.setdefault("__warningregistry__", {}),
    )


def _outside(frame: FrameType) -> FrameType:
    """Return the first frame that is not of a library, from this one on; else the outermost."""
    while frame.f_back is not None and _is_inner(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def _waiting_caller() -> FrameType | None:
    """Return the caller who waits for the JVM, if there is one only.

    The JVM calls Python in a thread of Py4J, while the thread that called the JVM waits.
    """
    waiting = []
    for frame in sys._current_frames().values():
        stack = (found for found, _ in traceback.walk_stack(frame))
        sending = next((found for found in stack if found.f_code.co_name == "send_command"), None)
        if sending is not None and _is_inner(sending.f_code.co_filename):
            waiting.append(_outside(sending))
    return waiting[0] if len(waiting) == 1 else None


def _is_inner(file: str) -> bool:
    if os.path.realpath(file).startswith(_OWN_FOLDER):
        return True
    return any(f"{os.sep}{name}{os.sep}" in file for name in _OTHERS)


def _frame_lines(frame: traceback.FrameSummary) -> Iterator[str]:
    inside = "" if frame.name == "<module>" else f", in {frame.name}"
    yield f"{_place(frame.filename)}, line {frame.lineno}{inside}"
    yield f"----> {frame.lineno} {frame.line}"
    yield ""


def _place(file: str) -> str:
    """Return the cell of a notebook by its number, any other file by its path."""
    try:
        shell = sys.modules["IPython"].get_ipython()
        named = shell.compile.format_code_name(file)
    except (KeyError, AttributeError):
        named = None
    return f"File {file}" if named is None else " ".join(named)
