"""The history of rows, read by pyarrow: each file that may hold them is opened once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from truckee.arrow.columns import arrow_schema
from truckee.arrow.diff_rows import ComputedRows
from truckee.arrow.file_columns import ROW_INDEX, TableRead
from truckee.arrow.row_events import history_schema, row_events
from truckee.arrow.rows import ArrowRows
from truckee.arrow.where import Where, parsed_where
from truckee.changes.diff_columns import BASE_ROW_ID
from truckee.changes.history_request import (
    check_row_count,
    identifying_columns,
    missing_history_files,
)
from truckee.changes.row_timelines import FILE_NUMBER, RowTimelines
from truckee.changes.snapshot_diff import DiffRead
from truckee.scan.pruning import pruned_scan_files

ROW_ID = "__truckee_row_id"


def history_rows(
    timelines: RowTimelines, where: str, keys: Sequence[str] | None = None
) -> ComputedRows:
    """Return every image of the rows that a condition is true of, oldest first.

    Raises the errors of conditions; reading raises `HistoryFileNotFoundError` where a file that may
    have held such rows is gone, and `TooManyRowsError`.
    """
    condition = parsed_where(where, timelines.schema)
    identity = identifying_columns(timelines, where, keys)
    schema = arrow_schema(history_schema(timelines))

    def computed() -> Iterator[pa.Table]:
        found = [_matching(timelines, read, condition) for read in timelines.reads]
        rows = pa.concat_tables(found) if found else pa.table({})
        if rows.num_rows:
            check_row_count(where, rows.num_rows)
            by_id = timelines.has_row_ids and keys is None
            yield row_events(timelines, rows, [ROW_ID] if by_id else identity)

    return ComputedRows(schema, computed)


def _matching(timelines: RowTimelines, read: DiffRead, condition: Where) -> pa.Table:
    columns = read.columns
    table = TableRead(
        url=read.storage.root,
        store_options={},
        schema=columns.schema,
        partition_columns=columns.partition_columns,
        mapping_mode=columns.mapping_mode,
        has_row_index=True,
    )
    files = pruned_scan_files(
        read.files,
        columns.schema,
        columns.partition_columns,
        condition.predicate,
        mode=columns.mapping_mode,
    )
    rows = ArrowRows(
        read.storage,
        table,
        files,
        condition,
        lambda: missing_history_files(timelines, files),
    ).to_arrow()
    names = [*timelines.schema.names, FILE_NUMBER, ROW_INDEX]
    if not timelines.has_row_ids:
        return rows.select(names)
    counted = pc.add(rows[BASE_ROW_ID], rows[ROW_INDEX])
    ids = pc.coalesce(rows[columns.row_id], counted)
    return rows.select(names).append_column(ROW_ID, ids)
