"""Bins of files -> new files with the same rows: one Spark job for all bins of one output each.

Every bin is one partition of a shuffle, so one task writes its new file. Bins with several outputs
have a job each, which first sorts the rows by a curve.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import uuid4

from msgspec.structs import replace
from pyspark.sql import Column, DataFrame, SparkSession

from truckee.care.bins import Bin
from truckee.care.cubes import CLUSTERING_PROVIDER, CUBE_COLUMNS, CUBE_ID
from truckee.care.curves import bits_for, hilbert_machine, spread_bits
from truckee.commands.dml.file_fates import check_num_written, write_rows
from truckee.commands.removed_files import num_rows
from truckee.log.snapshot import Snapshot
from truckee.protocol.actions import AddFile
from truckee.protocol.paths import decode_path
from truckee.protocol.schema import FieldChain
from truckee.protocol.table_configuration import TableConfiguration
from truckee.spark.dml.target import Target
from truckee.spark.jvm.projection import Given, column, selected
from truckee.spark.read.row_id_columns import by_file
from truckee.spark.write.curve_columns import CurveColumn, CurveTables, file_numbers
from truckee.spark.write.writer import FileOptions, WrittenFiles
from truckee.storage.base import Storage

_log = logging.getLogger(__name__)

_OUTPUT = "__truckee_output"
_TASK = re.compile(r"part-(\d+)-[^/]*$")


@dataclass(frozen=True, kw_only=True)
class Curve:
    """The order of the rows: by these columns; with `cube`, as in a clustered table.

    `cube` is the text of the columns in the tags of new files.
    """

    columns: tuple[FieldChain, ...]
    num_ranges: int
    cube: str | None = None

    def tables(self) -> CurveTables:
        """Return the curve as tables to look up: Hilbert's for clustered tables, else Z-order's."""
        count = len(self.columns)
        bits = bits_for(count, self.num_ranges)
        num_ranges = min(self.num_ranges, 1 << bits)
        spread = spread_bits(count, bits)
        if self.cube is None or count == 1:
            return CurveTables(bits, num_ranges, spread)
        machine = hilbert_machine(count, bits)
        return CurveTables(bits, num_ranges, spread, machine.chunk, machine.steps)


class RewrittenBin(NamedTuple):
    """Files that are removed, and those that replace them."""

    old: Bin
    adds: tuple[AddFile, ...]


@dataclass(frozen=True, kw_only=True)
class Rewritten:
    """Bins whose new files are written, and not part of the table yet."""

    snapshot: Snapshot
    bins: tuple[RewrittenBin, ...]
    written: tuple[WrittenFiles, ...]

    @property
    def removed(self) -> list[AddFile]:
        """The files that leave the table."""
        return [file for each in self.bins for file in each.old.files]

    @property
    def adds(self) -> list[AddFile]:
        """The new files."""
        return [add for each in self.bins for add in each.adds]

    def discard(self) -> None:
        """Delete all new files, because their commit did not happen."""
        delete_vectors(self.snapshot.storage, self.adds)
        for files in self.written:
            files.discard()


def delete_vectors(storage: Storage, adds: Iterable[AddFile]) -> None:
    """Delete the deletion vectors of new files that no version names."""
    for add in adds:
        if add.deletion_vector is not None:
            storage.delete(add.deletion_vector.file_path)


def rewrite_bins(
    spark: SparkSession,
    snapshot: Snapshot,
    bins: Sequence[Bin],
    *,
    curve: Curve | None = None,
    operation: str,
    table: TableConfiguration | None = None,
) -> Rewritten:
    """Write the rows of bins to new files; nothing is committed, and deleted rows are left out.

    The files are for `table`, whose columns have the same names and types as those of the
    snapshot; for the snapshot's own configuration if it is None.
    """
    table = snapshot.configuration if table is None else table
    single = [bunch for bunch in bins if bunch.num_outputs == 1]
    several = [bunch for bunch in bins if bunch.num_outputs > 1]
    found: list[RewrittenBin] = []
    written: list[WrittenFiles] = []
    done = Rewritten(snapshot=snapshot, bins=(), written=())
    try:
        for group in ([single] if single else []) + [[bunch] for bunch in several]:
            _log.info(
                "%s: writing %d files (%d bytes) anew as %d, %d of %d bins done",
                operation,
                sum(len(bunch.files) for bunch in group),
                sum(bunch.size for bunch in group),
                sum(bunch.num_outputs for bunch in group),
                len(found),
                len(bins),
            )
            files = _written(spark, snapshot, group, curve=curve, operation=operation, table=table)
            written.append(files)
            done = Rewritten(snapshot=snapshot, bins=(), written=tuple(written))
            found += _by_bin(group, files.adds, curve)
    except BaseException:
        done.discard()
        raise
    return Rewritten(snapshot=snapshot, bins=tuple(found), written=tuple(written))


def _written(
    spark: SparkSession,
    snapshot: Snapshot,
    group: Sequence[Bin],
    *,
    curve: Curve | None,
    operation: str,
    table: TableConfiguration,
) -> WrittenFiles:
    target = Target(spark, snapshot, schema=table.schema)
    files = [file for bunch in group for file in bunch.files]
    live = num_rows(files)
    with target.only(files) as rows:
        outputs = sum(bunch.num_outputs for bunch in group)
        number = _output_number(target, rows, group, curve, live)
        columns = [target.old_alone(name, name) for name in target.stored_schema.names]
        moved = selected(rows, [*columns, Given(number.cast("int"), _OUTPUT)])
        moved = moved.repartitionById(outputs, _OUTPUT)
        written = write_rows(
            target,
            moved,
            table=table,
            options=FileOptions(optimize_write=False, one_partition_a_task=True),
            data_change=False,
        )
    check_num_written(written, live, target, operation=operation)
    return written


def _output_number(
    target: Target, rows: DataFrame, group: Sequence[Bin], curve: Curve | None, live: int | None
) -> Column:
    """Return for each row the number of the task that writes it, over all bins of a group."""
    [first, *others] = group
    if first.num_outputs > 1:
        assert not others
        assert curve is not None
        columns = [CurveColumn(_nested(chain), chain.field.type) for chain in curve.columns]
        tables = curve.tables()
        return file_numbers(rows, columns, tables, num_files=first.num_outputs, num_rows=live)
    bin_of = {
        decode_path(file.path): number for number, bunch in enumerate(group) for file in bunch.files
    }
    ids = target.narrowed_files()
    return by_file({id_: bin_of[decode_path(file.path)] for id_, file in ids.items()})


def _nested(chain: FieldChain) -> Column:
    found = column(chain.path[0])
    for name in chain.path[1:]:
        found = found.getField(name)
    return found


def _by_bin(
    group: Sequence[Bin], adds: Iterable[AddFile], curve: Curve | None
) -> list[RewrittenBin]:
    """Return the new files by bin; the task that wrote a file tells its bin."""
    tasks = [number for number, bunch in enumerate(group) for _ in range(bunch.num_outputs)]
    of_bin: dict[int, list[AddFile]] = {number: [] for number in range(len(group))}
    for add in adds:
        found = _TASK.search(decode_path(add.path))
        assert found is not None, add.path
        of_bin[tasks[int(found[1])]].append(add)
    numbered = enumerate(group)
    return [RewrittenBin(old, tuple(_tagged(of_bin[number], curve))) for number, old in numbered]


def _tagged(adds: Iterable[AddFile], curve: Curve | None) -> Iterable[AddFile]:
    if curve is None or curve.cube is None:
        return adds
    tags: dict[str, str | None] = {CUBE_ID: str(uuid4()), CUBE_COLUMNS: curve.cube}
    return [replace(add, tags=tags, clustering_provider=CLUSTERING_PROVIDER) for add in adds]
