"""Arguments of the public methods, checked where they are given."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TypeAlias, TypeVar

from truckee.errors.options import ArgumentTypeError, ArgumentValueError

_Kind = TypeVar("_Kind")
PathLike: TypeAlias = str | os.PathLike[str]

_NAMES = {str: "a string", bool: "true or false", int: "an integer"}


def checked_argument(given: object, kind: type[_Kind], *, what: str) -> _Kind:
    """Return an argument; ArgumentTypeError unless it has the given type: str, bool or int."""
    if isinstance(given, kind) and not (kind is int and isinstance(given, bool)):
        return given
    raise ArgumentTypeError(what=what, needs=f"be {_NAMES[kind]}", found=type_name(given))


def checked_version(given: object, *, what: str) -> int:
    """Return a version; ArgumentValueError unless it is an integer."""
    if isinstance(given, int) and not isinstance(given, bool):
        return given
    raise ArgumentValueError(what=what, needs="be an int", found=class_text(given))


def checked_path(given: object, *, what: str = "path") -> str:
    """Return a path as text; ArgumentTypeError if it is neither text nor a `pathlib.Path`."""
    if isinstance(given, str | os.PathLike):
        return str(os.fspath(given))
    needs = "be a string or a pathlib.Path"
    raise ArgumentTypeError(what=what, needs=needs, found=package_and_type(given))


def checked_names(given: Sequence[str], *, what: str) -> Sequence[str]:
    """Return a list of names; ArgumentTypeError for a single string, or for other types."""
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise ArgumentTypeError(what=what, needs="be a list of strings", found=type_name(given))
    for name in given:
        checked_argument(name, str, what=f"each of {what}")
    return given


def check_texts(given: Mapping[str, str], *, what: str) -> None:
    """Raise ArgumentTypeError unless keys and values of a dict are text."""
    if not isinstance(given, Mapping):
        raise ArgumentTypeError(what=what, needs="be a dict", found=type_name(given))
    for text in (*given, *given.values()):
        checked_argument(text, str, what=f"each key and value of {what}")


def check_format(given: str | None) -> None:
    """Raise ArgumentValueError unless a format is one of Delta's, or is not given."""
    if given is not None and str(given).lower() not in ("delta", "truckee"):
        raise ArgumentValueError(what="the format", needs="be delta or truckee", found=repr(given))


def checked_feature_name(given: object) -> str:
    """Return the name of a feature; ArgumentValueError unless it is text."""
    if isinstance(given, str):
        return given
    raise ArgumentValueError(what="featureName", needs="be a string", found=class_text(given))


def checked_flag(given: object, *, what: str) -> bool:
    """Return a flag; ArgumentValueError unless it is True or False."""
    if isinstance(given, bool):
        return given
    raise ArgumentValueError(what=what, needs="be a boolean", found=class_text(given))


def class_text(given: object) -> str:
    """Return the class of a value as delta-spark's messages show it."""
    return f"'{type(given)}'"


def package_and_type(given: object) -> str:
    """Return the type of a value with the package it comes from, as in `pandas.DataFrame`."""
    kind = type(given)
    package = kind.__module__.partition(".")[0]
    return kind.__name__ if package == "builtins" else f"{package}.{kind.__name__}"


def type_name(given: object) -> str:
    """Return the type of a value as Python calls it."""
    return type(given).__name__
