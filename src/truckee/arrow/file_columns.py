"""Which columns of a file, and which constants, give the requested columns."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from truckee.arrow.columns import arrow_schema, arrow_type, as_type, columns_in_file
from truckee.changes.columns import CHANGE_TYPE, COMMIT_VERSION, FEED_FIELDS
from truckee.changes.read_schema import feed_schema
from truckee.log.checkpoint.columns import typed_child
from truckee.protocol.partition_values import typed_column
from truckee.protocol.schema import PrimitiveType, StructField, StructType
from truckee.protocol.table_configuration import TableConfiguration
from truckee.scan.scan_file import Change, ScanFile

ROW_POSITION = "__truckee_row_index"
"""The position of a row in its file, a column that can be requested."""

_ROW_INDEX_FIELD = StructField(ROW_POSITION, PrimitiveType("long"))
_FEED = frozenset(field.name for field in FEED_FIELDS)


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


class TableColumns:
    """The requested columns of a table, found in one file after another.

    Most files of a table have the same schema, so what was found in the last one is kept.
    """

    def __init__(self, read: TableRead, wanted: StructType) -> None:
        self.read = read
        self.schema = arrow_schema(wanted)
        self.output = read.output.names
        self._wanted = wanted
        self._partitions = {name.casefold() for name in read.table.partition_columns}
        self._last: tuple[pa.Schema, list[str | None]] | None = None

    def in_file(self, in_file: pa.Schema, files: Sequence[ScanFile]) -> FileColumns:
        """Return the columns in one physical file, for the ScanFiles that read rows of it."""
        # The ids of columns are in the metadata.
        if self._last is None or not in_file.equals(self._last[0], check_metadata=True):
            self._last = in_file, self._names_in(in_file)
        data: list[tuple[StructField, str]] = []
        constants: dict[str, RepeatedValue] = {}
        for field, place in zip(self._wanted.fields, self._last[1], strict=True):
            if self.read.has_row_index and field.name == ROW_POSITION:
                continue
            source = self._source(field, place, files)
            if isinstance(source, str):
                data.append((field, source))
            else:
                constants[field.name] = RepeatedValue(source)
        return FileColumns(self, data, constants)

    def _names_in(self, file: pa.Schema) -> list[str | None]:
        mode = self.read.table.column_mapping_mode
        places = columns_in_file(file, self._wanted.fields, mode)
        return [None if place is None else file.field(place).name for place in places]

    def _source(
        self, field: StructField, place: str | None, files: Sequence[ScanFile]
    ) -> str | pa.Array:
        """Return the column's name in the file, or its value in each of the ScanFiles."""
        if self.read.is_feed and files[0].change is not None and field.name in _FEED:
            changes = [file.change for file in files if file.change is not None]
            if field.name == CHANGE_TYPE and changes[0].type is None:
                if place is None:
                    raise pa.ArrowInvalid(f"it is a change file without the column {CHANGE_TYPE}")
                return place
            return _feed_values(field.name, changes)
        if field.name.casefold() in self._partitions:
            texts = [file.partition_values.get(field.physical_name) for file in files]
            typed = typed_column(typed_child(texts, pa.string()), field.type, self.read.zone)
            return typed.cast(arrow_type(field.type))
        return pa.nulls(len(files), arrow_type(field.type)) if place is None else place


class FileColumns:
    """The requested columns in one physical file.

    Data columns are created once for a batch of the file. Constants are those of the ScanFiles that
    read rows of it, which are known by their number.
    """

    def __init__(
        self,
        columns: TableColumns,
        data: Sequence[tuple[StructField, str]],
        constants: Mapping[str, RepeatedValue],
    ) -> None:
        self._schema = columns.schema
        self._mode = columns.read.table.column_mapping_mode
        self._has_row_index = columns.read.has_row_index and ROW_POSITION in columns.schema.names
        self._data = data
        self._constants = constants

    @property
    def names(self) -> list[str]:
        """The columns to read from the file, each once."""
        return list(dict.fromkeys(source for _, source in self._data))

    def data(self, batch: pa.RecordBatch, first: int) -> pa.RecordBatch:
        """Return the data columns of a batch of the file, with the names and types of the table.

        The first row of the batch is row `first` of the file.
        """
        columns = [
            as_type(batch.column(source), field.type, self._mode) for field, source in self._data
        ]
        names = [field.name for field, _ in self._data]
        if self._has_row_index:
            columns.append(pc.add(_counted_up(batch.num_rows), typed_child([first], pa.int64())[0]))
            names.append(ROW_POSITION)
        if not columns:
            # A batch without columns would lose its number of rows.
            columns, names = [pa.nulls(batch.num_rows)], [""]
        return pa.RecordBatch.from_arrays(columns, names=names)

    def output_batch(self, data: pa.RecordBatch, of: int | pa.Array) -> pa.RecordBatch:
        """Return data columns and constants in order.

        `of` is the number of the `ScanFile` that all rows are read for, or one number a row.
        """
        if not len(self._schema):
            return data
        columns = [
            self._constants[name].of(of, data.num_rows)
            if name in self._constants
            else data.column(name)
            for name in self._schema.names
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self._schema)


def _feed_values(name: str, changes: Sequence[Change]) -> pa.Array:
    if name == CHANGE_TYPE:
        return typed_child([change.type for change in changes], pa.string())
    if name == COMMIT_VERSION:
        return typed_child([change.version for change in changes], pa.int64())
    times = (change.timestamp_ms for change in changes)
    times_us = [None if time is None else time * 1000 for time in times]
    return typed_child(times_us, pa.int64()).view(pa.timestamp("us", tz="UTC"))


@lru_cache(maxsize=4)
def _counted_up(count: int) -> pa.Array:
    """Return the numbers from 0 on, as many as asked for."""
    return pa.Array.from_buffers(pa.int64(), count, [None, pa.py_buffer(array("q", range(count)))])


class RepeatedValue:
    """A column of one value for each `ScanFile`, each as often as rows are read for it."""

    def __init__(self, values: pa.Array) -> None:
        self._values = values
        self._repeated = values.slice(0, 1)
        self._repeats = 0

    def of(self, member: int | pa.Array, count: int) -> pa.Array:
        """Return the value of a member `count` times, or the value of each of the members."""
        if not isinstance(member, int):
            return self._values.take(member)
        # The longest column is kept: batches of one file have about the same length.
        if self._repeats != member or len(self._repeated) < count:
            self._repeated = pa.repeat(self._values[member], count)
            self._repeats = member
        return self._repeated.slice(0, count)
