"""ArrowRows: rows of a table, a feed, a diff or a history, which are read when they are used.

Libraries with Arrow's PyCapsule interface can use them directly: DuckDB, Polars, pandas, pyarrow
and `deltalake`. Each use reads the same files again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from truckee.arrow.columns import arrow_schema
from truckee.arrow.compare.engine import tables
from truckee.arrow.compare.row_history import row_history_html
from truckee.arrow.image_order import preimages_first
from truckee.arrow.parquet_rows import ParquetRows, parquet_rows
from truckee.arrow.texts import column_texts
from truckee.arrow.where import Where, where_condition
from truckee.changes.columns import CHANGE_TYPE, COMMIT_VERSION
from truckee.changes.diff.history_request import identifying_columns
from truckee.changes.diff.row_timelines import RowTimelines
from truckee.changes.file_index import matching_files
from truckee.errors.columns import TableWithoutColumnsError
from truckee.errors.commands.alter import ColumnNotFoundError
from truckee.errors.options import ArgumentValueError
from truckee.log.snapshot import Snapshot
from truckee.options.arguments import checked_argument, checked_names
from truckee.protocol.schema import FieldChain, StructField, StructType, find_column
from truckee.report.notebook import ROWS_SHOWN, rows_html
from truckee.rows.history import history_reads
from truckee.rows.plan import History, Read, Recorded, RowPlan, files, size_in_bytes, snapshot_read
from truckee.scan.pruning import pruned_scan_files
from truckee.scan.snapshot_scan import scan_files


@dataclass(frozen=True, eq=False)
class ArrowRows:
    """Rows that are read by pyarrow, without a JVM; made by the methods of a table.

    Rows of files are read in batches and in parallel; those that have to be compared are kept in
    memory. `as_html` shows all rows in a notebook, which otherwise shows the first ones.
    `end_version` is the last version of a feed that is read, the `after` of the next read.
    """

    plan: RowPlan
    columns: Projection
    where: Where | None = None
    as_html: Callable[[pa.Table], str] | None = None
    end_version: int | None = None

    def __repr__(self) -> str:
        named = [file.path for file in files(self.plan)]
        return f"ArrowRows({len(named)} files, columns {', '.join(self.schema.names)})"

    @property
    def schema(self) -> pa.Schema:
        """The columns of the rows."""
        return self.columns.schema

    @property
    def size_in_bytes(self) -> int:
        """The size of the files to read, each counted once."""
        return size_in_bytes(self.plan)

    def to_batches(self) -> pa.RecordBatchReader:
        """Return the rows as a stream of batches, in no particular order.

        Rows of files are read only when they are consumed, apart from a few batches.
        """
        return pa.RecordBatchReader.from_batches(self.schema, self._batches(in_order=False))

    def to_arrow(self) -> pa.Table:
        """Return all rows; those of files are in the order of the table's files.

        In a feed, no postimage comes before the preimages of its version.
        """
        names = self.schema.names
        if CHANGE_TYPE not in names or not _has_images(self.plan):
            return self._in_order()
        wide = self.select(list(dict.fromkeys([*names, COMMIT_VERSION])))
        return preimages_first(wide._in_order()).select(names)

    def _in_order(self) -> pa.Table:
        return pa.Table.from_batches(list(self._batches(in_order=True)), self.schema)

    def to_pandas(self) -> Any:
        """Return all rows as a pandas DataFrame."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """Return all rows as a Polars DataFrame."""
        return import_module("polars").from_arrow(self.to_arrow())

    def count(self) -> int:
        """Return the number of rows; of files, it is mostly in the log."""
        if isinstance(self.plan, Read):
            return self._parquet(self.plan).count()
        return sum(batch.num_rows for batch in self._batches(in_order=False))

    def first(self, limit: int) -> pa.Table:
        """Return the first rows; of files, read no further than these."""
        if isinstance(self.plan, Read):
            found = self._parquet(self.plan).first(limit).to_batches()
            return pa.Table.from_batches(map(self.columns.of, found), self.schema)
        return self.to_arrow().slice(0, limit)

    def select(self, columns: Sequence[str]) -> ArrowRows:
        """Return the same rows with some of the columns, or fields of structs as in `s.x`."""
        return replace(self, columns=projection(columns, self.plan.schema))

    def _repr_html_(self) -> str:
        if self.as_html is not None:
            return self.as_html(self.to_arrow())
        found = self.first(ROWS_SHOWN + 1)
        shown = found.slice(0, ROWS_SHOWN)
        texts = list(zip(*map(column_texts, shown.columns), strict=True))
        more = f"only the first {ROWS_SHOWN} rows" if found.num_rows > ROWS_SHOWN else ""
        return rows_html(shown.column_names, texts) + more

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_batches().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self.schema.__arrow_c_schema__()

    def _batches(self, *, in_order: bool) -> Iterator[pa.RecordBatch]:
        if isinstance(self.plan, Read):
            rows = self._parquet(self.plan)
            batches = rows.to_arrow().to_batches() if in_order else rows.to_batches()
            yield from map(self.columns.of, batches)
            return
        whole = arrow_schema(self.plan.schema)
        for table in tables(self.plan, in_order=in_order):
            for batch in table.cast(whole).to_batches():
                kept = batch if self.where is None else self.where.rows(batch)
                yield self.columns.of(kept)

    def _parquet(self, read: Read) -> ParquetRows:
        return parquet_rows(read, columns=self.columns.columns, where=self.where)


def _has_images(plan: RowPlan) -> bool:
    """Return whether there are change files, in which rows have their type of change."""
    return isinstance(plan, Read) and any(
        file.change is not None and file.change.type is None for file in plan.files
    )


def arrow_rows(
    plan: RowPlan,
    *,
    columns: Sequence[str] | None = None,
    where: str | None = None,
    as_html: Callable[[pa.Table], str] | None = None,
    end_version: int | None = None,
) -> ArrowRows:
    """Return the rows of a plan that match a condition.

    An open range ends at the version that is the latest now; `end_version` is the last version of
    a feed whose rows are compared. Raises `ColumnNotFoundError` and the
    errors of conditions.
    """
    shown, condition = projection(columns, plan.schema), _condition(where, plan.schema)
    if isinstance(plan, Recorded):
        plan = plan.settled()
        end_version = plan.version
    if isinstance(plan, Read) and condition is not None:
        found: Sequence[Any] = plan.files
        if plan.is_feed:
            found = matching_files(found, condition.predicate, plan.table, "UTC")
        plan = replace(plan, files=pruned_scan_files(found, plan.table, condition.predicate))
    return ArrowRows(plan, shown, condition, as_html, end_version)


def snapshot_rows(
    snapshot: Snapshot, *, columns: Sequence[str] | None = None, where: str | None = None
) -> ArrowRows:
    """Return the rows of a snapshot that match a condition.

    Raises `TableWithoutColumnsError` if it has no columns yet.
    """
    if not snapshot.schema.fields:
        raise TableWithoutColumnsError(table=snapshot.storage.root)
    shown, condition = projection(columns, snapshot.schema), _condition(where, snapshot.schema)
    files = scan_files(snapshot, None if condition is None else condition.predicate)
    return ArrowRows(snapshot_read(snapshot, files), shown, condition)


def history_rows(
    timelines: RowTimelines, condition: str, keys: Sequence[str] | None = None
) -> ArrowRows:
    """Return every image of the rows that match a condition, oldest first.

    If rows have ids, these are all images of each row that matches at some version. Raises the
    errors of conditions and keys; reading raises `TooManyRowsError`, and
    `HistoryFileNotFoundError` if a file that may have contained such rows is gone.
    """
    _condition(condition, timelines.schema)
    identifying_columns(timelines, condition, keys)
    named = None if keys is None else tuple(keys)
    plan = History(timelines, tuple(history_reads(timelines)), condition, named)
    return ArrowRows(plan, projection(None, plan.schema), as_html=row_history_html)


def _condition(where: str | None, schema: StructType) -> Where | None:
    if where is None:
        return None
    return where_condition(checked_argument(where, str, what="where"), schema)


@dataclass(frozen=True)
class Projection:
    """The columns of a result, in order; a field of a struct has its dotted path as its name."""

    chains: tuple[FieldChain, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns to read, each once: of a field, the struct that it is in."""
        return tuple(dict.fromkeys(chain.path[0] for chain in self.chains))

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns of the result; `DuplicateColumnsError` if two have the same name."""
        return arrow_schema(
            StructType(
                tuple(
                    StructField(
                        ".".join(chain.path),
                        chain.field.type,
                        any(field.nullable for field in chain.fields),
                    )
                    for chain in self.chains
                )
            )
        )

    def of(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return the columns of the result of rows with the columns to read."""
        if self.schema.names == rows.schema.names:
            return rows
        columns = [
            pc.struct_field(rows.column(chain.path[0]), list(chain.path[1:]))
            if len(chain.path) > 1
            else rows.column(chain.path[0])
            for chain in self.chains
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)


def projection(columns: Sequence[str] | None, schema: StructType) -> Projection:
    """Return the columns of these names, in any case; None means all.

    Raises `ColumnNotFoundError` for a name that the schema does not have, and `ArgumentValueError`
    if there are no names.
    """
    if columns is None:
        return Projection(tuple(FieldChain((field,)) for field in schema.fields))
    names = checked_names(columns, what="columns")
    if not names:
        needs = "name at least one column (count() counts rows)"
        raise ArgumentValueError(what="columns", needs=needs, found="none")
    return Projection(tuple(_chain(name, schema) for name in names))


def _chain(name: str, schema: StructType) -> FieldChain:
    chain = find_column(schema, (name,)) or find_column(schema, name.split("."))
    if chain is None:
        raise ColumnNotFoundError(column=name, columns=schema.names)
    return chain
