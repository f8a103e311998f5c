"""Options by case-insensitive name: the text as users wrote it, and warnings about unknown ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches

from truckee.errors.caller_lines import warn_caller
from truckee.errors.options import (
    IllegalOptionError,
    InvalidVersionError,
    TimeTravelVersionError,
)

_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)

# Options of object stores, and those that Spark itself adds or reads.
_PASSED_ON = ("fs.", "spark.", "delta.", "parquet.")
_SPARK_OWN = ("path", "checkpointLocation", "queryName")


def options_text(options: Mapping[str, object]) -> str:
    """Return options as the calls that set them, without the values, which may be secret."""
    return "".join(f".option({key!r}, ...)" for key in options)


class Options(Mapping[str, str]):
    """Options with case-insensitive names.

    Values are text, as Spark keeps them: True is `true`, None is `null`, numbers are their digits.
    If two names differ only in case, the last one is kept.
    """

    def __init__(self, options: Mapping[str, object] | None = None) -> None:
        self._by_name: dict[str, tuple[str, str]] = {}
        for name, value in (options or {}).items():
            self._by_name[name.casefold()] = name, _text(value)

    def __getitem__(self, name: str) -> str:
        return self._by_name[name.casefold()][1]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.casefold() in self._by_name

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self._by_name.values())

    def __len__(self) -> int:
        return len(self._by_name)

    def __repr__(self) -> str:
        return f"Options({dict(self._by_name.values())!r})"

    def boolean(self, name: str, default: bool = False) -> bool:
        """Return a switch; IllegalOptionError unless it says true or false, in any case."""
        return boolean(name, self[name]) if name in self else default

    def version(self, name: str) -> int | None:
        """Return a version, None if it is not set; InvalidVersionError if it is not an integer."""
        return version_number(name, self[name]) if name in self else None

    def version_as_of(self) -> int | None:
        """Return the version to read, if any; TimeTravelVersionError if it is not an integer."""
        try:
            return self.version("versionAsOf")
        except InvalidVersionError as error:
            raise TimeTravelVersionError(option=error.option, value=error.value) from None


def boolean(name: str, text: str) -> bool:
    """Return `true` or `false`, in any case, as a bool; IllegalOptionError for other text."""
    if text.strip().lower() not in ("true", "false"):
        raise IllegalOptionError(option=name, value=text, needs="true or false")
    return text.strip().lower() == "true"


def version_number(name: str, text: str) -> int:
    """Return a text as a version; InvalidVersionError unless it is a 64-bit integer."""
    if _INTEGER.fullmatch(text):
        number = int(text)
        if -(1 << 63) <= number < 1 << 63:
            return number
    raise InvalidVersionError(option=name, value=text)


def unknown_options(options: Options, known: Iterable[str]) -> dict[str, str | None]:
    """Return the unknown options, each with the most similar known name, if any."""
    names = {name.casefold(): name for name in known}
    unknown = [name for name in options if name.casefold() not in names]
    nearest = {name: get_close_matches(name.casefold(), names, n=1) for name in unknown}
    return {name: names[found[0]] if found else None for name, found in nearest.items()}


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `; did you mean x?` for the most similar known name, empty if none is similar."""
    names = {each.casefold(): each for each in known}
    found = get_close_matches(name.casefold(), names, n=1)
    return f"; did you mean {names[found[0]]}?" if found else ""


class UnknownOptionWarning(UserWarning):
    """An option that is not known where it was given."""


def warn_of_unknown(options: Options, known: Iterable[str], *, what: str) -> None:
    """Warn of each unknown option, with the most similar known name."""
    for name, nearest in unknown_options(options, (*known, *_SPARK_OWN)).items():
        if name.lower().startswith(_PASSED_ON):
            continue
        hint = "" if nearest is None else f"; did you mean {nearest}?"
        text = f"option {name} has no effect on {what}{hint}"
        warn_caller(text, UnknownOptionWarning)


def _text(value: object) -> str:
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)
