"""The columns of a result: columns of a table by name, and fields of its structs, as in `s.x`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc

from truckee.arrow.columns import arrow_schema
from truckee.errors.commands.alter import ColumnNotFoundError
from truckee.errors.options import ArgumentValueError
from truckee.options.arguments import checked_names
from truckee.protocol.schema import FieldChain, StructField, StructType, find_column


@dataclass(frozen=True)
class Projection:
    """The columns of a result, in order; a field of a struct has its dotted path as its name."""

    chains: tuple[FieldChain, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns to read, each once: of a field, the struct that it is in."""
        return tuple(dict.fromkeys(chain.path[0] for chain in self.chains))

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns of the result; `DuplicateColumnsError` if two have the same name."""
        return arrow_schema(
            StructType(
                tuple(
                    StructField(
                        ".".join(chain.path),
                        chain.field.type,
                        any(field.nullable for field in chain.fields),
                    )
                    for chain in self.chains
                )
            )
        )

    def of(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return the columns of the result of rows with the columns to read."""
        if self.schema.names == rows.schema.names:
            return rows
        columns = [
            pc.struct_field(rows.column(chain.path[0]), list(chain.path[1:]))
            if len(chain.path) > 1
            else rows.column(chain.path[0])
            for chain in self.chains
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)


def projection(columns: Sequence[str] | None, schema: StructType) -> Projection:
    """Return the columns of these names, in any case; None means all.

    Raises `ColumnNotFoundError` for a name that the schema does not have, and `ArgumentValueError`
    if there are no names.
    """
    if columns is None:
        return Projection(tuple(FieldChain((field,)) for field in schema.fields))
    names = checked_names(columns, what="columns")
    if not names:
        needs = "name at least one column (count() counts rows)"
        raise ArgumentValueError(what="columns", needs=needs, found="none")
    return Projection(tuple(_chain(name, schema) for name in names))


def _chain(name: str, schema: StructType) -> FieldChain:
    chain = find_column(schema, (name,)) or find_column(schema, name.split("."))
    if chain is None:
        raise ColumnNotFoundError(column=name, columns=schema.names)
    return chain
