"""The rows of stored Parquet files for plans that run on plain lists.

Tables have no column mapping; partition columns are texts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow.parquet as pq

from changelog_cases import ROW_ID as STORED_ID
from changelog_cases import ROW_VERSION as STORED_VERSION
from rows.row_lists import RowsOf
from truckee.changes.row_identity import ROW_ID, ROW_VERSION
from truckee.scan.scan_file import ScanFile, selected_rows
from truckee.storage.base import Storage


def stored_rows(storage: Storage) -> RowsOf:
    """Return what reads the rows of a table's files."""

    def rows(file: ScanFile) -> Iterator[dict[str, Any]]:
        with storage.open_input(file.path) as source:
            found = pq.read_table(source).to_pylist()
        chosen = range(len(found))
        if not file.rows.is_all:
            (marked,) = selected_rows(storage, [file])
            is_kept = (file.rows.within is not None).__eq__
            chosen = [n for n in chosen if is_kept(n in marked)]
        for number in chosen:
            row = {**found[number], **file.partition_values}
            if STORED_ID in row:
                row |= {ROW_ID: row[STORED_ID], ROW_VERSION: row[STORED_VERSION]}
            yield row

    return lambda file: list(rows(file))
