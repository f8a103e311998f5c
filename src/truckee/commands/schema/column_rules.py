"""Which columns a table may have, and by which it may be partitioned and clustered: pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from truckee.errors.columns import (
    AllColumnsPartitionedError,
    ClusteringColumnError,
    ClusteringCountError,
    ClusteringTypeError,
    InvalidColumnNamesError,
    NoColumnsError,
    PartitionColumnNotFoundError,
    PartitionColumnTypeError,
    UnsupportedTypesError,
)
from truckee.errors.commands.alter import ColumnNotFoundError
from truckee.errors.protocol import DuplicateClusteringColumnsError, DuplicateColumnsError
from truckee.protocol.properties import TableProperties
from truckee.protocol.schema import (
    VOID,
    ArrayType,
    DataType,
    DecimalType,
    FieldChain,
    MapType,
    PrimitiveType,
    StructType,
    UserDefinedType,
    check_distinct_names,
    find_column,
    nested_fields,
    type_text,
)
from truckee.protocol.stats import has_bounds, stats_columns

_HELD = frozenset(
    {"byte", "short", "integer", "long", "float", "double", "string", "boolean", "binary"}
    | {"date", "timestamp", "timestamp_ntz", "variant"}
)
_NO_TEXT = ("variant", "void")
_NOT_IN_NAMES = " ,;{}()\n\t="
_COLLATIONS_KEY = "__COLLATIONS"
_MOST_CLUSTERING_COLUMNS = 4


def check_columns(
    schema: StructType, *, mapping_mode: str, table: str, may_be_empty: bool = False
) -> None:
    """Raise unless a table can have these columns; with column mapping, any name is allowed."""
    if not schema.fields and not may_be_empty:
        raise NoColumnsError(table=table)
    check_distinct_names(schema)
    unsupported = tuple(_unsupported(schema))
    if unsupported:
        raise UnsupportedTypesError(columns=unsupported)
    if mapping_mode == "none":
        chains = nested_fields(schema)
        bad = [c.path for c in chains if any(mark in c.field.name for mark in _NOT_IN_NAMES)]
        if bad:
            raise InvalidColumnNamesError(columns=tuple(".".join(path) for path in bad))


def _unsupported(schema: StructType) -> Iterator[str]:
    for chain in nested_fields(schema):
        name = ".".join(chain.path)
        if _COLLATIONS_KEY in chain.field.metadata:
            yield f"{name} string with a collation"
        elif not _is_held(chain.field.type) and not _is_struct_void(chain):
            yield f"{name} {type_text(chain.field.type)}"


def _is_struct_void(chain: FieldChain) -> bool:
    """Return whether a column has no type yet: one of the table, or a field of a struct."""
    around = (field.type for field in chain.fields[:-1])
    return chain.field.type == VOID and all(isinstance(kind, StructType) for kind in around)


def _is_held(data_type: DataType) -> bool:
    if isinstance(data_type, PrimitiveType):
        return data_type.name in _HELD
    return isinstance(data_type, DecimalType | ArrayType | MapType | StructType | UserDefinedType)


def checked_partition_columns(schema: StructType, names: Iterable[str]) -> tuple[str, ...]:
    """Return partition columns as the schema spells them; raise if they cannot be used as such."""
    found: list[str] = []
    for name in names:
        field = schema.field(name)
        if field is None:
            raise PartitionColumnNotFoundError(column=name, columns=schema.names)
        if field.name in found:
            raise DuplicateColumnsError(column=name)
        if not isinstance(field.type, PrimitiveType | DecimalType) or field.type.name in _NO_TEXT:
            raise PartitionColumnTypeError(column=field.name, type=type_text(field.type))
        found.append(field.name)
    if found and len(found) == len(schema.fields):
        raise AllColumnsPartitionedError(columns=tuple(found))
    return tuple(found)


def checked_clustering_columns(
    schema: StructType,
    names: Iterable[tuple[str, ...]],
    *,
    partition_columns: tuple[str, ...],
    properties: TableProperties,
) -> tuple[tuple[str, ...], ...]:
    """Return the physical paths of clustering columns; raise if they cannot be clustered by."""
    indexed = {c.path for c in stats_columns(schema, partition_columns, properties)}
    found: list[tuple[str, ...]] = []
    for path in names:
        shown = ".".join(path)
        chain = find_column(schema, path)
        if chain is None:
            raise ColumnNotFoundError(column=shown, columns=schema.names)
        if chain.physical_path in found:
            raise DuplicateClusteringColumnsError(column=shown)
        if partition_columns:
            raise ClusteringColumnError(column=shown, reason="it is partitioned")
        if not has_bounds(chain.field.type):
            reason = f"the type {type_text(chain.field.type)} has no statistics"
            raise ClusteringTypeError(column=shown, reason=reason)
        if chain.path not in indexed:
            raise ClusteringColumnError(column=shown, reason="the column has no statistics")
        found.append(chain.physical_path)
    if len(found) > _MOST_CLUSTERING_COLUMNS:
        raise ClusteringCountError(
            column=", ".join(".".join(path) for path in names),
            reason=f"these are more than {_MOST_CLUSTERING_COLUMNS} columns",
        )
    return tuple(found)
