"""Arguments of the public methods, checked where they are given."""

from __future__ import annotations

from typing import TypeVar

from truckee.errors.arguments import ArgumentTypeError, ArgumentValueError

_Kind = TypeVar("_Kind")

_NAMES = {str: "a string", bool: "true or false", int: "an integer"}


def checked_argument(given: object, kind: type[_Kind], *, what: str) -> _Kind:
    """Return an argument; ArgumentTypeError unless it is of a type: str, bool or int."""
    if isinstance(given, kind) and not (kind is int and isinstance(given, bool)):
        return given
    raise ArgumentTypeError(what=what, needs=f"be {_NAMES[kind]}", found=type_name(given))


def checked_version(given: object, *, what: str) -> int:
    """Return a version; ArgumentValueError unless it is an integer."""
    if isinstance(given, int) and not isinstance(given, bool):
        return given
    raise ArgumentValueError(what=what, needs="be an int", found=class_text(given))


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
    """Return the class of a value as delta-spark shows it."""
    return f"'{type(given)}'"


def type_name(given: object) -> str:
    """Return the type of a value as Python calls it."""
    return type(given).__name__
