"""Python values as Arrow columns, for the few types that log files have.

`pyarrow.array` does the same for every type, but loads pandas if it is installed: a third of a
second and forty megabytes to open a table. Here columns are built from their buffers.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any

import pyarrow as pa

_NUMBERS = {pa.int32(): "i", pa.int64(): "q"}


def typed_child(values: Sequence[Any], data_type: pa.DataType) -> pa.Array:
    """Return values as a column; None is null.

    Strings, booleans, 32- and 64-bit integers, maps (as dicts) of these, and structs (as objects
    with an attribute for each field) of all of them.
    """
    if pa.types.is_string(data_type):
        return _strings(values)
    if pa.types.is_boolean(data_type):
        return _booleans(values)
    if pa.types.is_map(data_type):
        return _maps(values, data_type)
    if pa.types.is_struct(data_type):
        return _structs(values, data_type)
    data = array(_NUMBERS[data_type], [0 if value is None else value for value in values])
    return _from_buffers(data_type, values, pa.py_buffer(data))


def text_scalar(value: str | None) -> pa.StringScalar:
    """Return one string as an Arrow scalar."""
    return typed_child([value], pa.string())[0]


def _strings(values: Sequence[str | None]) -> pa.StringArray:
    encoded = [b"" if value is None else value.encode() for value in values]
    return _from_buffers(
        pa.string(), values, _offsets(map(len, encoded)), pa.py_buffer(b"".join(encoded))
    )


def _booleans(values: Sequence[bool | None]) -> pa.BooleanArray:
    return _from_buffers(pa.bool_(), values, flags(map(bool, values)).buffers()[1])


def _maps(values: Sequence[dict[Any, Any] | None], data_type: pa.MapType) -> pa.MapArray:
    maps = [value or {} for value in values]
    keys = typed_child([key for each in maps for key in each], data_type.key_type)
    items = typed_child([item for each in maps for item in each.values()], data_type.item_type)
    entries = pa.StructArray.from_arrays(
        [keys, items], fields=[data_type.key_field, data_type.item_field]
    )
    offsets = _offsets(map(len, maps))
    return pa.Array.from_buffers(
        data_type, len(values), [_validity(values), offsets], children=[entries]
    )


def _structs(values: Sequence[Any], data_type: pa.StructType) -> pa.StructArray:
    children = [
        typed_child([None if v is None else getattr(v, field.name) for v in values], field.type)
        for field in data_type
    ]
    return pa.Array.from_buffers(data_type, len(values), [_validity(values)], children=children)


def _from_buffers(data_type: pa.DataType, values: Sequence[Any], *buffers: pa.Buffer) -> pa.Array:
    return pa.Array.from_buffers(data_type, len(values), [_validity(values), *buffers])


def _offsets(lengths: Iterable[int]) -> pa.Buffer:
    return pa.py_buffer(array("i", accumulate(lengths, initial=0)))


def _validity(values: Sequence[Any]) -> pa.Buffer | None:
    if None not in values:
        return None
    return flags(value is not None for value in values).buffers()[1]


def flags(values: Iterable[bool]) -> pa.BooleanArray:
    """Return a column of booleans, none of them null."""
    data = bytearray(values)
    return pa.Array.from_buffers(pa.uint8(), len(data), [None, pa.py_buffer(data)]).cast(pa.bool_())
