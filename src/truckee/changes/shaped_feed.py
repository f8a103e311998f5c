"""ShapedFeed: what to read for a feed that is derived, netted or follows its columns.

    commits -> per commit: change files, or the files before and after it
            -> rows that are changes as they are (`told`), and rows to be compared first
            -> an engine compares them, nets all, and shows the columns that were asked for

Rows are compared by row ids where row tracking gives some, by keys where those are given, and else
as whole rows. Only commits that may have deleted and inserted rows are compared at all. An open
end is bound when the feed is opened. No vector and no data file is read here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from msgspec import Struct

from truckee.changes.column_history import ColumnHistory, FollowedColumn
from truckee.changes.columns import feed_schema
from truckee.changes.read_schema import ReadSchema, nullable_everywhere
from truckee.options.feed_shape import ColumnFollowing, FeedShape
from truckee.protocol.schema import PrimitiveType, StructField, StructType
from truckee.scan.scan_file import ScanFile
from truckee.storage.base import Storage

SCHEMA_VERSION_COLUMN = "_schema_version"
CHANGE_SOURCE_COLUMN = "_change_source"


class RowIdentity(Enum):
    """What says that a deleted and an inserted row are the same one; as `_change_source` tells."""

    ROW_IDS = "row_ids"
    KEYS = "keys"
    ROWS = "rows"


class HeldIds(Struct, frozen=True):
    """The names of the columns in which rows that were moved keep their id and their version."""

    row_id: str
    row_version: str


class FeedPart(Struct, frozen=True):
    """Files that are read alike: those of one era, whose place in the history is given.

    With `held_ids`, the columns of row ids are read as well, and `read` has them.
    """

    era: int
    read: ReadSchema
    files: tuple[ScanFile, ...]
    held_ids: HeldIds | None = None


@dataclass(frozen=True, eq=False)
class ShapedFeed:
    """What to read for the versions `start..end`, and what to make of it.

    `told` are rows that are changes as they are. Those of `compared` cancel or pair within their
    version, by keys if there are any to pair them with, and else as whole rows; those of
    `identified` by their ids. `net_by` says how the range is netted, None if it is not; rows of
    one side only need no netting. `distrusted` are versions whose writer may have given new ids
    to rows that it moved.
    """

    storage: Storage
    shape: FeedShape
    start: int
    end: int
    history: ColumnHistory
    told: tuple[FeedPart, ...] = ()
    compared: tuple[FeedPart, ...] = ()
    identified: tuple[FeedPart, ...] = ()
    net_by: RowIdentity | None = None
    distrusted: frozenset[int] = frozenset()
    sources: Mapping[int, str] | None = None
    schema_versions: tuple[int, ...] = ()
    shown_names: frozenset[str] | None = None

    @property
    def columns(self) -> tuple[FollowedColumn, ...]:
        """The table's columns that are shown."""
        if self.shape.following is ColumnFollowing.SUPERSET:
            names = self.shown_names
            found = self.history.columns
            return tuple(c for c in found if names is None or c.field.name in names)
        return self.history.current

    @property
    def table_schema(self) -> StructType:
        """The table's columns that are shown, with the types that they are shown with."""
        if self.shape.following is ColumnFollowing.SUPERSET:
            return StructType(tuple(column.field for column in self.columns))
        shown = nullable_everywhere(self.history.eras[-1].schema)
        assert isinstance(shown, StructType)
        return shown

    @property
    def schema(self) -> StructType:
        """The columns of the feed: the table's, the feed's own three, and those asked for."""
        extra = []
        if self.shape.schema_version:
            extra.append(StructField(SCHEMA_VERSION_COLUMN, PrimitiveType("long")))
        if self.shape.change_source:
            extra.append(StructField(CHANGE_SOURCE_COLUMN, PrimitiveType("string")))
        return StructType((*feed_schema(self.table_schema).fields, *extra))

    @property
    def parts(self) -> tuple[FeedPart, ...]:
        """All that is read."""
        return (*self.told, *self.compared, *self.identified)

    @property
    def files(self) -> tuple[ScanFile, ...]:
        """All files that are read."""
        return tuple(file for part in self.parts for file in part.files)

    @property
    def pairs_by_keys(self) -> bool:
        """Whether rows that are compared are paired as updates, by keys."""
        return bool(self.shape.keys) and self.shape.compute_updates is not False
