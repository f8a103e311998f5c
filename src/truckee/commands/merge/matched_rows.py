"""Which rows of the target each clause of a MERGE takes.

The two sides are joined once, reading only the columns that the conditions need. The result is a
bitmap for each clause and file. From then on, rows are identified by their position:

    rows of the target that match    one clause each, or none      bitmaps
    rows that do not match           one clause each, or none      one more scan, no join
    source rows that match           a bitmap of their numbers     if the source was kept
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from truckee.commands.merge.clauses import ClauseKind, Does
from truckee.commands.merge.resolution import ResolvedClause
from truckee.commands.table_plan import TablePlan
from truckee.deletion_vectors.store import PartFiles
from truckee.errors.commands.dml import MultipleMatchesError
from truckee.spark.dml.expressions import Expression, true_only
from truckee.spark.dml.merge_source import NUMBER, Source
from truckee.spark.dml.row_bitmaps import (
    FileRows,
    MarkedRows,
    is_in,
    marked_rows,
    rows_of_pairs,
    union_of_rows,
)
from truckee.spark.dml.target import Target
from truckee.spark.read.relations import FILE, ROW
from truckee.spark.session.job_descriptions import job_description


@dataclass(frozen=True, kw_only=True)
class ResolvedMerge:
    """A merge with all names resolved; `table` is the target as it will be."""

    target: Target
    table: TablePlan
    source: DataFrame
    on: Expression
    clauses: tuple[ResolvedClause, ...]

    @property
    def brings_rows(self) -> bool:
        """Whether rows of the source may become rows of the target."""
        return any(
            each.clause.does is not Does.DELETE
            for each in self.clauses
            if each.clause.kind is not ClauseKind.NOT_MATCHED_BY_SOURCE
        )

    def of_kind(self, kind: ClauseKind) -> list[ResolvedClause]:
        """Return the clauses of a kind, in order."""
        return [each for each in self.clauses if each.clause.kind is kind]


class Hit(NamedTuple):
    """A clause and the rows that it takes.

    `sources` are the numbers of the source rows that these match, one each; None if they have no
    numbers, or if one of them matches several rows.
    """

    clause: ResolvedClause
    rows: FileRows
    sources: FileRows | None = None

    @property
    def num_rows(self) -> int:
        """The number of the rows."""
        return sum(len(rows) for rows in self.rows.values())


@dataclass(frozen=True)
class MergeRows:
    """The rows of the target that match, and those that the clauses take.

    `matched_sources` are the numbers of the source rows that match, None if they have no numbers.
    """

    matched: FileRows
    matched_sources: FileRows | None
    hits: tuple[Hit, ...]

    def taken(self, does: Does, kind: ClauseKind | None = None) -> list[Hit]:
        """Return the clauses that update, or that delete, if they take at least one row."""
        return [
            hit
            for hit in self.hits
            if hit.rows
            and hit.clause.clause.does is does
            and kind in (None, hit.clause.clause.kind)
        ]

    def count(self, does: Does, kind: ClauseKind | None = None) -> int:
        """Return how many rows are updated, or deleted."""
        return sum(hit.num_rows for hit in self.taken(does, kind))

    @property
    def all_taken(self) -> FileRows:
        """The rows that any clause takes."""
        return union_of_rows([hit.rows for hit in self.hits])

    @property
    def all_that_matter(self) -> FileRows:
        """The rows that the outcome depends on; a matching row also prevents an insert."""
        by_source = ClauseKind.NOT_MATCHED_BY_SOURCE
        alone = [hit.rows for hit in self.hits if hit.clause.clause.kind is by_source]
        return union_of_rows([self.matched, *alone])


def merge_rows(merge: ResolvedMerge, source: Source, parts: PartFiles) -> MergeRows:
    """Return the rows that a merge takes; MultipleMatchesError if the result is ambiguous."""
    clauses = merge.of_kind(ClauseKind.MATCHED)
    matched, sources = _matched(merge, source, clauses, parts)
    if matched.has_repeats and clauses and not _only_deletes(clauses):
        raise _multiple_matches(merge, source)
    by_clause: Sequence[FileRows | None] = [None] * len(clauses)
    if sources is not None and not sources.has_repeats:
        by_clause = sources.by_mark
    hits = [Hit(*each) for each in zip(clauses, matched.by_mark, by_clause, strict=True)]
    return MergeRows(
        matched.rows,
        None if sources is None else sources.rows,
        (*hits, *_not_matched_by_source(merge, matched.rows, parts)),
    )


def _matched(
    merge: ResolvedMerge, source: Source, clauses: list[ResolvedClause], parts: PartFiles
) -> tuple[MarkedRows, MarkedRows | None]:
    """Return the rows of both sides that match; those of the source only if they are needed."""
    if source.num_rows == 0:
        return MarkedRows({}, tuple({} for _ in clauses), False), None
    pairs = _pairs(merge, source)
    if source.has_numbers and merge.brings_rows:
        return rows_of_pairs(pairs, _takes(clauses), NUMBER, parts)
    return marked_rows(pairs, _takes(clauses), parts), None


def _pairs(merge: ResolvedMerge, source: Source) -> DataFrame:
    rows = merge.target.rows
    if source.keys is not None:
        rows = rows.where(source.keys)
    conditions = [merge.on, *(each.condition for each in merge.of_kind(ClauseKind.MATCHED))]
    used = {name for each in conditions if each is not None for name in each.columns}
    return rows.join(source.to_join(used | {NUMBER}), merge.on.column)


def _only_deletes(clauses: Sequence[ResolvedClause]) -> bool:
    """Whether several matches are allowed, because the row is deleted in any case."""
    [*others, last] = clauses
    return not others and last.clause.does is Does.DELETE and last.condition is None


def _not_matched_by_source(merge: ResolvedMerge, matched: FileRows, parts: PartFiles) -> list[Hit]:
    clauses = merge.of_kind(ClauseKind.NOT_MATCHED_BY_SOURCE)
    if not clauses:
        return []
    rows = merge.target.rows.where(reduce(Column.__or__, (each.applies for each in clauses)))
    if matched:
        root = parts.storage.root
        rows = rows.where(~is_in(merge.target.spark, matched, "rows that match", root))
    found = marked_rows(rows, _takes(clauses), parts)
    return [Hit(*pair) for pair in zip(clauses, found.by_mark, strict=True)]


def _takes(clauses: Sequence[ResolvedClause]) -> list[Column]:
    """Return for each clause whether it is the first that applies."""
    takes: list[Column] = []
    earlier = F.lit(False)
    for each in clauses:
        applies = true_only(each.applies)
        takes.append(applies & ~earlier)
        earlier = earlier | applies
    return takes


def _multiple_matches(merge: ResolvedMerge, source: Source) -> MultipleMatchesError:
    target = merge.target
    read = {name.casefold() for name in merge.on.columns}
    names = [name for name in target.schema.names if name.casefold() in read]
    shown = names or list(target.schema.names)
    values = [F.first(target.old(name)).alias(f"v{i}") for i, name in enumerate(shown)]
    pairs = _pairs(merge, source).groupBy(FILE, ROW).agg(F.count("*").alias("matches"), *values)
    with job_description(target.spark, "finding a row with several matches"):
        example = pairs.where("matches > 1").orderBy(FILE, ROW).limit(1).collect()[0]
    texts = [f"{name}: {example[f'v{index}']}" for index, name in enumerate(shown)]
    return MultipleMatchesError(
        table=target.snapshot.storage.root,
        condition=merge.on.sql,
        row=", ".join(texts),
        matches=int(example["matches"]),
    )
