"""What a command does to the files of a table, and the command before it is committed.

rows found  ->  whole files removed | rows marked | files rewritten   ->  actions
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.sql import Column, DataFrame

from truckee.commands.dml.file_fates import Fates
from truckee.commands.dml.marked_files import (
    MarkedFile,
    marked_files,
    vector_files,
)
from truckee.commands.dml.matched_files import TouchedFile
from truckee.commands.removed_files import file_removals
from truckee.deletion_vectors.store import PartFiles, delete_vector_files
from truckee.log.snapshot import Snapshot
from truckee.protocol.actions import Action, AddFile, Metadata
from truckee.protocol.predicates import Predicate
from truckee.spark.dml.target import Reading, Target
from truckee.spark.write.writer import WrittenFiles


class VectorCounts(NamedTuple):
    """How many deletion vectors were added, removed, or replaced by a larger one."""

    added: int
    removed: int
    updated: int


@dataclass(frozen=True, kw_only=True)
class RowChanges:
    """Files that leave the table, files with more rows marked, and new files.

    `reading` is what was read to find them. `touched` are the rows that the outcome depends on; all
    other rows may be added or removed by others without changing it. `parts` are the files in which
    tasks have stored rows; some of them may hold vectors of marked files.
    """

    snapshot: Snapshot
    reading: Reading
    touched: tuple[TouchedFile, ...] = ()
    removed: tuple[AddFile, ...] = ()
    marked: tuple[MarkedFile, ...] = ()
    written: tuple[WrittenFiles, ...] = ()
    parts: frozenset[str] = frozenset()

    @property
    def actions(self) -> tuple[Action, ...]:
        """The actions of the commit: removed files first, then adds before removes."""
        return (
            *file_removals(self.removed),
            *(file.after for file in self.marked),
            *file_removals(file.before for file in self.marked),
            *(add for files in self.written for add in files.adds),
            *(change for files in self.written for change in files.changes),
        )

    @property
    def vectors(self) -> VectorCounts:
        """The vector counts for the metrics: replacing a vector adds one and removes one."""
        updated = sum(file.before.deletion_vector is not None for file in self.marked)
        removed = sum(file.deletion_vector is not None for file in self.removed)
        return VectorCounts(len(self.marked), removed + updated, updated)

    @property
    def adds(self) -> list[AddFile]:
        """The new data files."""
        return [add for files in self.written for add in files.adds]

    @property
    def num_change_files(self) -> int:
        """The number of files of change rows."""
        return sum(len(files.changes) for files in self.written)

    def discard(self) -> None:
        """Delete all new files, because the commit that would have named them did not happen."""
        delete_vector_files(self.snapshot.storage, vector_files(self.marked) | self.parts)
        for files in self.written:
            files.discard()

    def drop_parts(self) -> None:
        """Delete files of found rows that no new vector needs, once no conflict can come."""
        delete_vector_files(self.snapshot.storage, self.parts - vector_files(self.marked))


def row_changes(
    target: Target,
    touched: Iterable[TouchedFile],
    fate: Fates,
    written: tuple[WrittenFiles, ...],
    parts: PartFiles,
) -> RowChanges:
    """Return the outcome of a command that has written its new files.

    The deletion vectors of rows to be marked are written here.
    """
    return RowChanges(
        snapshot=target.snapshot,
        reading=target.reading(),
        touched=tuple(touched),
        removed=tuple(file.add for file in (*fate.removed, *fate.rewritten)),
        marked=tuple(marked_files(target.spark, target.snapshot, fate.marked)),
        written=written,
        parts=frozenset(parts.paths),
    )


def no_changes(snapshot: Snapshot, predicate: Predicate) -> RowChanges:
    """Return an outcome without changes, for a command that found no files."""
    return RowChanges(snapshot=snapshot, reading=Reading(predicate, no_files(snapshot)))


def no_files(snapshot: Snapshot) -> pa.Table:
    """Return an empty table of files, with the columns of a snapshot's files."""
    return snapshot.files_table().slice(0, 0)


@dataclass(frozen=True, kw_only=True)
class DmlPlan:
    """A DELETE, UPDATE or MERGE that is ready to be committed.

    `affected` are the numbers for the caller, `metrics` those for the commit. `matching` filters
    any rows of the table for those that the command's outcome depends on. `metadata` is that of the
    table after the commit, None if it does not change.
    """

    operation: str
    parameters: Mapping[str, Any]
    changes: RowChanges
    metrics: Callable[[RowChanges], Mapping[str, object]]
    affected: Mapping[str, int]
    matching: Callable[[DataFrame], DataFrame]
    metadata: Metadata | None = None


def rows_matching(
    condition: str | Column | None, alias: str | None
) -> Callable[[DataFrame], DataFrame]:
    """Return a function that filters rows of a table for those a condition is true of."""

    def matching(rows: DataFrame) -> DataFrame:
        named = rows if alias is None else rows.alias(alias)
        return named if condition is None else named.where(condition)

    return matching
