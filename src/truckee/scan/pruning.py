"""Skips files without a row that matches a predicate, by partition values and statistics.

Partition values are exact: a file is kept only if the predicate may be true for them. Statistics
are bounds: a file is skipped if they prove that no row can match, and kept if they are missing or
prove nothing. Both are combined through AND and OR, so that `day = '2024-01-01' OR id < 7` skips
files that neither side can match.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from truckee.errors.protocol import InvalidPartitionValueError
from truckee.log.matching_adds import BoundedColumn
from truckee.protocol.partition_values import parse
from truckee.protocol.predicates import (
    ALWAYS_TRUE,
    UNKNOWN,
    And,
    Column,
    Leaf,
    Literal,
    Not,
    Or,
    Predicate,
    StartsWith,
    Unknown,
    all_of,
    conjuncts,
    may_be_true,
    negation_normal_form,
    references,
)
from truckee.protocol.schema import PrimitiveType, StructField, StructType, find_column
from truckee.protocol.table_configuration import TableConfiguration
from truckee.scan.file_statistics import (
    ColumnStatistics,
    DataColumn,
    column_statistics,
)
from truckee.scan.scan_file import ScanFile
from truckee.scan.skipping import Mask, ruled_out

_log = logging.getLogger(__name__)

_STRING_MAP = pa.map_(pa.string(), pa.string())
_BOUNDED_PARTITIONS = frozenset(
    PrimitiveType(name) for name in ("byte", "short", "integer", "long", "string", "date")
)
_BOUNDED = _BOUNDED_PARTITIONS | {PrimitiveType("timestamp"), PrimitiveType("timestamp_ntz")}


def prune(
    files: pa.Table, table: TableConfiguration, predicate: Predicate, *, session_zone: str = "UTC"
) -> pa.BooleanArray:
    """Return, for each file, whether it must be read for the rows that match a predicate.

    `files` needs the columns `partition_values` (by physical name) and `stats` of a snapshot's
    files. `session_zone` applies to timestamps whose text has no zone.
    """
    return PruningFilter(table, predicate, session_zone=session_zone).wants(files)


class PruningFilter:
    """The files that have to be read for the rows that match a predicate."""

    def __init__(
        self, table: TableConfiguration, predicate: Predicate, *, session_zone: str = "UTC"
    ) -> None:
        self._names = _Names.of(table, session_zone)
        self._table = table
        self._normal = negation_normal_form(predicate)
        exact: list[Predicate] = []
        rest: list[Predicate] = []
        for conjunct in conjuncts(self._normal):
            (exact if self._names.is_about_partitions(conjunct) else rest).append(conjunct)
        self._exact, self._rest = all_of(*exact), all_of(*rest)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that `may_want` looks at; none if the predicate is about no column."""
        if references(self._exact):
            return ("partition_values",)
        return ("partition_values", "stats") if references(self._rest) else ()

    @property
    def bounded(self) -> tuple[BoundedColumn, ...]:
        """The columns of the predicate that bounds of many files together can be had of."""
        found = (self._names.bounded_column(column) for column in references(self._normal))
        return tuple({column for column in found if column is not None})

    def may_want_any(self, stats: pa.StringArray) -> pa.BooleanArray:
        """Return for groups of files, by statistics that hold for all of a group, if any may be.

        Partition columns have bounds there like all others.
        """
        names = _Names(self._table.schema, (), self._table.column_mapping_mode, "UTC")
        nothing = pa.nulls(len(stats), _STRING_MAP)
        groups = pa.table({"partition_values": nothing, "stats": stats})
        pieces = _Files(groups, names, names.data_columns(self._normal))
        return _as_array(_mask(self._normal, pieces), len(stats))

    def may_want(self, files: pa.Table) -> pa.BooleanArray:
        """Return which files may be wanted, going by `columns` alone."""
        return self._kept(files) if "stats" in files.column_names else self._by_partitions(files)

    def wants(self, files: pa.Table) -> pa.BooleanArray:
        """Return which files have to be read."""
        kept = self._kept(files)
        if _log.isEnabledFor(logging.DEBUG):
            num_kept = kept.true_count
            pruned = len(kept) - num_kept
            _log.debug("%d of %d files are read, %d pruned", num_kept, len(kept), pruned)
        return kept

    def _kept(self, files: pa.Table) -> pa.BooleanArray:
        kept = self._by_partitions(files)
        if self._rest == ALWAYS_TRUE or not pc.any(kept).as_py():
            return kept
        # Statistics are expensive to decode, so they are used only for the files that are left.
        columns = self._names.data_columns(self._rest)
        left = files.select(["partition_values", "stats"]).filter(kept)
        survivors = _Files(left, self._names, columns)
        mask = _as_array(_mask(self._rest, survivors), survivors.count)
        return pc.replace_with_mask(kept, kept, mask)

    def _by_partitions(self, files: pa.Table) -> pa.BooleanArray:
        pieces = _Files(files.select(["partition_values"]), self._names, ())
        return _as_array(_mask(self._exact, pieces), files.num_rows)


def pruned_scan_files(
    files: Sequence[ScanFile],
    table: TableConfiguration,
    predicate: Predicate,
    *,
    session_zone: str = "UTC",
) -> list[ScanFile]:
    """Return the files that must be read for the rows that match a predicate, in order."""
    columns = pa.table(
        {
            "partition_values": pa.array(
                [list(file.partition_values.items()) for file in files], _STRING_MAP
            ),
            "stats": pa.array([file.stats for file in files], pa.string()),
        }
    )
    mask = prune(columns, table, predicate, session_zone=session_zone)
    return [file for file, kept in zip(files, mask.to_pylist(), strict=True) if kept]


def kept_by_statistics(
    predicate: Predicate,
    schema: StructType,
    statistics: Mapping[tuple[str, ...], ColumnStatistics],
    count: int,
) -> pa.BooleanArray:
    """Return, for each of `count` pieces of data, whether it may have a matching row.

    `statistics` are by the logical path of their column, one row per piece. A predicate on other
    columns may be true for any piece.
    """
    names = _Names(schema, (), "none", "UTC")
    known = _only_about(negation_normal_form(predicate), statistics.keys())
    return _as_array(_mask(known, _Pieces(names, count, statistics)), count)


def _only_about(predicate: Predicate, paths: Collection[tuple[str, ...]]) -> Predicate:
    match predicate:
        case And(operands):
            return And(tuple(_only_about(operand, paths) for operand in operands))
        case Or(operands):
            return Or(tuple(_only_about(operand, paths) for operand in operands))
        case Literal() | Unknown():
            return predicate
        case _:
            return predicate if {c.path for c in references(predicate)} <= set(paths) else UNKNOWN


class _Names:
    """Resolves names in a predicate: partition columns, data columns, or unknown."""

    def __init__(
        self, schema: StructType, partition_columns: Sequence[str], mode: str, session_zone: str
    ) -> None:
        self._schema = schema
        self._partitions = {name.casefold() for name in partition_columns}
        self._mode = mode
        self.session_zone = session_zone
        # The same partition values come again with the next files.
        self.answers: dict[tuple[Leaf | Not, str | None], bool] = {}

    @classmethod
    def of(cls, table: TableConfiguration, session_zone: str) -> _Names:
        """Return the names of a table."""
        mode = table.column_mapping_mode
        return cls(table.schema, table.partition_columns, mode, session_zone)

    def partition_field(self, column: Column) -> StructField | None:
        """Return the field of a partition column, None if it is not one."""
        if len(column.path) != 1 or column.path[0].casefold() not in self._partitions:
            return None
        return self._schema.field(column.path[0])

    def physical_name(self, field: StructField) -> str:
        """Return the name of a column in partition values."""
        return field.name if self._mode == "none" else field.physical_name

    def data_column(self, column: Column) -> DataColumn | None:
        """Return a data column as statistics name it, None if it has no statistics."""
        chain = find_column(self._schema, column.path)
        if chain is None or isinstance(chain.field.type, StructType):
            return None
        return DataColumn.of(chain, self._mode)

    def bounded_column(self, column: Column) -> BoundedColumn | None:
        """Return a column as a checkpoint knows it whose bounds can be trusted, else None.

        The bounds of floats leave out NaN. Old texts of timestamps were read in the zone of
        whoever wrote the checkpoint. A dot in a name could be one between two names.
        """
        found = self.data_column(column)
        if found is None or any("." in name for name in found.path):
            return None
        is_partition = self.partition_field(column) is not None
        types = _BOUNDED_PARTITIONS if is_partition else _BOUNDED
        return BoundedColumn(found.path, is_partition) if found.type in types else None

    def data_columns(self, predicate: Predicate) -> tuple[DataColumn, ...]:
        """Return the data columns that a predicate uses."""
        named = (c for c in references(predicate) if self.partition_field(c) is None)
        found = (self.data_column(column) for column in named)
        return tuple({column.path: column for column in found if column is not None}.values())

    def is_about_partitions(self, predicate: Predicate) -> bool:
        """Return whether partition values alone decide a predicate."""
        return all(self.partition_field(column) is not None for column in references(predicate))


class _Pieces:
    """Pieces of data for which only the statistics of some columns are known."""

    def __init__(
        self,
        names: _Names,
        count: int,
        statistics: Mapping[tuple[str, ...], ColumnStatistics],
    ) -> None:
        self.names = names
        self.count = count
        self._statistics = statistics

    def statistics(self, column: DataColumn) -> ColumnStatistics:
        """Return the statistics of a column."""
        return self._statistics[column.path]


class _Files(_Pieces):
    """Some files, with the statistics of the columns that a predicate needs."""

    def __init__(self, files: pa.Table, names: _Names, columns: Sequence[DataColumn]) -> None:
        found = column_statistics(files.column("stats"), columns) if columns else []
        known = {c.path: s for c, s in zip(columns, found, strict=True)}
        super().__init__(names, files.num_rows, known)
        self._partition_values = files.column("partition_values")

    def partition_texts(self, name: str) -> pa.Array:
        """Return the texts of one partition column."""
        texts = pc.map_lookup(self._partition_values, pa.scalar(name), "first")
        return texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts


def _as_array(mask: Mask, count: int) -> pa.BooleanArray:
    return pa.array([mask] * count, pa.bool_()) if isinstance(mask, bool) else mask


def _mask(predicate: Predicate, files: _Pieces) -> Mask:
    match predicate:
        case And(operands):
            return _combined(operands, files, stop=False, combine=pc.and_)
        case Or(operands):
            return _combined(operands, files, stop=True, combine=pc.or_)
        case Literal(value):
            return value is True
        case Unknown():
            return True
        case Not(StartsWith() as leaf):
            return _leaf_mask(predicate, leaf.column, files)
        case Not():
            raise AssertionError("NOT was pushed down")
        case leaf:
            return _leaf_mask(leaf, leaf.column, files)


def _combined(
    operands: Sequence[Predicate],
    files: _Pieces,
    *,
    stop: bool,
    combine: Callable[[pa.Array, pa.Array], pa.Array],
) -> Mask:
    result: Mask = not stop
    for operand in operands:
        mask = _mask(operand, files)
        if isinstance(mask, bool):
            if mask is stop:
                return stop
        else:
            result = mask if isinstance(result, bool) else combine(result, mask)
    return result


def _leaf_mask(leaf: Leaf | Not, column: Column, files: _Pieces) -> Mask:
    field = files.names.partition_field(column)
    if field is not None and isinstance(files, _Files):
        return _partition_mask(leaf, field, files)
    data_column = files.names.data_column(column)
    if data_column is None:
        return True
    excluded = ruled_out(leaf, files.statistics(data_column), data_column.type)
    return not excluded if isinstance(excluded, bool) else pc.invert(excluded)


def _partition_mask(leaf: Leaf | Not, field: StructField, files: _Files) -> Mask:
    # A partition column has few distinct values, so each is evaluated once.
    texts = files.partition_texts(files.names.physical_name(field)).dictionary_encode()
    kept = [_value_may_match(leaf, field, t, files.names) for t in texts.dictionary.to_pylist()]
    null_kept = _value_may_match(leaf, field, None, files.names)
    return pc.fill_null(pa.array(kept, pa.bool_()).take(texts.indices), null_kept)


def _value_may_match(leaf: Leaf | Not, field: StructField, text: str | None, names: _Names) -> bool:
    known = names.answers.get((leaf, text))
    if known is None:
        try:
            known = may_be_true(leaf, {field.name: parse(text, field.type, names.session_zone)})
        except InvalidPartitionValueError:
            known = True
        names.answers[leaf, text] = known
    return known
