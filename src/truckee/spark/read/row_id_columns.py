"""Row tracking: the ids of rows that commands move, and the columns that hold them."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace
from pyspark.sql import Column
from pyspark.sql import functions as F

from truckee.errors.commands.dml import RowIdsNotKeptError
from truckee.log.snapshot import Snapshot
from truckee.protocol.actions import AddFile
from truckee.protocol.stats import encode_stats, parse_stats
from truckee.protocol.table_configuration import RowIdColumns
from truckee.spark.read.relations import FILE, ROW


def check_row_ids(snapshot: Snapshot, operation: str) -> None:
    """Raise if a table's rows must keep their ids, and an operation that moves rows cannot."""
    if snapshot.properties.enable_row_tracking and snapshot.configuration.row_id_columns is None:
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
