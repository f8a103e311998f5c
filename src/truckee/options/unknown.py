"""Options that nobody reads are most likely misspelt, so they are told."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from truckee.options.text import Options, unknown_options

# The store's own options, and those that Spark adds or reads by itself.
_PASSED_ON = ("fs.", "spark.", "delta.", "parquet.")
_SPARK_OWN = ("path", "checkpointLocation", "queryName")


class UnknownOptionWarning(UserWarning):
    """An option that means nothing where it was given."""


def warn_of_unknown(options: Options, known: Iterable[str], *, what: str) -> None:
    """Warn of each option that is not known, with the nearest name that is."""
    for name, nearest in unknown_options(options, (*known, *_SPARK_OWN)).items():
        if name.lower().startswith(_PASSED_ON):
            continue
        hint = "" if nearest is None else f"; did you mean {nearest}?"
        text = f"option {name} means nothing to {what}{hint}"
        warnings.warn(text, UnknownOptionWarning, stacklevel=4)
