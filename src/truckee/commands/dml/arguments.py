"""Type checks for the conditions and values of DELETE, UPDATE and MERGE."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column

from truckee.errors.arguments import ArgumentTypeError, NoAssignmentsError
from truckee.options.arguments import type_name

EXPRESSION = "be a Spark SQL Column or a string"


def check_condition_type(given: object, *, what: str) -> None:
    """Raise ArgumentTypeError unless a condition is SQL, a Column or None."""
    if given is not None and not isinstance(given, str | Column):
        raise ArgumentTypeError(what=what, needs=EXPRESSION, found=type_name(given))


def check_values(given: object, *, what: str) -> None:
    """Raise unless values are given as a dict of names to SQL or Columns.

    None or an empty dict raises NoAssignmentsError.
    """
    if given is None:
        raise NoAssignmentsError(what=what)
    if not isinstance(given, Mapping):
        raise ArgumentTypeError(
            what=f"the values of {what}", needs="be a dict", found=type_name(given)
        )
    for name, value in given.items():
        if not isinstance(name, str):
            raise ArgumentTypeError(
                what=f"Keys of dict in {what}",
                needs="contain only strings",
                found=type_name(name),
            )
        if not isinstance(value, str | Column):
            raise ArgumentTypeError(
                what=f"Values of dict in {what}",
                needs="contain only Spark SQL Columns or strings",
                found=f"{type_name(value)} for {name}",
            )
