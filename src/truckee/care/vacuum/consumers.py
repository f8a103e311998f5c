"""The positions of a table's incremental readers, so that a vacuum keeps the files they need.

A stream writes its position to its checkpoint folder: `offsets/0`, `offsets/1` and so on, each with
one line of JSON per source. The newest batch may still be running, so the stream would restart from
the offset before it; a stream that is still in its first batch needs everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from truckee.errors.commands.care import ConsumerNotFoundError
from truckee.log.snapshot import Snapshot
from truckee.storage import open_storage
from truckee.storage.base import Storage

Consumer = str | int
"""The checkpoint folder of a stream, or the version from which somebody reads."""

_NOTHING_YET = "-"
_EVERYTHING = 0


class _Offset(msgspec.Struct, rename="camel"):
    reservoir_id: str | None = None
    reservoir_version: int | None = None
    is_starting_version: bool = False


def needed_from(snapshot: Snapshot, consumers: Iterable[Consumer]) -> int | None:
    """Return the oldest version that any of the consumers still needs, None without consumers.

    Raises ConsumerNotFoundError for a consumer whose position is unknown.
    """
    versions = [_version(snapshot, consumer) for consumer in consumers]
    return min(versions, default=None)


def _version(snapshot: Snapshot, consumer: Consumer) -> int:
    if isinstance(consumer, bool) or not isinstance(consumer, str | int):
        kind = type(consumer).__name__
        raise ConsumerNotFoundError(consumer=repr(consumer), reason=f"it is of type {kind}")
    if isinstance(consumer, int):
        if not 0 <= consumer <= snapshot.version:
            reason = f"the table has the versions up to {snapshot.version}"
            raise ConsumerNotFoundError(consumer=f"a reader of version {consumer}", reason=reason)
        return consumer
    found = list(_offsets(open_storage(consumer), snapshot.metadata.id))
    if not found:
        reason = f"no offset in it is one of the table {snapshot.storage.root}"
        raise ConsumerNotFoundError(consumer=f"the stream of {consumer}", reason=reason)
    return min(found)


def _offsets(checkpoint: Storage, table_id: str) -> Iterator[int]:
    """Yield the versions of a table in the last two batches of a checkpoint."""
    names = [file.path for file in checkpoint.list_from("offsets/0")]
    batches = sorted(
        (path for path in names if path.rpartition("/")[2].isdigit()),
        key=lambda path: int(path.rpartition("/")[2]),
    )
    for path in batches[-2:]:
        for line in checkpoint.read(path).decode().splitlines()[2:]:
            if line == _NOTHING_YET:
                continue
            offset = _offset(line)
            if offset.reservoir_id == table_id and offset.reservoir_version is not None:
                is_first = len(batches) == 1 and not offset.is_starting_version
                yield _EVERYTHING if is_first else offset.reservoir_version


def _offset(line: str) -> _Offset:
    try:
        return msgspec.json.decode(line, type=_Offset)
    except msgspec.DecodeError:
        return _Offset()
