"""Rows that others deleted from files during their rewrite: deleted again in the new files.

A bin of files is rewritten as of one version. Before it is committed, others may have changed its
files:

| since the table was read, others  | the bin                                                   |
|-----------------------------------|-----------------------------------------------------------|
| marked rows of a file             | is adapted: vectors mark the same rows in its new files   |
| removed a file, restored rows     | is lost: its new files are deleted, and it is retried     |
| did neither                       | is committed as it is                                     |

A row is found by its values. Rows with the same values are interchangeable; with row tracking, row
ids are among the values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace as changed

from msgspec.structs import replace
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from truckee.commands.care.rewrite import Rewritten, RewrittenBin
from truckee.commands.dml.file_fates import takes_vectors
from truckee.commands.dml.later_commits import files_by_path
from truckee.commands.dml.marked_files import marked_files, vector_rows
from truckee.commands.dml.matched_files import TouchedFile
from truckee.deletion_vectors.bitmap import RowBitmap
from truckee.deletion_vectors.store import PartFiles, StoredRows, delete_vector_files, part_files
from truckee.log.snapshot import Snapshot
from truckee.protocol.actions import AddFile
from truckee.protocol.paths import decode_path
from truckee.protocol.predicates import Predicate
from truckee.scan.scan_file import ALL_ROWS, RowSelection, ScanFile
from truckee.spark.dml.row_bitmaps import is_in, marked_rows
from truckee.spark.dml.target import Target
from truckee.spark.jvm.projection import column, selected
from truckee.spark.local_frames import local_frame
from truckee.spark.read.frames import snapshot_scan
from truckee.spark.read.relations import FILE, ROW, scan_frame
from truckee.spark.read.row_pairing import comparable_column
from truckee.spark.session.job_descriptions import job_description

_VALUES = "__truckee_values"
_WANTED = "__truckee_wanted"
# In microseconds: by default, JSON has milliseconds.
_EXACT = {
    "ignoreNullFields": "false",
    "timestampFormat": "yyyy-MM-dd HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd HH:mm:ss.SSSSSS",
}


def following(
    spark: SparkSession, done: Rewritten, newer: Snapshot
) -> tuple[Rewritten, tuple[RewrittenBin, ...]]:
    """Return the bins adapted to be committed after a newer version, and the lost bins."""
    live = files_by_path(newer, (decode_path(file.path) for file in done.removed))
    kept: list[RewrittenBin] = []
    lost: list[RewrittenBin] = []
    for each in done.bins:
        after = _following_bin(spark, done, each, newer, live)
        if after is None:
            lost.append(each)
        else:
            kept.append(after)
    return changed(done, snapshot=newer, bins=tuple(kept)), tuple(lost)


def _following_bin(
    spark: SparkSession,
    done: Rewritten,
    each: RewrittenBin,
    newer: Snapshot,
    live: Mapping[str, AddFile],
) -> RewrittenBin | None:
    now = [live.get(decode_path(file.path)) for file in each.old.files]
    files = tuple(file for file in now if file is not None)
    if len(files) < len(now):
        return None
    pairs = [
        (before, after)
        for before, after in zip(each.old.files, files, strict=True)
        if before.deletion_vector != after.deletion_vector
    ]
    adds: tuple[AddFile, ...] | None = each.adds
    if pairs:
        adds = _with_deletions(spark, done.snapshot, newer, pairs, each.adds)
    return None if adds is None else RewrittenBin(changed(each.old, files=files), adds)


def _with_deletions(
    spark: SparkSession,
    older: Snapshot,
    newer: Snapshot,
    pairs: list[tuple[AddFile, AddFile]],
    adds: tuple[AddFile, ...],
) -> tuple[AddFile, ...] | None:
    """Return new files without the rows that are marked in the second of each pair only.

    None if that cannot be done: rows came back, or no vectors may be written.
    """
    before = vector_rows(older, [pair[0] for pair in pairs])
    after = vector_rows(newer, [pair[1] for pair in pairs])
    came = any(old - new for old, new in zip(before, after, strict=True))
    if came or not takes_vectors(newer):
        return None
    gone = {
        decode_path(pair[0].path): new - old
        for pair, old, new in zip(pairs, before, after, strict=True)
    }
    with part_files(newer.storage) as parts:
        found = _found_again(spark, older, gone, [pair[0] for pair in pairs], adds, parts)
        marked = None
        if sum(map(len, found.values())) == sum(map(len, gone.values())):
            marked = tuple(_marked(spark, newer, adds, found))
    vectors = (add.deletion_vector for add in marked or ())
    used = {vector.file_path for vector in vectors if vector is not None}
    delete_vector_files(newer.storage, parts.paths - used)
    return marked


def _found_again(
    spark: SparkSession,
    older: Snapshot,
    gone: Mapping[str, RowBitmap],
    files: list[AddFile],
    adds: tuple[AddFile, ...],
    parts: PartFiles,
) -> Mapping[str, RowBitmap | StoredRows]:
    """Return rows of new files that hold what the given rows of old files do, by path."""
    target = Target(spark, older)
    with target.only(files) as rows:
        numbers = {id_: decode_path(file.path) for id_, file in target.narrowed_files().items()}
        by_id = {id_: gone[path] for id_, path in numbers.items()}
        those = is_in(spark, by_id, "deleted rows", older.storage.root)
        names = target.stored_schema.names
        chosen = selected(rows.where(those), [target.old_alone(name, name) for name in names])
        counts = _with_values(chosen, names).groupBy(_VALUES).agg(F.count("*").alias(_WANTED))
        with job_description(spark, "reading rows that others deleted"):
            wanted = local_frame(spark, counts.toArrow())
    scan = changed(
        snapshot_scan(older),
        table=older.configuration.with_schema(target.stored_schema),
        files=_always([_scan_file(add, older.version) for add in adds]),
    )
    there = scan_frame(spark, scan, row_ids=True)
    first = Window.partitionBy(_VALUES).orderBy(FILE, ROW)
    paired = _with_values(there, names, FILE, ROW).join(F.broadcast(wanted), _VALUES)
    taken = paired.withColumn("n", F.row_number().over(first)).where(f"n <= {_WANTED}")
    found = marked_rows(taken, (), parts).rows
    return {scan.registry.file(id_).path: rows for id_, rows in found.items()}


def _with_values(rows: DataFrame, names: Iterable[str], *others: str) -> DataFrame:
    types = {field.name: field.dataType for field in rows.schema.fields}
    # In JSON, a date in a variant would be the same as its text.
    compared = (comparable_column(column(name), types[name]).alias(name) for name in names)
    values = F.to_json(F.struct(*compared), _EXACT)
    return rows.select(values.alias(_VALUES), *others)


def _always(files: list[ScanFile]) -> Callable[[Predicate, str | None, str], list[ScanFile]]:
    return lambda _predicate, _query, _zone: files


def _scan_file(add: AddFile, version: int) -> ScanFile:
    vector = add.deletion_vector
    return ScanFile(
        path=decode_path(add.path),
        size=add.size,
        modification_time=add.modification_time,
        partition_values=add.partition_values,
        version=version,
        rows=ALL_ROWS if vector is None else RowSelection(without=vector),
        stats=add.stats,
    )


def _marked(
    spark: SparkSession,
    newer: Snapshot,
    adds: Iterable[AddFile],
    found: Mapping[str, RowBitmap | StoredRows],
) -> Iterable[AddFile]:
    touched = [
        TouchedFile(-1, add, found[path])
        for add in adds
        if (path := decode_path(add.path)) in found
    ]
    partly = [file for file in touched if not file.is_whole]
    after = {file.before.path: file.after for file in marked_files(spark, newer, partly)}
    gone = {file.add.path for file in touched if file.is_whole}
    for add in adds:
        if add.path not in gone:
            yield replace(after.get(add.path, add), data_change=False)
