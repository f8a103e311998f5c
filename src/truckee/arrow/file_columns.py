"""Which columns of a file, and which constants, give the requested columns."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

import pyarrow as pa
from msgspec import Struct

from truckee.arrow.columns import arrow_schema, arrow_type, as_type, column_in_file
from truckee.changes.columns import CHANGE_TYPE, COMMIT_TIMESTAMP, COMMIT_VERSION, feed_schema
from truckee.log.columns import typed_child
from truckee.protocol.partition_values import typed_column
from truckee.protocol.schema import PrimitiveType, StructField, StructType
from truckee.protocol.table_configuration import TableConfiguration
from truckee.scan.scan_file import Change, ScanFile

ROW_POSITION = "__truckee_row_index"
"""The position of a row in its file, a column that can be requested."""

_ROW_INDEX_FIELD = StructField(ROW_POSITION, PrimitiveType("long"))
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


class TableRead(Struct, frozen=True, kw_only=True):
    """What executors need to read a table's files. It is sent with each task.

    `columns` are the names to read, in order; None means all. With `has_row_index`, there is one
    more column, with the position of each row in its file.
    """

    url: str
    store_options: Mapping[str, str]
    table: TableConfiguration
    is_feed: bool = False
    columns: tuple[str, ...] | None = None
    zone: str = "UTC"
    has_row_index: bool = False

    @property
    def schema(self) -> StructType:
        """The table's columns."""
        return self.table.schema

    @property
    def all_columns(self) -> StructType:
        """The columns that can be read: the table's, and those of a feed."""
        columns = feed_schema(self.schema) if self.is_feed else self.schema
        return StructType((*columns.fields, _ROW_INDEX_FIELD)) if self.has_row_index else columns

    @property
    def output(self) -> StructType:
        """The columns of the rows that are read."""
        if self.columns is None:
            return self.all_columns
        return self.columns_named(self.columns)

    def columns_named(self, names: Sequence[str]) -> StructType:
        """Return the columns of these names, in order."""
        fields = (self.all_columns.field(name) for name in names)
        return StructType(tuple(field for field in fields if field is not None))


class FileColumns:
    """The requested columns in one physical file.

    Data columns are created once for a batch of the file. Constants are those of a `ScanFile`;
    several ScanFiles may read different rows of the same file.
    """

    def __init__(
        self, read: TableRead, wanted: StructType, in_file: pa.Schema, file: ScanFile
    ) -> None:
        self._read = read
        self._wanted = wanted
        self._schema = arrow_schema(wanted)
        self._in_file = in_file
        self._partitions = {name.casefold() for name in read.table.partition_columns}
        fields = (field for field in wanted.fields if not self._is_row_index(field))
        found = ((field, self._source(file, field)) for field in fields)
        self._data = [(field, source) for field, source in found if isinstance(source, str)]
        self._has_row_index = read.has_row_index and wanted.field(ROW_POSITION) is not None

    @property
    def names(self) -> list[str]:
        """The columns to read from the file, each once."""
        return list(dict.fromkeys(source for _, source in self._data))

    def data(self, batch: pa.RecordBatch, first: int) -> pa.RecordBatch:
        """Return the data columns of a batch of the file, with the names and types of the table.

        The first row of the batch is row `first` of the file.
        """
        mode = self._read.table.column_mapping_mode
        columns = [as_type(batch.column(source), field.type, mode) for field, source in self._data]
        names = [field.name for field, _ in self._data]
        if self._has_row_index:
            positions = array("q", range(first, first + batch.num_rows))
            buffers = [None, pa.py_buffer(positions)]
            columns.append(pa.Array.from_buffers(pa.int64(), batch.num_rows, buffers))
            names.append(ROW_POSITION)
        if not columns:
            # A batch without columns would lose its number of rows.
            columns, names = [pa.nulls(batch.num_rows)], [""]
        return pa.RecordBatch.from_arrays(columns, names=names)

    def constants(self, file: ScanFile) -> dict[str, RepeatedValue]:
        """Return the value of each column that is the same for all rows of a file."""
        fields = (f for f in self._wanted.fields if not self._is_row_index(f))
        found = ((field.name, self._source(file, field)) for field in fields)
        return {name: RepeatedValue(value) for name, value in found if not isinstance(value, str)}

    def output_batch(
        self, data: pa.RecordBatch, constants: Mapping[str, RepeatedValue]
    ) -> pa.RecordBatch:
        """Return data columns, of the remaining rows, and constants, in order."""
        columns = [
            constants[name].of(data.num_rows) if name in constants else data.column(name)
            for name in self._schema.names
        ]
        if not columns:
            return data
        return pa.RecordBatch.from_arrays(columns, schema=self._schema)

    def _is_row_index(self, field: StructField) -> bool:
        return self._read.has_row_index and field.name == ROW_POSITION

    def _source(self, file: ScanFile, field: StructField) -> str | pa.Array:
        """Return the column's name in the file, or its one value."""
        if self._read.is_feed and file.change is not None and field.name in _FEED:
            if field.name == CHANGE_TYPE and file.change.type is None:
                return CHANGE_TYPE
            return pa.repeat(pa.scalar(_FEED[field.name](file.change), arrow_type(field.type)), 1)
        if field.name.casefold() in self._partitions:
            text = file.partition_values.get(field.physical_name)
            return typed_column(typed_child([text], pa.string()), field.type, self._read.zone).cast(
                arrow_type(field.type)
            )
        place = column_in_file(self._in_file, field, self._read.table.column_mapping_mode)
        if place is None:
            return pa.nulls(1, arrow_type(field.type))
        name: str = self._in_file.field(place).name
        return name


def _moment(change: Change) -> datetime | None:
    if change.timestamp_ms is None:
        return None
    return _EPOCH + timedelta(milliseconds=change.timestamp_ms)


_FEED: Mapping[str, Any] = {
    CHANGE_TYPE: lambda change: change.type,
    COMMIT_VERSION: lambda change: change.version,
    COMMIT_TIMESTAMP: _moment,
}


class RepeatedValue:
    """One value as a column of any length; the longest one so far is cached."""

    def __init__(self, value: pa.Array) -> None:
        self._value = value
        self._longest = value

    def of(self, count: int) -> pa.Array:
        """Return the value this many times."""
        if len(self._longest) < count:
            zeros = pa.Array.from_buffers(pa.uint8(), count, [None, pa.py_buffer(bytes(count))])
            self._longest = self._value.take(zeros)
        return self._longest.slice(0, count)
