"""Which engine reads the rows: Arrow in this process if there is little to read, else Spark."""

from __future__ import annotations

import os
from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from truckee.cli.render import words
from truckee.errors.options import IllegalOptionError

if TYPE_CHECKING:
    from truckee.errors.conditions import ConditionError

ARROW_BYTES = "TRUCKEE_ARROW_BYTES"
"""The environment variable for the number of bytes up to which Arrow reads, without Spark."""

_DEFAULT_BYTES = 256 << 20

Answer = TypeVar("Answer")


class RowEngine(str, Enum):
    """What reads the rows."""

    ARROW = "arrow"
    SPARK = "spark"


EngineChoice = Annotated[
    RowEngine | None,
    typer.Option(
        "--engine",
        help="What reads the rows; default: arrow up to 256 MB of files, then spark "
        f"({ARROW_BYTES} sets the bytes).",
    ),
]


def answered_by_arrow(
    engine: RowEngine | None, size_in_bytes: int, answer: Callable[[], Answer], *, times: int = 1
) -> Answer | None:
    """Return the answer without a JVM, or None if Spark is needed; a message says why.

    What takes Arrow several `times` as long as reading is answered for fewer bytes.
    A condition that only Spark understands raises if Arrow was requested.
    """
    from truckee.errors.conditions import ConditionSyntaxError, UnsupportedConditionError

    if engine is RowEngine.SPARK:
        return None
    limit = _limit()
    if engine is None and times * size_in_bytes > limit:
        megabytes = size_in_bytes / (1 << 20)
        words(f"{megabytes:,.0f} MB of files are read with Spark; --engine arrow reads them here")
        return None
    try:
        return answer()
    except (UnsupportedConditionError, ConditionSyntaxError) as error:
        if engine is RowEngine.ARROW:
            raise
        words(_asks_spark(error))
        return None


def _asks_spark(error: ConditionError) -> str:
    return f"Spark is used, it knows more conditions: {error.sentence().partition(chr(10))[0]}"


def _limit() -> int:
    text = os.environ.get(ARROW_BYTES, "")
    if not text:
        return _DEFAULT_BYTES
    if not text.isdecimal():
        raise IllegalOptionError(option=ARROW_BYTES, value=text, needs="a number of bytes")
    return int(text)
