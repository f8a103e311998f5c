"""LocalTable: a table without a Spark session and without a JVM; pyarrow reads its rows.

Plans and errors are the same as with Spark. Times without a zone are UTC.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from functools import partial
from threading import Lock
from typing import Any

import pyarrow as pa
from msgspec.structs import replace

from truckee.arrow.columns import arrow_schema
from truckee.arrow.compare.diff_view import diff_as_html
from truckee.arrow.compare.rows import ArrowRows, arrow_rows, history_rows, snapshot_rows
from truckee.care.health.doctor import diagnosis
from truckee.care.health.findings import Diagnosis
from truckee.changes.diff.history_request import requested_timelines
from truckee.changes.diff.request import VersionOrTime, requested_diff, version_at
from truckee.changes.version_range import resolved_range
from truckee.errors.log import NotADeltaTableError
from truckee.errors.options import ArgumentValueError
from truckee.log.detail import TableDetail, table_detail
from truckee.log.files.history import HistoryEntry, history
from truckee.log.snapshot import Snapshot, load_snapshot, update_snapshot
from truckee.options.arguments import (
    PathLike,
    check_texts,
    checked_argument,
    checked_path,
)
from truckee.options.feed import feed_options
from truckee.options.feed_shape import given_options
from truckee.report.notebook import Commits, table_overview
from truckee.rows.diff import diff_rows
from truckee.rows.feed import feed_plan
from truckee.storage import open_storage
from truckee.storage.base import Storage


def open(path: PathLike, storage_options: Mapping[str, str] | None = None) -> LocalTable:  # noqa: A001
    """Return the table at a path or URL; raises `NotADeltaTableError` if there is none.

    `storage_options` are credentials and endpoints of S3, GCS or Azure, with Spark's names.
    """
    if storage_options is not None:
        check_texts(storage_options, what="storage_options")
    table = LocalTable(open_storage(checked_path(path), storage_options))
    try:
        table.snapshot()
    except NotADeltaTableError as error:
        if not set(str(path)) & set("/\\"):
            error.hint += f"; a table by its name needs Spark: DeltaTable.forName(spark, {path!r})"
        raise
    return table


class LocalTable:
    """A table; methods read the version that is the latest when they are called.

    Reads take `columns`, in order, also fields of structs as in `s.x`; `where`, a condition in
    Spark's SQL; and `version`, a version or a timestamp. Files and row groups that cannot have a
    matching row are not read, and neither are other columns. A condition that needs Spark raises
    `UnsupportedConditionError`.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._latest: Snapshot | None = None
        self._lock = Lock()

    def __repr__(self) -> str:
        return f"truckee.open({self._storage.root!r})"

    def _repr_html_(self) -> str:
        """Show the table in a notebook: its columns and last commits, from the log alone."""
        return table_overview(self.snapshot())

    @property
    def version(self) -> int:
        """The latest version."""
        return self.snapshot().version

    @property
    def schema(self) -> pa.Schema:
        """The columns of the latest version."""
        return arrow_schema(self.snapshot().schema)

    def history(self, limit: int | None = None) -> list[HistoryEntry]:
        """Return the commits that the log still has, newest first."""
        if limit is not None:
            checked_argument(limit, int, what="limit")
        return Commits(history(self._storage, limit))

    def detail(self) -> TableDetail:
        """Return the details of the table: format, id, size, protocol and so on."""
        return table_detail(self.snapshot())

    def doctor(self) -> Diagnosis:
        """Return what the table needs: missing, leftover and small files, its log, its features.

        Only the log is read and the folder is listed; nothing is changed.
        """
        return diagnosis(self.snapshot())

    def files(self, version: VersionOrTime | None = None) -> pa.Table:
        """Return the data files of a version, one per row, as the log describes them."""
        return self.snapshot(version).files_table()

    def rows(
        self,
        columns: Sequence[str] | None = None,
        where: str | None = None,
        version: VersionOrTime | None = None,
    ) -> ArrowRows:
        """Return the rows of a version; they are read when they are used."""
        return snapshot_rows(self.snapshot(version), columns=columns, where=where)

    def to_arrow(
        self,
        columns: Sequence[str] | None = None,
        where: str | None = None,
        version: VersionOrTime | None = None,
    ) -> pa.Table:
        """Return the rows of a version, in the order of its files."""
        return self.rows(columns, where, version).to_arrow()

    def to_pandas(
        self,
        columns: Sequence[str] | None = None,
        where: str | None = None,
        version: VersionOrTime | None = None,
    ) -> Any:
        """Return the rows of a version as a pandas DataFrame."""
        return self.rows(columns, where, version).to_pandas()

    def to_batches(
        self,
        columns: Sequence[str] | None = None,
        where: str | None = None,
        version: VersionOrTime | None = None,
    ) -> pa.RecordBatchReader:
        """Return the rows of a version as a stream of batches, in no particular order."""
        return self.rows(columns, where, version).to_batches()

    def to_polars(
        self,
        columns: Sequence[str] | None = None,
        where: str | None = None,
        version: VersionOrTime | None = None,
    ) -> Any:
        """Return the rows of a version as a Polars DataFrame."""
        return self.rows(columns, where, version).to_polars()

    def head(
        self,
        n: int = 10,
        columns: Sequence[str] | None = None,
        where: str | None = None,
        version: VersionOrTime | None = None,
    ) -> pa.Table:
        """Return the first rows of a version, in the order of its files, and read no further."""
        if checked_argument(n, int, what="n") < 0:
            raise ArgumentValueError(what="n", needs="be 0 or more", found=str(n))
        return self.rows(columns, where, version).first(n)

    def count(self, where: str | None = None, version: VersionOrTime | None = None) -> int:
        """Return the number of rows of a version.

        The log has it for most files; of the others only the columns of the condition are read.
        """
        return self.rows(where=where, version=version).count()

    def changes(
        self,
        startingVersion: int | None = None,
        endingVersion: int | None = None,
        startingTimestamp: str | date | datetime | None = None,
        endingTimestamp: str | date | datetime | None = None,
        *,
        after: int | None = None,
        columns: Sequence[str] | None = None,
        where: str | None = None,
        **options: object,
    ) -> ArrowRows:
        """Return the rows that were inserted, updated and deleted, both ends included.

        Without an end, the range ends at the latest version at the time of this call. `after`,
        instead of a start, reads what came after a version, and has no rows if nothing did; the
        `end_version` of each result is the `after` of the next read. `options` are the feed's
        options by name, such as `changeFeed`, `deduplicationMode`, `computeUpdates` and `keys`;
        rows that have to be compared are kept in memory.
        """
        start = startingVersion
        if after is not None:
            if startingVersion is not None or startingTimestamp is not None:
                needs = "be the only start of the range"
                raise ArgumentValueError(what="after", needs=needs, found="another one too")
            start = checked_argument(after, int, what="after") + 1
        given = given_options(
            options,
            startingVersion=start,
            endingVersion=endingVersion,
            startingTimestamp=startingTimestamp,
            endingTimestamp=endingTimestamp,
        )
        asked, latest = feed_options(given), self.snapshot()
        if after == latest.version and asked.end is None:
            asked = replace(asked, out_of_range=True)
        plan = feed_plan(self._storage, asked, snapshot=latest)
        end = resolved_range(self._storage, asked, latest=latest.version).end
        last = latest.version if end is None else min(end, latest.version)
        return arrow_rows(plan, columns=columns, where=where, end_version=last)

    def diff(
        self,
        start: VersionOrTime | None = None,
        end: VersionOrTime | None = None,
        keys: Sequence[str] | None = None,
        *,
        other: LocalTable | None = None,
        columns: Sequence[str] | None = None,
        where: str | None = None,
    ) -> ArrowRows:
        """Return the rows that differ between two versions, with the type of their change.

        `start` and `end` are versions or timestamps, in either order; None is the latest version.
        The change feed need not be enabled. Updates are shown as such if row ids or `keys` pair
        their images, else as delete and insert. With `other`, a clone, `end` is a version of it.
        """
        theirs = None if other is None else other._storage
        plan = requested_diff(self._storage, start, end, keys, other=theirs)
        as_html = partial(diff_as_html, plan)
        return arrow_rows(diff_rows(plan), columns=columns, where=where, as_html=as_html)

    def row_history(
        self,
        condition: str,
        keys: Sequence[str] | None = None,
        *,
        start: VersionOrTime | None = None,
    ) -> ArrowRows:
        """Return every image of the rows that match a condition, oldest first.

        Each image has its version, time, operation and user, and the columns an update changed.
        Images are paired by row id if the table has them, else by `keys`, else by the columns that
        the condition compares with one value. The change feed need not be enabled.
        """
        return history_rows(requested_timelines(self._storage, start), condition, keys)

    def snapshot(self, version: VersionOrTime | None = None) -> Snapshot:
        """Return a version of the table, the latest by default."""
        if version is not None:
            return version_at(self._storage, version, name="version")
        with self._lock:
            known = self._latest
            found = load_snapshot(self._storage) if known is None else update_snapshot(known)
            self._latest = found
        return found

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.rows().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self.schema.__arrow_c_schema__()
