"""What to do with each file that has matching rows: mark rows, rewrite the file, or remove it.

| the file                                                         | what happens to it         |
|------------------------------------------------------------------|----------------------------|
| has no other live row                                            | it is removed              |
| is in a table without deletion vectors                           | it is rewritten            |
| has so many deleted rows that scanning costs more than rewriting | it is rewritten            |
| any other                                                        | its rows are marked        |
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from pyspark.sql import DataFrame

from truckee.commands.dml.matched_files import TouchedFile, num_deleted
from truckee.commands.dml.settings import DmlSettings
from truckee.errors.commands.dml import RowCountMismatchError
from truckee.log.snapshot import Snapshot
from truckee.protocol.column_metadata import GENERATION_EXPRESSION_KEY
from truckee.protocol.features import supported_features
from truckee.protocol.table_configuration import TableConfiguration
from truckee.spark.dml.target import Target
from truckee.spark.read.row_id_columns import check_row_ids
from truckee.spark.write.identity import Identity
from truckee.spark.write.writer import FileOptions, WrittenFiles, write_files

_log = logging.getLogger(__name__)


class Fates(NamedTuple):
    """What happens to the touched files."""

    removed: list[TouchedFile]
    rewritten: list[TouchedFile]
    marked: list[TouchedFile]


def fates(
    snapshot: Snapshot,
    touched: Iterable[TouchedFile],
    settings: DmlSettings,
    *,
    operation: str,
    rewrites_by_cost: bool = True,
) -> Fates:
    """Return the touched files by what to do with them; the reason is logged."""
    result = Fates([], [], [])
    can_mark = settings.marks_rows and takes_vectors(snapshot)
    for file in touched:
        if file.is_whole:
            result.removed.append(file)
        elif not can_mark or (rewrites_by_cost and _is_mostly_gone(file, settings, operation)):
            result.rewritten.append(file)
        else:
            result.marked.append(file)
    if result.rewritten:
        check_row_ids(snapshot, operation)
    _log.debug(
        "%s: %d files removed, %d written anew%s, rows of %d marked",
        operation,
        len(result.removed),
        len(result.rewritten),
        "" if can_mark else " as no deletion vectors are to be written",
        len(result.marked),
    )
    return result


def takes_vectors(snapshot: Snapshot) -> bool:
    """Return whether new deletion vectors may be written to a table."""
    return snapshot.properties.enable_deletion_vectors and "deletionVectors" in supported_features(
        snapshot.protocol
    )


def _is_mostly_gone(file: TouchedFile, settings: DmlSettings, operation: str) -> bool:
    total = file.num_records
    if not total:
        return False
    gone = (num_deleted(file.add) + len(file.rows)) / total
    wasted = int(gone * file.add.size)
    if gone <= settings.rewrite_ratio or wasted < settings.rewrite_min_bytes:
        return False
    _log.debug(
        "%s: %s is written anew, for %.0f%% of its rows are gone and each scan would read past "
        "%d bytes of them",
        operation,
        file.add.path,
        100 * gone,
        wasted,
    )
    return True


def write_rows(
    target: Target,
    rows: DataFrame,
    *,
    table: TableConfiguration,
    given: Collection[str] = frozenset(),
    identities: Mapping[str, Identity] | None = None,
    options: FileOptions | None = None,
    data_change: bool = True,
) -> WrittenFiles:
    """Write rows with the target's stored columns to new files of it.

    Generated columns are not checked, since they were computed by us. Those in `given` have values
    from the user, and are checked.
    """
    schema = target.stored_schema
    generated = [
        field.name
        for field in schema.fields
        if GENERATION_EXPRESSION_KEY in field.metadata and field.name not in given
    ]
    written = write_files(
        rows,
        storage=target.snapshot.storage,
        table=table.with_schema(schema),
        options=options,
        data_change=data_change,
        computed=generated,
        identities=identities,
    )
    return replace(written, adds=target.new_files(written.adds))


def check_num_written(
    written: WrittenFiles, expected: int | None, target: Target, *, operation: str
) -> None:
    """Delete the new files and raise `RowCountMismatchError` unless all rows were written.

    `expected` is None if the number is unknown; then nothing is checked.
    """
    if expected is None or written.num_rows == expected:
        return
    written.discard()
    raise RowCountMismatchError(
        table=target.snapshot.storage.root,
        operation=operation,
        expected=expected,
        written=written.num_rows,
    )
