"""Files that were written before a column became wider: they still have the narrower type.

| type of the table    | stored in a file that is up to date |
|----------------------|-------------------------------------|
| short, integer, long | an integer of the same width        |
| double               | a double                            |
| decimal              | a decimal of the same digits        |
| timestamp_ntz        | a timestamp, where a date was one   |

No other type is the result of a widening.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa

from truckee.care.purge_candidates import known_columns, stored_schemas
from truckee.log.snapshot import Snapshot
from truckee.protocol.actions import AddFile
from truckee.protocol.schema import (
    ArrayType,
    DataType,
    DecimalType,
    MapType,
    PrimitiveType,
    StructType,
)

_WIDTHS = {
    "short": pa.int16(),
    "integer": pa.int32(),
    "long": pa.int64(),
    "double": pa.float64(),
}


def narrow_files(snapshot: Snapshot, files: Sequence[AddFile]) -> list[AddFile]:
    """Return the files that have a column, at any depth, of a narrower type than the table."""
    return [
        file
        for file, stored in stored_schemas(snapshot.storage, files)
        if has_narrow_columns(stored, snapshot.schema)
    ]


def has_narrow_columns(stored: Iterable[pa.Field], schema: StructType) -> bool:
    """Return whether a column of a file has another type than a table without widening has."""
    return any(
        known is not None and _is_narrow(column.type, known.type)
        for column, known in known_columns(stored, schema)
    )


def _is_narrow(stored: pa.DataType, known: DataType) -> bool:
    match known:
        case StructType():
            return pa.types.is_struct(stored) and has_narrow_columns(list(stored), known)
        case ArrayType(element_type):
            return pa.types.is_list(stored) and _is_narrow(stored.value_type, element_type)
        case MapType(key_type, value_type):
            return pa.types.is_map(stored) and (
                _is_narrow(stored.key_type, key_type) or _is_narrow(stored.item_type, value_type)
            )
        case DecimalType(precision, scale):
            is_decimal = pa.types.is_decimal(stored)
            return not (is_decimal and (stored.precision, stored.scale) == (precision, scale))
        case PrimitiveType("timestamp_ntz"):
            return not pa.types.is_timestamp(stored)
        case PrimitiveType(name) if name in _WIDTHS:
            return bool(stored != _WIDTHS[name])
        case _:
            return False
