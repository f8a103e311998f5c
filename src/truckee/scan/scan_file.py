"""ScanFile: the only thing an engine is asked to read, for snapshots, the feed and streams."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import Struct

from truckee.protocol.deletion_vector import DeletionVectorDescriptor
from truckee.protocol.json_text import NOT_JSON, Int64


class RowSelection(Struct, frozen=True):
    """Which rows of a data file are read: those in `within` that are not in `without`.

    None for `within` stands for every row of the file, None for `without` for no row. With these
    two, all cases of the protocol can be told apart without reading a vector:

    | case                                        | within | without |
    |---------------------------------------------|--------|---------|
    | a live file with vector d                   | None   | d       |
    | rows deleted when vector r gave way to a    | a      | r       |
    | rows restored when vector r gave way to a   | r      | a       |
    """

    within: DeletionVectorDescriptor | None = None
    without: DeletionVectorDescriptor | None = None

    @property
    def is_all(self) -> bool:
        """Whether the file is read as it is, with no vector in play."""
        return self.within is None and self.without is None


ALL_ROWS = RowSelection()


class Change(Struct, frozen=True):
    """What the feed says of every row of a file.

    `type` is None for change files, whose rows carry their type in a column of their own.
    """

    type: str | None
    version: int
    timestamp_ms: int | None


class ScanFile(Struct, frozen=True, kw_only=True):
    """One data file, which of its rows to read, and the constants of those rows.

    `path` is decoded, and relative to the table's root or absolute. `version` is the table version
    on whose behalf the file is read: the snapshot's, or that of the change.
    """

    path: str
    size: int
    modification_time: int
    partition_values: Mapping[str, str | None]
    version: int
    rows: RowSelection = ALL_ROWS
    stats: str | None = None
    change: Change | None = None

    @property
    def num_records(self) -> int | None:
        """The number of rows in the file, deleted ones included, if its statistics tell."""
        return num_records(self.stats)


class _RowCount(Struct, rename="camel"):
    num_records: Int64 | None = None


_row_count = msgspec.json.Decoder(_RowCount)


def num_records(stats: str | None) -> int | None:
    """Return the number of rows that statistics tell, or None if they cannot be read."""
    if stats is None:
        return None
    try:
        return _row_count.decode(stats).num_records
    except NOT_JSON:
        return None
