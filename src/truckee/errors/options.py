"""Errors of options: values that are not allowed, or options that exclude each other.

DeltaError
  IllegalOptionError         an option with a value that is not allowed
    PatternOptionError         that is not a regular expression
  UnsupportedOptionError     an unsupported option that would change the result
  InvalidVersionError        a version that is not an integer
    TimeTravelVersionError     in versionAsOf
  InvalidTimestampError      a timestamp that cannot be parsed
  TimeTravelWithFeedError    versionAsOf or timestampAsOf beside readChangeFeed
  BothTimeTravelOptionsError versionAsOf beside timestampAsOf
  TwoTimeTravelsError        one of these beside a version in the path

Arguments that are refused at the call, as TypeError or ValueError as usual in Python.

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
class IllegalOptionError(DeltaError):
    """An option has a value that is not allowed."""

    code: ClassVar[str] = "DELTA_ILLEGAL_OPTION"
    option: str
    value: str
    needs: str

    def __str__(self) -> str:
        return (
            f"option {self.option} is {self.value!r}, but needs to be {self.needs}\n"
            f"hint: set {self.option} to such a value, or leave it out"
        )


@dataclass(eq=False, kw_only=True)
class PatternOptionError(IllegalOptionError):
    """An option is not a regular expression."""

    code: ClassVar[str] = "DELTA_REGEX_OPT_SYNTAX_ERROR"


@dataclass(eq=False, kw_only=True)
class UnsupportedOptionError(DeltaError):
    """An unsupported option that would change which rows are written or replaced."""

    code: ClassVar[str] = "DELTA_ILLEGAL_USAGE"
    option: str
    operation: str
    hint: str

    def __str__(self) -> str:
        return (
            f"option {self.option} is not supported by {self.operation}, and without it other "
            f"rows would be replaced\nhint: {self.hint}"
        )


@dataclass(eq=False, kw_only=True)
class InvalidVersionError(DeltaError):
    """A version is not a 64-bit integer."""

    code: ClassVar[str] = "DELTA_VERSION_INVALID"
    option: str
    value: str

    def __str__(self) -> str:
        return (
            f"{self.option} is {self.value!r}, which is not a version\n"
            "hint: give an integer such as 0 or 42"
        )


@dataclass(eq=False, kw_only=True)
class TimeTravelVersionError(InvalidVersionError):
    """The version to read is not a 64-bit integer."""

    code: ClassVar[str] = "DELTA_TIME_TRAVEL_INVALID_BEGIN_VALUE"


@dataclass(eq=False, kw_only=True)
class InvalidTimestampError(DeltaError):
    """A timestamp that Spark cannot cast to TIMESTAMP."""

    code: ClassVar[str] = "DELTA_TIMESTAMP_INVALID"
    option: str
    value: str

    def __str__(self) -> str:
        return (
            f"{self.option}: The provided timestamp ({self.value!r}) cannot be converted to a "
            "valid timestamp\n"
            "hint: write it as '2024-01-31', '2024-01-31 23:59:59' or '2024-01-31T23:59:59.999Z'"
        )


@dataclass(eq=False, kw_only=True)
class TimeTravelWithFeedError(DeltaError):
    """A time travel option was given for a change feed."""

    code: ClassVar[str] = "DELTA_UNSUPPORTED_TIME_TRAVEL_VIEWS"
    option: str

    def __str__(self) -> str:
        return (
            f"option {self.option} is set, but a change feed cannot be read as of a version\n"
            "hint: give the range with startingVersion and endingVersion, or their timestamps"
        )


@dataclass(eq=False, kw_only=True)
class BothTimeTravelOptionsError(DeltaError):
    """A read names both a version and a timestamp."""

    code: ClassVar[str] = "DELTA_ONEOF_IN_TIMETRAVEL"

    def __str__(self) -> str:
        return (
            "a read names both a version and a timestamp, expected one of them\n"
            "hint: leave out versionAsOf or timestampAsOf"
        )


@dataclass(eq=False, kw_only=True)
class TwoTimeTravelsError(DeltaError):
    """The path names a version or a time, and so does the read."""

    code: ClassVar[str] = "DELTA_UNSUPPORTED_TIME_TRAVEL_MULTIPLE_FORMATS"
    path: str

    def __str__(self) -> str:
        return (
            f"the read names a version or a time, and so does the path {self.path}\n"
            "hint: leave out one of them"
        )


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
            'hint: name columns and their new values, as in {"status": "\'paid\'"}'
        )
