"""StreamOffset: how far a stream has read, in the JSON that Delta's own streams write.

    {"sourceVersion":1,"reservoirId":"<table id>","reservoirVersion":5,"index":-1,
     "isStartingVersion":false}

| index in memory   | in JSON | `sourceVersion` | everything is done up to               |
|-------------------|---------|-----------------|----------------------------------------|
| `BASE` (-100)     | -1      | 1               | the version before this one            |
| -20 and -19       | as is   | 3               | a change of metadata, before and after |
| 0, 1, 2, ...      | as is   | 1               | that entry of the version, inclusive   |

So `(5, BASE)` says that nothing of version 5 was read yet, and version 5 need not exist.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from truckee.errors.streaming import (
    DifferentTableError,
    InvalidOffsetFormatError,
    InvalidOffsetVersionError,
    NewerOffsetError,
)
from truckee.protocol.json_text import NOT_JSON

BASE = -100
METADATA_CHANGE = -20
POST_METADATA_CHANGE = -19
END = (1 << 63) - 1 - 100

_BASE_IN_JSON = -1
_PLAIN = 1
_WITH_METADATA_CHANGES = 3

Position = tuple[int, int]
"""A version, and an index inside it. Positions sort in the order of the stream."""


class StreamOffset(Struct, frozen=True, kw_only=True):
    """Everything up to and including `position` is done.

    `is_initial` says that `version` is the snapshot with which the stream began, and that the
    stream is still reading it.
    """

    table_id: str
    version: int
    index: int = BASE
    is_initial: bool = False

    @property
    def position(self) -> Position:
        """The position of the offset in the stream."""
        return self.version, self.index

    def to_dict(self) -> dict[str, Any]:
        """Return the offset as Delta's JSON object, keys in its order."""
        has_change = self.index in (METADATA_CHANGE, POST_METADATA_CHANGE)
        return {
            "sourceVersion": _WITH_METADATA_CHANGES if has_change else _PLAIN,
            "reservoirId": self.table_id,
            "reservoirVersion": self.version,
            "index": _BASE_IN_JSON if self.index == BASE else self.index,
            "isStartingVersion": self.is_initial,
        }

    def to_json(self) -> str:
        """Return the offset as the text for a checkpoint."""
        return msgspec.json.encode(self.to_dict()).decode()


class _Wire(Struct, rename="camel"):
    source_version: int
    reservoir_id: str
    reservoir_version: int
    index: int
    is_starting_version: bool


def parse_offset(offset: str | dict[str, Any], *, table: str, table_id: str) -> StreamOffset:
    """Return an offset of the table at `table`, whose id is `table_id`, from its JSON.

    Raises `InvalidOffsetFormatError`, `InvalidOffsetVersionError`, `NewerOffsetError`, and
    `DifferentTableError` for the offset of another table.
    """
    fields = _fields(offset)
    source_version = fields.get("sourceVersion")
    if not isinstance(source_version, int):
        raise InvalidOffsetFormatError(offset=_text(offset), reason="it has no sourceVersion")
    if source_version > _WITH_METADATA_CHANGES:
        raise NewerOffsetError(source_version=source_version)
    if source_version not in (_PLAIN, _WITH_METADATA_CHANGES):
        raise InvalidOffsetVersionError(source_version=source_version)
    try:
        wire = msgspec.convert(fields, _Wire)
    except NOT_JSON as error:
        raise InvalidOffsetFormatError(offset=_text(offset), reason=str(error)) from error
    if wire.reservoir_id != table_id:
        raise DifferentTableError(table=table, expected=wire.reservoir_id, found=table_id)
    is_base = wire.index == _BASE_IN_JSON and source_version < _WITH_METADATA_CHANGES
    return StreamOffset(
        table_id=table_id,
        version=wire.reservoir_version,
        index=BASE if is_base else wire.index,
        is_initial=wire.is_starting_version,
    )


def _fields(offset: str | dict[str, Any]) -> dict[str, Any]:
    if isinstance(offset, dict):
        return offset
    try:
        return msgspec.json.decode(offset, type=dict[str, Any])
    except NOT_JSON as error:
        raise InvalidOffsetFormatError(offset=offset, reason=str(error)) from error


def _text(offset: str | dict[str, Any]) -> str:
    return offset if isinstance(offset, str) else msgspec.json.encode(offset).decode()
