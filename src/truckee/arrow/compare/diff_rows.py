"""The rows that differ between two versions, read by pyarrow and compared in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from truckee.arrow.columns import arrow_schema
from truckee.arrow.compare.diff_view import diff_view
from truckee.arrow.compare.row_comparison import AFTER, paired_pool, uncancelled_pool
from truckee.arrow.file_columns import ROW_POSITION, TableRead
from truckee.arrow.rows import ArrowRows
from truckee.arrow.where import where_condition
from truckee.changes.columns import (
    CHANGE_TYPE,
    CHANGE_TYPE_FIELD,
    DELETE,
    INSERT,
)
from truckee.changes.diff.columns import BASE_ROW_ID
from truckee.changes.diff.missing_files import missing_diff_files
from truckee.changes.diff.snapshot_diff import DiffRead, SnapshotDiff
from truckee.changes.row_identity import ROW_ID
from truckee.errors.commands.alter import ColumnNotFoundError
from truckee.log.checkpoint.columns import typed_child
from truckee.protocol.schema import StructType
from truckee.report.diff_page import diff_fragment

_SINGLE = typed_child([INSERT, DELETE], pa.string())


@dataclass(frozen=True, eq=False)
class ComputedRows:
    """Rows that are computed when they are used, from what is read then.

    Libraries with Arrow's PyCapsule interface can use them directly. `shown` makes HTML of them
    for notebooks.
    """

    schema: pa.Schema
    computed: Callable[[], Iterator[pa.Table]]
    shown: Callable[[pa.Table], str] | None = None

    def __repr__(self) -> str:
        return f"ComputedRows(columns {', '.join(self.schema.names)})"

    def to_batches(self) -> pa.RecordBatchReader:
        """Return the rows as a stream of batches."""
        batches = (batch for table in self.computed() for batch in table.to_batches())
        return pa.RecordBatchReader.from_batches(self.schema, batches)

    def to_arrow(self) -> pa.Table:
        """Return all rows."""
        return self.to_batches().read_all()

    def to_pandas(self) -> Any:
        """Return all rows as a pandas DataFrame."""
        return self.to_arrow().to_pandas()

    def _repr_html_(self) -> str | None:
        return None if self.shown is None else self.shown(self.to_arrow())

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_batches().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self.schema.__arrow_c_schema__()


def diff_rows(
    plan: SnapshotDiff, *, columns: Sequence[str] | None = None, where: str | None = None
) -> ComputedRows:
    """Return the rows of a diff that match a condition.

    Rows that certainly exist on only one side are read in batches; rows that have to be compared
    are all kept in memory.
    """
    shown = StructType((*plan.schema.fields, CHANGE_TYPE_FIELD))
    names = shown.names if columns is None else _known(columns, shown)
    condition = None if where is None else where_condition(where, shown)
    schema = arrow_schema(shown)
    wanted = pa.schema([schema.field(name) for name in names])

    def computed() -> Iterator[pa.Table]:
        for table in _tables(plan):
            whole = table.select(schema.names).cast(schema)
            if condition is not None:
                kept = [condition.rows(batch) for batch in whole.to_batches()]
                whole = pa.Table.from_batches(kept, schema)
            yield whole.select(list(names))

    return ComputedRows(wanted, computed, lambda rows: diff_fragment(plan, diff_view(plan, rows)))


def _known(columns: Sequence[str], schema: StructType) -> list[str]:
    found = []
    for name in columns:
        field = schema.field(name)
        if field is None:
            raise ColumnNotFoundError(column=name, columns=schema.names)
        found.append(field.name)
    return found


def _tables(plan: SnapshotDiff) -> Iterator[pa.Table]:
    for read in plan.alone:
        for batch in _read(plan, read).to_batches():
            yield pa.Table.from_batches([batch])
    if plan.compared:
        yield _compared(plan)


def _compared(plan: SnapshotDiff) -> pa.Table:
    pools = [_pool(plan, read) for read in plan.compared]
    pool = pa.concat_tables(pools)
    columns = plan.schema.names
    if plan.has_row_ids:
        return _compared_by_ids(pool, plan)
    if not plan.keys:
        return uncancelled_pool(pool, columns)
    if plan.is_recorded:
        # A feed may show a row many times; only its first and its last image count.
        pool = uncancelled_pool(pool, columns)
    return paired_pool(pool, columns, plan.keys, plan.sides)


def _compared_by_ids(pool: pa.Table, plan: SnapshotDiff) -> pa.Table:
    """Return rows paired by id; rows without a partner are compared as a whole."""
    columns = plan.schema.names
    paired = paired_pool(pool, columns, [ROW_ID], plan.sides)
    single = pc.is_in(paired[CHANGE_TYPE], value_set=_SINGLE)
    left = uncancelled_pool(paired.filter(single), columns)
    return pa.concat_tables([paired.filter(pc.invert(single)), left])


def _pool(plan: SnapshotDiff, read: DiffRead) -> pa.Table:
    rows = _read(plan, read).to_arrow()
    if plan.is_reversed:
        place = rows.column_names.index(CHANGE_TYPE)
        after = pc.is_in(rows[CHANGE_TYPE], value_set=AFTER)
        opposite = pc.if_else(after, DELETE, INSERT)
        rows = rows.set_column(place, rows.schema.field(place), opposite)
    names = [*plan.schema.names, CHANGE_TYPE]
    if not plan.has_row_ids:
        return rows.select(names)
    counted = pc.add(rows[BASE_ROW_ID], rows[ROW_POSITION])
    ids = pc.coalesce(rows[read.columns.row_id], counted)
    return rows.select(names).append_column(ROW_ID, ids)


def _read(plan: SnapshotDiff, read: DiffRead) -> ArrowRows:
    table = TableRead(
        url=read.storage.root,
        store_options={},
        table=read.columns.of(plan.after.configuration),
        is_feed=True,
        has_row_index=plan.has_row_ids,
    )
    return ArrowRows(read.storage, table, read.files, None, lambda: missing_diff_files(plan))
