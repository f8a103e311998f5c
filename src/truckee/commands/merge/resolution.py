"""Resolves the names in a MERGE: what it compares, and which values go to which columns.

| clause                    | conditions and values may use |
|---------------------------|-------------------------------|
| WHEN MATCHED              | target and source             |
| WHEN NOT MATCHED          | source                        |
| WHEN NOT MATCHED BY SOURCE| target                        |

With schema evolution, columns of the source that clauses use and that the table lacks are added to
the table, in the same commit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from truckee.commands.dml.assignments import (
    Assignment,
    assignments,
    check_assignable,
    check_type,
    column_name_parts,
    new_values,
)
from truckee.commands.merge.clauses import Clause, ClauseKind, Does
from truckee.commands.schema.evolution import grown_schema, merged_schema
from truckee.errors.base import DeltaError
from truckee.errors.commands.dml import AmbiguousColumnError
from truckee.errors.commands.expressions import SourceColumnMissingError, UnmergeableTypeError
from truckee.errors.commands.write import SchemaMismatchError
from truckee.protocol.column_metadata import CURRENT_DEFAULT_KEY, GENERATION_EXPRESSION_KEY
from truckee.protocol.schema import (
    DataType,
    FieldChain,
    StructField,
    StructType,
    find_column,
)
from truckee.spark.dml.expressions import (
    Expression,
    Value,
    is_simple,
    resolved_condition,
    resolved_value,
)
from truckee.spark.dml.target import Target
from truckee.spark.jvm.jvm_errors import quiet_errors
from truckee.spark.jvm.projection import quoted
from truckee.spark.read.relations import FILE, ROW
from truckee.spark.schema_conversion import from_spark
from truckee.spark.write.expression_errors import expression_error
from truckee.spark.write.identity import identity_of

_HIDDEN = (FILE, ROW)


@dataclass(frozen=True)
class ResolvedClause:
    """A clause with its condition and, by column, the values that it gives."""

    clause: Clause
    condition: Expression | None
    values: Mapping[str, Column]

    @property
    def applies(self) -> Column:
        """The condition as a column, true if there is none."""
        return F.lit(True) if self.condition is None else self.condition.column


class MergeNames:
    """The two sides of a merge, and what names in its clauses mean."""

    def __init__(
        self, target: Target, source: DataFrame, *, alias: str | None, evolves: bool
    ) -> None:
        self._target = target
        self._source = source
        self._alias = alias
        self._evolves = evolves
        self._source_schema = from_spark(source.schema)
        # Only analyzed, never run: on a full outer join, everything may be null.
        self._both = target.rows.join(source, F.lit(True), "full")

    def on(self, given: str | Column) -> Expression:
        """Return the condition by which rows of the two sides match."""
        return resolved_condition(self._both, given, what="the condition of MERGE", hidden=_HIDDEN)

    def clause(self, clause: Clause) -> ResolvedClause:
        """Return a clause with all names in it resolved, or raise what is wrong with it."""
        rows = self._rows_of(clause.kind)
        condition = None
        if clause.condition is not None:
            what = f"the condition of {clause.name}"
            condition = resolved_condition(rows, clause.condition, what=what, hidden=_HIDDEN)
        return ResolvedClause(clause, condition, self._values(clause, rows))

    def _rows_of(self, kind: ClauseKind) -> DataFrame:
        match kind:
            case ClauseKind.MATCHED:
                return self._both
            case ClauseKind.NOT_MATCHED:
                return self._source
            case ClauseKind.NOT_MATCHED_BY_SOURCE:
                return self._target.rows

    def _values(self, clause: Clause, rows: DataFrame) -> dict[str, Column]:
        if clause.does is Does.DELETE:
            return {}
        inserts = clause.does is Does.INSERT
        if clause.values is None:
            found = list(self._star(clause))
        else:
            found = assignments(
                clause.values,
                self._target.schema,
                lambda value, what, kind: resolved_value(
                    rows, value, what=what, hidden=_HIDDEN, stored_as=kind
                ),
                what=clause.name,
                alias=self._alias,
                inserts=inserts,
                may_lack_fields=self._evolves,
            )
        return new_values(found, self._target.old)

    def _star(self, clause: Clause) -> Iterator[Assignment]:
        """Yield for each column of the table the source's column of its name."""
        for field in self._target.schema.fields:
            theirs = self._source_field(field.name, clause)
            if theirs is None:
                if not self._evolves and not _has_own_value(field):
                    raise SourceColumnMissingError(
                        what=clause.name,
                        expression="*",
                        column=field.name,
                        columns=self._source_schema.names,
                    )
                continue
            chain = FieldChain((field,))
            check_assignable(
                chain, field.name, what=clause.name, inserts=clause.does is Does.INSERT
            )
            value = self._source_column(theirs.name, clause)
            kept = value
            if clause.does is Does.UPDATE and self._evolves:
                kept = _with_other_fields(value, theirs.type, field, self._target.old(field.name))
            found = Value(kept, theirs.type, frozenset({theirs.name}))
            if theirs.type != field.type and is_simple(theirs.type) and is_simple(field.type):
                name = f"the value of {field.name} in {clause.name}"
                rows = self._rows_of(clause.kind)
                found = resolved_value(rows, kept, what=name, hidden=_HIDDEN, stored_as=field.type)
            assignment = Assignment(chain, found)
            check_type(assignment, what=clause.name, may_lack_fields=self._evolves)
            yield assignment

    def _source_field(self, name: str, clause: Clause) -> StructField | None:
        found = _named(self._source_schema, name)
        if len(found) > 1:
            raise AmbiguousColumnError(
                what=clause.name,
                expression="*",
                column=name,
                candidates=f"[{', '.join(field.name for field in found)}]",
            )
        return found[0] if found else None

    def _source_column(self, name: str, clause: Clause) -> Column:
        try:
            with quiet_errors():
                return self._source[quoted(name)]
        except DeltaError:
            raise
        except AnalysisException as error:
            names = self._source_schema.names
            raise expression_error(
                error, what=clause.name, expression=name, columns=names
            ) from None


def _named(schema: StructType, name: str) -> list[StructField]:
    return [field for field in schema.fields if field.name.casefold() == name.casefold()]


def _has_own_value(field: StructField) -> bool:
    keys = (GENERATION_EXPRESSION_KEY, CURRENT_DEFAULT_KEY)
    return identity_of(field) is not None or any(key in field.metadata for key in keys)


def _with_other_fields(
    value: Column, value_type: DataType, field: StructField, old: Column
) -> Column:
    """Return a struct from the source; fields that only the target has keep their old values."""
    if not _lacks_fields(value_type, field.type):
        return value
    assert isinstance(value_type, StructType)
    assert isinstance(field.type, StructType)
    parts = []
    for inner in field.type.fields:
        found = _named(value_type, inner.name)
        part = old.getField(inner.name)
        if found:
            given = value.getField(found[0].name)
            part = _with_other_fields(given, found[0].type, inner, part)
        parts.append(part.alias(inner.name))
    # A null from the source says nothing about fields that it does not have.
    return F.when(value.isNotNull() | old.isNotNull(), F.struct(*parts))


def _lacks_fields(value: DataType, table: DataType) -> bool:
    """Return whether structs of the table, outside of arrays and maps, have more fields."""
    if not isinstance(value, StructType) or not isinstance(table, StructType):
        return False
    for field in table.fields:
        found = _named(value, field.name)
        if not found or _lacks_fields(found[0].type, field.type):
            return True
    return False


def evolved_schema(
    schema: StructType,
    source: StructType,
    clauses: Sequence[Clause],
    *,
    table: str,
    alias: str | None = None,
    widening: bool = False,
) -> StructType:
    """Return a table's schema, with the source's columns and fields that clauses use added.

    With `widening` (the table has type widening on), columns that get wider values become wider.
    """
    assigned = [path for clause in clauses for path in _assigned(schema, clause, alias)]
    takes_all = any(clause.is_star for clause in clauses)
    wanted = _taken(source, assigned, takes_all=takes_all)
    if not takes_all:
        # Values that are given need not be those of the source's columns of the same names.
        return grown_schema(schema, wanted, widening=widening)
    known = {field.name.casefold() for field in wanted.fields}
    both = StructType(tuple(f for f in schema.fields if f.name.casefold() in known))
    try:
        merged = merged_schema(
            both, wanted, add_columns=True, name=table, widening=widening, parses_text=True
        )
    except SchemaMismatchError as error:
        first = error.differences[0]
        raise UnmergeableTypeError(
            what="MERGE",
            column=first.column,
            found=str(first.in_data),
            expected=str(first.in_table),
        ) from None
    changed = {field.name: field for field in merged.fields[: len(both.fields)]}
    added = merged.fields[len(both.fields) :]
    return StructType((*(changed.get(f.name, f) for f in schema.fields), *added))


def _assigned(schema: StructType, clause: Clause, alias: str | None) -> Iterator[tuple[str, ...]]:
    """Yield the columns and fields that get values from the source, in lower case."""
    if clause.kind is ClauseKind.NOT_MATCHED_BY_SOURCE:
        return
    for name in clause.values or ():
        parts = column_name_parts(name, what=clause.name)
        path = tuple(part.casefold() for part in parts)
        is_qualified = alias is not None and len(path) > 1 and path[0] == alias.casefold()
        if is_qualified and find_column(schema, parts) is None:
            path = path[1:]
        yield path


def _taken(
    source: StructType,
    assigned: Sequence[tuple[str, ...]],
    *,
    takes_all: bool,
    below: tuple[str, ...] = (),
) -> StructType:
    """Return the part of the source's schema to which clauses assign, at any depth."""
    taken = []
    for field in source.fields:
        path = (*below, field.name.casefold())
        if takes_all or path in assigned:
            taken.append(field)
        elif isinstance(field.type, StructType) and any(
            each[: len(path)] == path for each in assigned
        ):
            inner = _taken(field.type, assigned, takes_all=False, below=path)
            taken.append(replace(field, type=inner))
    return StructType(tuple(taken))
