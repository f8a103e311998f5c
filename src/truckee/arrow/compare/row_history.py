"""The history of rows, read by pyarrow: each file that may contain them is opened once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from truckee.arrow.columns import arrow_schema
from truckee.arrow.compare.diff_rows import ComputedRows
from truckee.arrow.compare.row_events import history_schema, row_events
from truckee.arrow.file_columns import ROW_POSITION, TableRead
from truckee.arrow.rows import ArrowRows
from truckee.arrow.texts import column_texts
from truckee.arrow.where import Where, where_condition
from truckee.changes.diff.columns import BASE_ROW_ID
from truckee.changes.diff.history_request import (
    check_row_count,
    identifying_columns,
    missing_history_files,
)
from truckee.changes.diff.row_timelines import FILE_NUMBER, RowTimelines, file_number
from truckee.changes.diff.snapshot_diff import DiffRead
from truckee.changes.row_identity import ROW_ID
from truckee.report.notebook import rows_html
from truckee.scan.pruning import pruned_scan_files
from truckee.scan.scan_file import ScanFile

_MOST_SHOWN = 100


def history_rows(
    timelines: RowTimelines, where: str, keys: Sequence[str] | None = None
) -> ComputedRows:
    """Return every image of the rows that match a condition, oldest first.

    If rows have ids, these are all images of each row that matches at some version. Raises the
    errors of conditions; reading raises `TooManyRowsError`, and `HistoryFileNotFoundError` if a
    file that may have contained such rows is gone.
    """
    condition = where_condition(where, timelines.schema)
    identity = identifying_columns(timelines, where, keys)
    schema = arrow_schema(history_schema(timelines))

    def computed() -> Iterator[pa.Table]:
        found = [_matching(timelines, read, condition) for read in timelines.reads]
        rows = pa.concat_tables(found) if found else pa.table({})
        if not rows.num_rows:
            return
        check_row_count(where, rows.num_rows)
        if timelines.has_row_ids and keys is None:
            rows = _followed(timelines, rows[ROW_ID].unique())
            check_row_count(where, rows.num_rows)
            yield row_events(timelines, rows, [ROW_ID])
        else:
            yield row_events(timelines, rows, identity)

    return ComputedRows(schema, computed, _as_html)


def _as_html(rows: pa.Table) -> str:
    texts = (column_texts(column) for column in rows.slice(0, _MOST_SHOWN).columns)
    more = f"only the first {_MOST_SHOWN} rows" if rows.num_rows > _MOST_SHOWN else ""
    return rows_html(rows.column_names, list(zip(*texts, strict=True))) + more


def _matching(timelines: RowTimelines, read: DiffRead, condition: Where) -> pa.Table:
    """Return the rows of a read that match the condition, at any version."""
    table = read.columns.of(timelines.newest.configuration)
    files = pruned_scan_files(read.files, table, condition.predicate)
    return _placed(timelines, read, _rows(timelines, read, files, condition).to_arrow())


def _followed(timelines: RowTimelines, ids: pa.Array) -> pa.Table:
    """Return all rows with these ids, including those that do not match the condition.

    The columns of row tracking show where they are; only those files are then read in full.
    """
    tables = []
    for read in timelines.reads:
        assert read.columns.row_id is not None
        places = [read.columns.row_id, BASE_ROW_ID, FILE_NUMBER, ROW_POSITION]
        numbers: set[int] = set()
        for batch in _rows(timelines, read, read.files).select(places).to_batches():
            found = batch.filter(pc.is_in(_ids(batch, read), value_set=ids))
            numbers.update(found.column(FILE_NUMBER).unique().to_pylist())
        files = [file for file in read.files if file_number(file) in numbers]
        for batch in _rows(timelines, read, files).to_batches():
            kept = batch.filter(pc.is_in(_ids(batch, read), value_set=ids))
            tables.append(_placed(timelines, read, pa.Table.from_batches([kept])))
    return pa.concat_tables(tables)


def _ids(rows: pa.RecordBatch | pa.Table, read: DiffRead) -> pa.Array:
    counted = pc.add(rows[BASE_ROW_ID], rows[ROW_POSITION])
    return pc.coalesce(rows[read.columns.row_id], counted)


def _placed(timelines: RowTimelines, read: DiffRead, rows: pa.Table) -> pa.Table:
    """Return rows with the columns of the table, their location, and their id if they have one."""
    placed = rows.select([*timelines.schema.names, FILE_NUMBER, ROW_POSITION])
    return placed.append_column(ROW_ID, _ids(rows, read)) if timelines.has_row_ids else placed


def _rows(
    timelines: RowTimelines,
    read: DiffRead,
    files: Sequence[ScanFile],
    condition: Where | None = None,
) -> ArrowRows:
    table = TableRead(
        url=read.storage.root,
        store_options={},
        table=read.columns.of(timelines.newest.configuration),
        has_row_index=True,
    )
    explained = lambda: missing_history_files(timelines, files)  # noqa: E731
    return ArrowRows(read.storage, table, files, condition, explained)
