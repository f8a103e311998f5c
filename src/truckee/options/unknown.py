"""Warnings about unknown options, which are most likely misspelt."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from truckee.options.text import Options, unknown_options

# Options of object stores, and those that Spark itself adds or reads.
_PASSED_ON = ("fs.", "spark.", "delta.", "parquet.")
_SPARK_OWN = ("path", "checkpointLocation", "queryName")


class UnknownOptionWarning(UserWarning):
    """An option that is not known where it was given."""


def warn_of_unknown(options: Options, known: Iterable[str], *, what: str) -> None:
    """Warn of each unknown option, with the most similar known name."""
    for name, nearest in unknown_options(options, (*known, *_SPARK_OWN)).items():
        if name.lower().startswith(_PASSED_ON):
            continue
        hint = "" if nearest is None else f"; did you mean {nearest}?"
        text = f"option {name} has no effect on {what}{hint}"
        warnings.warn(text, UnknownOptionWarning, stacklevel=4)
