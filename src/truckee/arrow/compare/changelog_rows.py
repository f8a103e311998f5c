"""Feeds that are derived, netted or follow column renames, read by pyarrow, compared in memory.

Rows that are changes as they are are read in batches; all others are kept in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from truckee.arrow.columns import arrow_schema, arrow_type
from truckee.arrow.compare.diff_rows import ComputedRows
from truckee.arrow.compare.net_pool import (
    Chosen,
    ComparedBy,
    chosen_rows,
    group_numbers,
    net_copies,
    net_images,
    paired_images,
    uncancelled_places,
)
from truckee.arrow.file_columns import ROW_POSITION, TableRead
from truckee.arrow.rows import ArrowRows
from truckee.arrow.type_conversion import array_in_type
from truckee.arrow.where import where_condition
from truckee.changes.changelog.changelog import Changelog, FeedPart, RowIdentity
from truckee.changes.changelog.column_history import keyed_type
from truckee.changes.changelog.opening import key_path
from truckee.changes.changelog.row_id_read import FEED_BASE_ROW_ID, FEED_ROW_VERSION
from truckee.changes.columns import (
    CHANGE_TYPE,
    COMMIT_VERSION,
    DELETE,
    FEED_FIELDS,
    INSERT,
    UPDATE_POSTIMAGE,
    UPDATE_PREIMAGE,
)
from truckee.changes.missing_files import missing_file_error
from truckee.changes.row_identity import ROW_ID
from truckee.errors.commands.alter import ColumnNotFoundError
from truckee.protocol.schema import StructType

_ROW_VERSION = "__truckee_row_version"
_FEED = tuple(field.name for field in FEED_FIELDS)


def changelog_rows(
    feed: Changelog, *, columns: Sequence[str] | None = None, where: str | None = None
) -> ComputedRows:
    """Return the rows of a feed that match a condition."""
    shown = feed.schema
    names = list(shown.names) if columns is None else _known(columns, shown)
    condition = None if where is None else where_condition(where, shown)
    schema = arrow_schema(shown)
    wanted = pa.schema([schema.field(name) for name in names])

    def computed() -> Iterator[pa.Table]:
        for table in _Tables(feed).shown():
            whole = table.select(schema.names).cast(schema)
            if condition is not None:
                kept = [condition.rows(batch) for batch in whole.to_batches()]
                whole = pa.Table.from_batches(kept, schema)
            yield whole.select(names)

    return ComputedRows(wanted, computed)


def _known(columns: Sequence[str], schema: StructType) -> list[str]:
    for name in columns:
        if schema.field(name) is None:
            raise ColumnNotFoundError(column=name, columns=schema.names)
    fields = (schema.field(name) for name in columns)
    return [field.name for field in fields if field is not None]


class _Tables:
    """Makes the tables of one feed."""

    def __init__(self, feed: Changelog) -> None:
        self._feed = feed
        self._shape = feed.shape
        self._columns = [column.field.name for column in feed.history.columns]

    def shown(self) -> Iterator[pa.Table]:
        """Yield the rows with the columns of the result."""
        if self._feed.net_by is not None:
            yield self._output(self._netted())
            return
        for rows in self._changes():
            yield self._output(self._without_unchanged(rows))

    def _changes(self) -> Iterator[pa.Table]:
        if self._shape.drop_unchanged:
            direct = [self._table(part) for part in self._feed.direct]
            yield from [pa.concat_tables(direct)] if direct else []
        else:
            for part in self._feed.direct:
                for batch in self._read(part).to_batches():
                    yield self._in_all_eras(part, pa.Table.from_batches([batch]))
        if self._feed.compared:
            yield self._compared(self._pool(self._feed.compared))
        if self._feed.identified:
            yield self._paired_by_id(self._pool(self._feed.identified, ids=True))

    def _compared(self, pool: pa.Table) -> pa.Table:
        if self._feed.pairs_by_keys:
            # Updates that a change file records stay what they are.
            is_update = _is_update(pool)
            updates, pool = pool.filter(is_update), pool.filter(pc.invert(is_update))
            names, keyed = self._keyed(pool)
            is_compared = [self._shape.drops_carryovers] * pool.num_rows
            compared = ComparedBy(group_numbers(pool, self._columns), None, is_compared)
            chosen = paired_images(keyed, names, compared, as_updates=True)
            return pa.concat_tables([updates, chosen_rows(pool, chosen)])
        rows = group_numbers(pool, self._columns)
        return chosen_rows(pool, uncancelled_places(pool, rows, pool[COMMIT_VERSION].to_pylist()))

    def _paired_by_id(self, pool: pa.Table) -> pa.Table:
        versions = pool[_ROW_VERSION].to_pylist()
        compared = ComparedBy([0] * pool.num_rows, versions, [True] * pool.num_rows)
        as_updates = self._shape.compute_updates is not False
        chosen = paired_images(pool, [ROW_ID], compared, as_updates=True)
        found = chosen_rows(pool, chosen)
        if self._feed.distrusted:
            found = self._without_moved(found)
        if not as_updates:
            found = _with_types(found, {UPDATE_PREIMAGE: DELETE, UPDATE_POSTIMAGE: INSERT})
        return found.select([*self._columns, *_FEED])

    def _without_moved(self, found: pa.Table) -> pa.Table:
        """Return the rows without those that got a new id when they were moved."""
        doubtful = pa.array(sorted(self._feed.distrusted), pa.int64())
        is_doubtful = pc.and_(
            pc.is_in(found[CHANGE_TYPE], value_set=pa.array([INSERT, DELETE])),
            pc.is_in(found[COMMIT_VERSION], value_set=doubtful),
        )
        pool = found.filter(is_doubtful)
        rows = group_numbers(pool, self._columns)
        left = chosen_rows(pool, uncancelled_places(pool, rows, pool[COMMIT_VERSION].to_pylist()))
        return pa.concat_tables([found.filter(pc.invert(is_doubtful)), left])

    def _netted(self) -> pa.Table:
        net_by = self._feed.net_by
        if net_by is RowIdentity.ROWS:
            pools = [self._table(part) for part in (*self._feed.direct, *self._feed.compared)]
            if self._feed.identified:
                pools.append(self._paired_by_id(self._pool(self._feed.identified, ids=True)))
            pool = self._joined(pools)
            return chosen_rows(pool, net_copies(pool, group_numbers(pool, self._columns)))
        if net_by is RowIdentity.ROW_IDS:
            return self._net_by_ids()
        direct, moved = (
            [self._table(part) for part in parts]
            for parts in (self._feed.direct, self._feed.compared)
        )
        is_compared = [False] * sum(t.num_rows for t in direct)
        is_compared += [True] * sum(t.num_rows for t in moved)
        pool = self._joined([*direct, *moved])
        names, keyed = self._keyed(pool)
        rows = group_numbers(pool, self._columns)
        return chosen_rows(pool, self._net(keyed, names, ComparedBy(rows, None, is_compared)))

    def _net_by_ids(self) -> pa.Table:
        pool = self._pool(self._feed.identified, ids=True)
        rows = group_numbers(pool, self._columns)
        versions = pool[_ROW_VERSION].to_pylist()
        compared = ComparedBy(rows, versions, [True] * pool.num_rows)
        net = chosen_rows(pool, self._net(pool, [ROW_ID], compared)).select(
            [*self._columns, *_FEED]
        )
        if not self._feed.distrusted:
            return net
        is_alone = pc.is_in(net[CHANGE_TYPE], value_set=pa.array([INSERT, DELETE]))
        alone = net.filter(is_alone)
        left = chosen_rows(alone, net_copies(alone, group_numbers(alone, self._columns)))
        return pa.concat_tables([net.filter(pc.invert(is_alone)), left])

    def _net(self, pool: pa.Table, identity: Sequence[str], compared: ComparedBy) -> Chosen:
        return net_images(
            pool,
            identity,
            compared,
            as_updates=bool(self._shape.compute_updates),
            drop_unchanged=self._shape.drop_unchanged,
        )

    def _keyed(self, pool: pa.Table) -> tuple[list[str], pa.Table]:
        names = []
        for key in self._shape.keys:
            path = key_path(self._feed.table_schema, key)
            assert path is not None
            names.append(".".join(path))
            if len(path) > 1:
                value = reduce(pc.struct_field, path[1:], pool[path[0]])
                pool = pool.append_column(names[-1], value)
        return names, pool

    def _without_unchanged(self, rows: pa.Table) -> pa.Table:
        """Return the rows without updates whose two images are equal."""
        if not self._shape.drop_unchanged:
            return rows
        is_update = _is_update(rows)
        pool = rows.filter(is_update)
        numbers = group_numbers(pool, self._columns)
        if self._shape.keys:
            names, keyed = self._keyed(pool)
            compared = ComparedBy(numbers, None, [True] * pool.num_rows)
            chosen = paired_images(keyed, names, compared, as_updates=True)
        else:
            chosen = uncancelled_places(pool, numbers, pool[COMMIT_VERSION].to_pylist())
        types = {DELETE: UPDATE_PREIMAGE, INSERT: UPDATE_POSTIMAGE}
        left = _with_types(chosen_rows(pool, chosen), types)
        return pa.concat_tables([rows.filter(pc.invert(is_update)), left])

    def _joined(self, pools: Sequence[pa.Table]) -> pa.Table:
        if pools:
            return pa.concat_tables(pools).combine_chunks()
        fields = (*self._feed.history.schema.fields, *FEED_FIELDS)
        return arrow_schema(StructType(fields)).empty_table()

    def _pool(self, parts: Sequence[FeedPart], *, ids: bool = False) -> pa.Table:
        return self._joined([self._table(part, ids=ids) for part in parts])

    def _table(self, part: FeedPart, *, ids: bool = False) -> pa.Table:
        read = self._read(part, ids=ids).to_arrow()
        rows = self._in_all_eras(part, read)
        if not ids:
            return rows
        held = part.held_ids
        assert held is not None
        counted = pc.add(read[FEED_BASE_ROW_ID], read[ROW_POSITION])
        rows = rows.append_column(ROW_ID, pc.coalesce(read[held.row_id], counted))
        version = pc.coalesce(read[held.row_version], read[FEED_ROW_VERSION])
        return rows.append_column(_ROW_VERSION, version)

    def _read(self, part: FeedPart, *, ids: bool = False) -> ArrowRows:
        feed = self._feed
        read = TableRead(
            url=feed.storage.root,
            store_options={},
            table=part.read.configuration,
            is_feed=True,
            has_row_index=ids,
        )

        def explained() -> object:
            return missing_file_error(feed.storage, feed.files, end=feed.end)

        return ArrowRows(feed.storage, read, part.files, None, explained)  # type: ignore[arg-type]

    def _in_all_eras(self, part: FeedPart, rows: pa.Table) -> pa.Table:
        """Return rows of an era with the columns of all eras, and those of the feed."""
        mode = self._feed.history.eras[part.era].configuration.column_mapping_mode
        made = {}
        for column in self._feed.history.columns:
            own, wanted = column.in_era.get(part.era), column.field
            if own is None:
                made[wanted.name] = pa.nulls(rows.num_rows, arrow_type(wanted.type))
            else:
                values = rows[own.name].combine_chunks()
                made[wanted.name] = array_in_type(values, own.type, mode, wanted.type)
        fields = (*self._feed.history.schema.fields, *FEED_FIELDS)
        arrays = [*made.values(), *(rows[name].combine_chunks() for name in _FEED)]
        return pa.Table.from_arrays(arrays, schema=arrow_schema(StructType(fields)))

    def _output(self, rows: pa.Table) -> pa.Table:
        """Return the columns of the result, from rows with the columns of all eras."""
        feed = self._feed
        mode = feed.history.eras[-1].configuration.column_mapping_mode
        arrays = []
        for followed, own in zip(feed.columns, feed.table_schema.fields, strict=True):
            values = rows[followed.field.name].combine_chunks()
            if feed.shape.following is not None and followed.last_version is None:
                wanted = keyed_type(own.type, mode)
                if own.type != followed.field.type:
                    values = array_in_type(values, followed.field.type, "name", wanted)
            arrays.append(values.cast(arrow_type(own.type)))
        arrays += [rows[name].combine_chunks() for name in _FEED]
        if feed.shape.schema_version:
            arrays.append(_schema_versions(rows, feed.schema_versions))
        if feed.shape.change_source:
            sources = feed.sources or {}
            found = [sources.get(version) for version in rows[COMMIT_VERSION].to_pylist()]
            arrays.append(pa.array(found, pa.string()))
        return pa.Table.from_arrays(arrays, schema=arrow_schema(feed.schema))


def _with_types(rows: pa.Table, types: dict[str, str]) -> pa.Table:
    kinds = [types.get(kind, kind) for kind in rows[CHANGE_TYPE].to_pylist()]
    at = rows.column_names.index(CHANGE_TYPE)
    return rows.set_column(at, rows.schema.field(at), pa.array(kinds, pa.string()))


def _schema_versions(rows: pa.Table, known: Sequence[int]) -> pa.Array:
    """Return the version that set the schema of each row."""
    kinds, versions = rows[CHANGE_TYPE].to_pylist(), rows[COMMIT_VERSION].to_pylist()
    found = []
    for kind, version in zip(kinds, versions, strict=True):
        last = version if kind in (INSERT, UPDATE_POSTIMAGE) else version - 1
        found.append(max((v for v in known if v <= last), default=min(known)))
    return pa.array(found, pa.int64())


def _is_update(rows: pa.Table) -> pa.Array:
    """Return which rows are images of updates."""
    # Not a constant of the module: the first array loads pandas where it is installed.
    kinds = pa.array([UPDATE_PREIMAGE, UPDATE_POSTIMAGE])
    return pc.is_in(rows[CHANGE_TYPE], value_set=kinds)
