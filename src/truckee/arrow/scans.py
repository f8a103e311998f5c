"""Versions of a table and feeds as rows that pyarrow reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from truckee.arrow.file_columns import TableRead
from truckee.arrow.rows import ArrowRows
from truckee.arrow.where import Where, where_condition
from truckee.changes.file_index import matching_files
from truckee.changes.missing_files import missing_file_error
from truckee.changes.plan import ChangeFeed
from truckee.errors.commands.alter import ColumnNotFoundError
from truckee.log.snapshot import Snapshot
from truckee.options.arguments import checked_argument, checked_names
from truckee.protocol.schema import StructType
from truckee.scan.pruning import pruned_scan_files
from truckee.scan.snapshot_scan import scan_files

_NO_OPTIONS: Mapping[str, str] = {}


def snapshot_rows(
    snapshot: Snapshot, *, columns: Sequence[str] | None = None, where: str | None = None
) -> ArrowRows:
    """Return the rows of a snapshot that match a condition."""
    read = TableRead(
        url=snapshot.storage.root,
        store_options=_NO_OPTIONS,
        table=snapshot.configuration,
        columns=_known(columns, snapshot.schema),
    )
    condition = _condition(where, read)
    files = scan_files(snapshot, None if condition is None else condition.predicate)
    return ArrowRows(snapshot.storage, read, files, condition)


def feed_rows(
    feed: ChangeFeed, *, columns: Sequence[str] | None = None, where: str | None = None
) -> ArrowRows:
    """Return the rows of a feed that match a condition."""
    plan = feed.plan()
    read = TableRead(
        url=feed.storage.root,
        store_options=_NO_OPTIONS,
        table=plan.read.configuration,
        is_feed=True,
        columns=_known(columns, feed.schema),
    )
    condition = _condition(where, read)
    files = list(plan.files)
    if condition is not None:
        files = matching_files(files, condition.predicate, read.table, read.zone)
        files = pruned_scan_files(files, read.table, condition.predicate)
    return ArrowRows(
        feed.storage,
        read,
        files,
        condition,
        lambda: missing_file_error(feed.storage, plan.files, end=plan.end),
    )


def _known(columns: Sequence[str] | None, schema: StructType) -> tuple[str, ...] | None:
    """Return the names as the table spells them; `ColumnNotFoundError` for one it does not have."""
    if columns is None:
        return None
    for name in checked_names(columns, what="columns"):
        if schema.field(name) is None:
            raise ColumnNotFoundError(column=name, columns=schema.names)
    fields = (schema.field(name) for name in columns)
    return tuple(field.name for field in fields if field is not None)


def _condition(where: str | None, read: TableRead) -> Where | None:
    if where is None:
        return None
    return where_condition(checked_argument(where, str, what="where"), read.all_columns)
