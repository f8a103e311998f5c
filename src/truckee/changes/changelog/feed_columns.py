"""FeedColumns: the columns of a feed that is derived, netted or follows column renames."""

from __future__ import annotations

from dataclasses import dataclass

from truckee.changes.changelog.column_history import ColumnHistory, FollowedColumn
from truckee.changes.read_schema import nullable_everywhere
from truckee.options.feed_shape import ColumnFollowing, FeedShape
from truckee.protocol.schema import StructType


@dataclass(frozen=True)
class FeedColumns:
    """The table's columns in a feed, of those in all eras.

    A superset may be of some columns only: those that a stream was loaded with.
    """

    shape: FeedShape
    history: ColumnHistory
    superset_of: frozenset[str] | None = None

    @property
    def shown(self) -> tuple[FollowedColumn, ...]:
        """The columns."""
        if self.shape.following is ColumnFollowing.SUPERSET:
            names, found = self.superset_of, self.history.columns
            return tuple(c for c in found if names is None or c.field.name in names)
        return self.history.current

    @property
    def schema(self) -> StructType:
        """The columns with their types."""
        if self.shape.following is ColumnFollowing.SUPERSET:
            return StructType(tuple(column.field for column in self.shown))
        shown = nullable_everywhere(self.history.eras[-1].schema)
        assert isinstance(shown, StructType)
        return shown
