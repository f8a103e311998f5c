"""Changelog: what to read for a feed that is derived, netted or follows column renames.

    commits -> per commit: change files, or the files before and after it
            -> rows that are changes as they are (`direct`), and rows to compare first
            -> an engine compares them, nets all of them, and returns the requested columns

Rows are compared by row ids if row tracking provides them, by keys if they are given, and else as
whole rows. Only commits that may have both deleted and inserted rows are compared. An open end is
resolved when the feed is opened. No vector and no data file is read here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from msgspec import Struct

from truckee.changes.changelog.column_history import ColumnHistory, FollowedColumn
from truckee.changes.columns import feed_schema
from truckee.changes.read_schema import ReadSchema, nullable_everywhere
from truckee.options.feed_shape import ColumnFollowing, FeedShape
from truckee.protocol.schema import PrimitiveType, StructField, StructType
from truckee.scan.scan_file import ScanFile
from truckee.storage.base import Storage

SCHEMA_VERSION_COLUMN = "_schema_version"
CHANGE_SOURCE_COLUMN = "_change_source"


class RowIdentity(Enum):
    """What identifies a deleted and an inserted row as the same one, as in `_change_source`."""

    ROW_IDS = "row_ids"
    KEYS = "keys"
    ROWS = "rows"


class HeldIds(Struct, frozen=True):
    """The names of the columns that store the id and the version of moved rows."""

    row_id: str
    row_version: str


class FeedPart(Struct, frozen=True):
    """Files that are read in the same way: those of one era, given by its index.

    With `held_ids`, the columns of row ids are read as well, and `read` has them.
    """

    era: int
    read: ReadSchema
    files: tuple[ScanFile, ...]
    held_ids: HeldIds | None = None


@dataclass(frozen=True, eq=False)
class Changelog:
    """What to read for the versions `start..end`, and how to combine it.

    `direct` are rows that are changes as they are. Those of `compared` cancel or pair within their
    version, by keys if there are any, and else as whole rows; those of `identified` by their ids.
    `net_by` says how the range is netted, None if it is not; rows of only one side need no netting.
    `distrusted` are versions whose writer may have assigned new ids to rows that it moved.
    """

    storage: Storage
    shape: FeedShape
    start: int
    end: int
    history: ColumnHistory
    direct: tuple[FeedPart, ...] = ()
    compared: tuple[FeedPart, ...] = ()
    identified: tuple[FeedPart, ...] = ()
    net_by: RowIdentity | None = None
    distrusted: frozenset[int] = frozenset()
    sources: Mapping[int, str] | None = None
    schema_versions: tuple[int, ...] = ()
    shown_names: frozenset[str] | None = None

    @property
    def columns(self) -> tuple[FollowedColumn, ...]:
        """The table's columns in the result."""
        if self.shape.following is ColumnFollowing.SUPERSET:
            names = self.shown_names
            found = self.history.columns
            return tuple(c for c in found if names is None or c.field.name in names)
        return self.history.current

    @property
    def table_schema(self) -> StructType:
        """The table's columns in the result, with their types."""
        if self.shape.following is ColumnFollowing.SUPERSET:
            return StructType(tuple(column.field for column in self.columns))
        shown = nullable_everywhere(self.history.eras[-1].schema)
        assert isinstance(shown, StructType)
        return shown

    @property
    def schema(self) -> StructType:
        """The columns of the feed: the table's, the feed's own three, and requested extra ones."""
        extra = []
        if self.shape.schema_version:
            extra.append(StructField(SCHEMA_VERSION_COLUMN, PrimitiveType("long")))
        if self.shape.change_source:
            extra.append(StructField(CHANGE_SOURCE_COLUMN, PrimitiveType("string")))
        return StructType((*feed_schema(self.table_schema).fields, *extra))

    @property
    def parts(self) -> tuple[FeedPart, ...]:
        """All parts that are read."""
        return (*self.direct, *self.compared, *self.identified)

    @property
    def files(self) -> tuple[ScanFile, ...]:
        """All files that are read."""
        return tuple(file for part in self.parts for file in part.files)

    @property
    def pairs_by_keys(self) -> bool:
        """Whether compared rows are paired as updates, by keys."""
        return bool(self.shape.keys) and self.shape.compute_updates is not False
