"""What JSON decoders raise, and the limits of numbers in JSON.

Any writer may have put values into a table's metadata. Those from which a commit computes new ones
are checked before it does: a mark that is a text, or at the end of the numbers, would make a commit
that nobody can read, or rows that share an id.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from truckee.errors.commit import InvalidStateError

NOT_JSON = (
    msgspec.DecodeError,
    UnicodeDecodeError,
    RecursionError,
)
"""What a decoder raises: not JSON, wrong types, bad UTF-8, or nesting deeper than its stack."""

LARGEST_INT32 = 2**31 - 1
LARGEST_INT64 = 2**63 - 1

Int64 = Annotated[int, Meta(ge=-(2**63), le=LARGEST_INT64)]
"""A long of the protocol. JSON numbers have no limit, but other readers fail beyond 64 bits."""

Int32 = Annotated[int, Meta(ge=-(2**31), le=LARGEST_INT32)]

Count = Annotated[int, Meta(ge=0, le=LARGEST_INT64)]

LAST_MOMENT_MS = 253_402_300_799_999
"""The last millisecond of the year 9999; later dates have no ISO text."""

MomentMs = Annotated[int, Meta(ge=0, le=LAST_MOMENT_MS)]


def whole_number(key: str, found: object, *, least: int, most: int = LARGEST_INT64) -> int:
    """Return a number of the metadata; InvalidStateError if it is none, or out of range."""
    if type(found) is int and least <= found <= most:
        return found
    needs = f"a number from {least} to {most}"
    raise InvalidStateError(key=key, found=shown(found), needs=needs)


def json_object(key: str, text: str) -> Mapping[str, Any]:
    """Return the object in a JSON text; InvalidStateError if it is something else."""
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except NOT_JSON as error:
        raise InvalidStateError(key=key, found=text, needs="a JSON object") from error


def shown(found: object) -> str:
    """Return a value as a message shows it: texts in quotes, the rest as in JSON."""
    try:
        return msgspec.json.encode(found).decode()
    except (TypeError, ValueError, OverflowError):
        return str(found)
