"""Values of the protocol in few words, for tests."""

from __future__ import annotations

from typing import Any

from truckee.deletion_vectors.bitmap import RowBitmap
from truckee.deletion_vectors.store import VectorOf, read_deletion_vectors
from truckee.protocol.deletion_vector import INLINE, DeletionVectorDescriptor, z85_encode
from truckee.protocol.paths import LOG_DIRECTORY
from truckee.protocol.predicates import Comparison, Predicate, column_named
from truckee.protocol.schema import StructField, StructType, parse_type
from truckee.storage.base import Storage


def simple_schema(*columns: str | StructField) -> StructType:
    """Return a schema from lines like `id long` or `day date not null`."""
    return StructType(tuple(_simple_field(c) if isinstance(c, str) else c for c in columns))


def _simple_field(text: str) -> StructField:
    name, type_name = text.split(" ", 1)
    nullable = not type_name.lower().endswith(" not null")
    return StructField(name, parse_type(type_name if nullable else type_name[:-9]), nullable)


def compare(name: str, op: str, value: Any) -> Predicate:
    """Return the comparison of a column, by its dotted name, with a value."""
    return Comparison(op, column_named(name), value)


def checkpoint_part_path(version: int, part: int, parts: int) -> str:
    """Return the path of part `part` (from 1) of `parts` of a multi-part checkpoint."""
    return f"{LOG_DIRECTORY}/{version:020d}.checkpoint.{part:010d}.{parts:010d}.parquet"


def compacted_path(start: int, end: int) -> str:
    """Return the path of the compacted commits `start..end`, both included."""
    return f"{LOG_DIRECTORY}/{start:020d}.{end:020d}.compacted.json"


def inline_in_log(data: bytes, *, cardinality: int) -> DeletionVectorDescriptor:
    """Return the descriptor of a vector that is stored in the log, as other writers do."""
    return DeletionVectorDescriptor(
        storage_type=INLINE,
        path_or_inline_dv=z85_encode(data),
        size_in_bytes=len(data),
        cardinality=cardinality,
    )


def read_deletion_vector(
    storage: Storage,
    descriptor: DeletionVectorDescriptor,
    *,
    data_file: str = "",
    version: int | None = None,
) -> RowBitmap:
    """Return the rows of one vector."""
    wanted = VectorOf(descriptor=descriptor, data_file=data_file, version=version)
    return read_deletion_vectors(storage, [wanted])[0]
