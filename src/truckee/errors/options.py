"""Errors of options: values that are not allowed, or options that exclude each other.

Arguments that are refused at the call, as TypeError or ValueError as usual in Python.
"""

from __future__ import annotations

from truckee.errors.base import DeltaError


class IllegalOptionError(
    DeltaError, code="DELTA_ILLEGAL_OPTION", state="42616", spark="IllegalArgumentException"
):
    """An option has a value that is not allowed."""

    option: str
    value: str
    needs: str
    text = "option {option} is {value!r}, but needs to be {needs}"
    hint = "set {option} to such a value, or leave it out"


class PatternOptionError(IllegalOptionError, code="DELTA_REGEX_OPT_SYNTAX_ERROR", state="2201B"):
    """An option is not a regular expression."""


class UnsupportedOptionError(
    DeltaError, code="DELTA_ILLEGAL_USAGE", state="42601", spark="AnalysisException"
):
    """An unsupported option that would change which rows are written or replaced."""

    option: str
    operation: str
    hint: str
    text = (
        "option {option} is not supported by {operation}, and without it other rows would be "
        "replaced"
    )


class InvalidVersionError(
    DeltaError, code="DELTA_VERSION_INVALID", state="42815", spark="AnalysisException"
):
    """A version is not a 64-bit integer."""

    option: str
    value: str
    text = "{option} is {value!r}, which is not a version"
    hint = "give an integer such as 0 or 42"


class TimeTravelVersionError(
    InvalidVersionError,
    code="DELTA_TIME_TRAVEL_INVALID_BEGIN_VALUE",
    state="42604",
    spark="IllegalArgumentException",
):
    """The version to read is not a 64-bit integer."""


class InvalidTimestampError(
    DeltaError, code="DELTA_TIMESTAMP_INVALID", state="42816", spark="AnalysisException"
):
    """A timestamp that Spark cannot cast to TIMESTAMP."""

    option: str
    value: str
    text = "{option}: The provided timestamp ({value!r}) cannot be converted to a valid timestamp"
    hint = "write it as '2024-01-31', '2024-01-31 23:59:59' or '2024-01-31T23:59:59.999Z'"


class TimeTravelWithFeedError(
    DeltaError, code="DELTA_UNSUPPORTED_TIME_TRAVEL_VIEWS", state="0AKDC", spark="AnalysisException"
):
    """A time travel option was given for a change feed."""

    option: str
    text = "option {option} is set, but a change feed cannot be read as of a version"
    hint = "give the range with startingVersion and endingVersion, or their timestamps"


class BothTimeTravelOptionsError(
    DeltaError, code="DELTA_ONEOF_IN_TIMETRAVEL", state="42601", spark="IllegalArgumentException"
):
    """A read names both a version and a timestamp."""

    text = "a read names both a version and a timestamp, expected one of them"
    hint = "leave out versionAsOf or timestampAsOf"


class TwoTimeTravelsError(
    DeltaError,
    code="DELTA_UNSUPPORTED_TIME_TRAVEL_MULTIPLE_FORMATS",
    state="42613",
    spark="AnalysisException",
):
    """The path names a version or a time, and so does the read."""

    path: str
    text = "the read names a version or a time, and so does the path {path}"
    hint = "leave out one of them"


class ArgumentTypeError(DeltaError, TypeError, code="DELTA_INVALID_ARGUMENT", state="22023"):
    """An argument has a wrong type; `needs` completes the sentence "it must ..."."""

    what: str
    needs: str
    found: str
    hint: str = ""
    text = "{what} must {needs}; found {found}"


class ArgumentValueError(DeltaError, ValueError, code="DELTA_ILLEGAL_ARGUMENT", state="22023"):
    """An argument has a wrong value; `needs` completes the sentence "it needs to ..."."""

    what: str
    needs: str
    found: str
    text = "{what} needs to {needs} but got {found}"


class NoAssignmentsError(DeltaError, ValueError, code="DELTA_MISSING_SET_COLUMN", state="42703"):
    """An update without any assignment."""

    what: str
    text = "the values of {what} cannot be None or empty"
    hint = 'name columns and their new values, as in {{"status": "\'paid\'"}}'
