"""What tells JSON that is meant for us from bytes that are not."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

NOT_JSON = (
    msgspec.DecodeError,
    UnicodeDecodeError,
    RecursionError,
)
"""What a decoder raises: no JSON, wrong types, bad UTF-8, and nesting deeper than its stack."""

Int64 = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
"""A number that the protocol calls a long. JSON knows no bound, and every other reader does."""

Int32 = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]

LAST_MOMENT_MS = 253_402_300_799_999
"""The last millisecond of the year 9999, after which dates have no text."""

MomentMs = Annotated[int, Meta(ge=0, le=LAST_MOMENT_MS)]
