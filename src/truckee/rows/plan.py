"""RowPlan: which rows come out of a read, as a value. Engines run it, each by one `match`.

`ScanFile` says which rows of a file are read; a plan says what becomes of them:

| plan        | its rows                                                                     |
|-------------|------------------------------------------------------------------------------|
| `Read`      | those of files, with the schema of one era                                   |
| `Recorded`  | those of a feed, up to the latest version when they are read                 |
| `History`   | every image of some rows                                                     |
| `Union`     | those of all parts, with some of their columns                               |
| `Recast`    | the same, with the columns of another era                                    |
| `Cancelled` | without deleted and inserted rows that are equal                             |
| `Paired`    | a deleted and an inserted row of one identity are the images of an update    |
| `Net`       | many changes of a row are one                                                |
| `Retyped`   | the same, with other types of change                                         |
| `Noted`     | the same, with the schema version and the source of each change              |

For example, a derived feed of versions 4 to 6, of which version 5 rewrote a file, is a `Read` of
the files of versions 4 and 6, whose rows are changes as they are, and a `Cancelled` of a `Read` of
the files before and after the rewrite, as the parts of one `Union`.

No vector and no data file is read to make a plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from truckee.changes.columns import (
    CHANGE_TYPE_FIELD,
    COMMIT_FIELDS,
    COMMIT_TIMESTAMP,
    COMMIT_VERSION,
    DELETE,
    FEED_FIELDS,
    INSERT,
    UPDATE_POSTIMAGE,
    UPDATE_PREIMAGE,
)
from truckee.changes.diff.row_timelines import RowTimelines
from truckee.changes.missing_files import missing_file_error
from truckee.changes.plan import ChangeFeed
from truckee.changes.read_schema import feed_schema
from truckee.changes.row_identity import ID_FIELDS, HeldIds
from truckee.errors.base import DeltaError
from truckee.log.snapshot import Snapshot
from truckee.protocol.schema import DataType, PrimitiveType, StructField, StructType
from truckee.protocol.table_configuration import TableConfiguration
from truckee.scan.scan_file import ScanFile
from truckee.storage.base import Storage

SCHEMA_VERSION_COLUMN = "_schema_version"
CHANGE_SOURCE_COLUMN = "_change_source"

WITHIN_A_VERSION = (COMMIT_VERSION, COMMIT_TIMESTAMP)
SIDES_OF_A_VERSION = ("deleted by one version", "inserted by one version")
ALONE = (DELETE, INSERT)
UPDATES = (UPDATE_PREIMAGE, UPDATE_POSTIMAGE)
APART = {UPDATE_PREIMAGE: DELETE, UPDATE_POSTIMAGE: INSERT}
"""Updates as deletes and inserts."""
REVERSED = {DELETE: INSERT, UPDATE_PREIMAGE: INSERT, INSERT: DELETE, UPDATE_POSTIMAGE: DELETE}
"""The changes that lead back."""

_HIDDEN = {field.name for field in (*FEED_FIELDS, *ID_FIELDS)}
_WHEN = {field.name: field for field in COMMIT_FIELDS}


class Changes(NamedTuple):
    """Some of the changes: those of these types and, unless None, of these versions."""

    types: tuple[str, ...]
    versions: frozenset[int] | None = None


class Key(NamedTuple):
    """A column that identifies rows, by the name that the user gave; it may be in structs."""

    name: str
    path: tuple[str, ...]

    @classmethod
    def column(cls, name: str) -> Key:
        """Return a column of the table as a key."""
        return cls(name, (name,))


@dataclass(frozen=True, eq=False, kw_only=True)
class Read:
    """The rows of files that are read with the columns of `table`.

    With `ids`, rows have their id of row tracking as `ROW_ID`, and `ROW_VERSION` if its column is
    known; `table` then has the hidden columns and constants that these are made of. `label` says in
    plans of queries what is read. `zone` is that of timestamps without one, for the engine that has
    no session. `missing` explains why a file is gone.
    """

    storage: Storage
    version: int
    table: TableConfiguration
    files: Sequence[ScanFile]
    is_feed: bool = True
    ids: HeldIds | None = None
    label: str = ""
    zone: str = "UTC"
    missing: Callable[[], DeltaError | None] | None = None

    @property
    def schema(self) -> StructType:
        """The columns of the rows."""
        own = feed_schema(self.table.schema) if self.is_feed else self.table.schema
        if self.ids is None:
            return own
        return StructType((*own.fields, *ID_FIELDS[: 1 + (self.ids.row_version is not None)]))


@dataclass(frozen=True, eq=False)
class Recorded:
    """The rows of a feed as they were recorded; an open range ends when they are read."""

    feed: ChangeFeed

    @property
    def schema(self) -> StructType:
        """The columns of the rows."""
        return self.feed.schema

    def settled(self) -> Read:
        """Return the rows up to the version that is the latest now, if the range is open."""
        plan = self.feed.plan()
        return Read(
            storage=self.feed.storage,
            version=plan.end,
            table=plan.configuration,
            files=plan.files,
            label=f"changes from version {plan.start}",
            missing=lambda: missing_file_error(self.feed.storage, plan.files, end=plan.end),
        )


@dataclass(frozen=True, eq=False)
class History:
    """Every image of the rows that a condition is true of, or that are identified like them.

    `sources` are the reads of all files of the timelines.
    """

    timelines: RowTimelines
    sources: tuple[Read, ...]
    condition: str
    keys: tuple[str, ...] | None = None

    @property
    def schema(self) -> StructType:
        """The columns of the rows."""
        return self.timelines.history_schema


@dataclass(frozen=True, eq=False)
class Union:
    """The rows of all parts, with these columns, which each part has by their names."""

    schema: StructType
    parts: tuple[RowPlan, ...] = ()


class Recolumn(NamedTuple):
    """A column, and the column that it is made of, None if it is null in all rows.

    Fields of structs are found by their keys; `wanted` is the type of the column with these keys.
    """

    field: StructField
    source: StructField | None
    wanted: DataType


@dataclass(frozen=True, eq=False)
class Recast:
    """The rows with other columns of the table; the feed's and those of row ids stay.

    The key of a source's field follows from the column mapping `mode`.
    """

    rows: RowPlan
    columns: tuple[Recolumn, ...]
    mode: str = "name"

    @property
    def schema(self) -> StructType:
        """The columns of the rows."""
        kept = (field for field in self.rows.schema.fields if field.name in _HIDDEN)
        return StructType((*(column.field for column in self.columns), *kept))


@dataclass(frozen=True, eq=False, kw_only=True)
class Cancelled:
    """The rows without those that are both deleted and inserted: equal ones cancel one for one.

    Rows are compared only if they are equal in the columns `within`; those that are not of `only`
    stay as they are. Those that are left have the type of their side in `shown_as`.
    """

    rows: RowPlan
    within: tuple[str, ...] = ()
    only: Changes | None = None
    shown_as: tuple[str, str] = ALONE

    @property
    def schema(self) -> StructType:
        """The columns of the rows."""
        return _compared_schema(self.rows, self.within)


@dataclass(frozen=True, eq=False, kw_only=True)
class Paired:
    """The rows with a deleted and an inserted row of one identity as the images of an update.

    Rows are compared only if they are equal in the columns `within`; those that are not of `only`
    stay as they are. A pair is dropped if both images have the same `ROW_VERSION`, where rows have
    one, and with `drop_unchanged` if they are equal. Rows without a partner have the type of their
    side in `shown_as`. If several rows of a side share an identity, reading raises
    `KeysNotUniqueError`, in which `sides` name the two sides.
    """

    rows: RowPlan
    identity: tuple[Key, ...]
    within: tuple[str, ...] = ()
    drop_unchanged: bool = True
    sides: tuple[str, str] = SIDES_OF_A_VERSION
    only: Changes | None = None
    shown_as: tuple[str, str] = ALONE

    @property
    def schema(self) -> StructType:
        """The columns of the rows."""
        return _compared_schema(self.rows, self.within)


@dataclass(frozen=True, eq=False, kw_only=True)
class Net:
    """The net changes of rows: what all their changes together come to.

    With an identity, the first and the last image of a row decide; equal rows cancel without one.
    A version may only have moved the rows of `moved`: its images of a row are no change if they
    have the same `ROW_VERSION` or, where rows have none, are equal. Rows that are not of `only`
    stay as they are.

        version                  4          5          6            net
        id 1                     +a         -a +b                   insert b
        id 2                     -a                    +a           delete a, insert a
        id 2, drop_unchanged     -a                    +a           nothing
    """

    rows: RowPlan
    moved: RowPlan
    identity: tuple[Key, ...] = ()
    as_updates: bool = False
    drop_unchanged: bool = False
    only: Changes | None = None

    @property
    def schema(self) -> StructType:
        """The columns of the rows."""
        return _compared_schema(self.rows, WITHIN_A_VERSION)


@dataclass(frozen=True, eq=False)
class Retyped:
    """The rows with other types of change."""

    rows: RowPlan
    types: Mapping[str, str]

    @property
    def schema(self) -> StructType:
        """The columns of the rows."""
        return self.rows.schema


@dataclass(frozen=True, eq=False, kw_only=True)
class Noted:
    """The rows with up to two columns more, for each that is not None.

    `schema_versions` are the versions that set a schema; a row has the last of them up to its
    version. `sources` say by version where the changes come from.
    """

    rows: RowPlan
    schema_versions: tuple[int, ...] | None = None
    sources: Mapping[int, str] | None = None

    @property
    def schema(self) -> StructType:
        """The columns of the rows."""
        extra = []
        if self.schema_versions is not None:
            extra.append(StructField(SCHEMA_VERSION_COLUMN, PrimitiveType("long")))
        if self.sources is not None:
            extra.append(StructField(CHANGE_SOURCE_COLUMN, PrimitiveType("string")))
        return StructType((*self.rows.schema.fields, *extra))


RowPlan = Read | Recorded | History | Union | Recast | Cancelled | Paired | Net | Retyped | Noted


def compared_columns(plan: RowPlan) -> tuple[str, ...]:
    """Return the names of the columns that are the table's, which are those compared."""
    return tuple(name for name in plan.schema.names if name not in _HIDDEN)


def _compared_schema(rows: RowPlan, within: Sequence[str]) -> StructType:
    own = (field for field in rows.schema.fields if field.name not in _HIDDEN)
    return StructType((*own, CHANGE_TYPE_FIELD, *(_WHEN[name] for name in within)))


def inputs(plan: RowPlan) -> tuple[RowPlan, ...]:
    """Return the plans whose rows a plan is made of."""
    match plan:
        case Read() | Recorded():
            return ()
        case History():
            return plan.sources
        case Union():
            return plan.parts
        case Net():
            return plan.rows, plan.moved
        case _:
            return (plan.rows,)


def with_inputs(plan: RowPlan, change: Callable[[RowPlan], RowPlan]) -> RowPlan:
    """Return a plan whose rows are made of other plans."""
    match plan:
        case Read() | Recorded() | History():
            return plan
        case Union():
            return replace(plan, parts=tuple(map(change, plan.parts)))
        case Net():
            return replace(plan, rows=change(plan.rows), moved=change(plan.moved))
        case _:
            return replace(plan, rows=change(plan.rows))


def reads(plan: RowPlan) -> Iterator[Read]:
    """Yield what a plan reads."""
    if isinstance(plan, Recorded):
        plan = plan.settled()
    if isinstance(plan, Read):
        yield plan
    for rows in inputs(plan):
        yield from reads(rows)


def snapshot_read(snapshot: Snapshot, files: Sequence[ScanFile]) -> Read:
    """Return the rows of some files of a version of a table."""
    return Read(
        storage=snapshot.storage,
        version=snapshot.version,
        table=snapshot.configuration,
        files=files,
        is_feed=False,
    )


def settled(plan: RowPlan) -> RowPlan:
    """Return a plan that gives the same rows whenever they are read."""
    return plan.settled() if isinstance(plan, Recorded) else plan


def files(plan: RowPlan) -> tuple[ScanFile, ...]:
    """Return the files that a plan reads."""
    return tuple(file for read in reads(plan) for file in read.files)


def size_in_bytes(plan: RowPlan) -> int:
    """Return the size of the files that a plan reads, each counted once."""
    return sum({(r.storage.root, f.path): f.size for r in reads(plan) for f in r.files}.values())


def is_netted(plan: RowPlan) -> bool:
    """Return whether rows of a plan are netted."""
    return isinstance(plan, Net) or any(map(is_netted, inputs(plan)))


def types(plan: RowPlan) -> set[str]:
    """Return the types of change that rows of a plan may have."""
    match plan:
        case Read():
            found = {file.change.type for file in plan.files if file.change is not None}
            return {*ALONE, *UPDATES} if None in found else {t for t in found if t is not None}
        case Retyped():
            return {plan.types.get(kind, kind) for kind in types(plan.rows)}
        case Union() | Recast() | Noted():
            return {kind for rows in inputs(plan) for kind in types(rows)}
        case _:
            return {*ALONE, *UPDATES}
