"""Row tracking: the columns of data files that hold the ids of rows which came from other files.

The id of a row is `base_row_id` of its file plus its position there, unless the file has a column
for ids that is not null in that row. The same holds for the version in which the row last changed.
Tables with row tracking name these two columns in their properties; no schema shows them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from msgspec.structs import replace
from pyspark.sql import Column
from pyspark.sql import functions as F

from truckee.errors.commands.dml import RowIdsNotKeptError
from truckee.log.snapshot import Snapshot
from truckee.protocol.actions import AddFile
from truckee.protocol.schema import PrimitiveType, StructField, StructType
from truckee.protocol.stats import encode_stats, parse_stats
from truckee.spark.read.relations import FILE, ROW

_LONG = PrimitiveType("long")


class RowIdColumns(NamedTuple):
    """The names of the two columns."""

    row_id: str
    commit_version: str

    def added_to(self, schema: StructType) -> StructType:
        """Return a schema with the two columns added at the end."""
        fields = (StructField(self.row_id, _LONG), StructField(self.commit_version, _LONG))
        return StructType((*schema.fields, *fields))


def row_id_columns(snapshot: Snapshot) -> RowIdColumns | None:
    """Return the columns that store the row ids of a table; None if ids need not or cannot be kept.

    See `check_row_ids`.
    """
    properties = snapshot.properties
    row_id = properties.materialized_row_id_column_name
    commit_version = properties.materialized_row_commit_version_column_name
    if not properties.enable_row_tracking or row_id is None or commit_version is None:
        return None
    return RowIdColumns(row_id, commit_version)


def check_row_ids(snapshot: Snapshot, operation: str) -> None:
    """Raise if a table's rows must keep their ids, and an operation that moves rows cannot."""
    if snapshot.properties.enable_row_tracking and row_id_columns(snapshot) is None:
        raise RowIdsNotKeptError(table=snapshot.storage.root, operation=operation)


def row_id(files: Mapping[int, AddFile], held: Column) -> Column:
    """Return the id of a row of these files, by file id; `held` is the value in its file."""
    bases = {number: file.base_row_id for number, file in files.items()}
    return F.coalesce(held, by_file(bases) + F.col(ROW))


def commit_version(files: Mapping[int, AddFile], held: Column) -> Column:
    """Return the version in which a row of these files last changed."""
    versions = {number: file.default_row_commit_version for number, file in files.items()}
    return F.coalesce(held, by_file(versions))


def by_file(values: Mapping[int, int | None]) -> Column:
    """Return a number that is the same for all rows of a file, looked up by the file's id.

    Numbers are 0 or more; a file without one has null.
    """
    known = {number: value for number, value in values.items() if value is not None}
    if not known:
        return F.lit(None).cast("bigint")
    texts = (str(known.get(number, -1)) for number in range(max(known) + 1))
    # A single literal, however many files there are.
    numbers = F.split(F.lit(",".join(texts)), ",").cast("array<bigint>")
    found = F.get(numbers, F.col(FILE))
    return F.when(found >= 0, found)


def without_row_id_stats(add: AddFile, columns: RowIdColumns) -> AddFile:
    """Return a new file without statistics of the two columns, which are not in the schema."""
    stats = parse_stats(add.stats)
    if stats is None:
        return add
    trimmed = replace(
        stats,
        min_values={k: v for k, v in stats.min_values.items() if k not in columns},
        max_values={k: v for k, v in stats.max_values.items() if k not in columns},
        null_count={k: v for k, v in stats.null_count.items() if k not in columns},
    )
    return replace(add, stats=encode_stats(trimmed))
