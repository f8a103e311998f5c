"""The plan of a diff: the rows that differ between two versions.

Rows of files that only one version has are read from both sides, and equal ones cancel. With keys
or row ids, those that are left are paired:

    version 3 has f1 with (1, a) (2, b); version 9 has f2 with (1, a) (2, c) (3, d)

    as whole rows    delete (2, b), insert (2, c) (3, d)
    by keys or ids   (2, b) and (2, c) are the images of an update, insert (3, d)

Rows that cannot have an equal one on the other side are not compared.
"""

from __future__ import annotations

from truckee.changes.columns import CHANGE_TYPE_FIELD, DELETE, INSERT
from truckee.changes.diff.missing_files import missing_diff_files
from truckee.changes.diff.snapshot_diff import DiffRead, SnapshotDiff
from truckee.changes.row_identity import ID_FIELDS, ROW_ID
from truckee.protocol.schema import StructType
from truckee.rows.plan import (
    REVERSED,
    Cancelled,
    Changes,
    Key,
    Paired,
    Read,
    Recast,
    Recolumn,
    Retyped,
    RowPlan,
    Union,
)


def diff_rows(diff: SnapshotDiff) -> RowPlan:
    """Return the plan of a diff: its columns, and `_change_type`."""
    schema = StructType((*diff.schema.fields, CHANGE_TYPE_FIELD))
    parts = [_read(diff, read) for read in diff.alone]
    if diff.compared:
        parts.append(_compared(diff, schema))
    return Union(schema, tuple(parts))


def _compared(diff: SnapshotDiff, schema: StructType) -> RowPlan:
    reads = tuple(_read(diff, read) for read in diff.compared)
    if diff.has_row_ids:
        rows = Union(StructType((*schema.fields, ID_FIELDS[0])), reads)
        paired = Paired(rows=rows, identity=(Key.column(ROW_ID),), sides=diff.sides)
        # A row that was deleted and inserted again has a different id.
        return Cancelled(rows=paired, only=Changes((INSERT, DELETE)))
    rows = Union(schema, reads)
    if not diff.keys:
        return Cancelled(rows=rows)
    identity = tuple(map(Key.column, diff.keys))
    # A feed may have a row many times; only its first and last image count.
    images = Cancelled(rows=rows) if diff.is_recorded else rows
    return Paired(rows=images, identity=identity, sides=diff.sides)


def _read(diff: SnapshotDiff, read: DiffRead) -> RowPlan:
    rows = Read(
        storage=read.storage,
        version=read.version,
        table=read.columns.of(diff.after.configuration),
        files=read.files,
        ids=read.columns.ids,
        label=f"diff of versions {diff.before.version} and {diff.after.version}",
        missing=lambda: missing_diff_files(diff),
    )
    shown = Recast(rows, tuple(Recolumn(f, f, f.type) for f in diff.schema.fields))
    return Retyped(shown, REVERSED) if diff.is_reversed else shown
