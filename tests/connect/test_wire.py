"""Arguments, errors and requests as clients send them."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import pytest
from pyspark.sql.types import ArrayType, LongType, StringType, StructField, StructType

from truckee import IdentityGenerator
from truckee.connect.wire import (
    TYPE_URL,
    Request,
    error_from,
    error_text,
    from_wire,
    request_in,
    to_wire,
)
from truckee.errors import ConcurrentAppendException, UntestedSparkError
from truckee.errors.options import ArgumentTypeError
from truckee.errors.sql import StatementNotAllowedError

_FIELD = StructField("id", LongType(), nullable=False, metadata={"comment": "a number"})


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        7,
        1.5,
        "text",
        ["a", ["b"]],
        {"dict": {"value": 1}, "other": None},
        dt.datetime(2026, 1, 1, 8, tzinfo=dt.timezone.utc),
        dt.date(2026, 1, 1),
        StructType([_FIELD]),
        _FIELD,
        ArrayType(StringType()),
        IdentityGenerator(start=3, step=2),
    ],
    ids=str,
)
def test_arguments_arrive_as_they_were_sent(value: object) -> None:
    sent = json.dumps(to_wire(value, lambda _: None, what="an argument"))

    assert from_wire(json.loads(sent), {}) == value


def test_paths_arrive_as_text_and_sets_as_lists() -> None:
    assert to_wire(Path("/lake/t"), lambda _: None, what="path") == "/lake/t"
    assert to_wire({1}, lambda _: None, what="protect") == [1]


def test_other_values_are_refused() -> None:
    with pytest.raises(ArgumentTypeError) as caught:
        to_wire({"x": object()}, lambda _: None, what="set")

    assert str(caught.value) == (
        "[DELTA_INVALID_ARGUMENT] set['x'] must be a value that can be sent to the server, such as "
        "text, a number or a Column; found object"
    )


def test_a_request_is_found_behind_the_url_of_its_type() -> None:
    request = Request((["forPath", ['/lake/{"truckee": 2}'], {}],), once=True)
    message = b"\n\x12" + TYPE_URL.encode() + b"\x12{" + request.encoded()

    assert request_in(message) == request


def test_messages_of_others_are_left_to_them() -> None:
    assert request_in(b"\n\x05other\x12\x02{}") is None
    assert request_in(b'\n\x05other\x12\x0e{"truckee": 1}') is None


def test_requests_of_another_format_are_refused() -> None:
    message = b"\n\x12" + TYPE_URL.encode() + b'\x12\x10{"truckee": 2}'

    with pytest.raises(StatementNotAllowedError, match="another version of truckee"):
        request_in(message)


def test_errors_arrive_as_the_same_class() -> None:
    raised = ConcurrentAppendException(version=3, operation="WRITE", path="a", partition=None)

    found = error_from(str(error_text(raised)))

    assert isinstance(found, ConcurrentAppendException)
    assert (str(found), found.version) == (str(raised), 3)


def test_lists_in_errors_arrive_as_tuples() -> None:
    raised = UntestedSparkError(found="5.0", tested=("4.2", "4.3"))

    found = error_from(str(error_text(raised)))

    assert isinstance(found, UntestedSparkError)
    assert found.tested == ("4.2", "4.3")
