"""The plan of a feed that is derived, netted or follows column renames, from commits.

    commits -> per commit: change files, or the files before and after it
            -> rows that are changes as they are (`direct`), and rows to compare first
            -> compared, netted, and with the columns of the result

A commit names files, not rows, so the rows of a file that it rewrote are compared: by row ids if
row tracking provides them, by keys if they are given, and else as whole rows. Only commits that may
have both deleted and inserted rows need it. For example, of rows (id, v) with a derived feed:

    version 1   adds f1 with (1, a) (2, b)                  direct: both are inserted
    version 2   removes f1, adds f2 with (1, a) (2, c)      compared: (1, a) of both sides cancels
    version 3   removes f2                                  direct: both are deleted

    as whole rows   insert (1, a) (2, b); delete (2, b), insert (2, c); delete (1, a) (2, c)
    by keys or ids  the same, but (2, b) and (2, c) are the images of an update
    netted          nothing: no row was there before, and none is there after

With row ids, a version may be *distrusted*: its writer may have given new ids to rows that it only
moved. Rows of such a version without a partner are then compared as whole rows, too.

No vector and no data file is read here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from truckee.changes.changelog.column_history import keyed_type
from truckee.changes.changelog.feed_columns import FeedColumns
from truckee.changes.changelog.feed_files import CommitRange, FeedFiles, RowIdentity, feed_files_of
from truckee.changes.changelog.row_id_read import feed_read_with_ids
from truckee.changes.columns import DELETE, FEED_FIELDS, INSERT
from truckee.changes.missing_files import missing_file_error
from truckee.changes.read_schema import ReadSchema
from truckee.changes.row_identity import ID_FIELDS, ROW_ID, HeldIds
from truckee.errors.commands.alter import ColumnNotFoundError
from truckee.protocol.schema import StructField, StructType, find_column
from truckee.rows.plan import (
    APART,
    UPDATES,
    WITHIN_A_VERSION,
    Cancelled,
    Changes,
    Key,
    Net,
    Noted,
    Paired,
    Read,
    Recast,
    Recolumn,
    Retyped,
    RowPlan,
    Union,
    types,
)
from truckee.scan.scan_file import ScanFile

_SINGLE = Changes((INSERT, DELETE))


def changelog_plan(
    commits: CommitRange,
    columns: FeedColumns,
    *,
    end: int,
    schema_versions: tuple[int, ...] = (),
) -> RowPlan:
    """Return the plan of a feed of commits, the last of which is `end`.

    `columns` has the schemas that rows are read with. `schema_versions` are the versions that set
    a schema, where they are shown. Raises the errors of `feed_files_of`, and `ColumnNotFoundError`
    for keys that the feed does not have.
    """
    files = feed_files_of(commits, columns.shape, columns.history.eras)
    rows = _Builder(commits, columns, files, end).rows()
    return _shown(rows, columns, schema_versions, files.sources)


def empty_feed(columns: FeedColumns) -> RowPlan:
    """Return the plan of a feed without rows."""
    return _shown(Union(_in_all_eras(columns)), columns, (), {})


def keys_of(columns: FeedColumns) -> tuple[Key, ...]:
    """Return the keys of a feed; raises `ColumnNotFoundError` for one that it does not have.

    A column whose name has dots is preferred to a field of a struct.
    """
    found, schema = [], columns.schema
    for key in columns.shape.keys:
        chain = find_column(schema, (key,)) or find_column(schema, key.split("."))
        if chain is None:
            raise ColumnNotFoundError(column=key, columns=schema.names)
        found.append(Key(".".join(chain.path), chain.path))
    return tuple(found)


def _shown(
    rows: RowPlan,
    columns: FeedColumns,
    schema_versions: tuple[int, ...],
    sources: Mapping[int, str],
) -> RowPlan:
    """Return rows that have the columns of all eras with those that the feed shows."""
    mode = columns.history.eras[-1].configuration.column_mapping_mode
    cast = (
        Recolumn(
            shown,
            column.field,
            keyed_type(shown.type, mode) if column.last_version is None else column.field.type,
        )
        for column, shown in zip(columns.shown, columns.schema.fields, strict=True)
    )
    plan, shape = Recast(rows, tuple(cast)), columns.shape
    if not (shape.schema_version or shape.change_source):
        return plan
    return Noted(
        rows=plan,
        schema_versions=schema_versions if shape.schema_version else None,
        sources=sources if shape.change_source else None,
    )


def _in_all_eras(columns: FeedColumns, extra: Sequence[StructField] = ()) -> StructType:
    return StructType((*columns.history.schema.fields, *FEED_FIELDS, *extra))


@dataclass(frozen=True)
class _Builder:
    """Makes the plan of one feed; all rows have the columns of all eras."""

    commits: CommitRange
    columns: FeedColumns
    files: FeedFiles
    end: int

    def rows(self) -> RowPlan:
        direct = self._union(self._reads(self.files.direct))
        compared = self._union(self._reads(self.files.compared))
        by_id = self._union(self._reads_with_ids(), ID_FIELDS)
        nothing = self._union(())
        match self.files.net_by:
            case None:
                return self._changes(direct, compared, by_id)
            case RowIdentity.ROWS:
                rows = self._union([direct, compared, *self._paired_by_id(by_id)])
                return Net(rows=rows, moved=nothing)
            case RowIdentity.KEYS:
                return self._net(direct, compared, keys_of(self.columns))
            case RowIdentity.ROW_IDS:
                net = self._net(nothing, by_id, (Key.column(ROW_ID),))
                if not self.files.distrusted:
                    return net
                return Net(rows=net, moved=nothing, only=_SINGLE)

    def _changes(self, direct: Union, compared: Union, by_id: Union) -> RowPlan:
        """Return all changes, after comparing the rows that need it."""
        found: list[RowPlan] = [direct]
        if compared.parts:
            found.append(self._compared(compared))
        rows = self._union([*found, *self._paired_by_id(by_id)])
        if not self.columns.shape.drop_unchanged or not types(rows) & set(UPDATES):
            return rows
        only, keys = Changes(UPDATES), keys_of(self.columns)
        if not keys:
            return Cancelled(rows=rows, within=WITHIN_A_VERSION, only=only, shown_as=UPDATES)
        return Paired(
            rows=rows, identity=keys, within=WITHIN_A_VERSION, only=only, shown_as=UPDATES
        )

    def _compared(self, rows: Union) -> RowPlan:
        shape, keys = self.columns.shape, keys_of(self.columns)
        if not keys or shape.compute_updates is False:
            return Cancelled(rows=rows, within=WITHIN_A_VERSION)
        return Paired(
            rows=rows,
            identity=keys,
            within=WITHIN_A_VERSION,
            drop_unchanged=shape.drops_carryovers,
            # Updates that a change file has stay what they are.
            only=_SINGLE if types(rows) & set(UPDATES) else None,
        )

    def _paired_by_id(self, rows: Union) -> Iterator[RowPlan]:
        if not rows.parts:
            return
        paired: RowPlan = Paired(
            rows=rows,
            identity=(Key.column(ROW_ID),),
            within=WITHIN_A_VERSION,
            drop_unchanged=False,
        )
        if self.files.distrusted:
            doubtful = _SINGLE._replace(versions=self.files.distrusted)
            paired = Cancelled(rows=paired, within=WITHIN_A_VERSION, only=doubtful)
        yield Retyped(paired, APART) if self.columns.shape.compute_updates is False else paired

    def _net(self, rows: RowPlan, moved: RowPlan, identity: tuple[Key, ...]) -> Net:
        shape = self.columns.shape
        return Net(
            rows=rows,
            moved=moved,
            identity=identity,
            as_updates=bool(shape.compute_updates),
            drop_unchanged=shape.drop_unchanged,
        )

    def _union(self, parts: Iterable[RowPlan], extra: Sequence[StructField] = ()) -> Union:
        """Return the rows of those parts that may have any."""
        kept = tuple(part for part in parts if not (isinstance(part, Union) and not part.parts))
        return Union(_in_all_eras(self.columns, extra), kept)

    def _reads(self, files: Mapping[int, Sequence[ScanFile]]) -> Iterator[RowPlan]:
        for era, of_era in files.items():
            yield self._cast(era, self._read(self.columns.history.eras[era], of_era))

    def _reads_with_ids(self) -> Iterator[RowPlan]:
        for (era, held), of_era in self.files.identified.items():
            read = feed_read_with_ids(self.columns.history.eras[era], held)
            yield self._cast(era, self._read(read, of_era, held))

    def _read(
        self, read: ReadSchema, files: Sequence[ScanFile], ids: HeldIds | None = None
    ) -> Read:
        storage, end = self.commits.storage, self.end
        return Read(
            storage=storage,
            version=end,
            table=read.configuration,
            files=tuple(files),
            ids=ids,
            label=f"changes from version {self.commits.start}",
            missing=lambda: missing_file_error(storage, self.files.all, end=end),
        )

    def _cast(self, era: int, read: Read) -> Recast:
        """Return rows of an era with the columns of all eras."""
        history = self.columns.history
        cast = (
            Recolumn(column.field, column.in_era.get(era), column.field.type)
            for column in history.columns
        )
        mode = history.eras[era].configuration.column_mapping_mode
        return Recast(read, tuple(cast), mode)
