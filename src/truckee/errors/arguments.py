"""Arguments that are refused at the call, as TypeError or ValueError as usual in Python.

DeltaError
├── ArgumentTypeError     (TypeError)   a value of a wrong type
├── ArgumentValueError    (ValueError)  a value that is not allowed
└── NoAssignmentsError    (ValueError)  an update that sets nothing
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from truckee.errors.base import DeltaError


@dataclass(eq=False, kw_only=True)
class ArgumentTypeError(DeltaError, TypeError):
    """An argument has a wrong type; `needs` completes the sentence "it must ..."."""

    code: ClassVar[str] = "DELTA_INVALID_ARGUMENT"
    what: str
    needs: str
    found: str

    def __str__(self) -> str:
        return f"{self.what} must {self.needs}; found {self.found}"


@dataclass(eq=False, kw_only=True)
class ArgumentValueError(DeltaError, ValueError):
    """An argument has a wrong value; `needs` completes the sentence "it needs to ..."."""

    code: ClassVar[str] = "DELTA_ILLEGAL_ARGUMENT"
    what: str
    needs: str
    found: str

    def __str__(self) -> str:
        return f"{self.what} needs to {self.needs} but got {self.found}"


@dataclass(eq=False, kw_only=True)
class NoAssignmentsError(DeltaError, ValueError):
    """An update without any assignment."""

    code: ClassVar[str] = "DELTA_MISSING_SET_COLUMN"
    what: str

    def __str__(self) -> str:
        return (
            f"the values of {self.what} cannot be None or empty\n"
            "hint: name columns and their new values"
        )
