"""What a client sends: calls as JSON, inside a relation that Spark does not know.

    {"truckee": 1, "calls": [["forPath", ["/lake/t"], {}], ["delete", [{"column": "..."}], {}]]}

Each call has a name, its arguments, and those with names; the next one is made on what it returns.
With `"once": true` they are made for their effect, and the answer is one row with one of these:

| column  | what it is                                                                        |
|---------|-----------------------------------------------------------------------------------|
| others  | what the last call returned, if that is a DataFrame                               |
| `value` | true, false, the path of a table, or null                                         |
| `error` | an error of ours, `["ConcurrentAppendException", {"version": 3, ...}]`: the class |
|         | and its fields                                                                    |

| argument                        | JSON                                                      |
|---------------------------------|-----------------------------------------------------------|
| None, bool, int, float, text    | itself; a path is text                                    |
| list, tuple, set                | a list                                                    |
| dict                            | `{"dict": [[key, value], ...]}`                           |
| datetime, date                  | `{"datetime": "..."}`, `{"date": "..."}` in ISO's format  |
| DataType, StructField           | `{"type": {...}}`, `{"field": {...}}`, Spark's own JSON   |
| IdentityGenerator               | `{"identity": [start, step]}`                             |
| Column, DataFrame               | `{"column": "..."}`, `{"frame": "..."}`: Spark's messages |
|                                 | Expression and Relation, in base 64                       |
| a table                         | `{"calls": [...]}`                                        |
"""

from __future__ import annotations

import json
import os
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields
from datetime import date, datetime
from typing import Any, NamedTuple

from pyspark.sql.types import DataType, StructField, StructType, _parse_datatype_json_value

from truckee import errors
from truckee.commands.ddl.table_builder import IdentityGenerator
from truckee.errors.base import DeltaError
from truckee.errors.options import ArgumentTypeError
from truckee.errors.sql import StatementNotAllowedError
from truckee.options.arguments import package_and_type

TYPE_URL = "truckee/DeltaTable"
VALUE = "value"
ERROR = "error"
_START = b'{"truckee": '
_FORMAT = 1

Call = list[Any]
"""A name, arguments, and arguments with names, as in JSON."""


class Request(NamedTuple):
    """Calls, and whether they are made once for their effect, or whenever their rows are read."""

    calls: tuple[Call, ...]
    once: bool = False

    def encoded(self) -> bytes:
        """Return the request as the value of a relation's extension."""
        return json.dumps({"truckee": _FORMAT, **self._asdict()}).encode()


def request_in(message: bytes) -> Request | None:
    """Return the request in the extension of a relation; None if it is not one of ours.

    Before the JSON, the message has the URL of its type and two lengths.
    """
    at = message.find(_START)
    if TYPE_URL.encode() not in message[:at]:
        return None
    found = json.loads(message[at:])
    if found["truckee"] != _FORMAT:
        raise StatementNotAllowedError(
            operation="a request of another version of truckee",
            hint="use the same version on the server and its clients",
        )
    return Request(tuple(found["calls"]), found["once"])


def error_text(error: DeltaError) -> str | None:
    """Return an error as JSON; None if JSON cannot hold one of its fields."""
    values = {field.name: getattr(error, field.name) for field in fields(error)}
    try:
        return json.dumps([(error.plain or type(error)).__name__, values])
    except TypeError:
        return None


def error_from(text: str) -> DeltaError:
    """Return the error of `error_text`."""
    name, values = json.loads(text)
    kind: type[DeltaError] = getattr(errors, name)
    return kind(**{key: _frozen(value) for key, value in values.items()})


def _frozen(value: Any) -> Any:
    return tuple(_frozen(each) for each in value) if isinstance(value, list) else value


def to_wire(value: Any, own: Callable[[Any], Any], *, what: str) -> Any:
    """Return an argument as JSON; `own` gives that of columns, frames and tables, or None."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, datetime):
        return {"datetime": value.isoformat()}
    if isinstance(value, date):
        return {"date": value.isoformat()}
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, StructField):
        return {"field": value.jsonValue()}
    if isinstance(value, DataType):
        return {"type": value.jsonValue()}
    if isinstance(value, IdentityGenerator):
        return {"identity": [value.start, value.step]}
    if isinstance(value, Mapping):
        pairs = [
            [to_wire(key, own, what=what), to_wire(each, own, what=f"{what}[{key!r}]")]
            for key, each in value.items()
        ]
        return {"dict": pairs}
    if isinstance(value, list | tuple | AbstractSet):
        return [to_wire(each, own, what=what) for each in value]
    found = own(value)
    if found is None:
        needs = "be a value that can be sent to the server, such as text, a number or a Column"
        raise ArgumentTypeError(what=what, needs=needs, found=package_and_type(value))
    return found


def message_text(message: Any) -> str:
    """Return a message of Spark Connect as text."""
    return b64encode(message.SerializeToString()).decode()


def from_wire(value: Any, own: Mapping[str, Callable[[Any], Any]]) -> Any:
    """Return an argument from its JSON; `own` makes columns, frames and tables."""
    if isinstance(value, list):
        return [from_wire(each, own) for each in value]
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind in ("column", "frame"):
        return own[kind](b64decode(content))
    if kind == "dict":
        return {from_wire(key, own): from_wire(each, own) for key, each in content}
    return {**_KINDS, **own}[kind](content)


_KINDS: Mapping[str, Callable[[Any], Any]] = {
    "datetime": datetime.fromisoformat,
    "date": date.fromisoformat,
    "field": StructField.fromJson,
    "type": lambda content: (
        StructType.fromJson(content)
        if isinstance(content, dict) and content.get("type") == "struct"
        else _parse_datatype_json_value(content)
    ),
    "identity": lambda content: IdentityGenerator(*content),
}
