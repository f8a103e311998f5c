"""The history of rows, read by pyarrow: each file that may contain them is opened once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from truckee.arrow.compare.row_events import row_events
from truckee.arrow.file_columns import ROW_POSITION
from truckee.arrow.parquet_rows import parquet_rows, row_ids
from truckee.arrow.texts import column_texts
from truckee.arrow.where import Where, where_condition
from truckee.changes.diff.history_request import (
    check_row_count,
    identifying_columns,
)
from truckee.changes.diff.row_timelines import FILE_NUMBER, RowTimelines, file_number
from truckee.changes.row_identity import BASE_ROW_ID, ROW_ID
from truckee.report.notebook import rows_html
from truckee.rows.history import history_reads
from truckee.rows.plan import Read
from truckee.scan.pruning import pruned_scan_files

_MOST_SHOWN = 100


def history_tables(
    timelines: RowTimelines, where: str, keys: Sequence[str] | None = None
) -> Iterator[pa.Table]:
    """Yield every image of the rows that match a condition, oldest first.

    If rows have ids, these are all images of each row that matches at some version. Raises the
    errors of conditions, `TooManyRowsError`, and `HistoryFileNotFoundError` if a file that may have
    contained such rows is gone.
    """
    condition = where_condition(where, timelines.schema)
    identity = identifying_columns(timelines, where, keys)
    found = [_matching(timelines, read, condition) for read in history_reads(timelines)]
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


def row_history_html(rows: pa.Table) -> str:
    """Return the first rows of a history for a notebook."""
    texts = (column_texts(column) for column in rows.slice(0, _MOST_SHOWN).columns)
    more = f"only the first {_MOST_SHOWN} rows" if rows.num_rows > _MOST_SHOWN else ""
    return rows_html(rows.column_names, list(zip(*texts, strict=True))) + more


def _matching(timelines: RowTimelines, read: Read, condition: Where) -> pa.Table:
    """Return the rows of a read that match the condition, at any version."""
    files = pruned_scan_files(read.files, read.table, condition.predicate)
    rows = parquet_rows(replace(read, files=files), places=True, where=condition).to_arrow()
    return _placed(timelines, read, rows)


def _followed(timelines: RowTimelines, ids: pa.Array) -> pa.Table:
    """Return all rows with these ids, including those that do not match the condition.

    The columns of row tracking show where they are; only those files are then read in full.
    """
    tables = []
    for read in history_reads(timelines):
        assert read.ids is not None
        places = [read.ids.row_id, BASE_ROW_ID, FILE_NUMBER, ROW_POSITION]
        numbers: set[int] = set()
        for batch in parquet_rows(read, places=True).select(places).to_batches():
            found = batch.filter(pc.is_in(row_ids(batch, read), value_set=ids))
            numbers.update(found.column(FILE_NUMBER).unique().to_pylist())
        files = [file for file in read.files if file_number(file) in numbers]
        for batch in parquet_rows(replace(read, files=files), places=True).to_batches():
            kept = batch.filter(pc.is_in(row_ids(batch, read), value_set=ids))
            tables.append(_placed(timelines, read, pa.Table.from_batches([kept])))
    return pa.concat_tables(tables)


def _placed(timelines: RowTimelines, read: Read, rows: pa.Table) -> pa.Table:
    """Return rows with the columns of the table, their location, and their id if they have one."""
    placed = rows.select([*timelines.schema.names, FILE_NUMBER, ROW_POSITION])
    return placed.append_column(ROW_ID, row_ids(rows, read)) if read.ids is not None else placed
