"""The new files of a MERGE, written in one pass.

The rows to write are the union of up to five parts. Parts without rows are left out:

| part                                | comes from                                  | joined?      |
|-------------------------------------|---------------------------------------------|--------------|
| rows updated by WHEN MATCHED        | the rows of its bitmaps, and the source     | if needed    |
| rows updated by WHEN NOT MATCHED... | the rows of its bitmaps                     | no           |
| copies                              | other rows of files that are rewritten      | no           |
| rows deleted, for the feed          | the rows of its bitmaps                     | no           |
| rows inserted                       | source rows without a match                 | if needed    |

If the source was kept, the numbers of its matching rows are known. Then inserts need no join.
Updates need none either if the new values use the source alone; the target is then not read again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from truckee.commands.dml.file_fates import Fates, check_num_written, write_rows
from truckee.commands.dml.matched_files import TouchedFile, num_touched
from truckee.commands.dml.row_images import NewValues, inserted_rows, unchanged_rows, updated_rows
from truckee.commands.merge.clauses import ClauseKind, Does
from truckee.commands.merge.matched_rows import Hit, MergeRows, ResolvedMerge
from truckee.commands.merge.resolution import ResolvedClause
from truckee.commands.schema.identity_marks import with_identity_marks
from truckee.protocol.actions import Metadata
from truckee.protocol.column_metadata import (
    CURRENT_DEFAULT_KEY,
    GENERATION_EXPRESSION_KEY,
)
from truckee.protocol.paths import decode_path
from truckee.scan.footer_statistics import read_footers
from truckee.spark.dml.expressions import are_of, true_only
from truckee.spark.dml.merge_source import NUMBER, Source
from truckee.spark.dml.row_bitmaps import FileRows, is_in, is_number_in, is_of_files, union_of_rows
from truckee.spark.jvm.projection import column
from truckee.spark.write.identity import Identity, identity_of, identity_values
from truckee.spark.write.table_sql import default_value
from truckee.spark.write.writer import WrittenFiles
from truckee.storage.base import Storage


@dataclass(frozen=True, kw_only=True)
class MergeOutput:
    """The files that a merge has written, and how many rows of each kind they have.

    `metadata` is that of the table after the merge, None if it does not change.
    """

    written: tuple[WrittenFiles, ...] = ()
    num_inserted: int = 0
    num_copied: int = 0
    metadata: Metadata | None = None


def write_merge(merge: ResolvedMerge, source: Source, rows: MergeRows, fate: Fates) -> MergeOutput:
    """Write the rows that a merge brings into the table, and its change rows."""
    parts = _Parts(merge, source, rows, fate)
    files = [file.add for file in (*fate.removed, *fate.rewritten, *fate.marked)]
    with merge.target.only([*files, *merge.target.add_files(sorted(rows.matched))]):
        frames = parts.frames()
        if not frames:
            return MergeOutput(metadata=_changed(merge, merge.table.metadata))
        written = _write(merge, reduce(DataFrame.unionAll, frames), parts.identities)
    copied = _num_copied(merge.table.storage, fate.rewritten)
    known = copied + rows.count(Does.UPDATE)
    inserted = written.num_rows - known
    if inserted < 0 or not merge.of_kind(ClauseKind.NOT_MATCHED):
        check_num_written(written, known, merge.target, operation="MERGE")
    metadata = with_identity_marks(merge.table.metadata, written.identity_marks)
    return MergeOutput(
        written=(written,),
        num_inserted=inserted,
        num_copied=copied,
        metadata=_changed(merge, metadata),
    )


def _changed(merge: ResolvedMerge, metadata: Metadata) -> Metadata | None:
    """Return the metadata if the merge changes it: by a new column, or by identity numbers."""
    return None if metadata == merge.target.snapshot.metadata else metadata


class _Parts:
    """The parts of the rows to write; see the module."""

    def __init__(self, merge: ResolvedMerge, source: Source, rows: MergeRows, fate: Fates) -> None:
        self._merge = merge
        self._target = merge.target
        self._schema = merge.target.stored_schema
        self._source = source
        self._rows = rows
        self._fate = fate
        self._inserts = merge.of_kind(ClauseKind.NOT_MATCHED)
        self._has_changes = self._needs_change_rows()
        self.identities = self._identities()

    def _needs_change_rows(self) -> bool:
        """Whether the feed needs change files, because adds, removes and vectors do not show it."""
        if not self._merge.table.properties.enable_change_data_feed:
            return False
        if self._rows.taken(Does.UPDATE) or self._fate.rewritten:
            return True
        return bool(self._rows.taken(Does.DELETE)) and bool(self._inserts)

    def frames(self) -> list[DataFrame]:
        """Return the parts that may have rows."""
        found = []
        matched = self._rows.taken(Does.UPDATE, ClauseKind.MATCHED)
        if matched:
            found.append(self._updated_by_source(matched))
        alone = self._rows.taken(Does.UPDATE, ClauseKind.NOT_MATCHED_BY_SOURCE)
        if alone:
            found.append(self._updated(self._among(alone), alone))
        deleted = self._rows.taken(Does.DELETE)
        if deleted and self._has_changes:
            found.append(self._unchanged(self._among(deleted), "delete"))
        if self._fate.rewritten:
            found.append(self._unchanged(self._copied(), None))
        if self._inserts and self._source.num_rows:
            found.append(self._inserted())
        return found

    def _among(self, hits: list[Hit]) -> DataFrame:
        return self._in(union_of_rows([hit.rows for hit in hits]), "rows taken")

    def _in(self, rows: FileRows, name: str) -> DataFrame:
        of_files = self._target.rows.where(is_of_files(sorted(rows)))
        return of_files.where(self._is_in(rows, name))

    def _is_in(self, rows: FileRows, name: str) -> Column:
        return is_in(self._target.spark, rows, name, self._merge.table.storage.root)

    def _updated_by_source(self, hits: list[Hit]) -> DataFrame:
        if not self._is_all_of_source(hits):
            pairs = self._among(hits).join(self._source.rows, self._merge.on.column)
            return self._updated(pairs, hits)
        ways = []
        for hit in hits:
            assert hit.sources is not None  # no row may be dropped silently
            takes = self._is_of_source(hit.sources, hit.clause.clause.name)
            ways.append(NewValues(takes, hit.clause.values))
        return inserted_rows(self._source.rows, self._schema, ways, has_feed=False)

    def _is_all_of_source(self, hits: list[Hit]) -> bool:
        """Whether each new row is made from one row of the source alone."""
        if self._has_changes or any(hit.sources is None for hit in hits):
            return False
        needed = {
            f.name for f in self._schema.fields if GENERATION_EXPRESSION_KEY not in f.metadata
        }
        if any(not needed <= hit.clause.values.keys() for hit in hits):
            return False
        values = [value for hit in hits for value in hit.clause.values.values()]
        return are_of(self._merge.source, values, beside=self._target.rows)

    def _is_of_source(self, numbers: FileRows, name: str) -> Column:
        root = self._merge.table.storage.root
        return is_number_in(self._target.spark, numbers, name, root, number=NUMBER)

    def _updated(self, rows: DataFrame, hits: list[Hit]) -> DataFrame:
        ways = [
            NewValues(self._is_hit(hit, hits), self._target.with_new_version(hit.clause.values))
            for hit in hits
        ]
        return updated_rows(
            rows, self._schema, ways, old=self._target.old_beside, has_feed=self._has_changes
        )

    def _is_hit(self, hit: Hit, hits: list[Hit]) -> Column:
        if len(hits) == 1:
            return F.lit(True)
        return self._is_in(hit.rows, hit.clause.clause.name)

    def _unchanged(self, rows: DataFrame, change_type: str | None) -> DataFrame:
        return unchanged_rows(
            rows,
            self._schema,
            old=self._target.old_alone,
            change_type=change_type,
            has_feed=self._has_changes,
        )

    def _copied(self) -> DataFrame:
        ids = {file.id for file in self._fate.rewritten}
        taken = {file: rows for file, rows in self._rows.all_taken.items() if file in ids}
        of_files = self._target.rows.where(is_of_files(sorted(taken)))
        return of_files.where(~self._is_in(taken, "rows taken"))

    def _inserted(self) -> DataFrame:
        rows = self._source.rows
        if self._rows.matched_sources is not None:
            rows = rows.where(~self._is_of_source(self._rows.matched_sources, "rows that match"))
        elif self._rows.matched:
            with_match = self._in(self._rows.matched, "rows that match")
            rows = rows.join(with_match, self._merge.on.column, "left_anti")
        ways = [
            NewValues(true_only(clause.applies), self._with_own_values(clause))
            for clause in self._inserts
        ]
        return inserted_rows(rows, self._schema, ways, has_feed=self._has_changes)

    def _with_own_values(self, clause: ResolvedClause) -> Mapping[str, Column]:
        """Return the values of an insert, with identities and defaults for missing values."""
        values = dict(clause.values)
        for field in self._schema.fields:
            if field.name in values:
                continue
            identity = identity_of(field)
            if identity is not None:
                values[field.name] = identity_values(self._target.spark, identity)
            elif CURRENT_DEFAULT_KEY in field.metadata:
                values[field.name] = default_value(field)
        return values

    def _identities(self) -> dict[str, Identity]:
        found = {}
        for field in self._schema.fields:
            identity = identity_of(field)
            if identity is not None and any(field.name not in i.values for i in self._inserts):
                found[field.physical_name] = identity
        return found


def _write(
    merge: ResolvedMerge, rows: DataFrame, identities: Mapping[str, Identity]
) -> WrittenFiles:
    table = merge.table
    if table.metadata.partition_columns:
        # Otherwise each task would write a small file to each partition.
        rows = rows.repartition(*(column(name) for name in table.metadata.partition_columns))
    return write_rows(
        merge.target,
        rows,
        table=table.configuration,
        given={name for each in merge.clauses for name in each.values},
        identities=identities,
    )


def _num_copied(storage: Storage, files: list[TouchedFile]) -> int:
    """Return how many rows of rewritten files are only copied."""
    unknown = [file for file in files if file.num_live is None]
    paths = [decode_path(file.add.path) for file in unknown]
    footers = read_footers(storage, paths, [])
    hidden = sum(file.num_deleted for file in unknown)
    live = sum(footer.num_rows for footer in footers) - hidden
    live += sum(file.num_live for file in files if file.num_live is not None)
    return live - num_touched(files)
