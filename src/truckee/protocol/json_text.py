"""What JSON decoders raise, and the limits of numbers in JSON."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

NOT_JSON = (
    msgspec.DecodeError,
    UnicodeDecodeError,
    RecursionError,
)
"""What a decoder raises: not JSON, wrong types, bad UTF-8, or nesting deeper than its stack."""

Int64 = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
"""A long of the protocol. JSON numbers have no limit, but other readers fail beyond 64 bits."""

Int32 = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]

Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]

LAST_MOMENT_MS = 253_402_300_799_999
"""The last millisecond of the year 9999; later dates have no ISO text."""

MomentMs = Annotated[int, Meta(ge=0, le=LAST_MOMENT_MS)]
