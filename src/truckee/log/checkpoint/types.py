"""Checks of the column types of a checkpoint, made before the columns are used.

Any engine may have written a checkpoint, and Arrow trusts the types in a file: compute kernels that
get another type raise their own errors, or crash the process. So types are first compared with
those of the protocol, and required values are checked.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from truckee.log.checkpoint.schema import wire_name

_TYPED = ("stats_parsed", "partitionValues_parsed")
_REQUIRED = {
    "add": ("path", "size", "modification_time"),
    "remove": ("path",),
    "deletion_vector": ("storage_type", "path_or_inline_dv", "size_in_bytes", "cardinality"),
}


def check_types(children: Mapping[str, pa.DataType], kind: str, schema: pa.Schema) -> None:
    """Raise ArrowInvalid if a field of an action cannot be converted to its type in `schema`.

    Integers of any width, strings of any encoding and columns of only nulls can be. Fields that
    are not in the schema do not matter.
    """
    if children and "path" not in children:
        raise pa.ArrowInvalid(f"its column {kind} has no path")
    for name in _TYPED:
        if name in children and not pa.types.is_struct(children[name]):
            raise _wrong(f"{kind}.{name}", children[name], "a struct")
    for field in schema:
        found = children.get(wire_name(field.name))
        if found is not None:
            _check(f"{kind}.{wire_name(field.name)}", found, field.type)


def _check(name: str, found: pa.DataType, wanted: pa.DataType) -> None:
    if pa.types.is_null(found):
        return
    if pa.types.is_struct(wanted):
        if not pa.types.is_struct(found):
            raise _wrong(name, found, "a struct")
        inner = {child.name: child.type for child in found}
        for field in wanted:
            if wire_name(field.name) in inner:
                child = wire_name(field.name)
                _check(f"{name}.{child}", inner[child], field.type)
    elif pa.types.is_map(wanted):
        if not (pa.types.is_map(found) and _is_text(found.key_type) and _is_text(found.item_type)):
            raise _wrong(name, found, "a map of texts")
    elif pa.types.is_string(wanted):
        if not _is_text(found):
            raise _wrong(name, found, "a text")
    elif pa.types.is_integer(wanted):
        if not pa.types.is_integer(found):
            raise _wrong(name, found, "an integer")
    elif found != wanted:
        raise _wrong(name, found, str(wanted))


def _is_text(data_type: pa.DataType) -> bool:
    if pa.types.is_dictionary(data_type):
        data_type = data_type.value_type
    return bool(
        pa.types.is_string(data_type)
        or pa.types.is_large_string(data_type)
        or pa.types.is_binary(data_type)
    )


def _wrong(name: str, found: pa.DataType, expected: str) -> pa.ArrowInvalid:
    return pa.ArrowInvalid(f"its column {name} is {found}, expected {expected}")


def check_required(rows: pa.RecordBatch, kind: str) -> None:
    """Raise ArrowInvalid if an action lacks a required field, or has text that is not UTF-8."""
    rows.validate(full=True)
    for name in _REQUIRED[kind]:
        if name in rows.schema.names and rows.column(name).null_count:
            raise pa.ArrowInvalid(f"an action {kind} has no {wire_name(name)}")
    if "deletion_vector" not in rows.schema.names:
        return
    vectors = rows.column("deletion_vector").drop_null()
    names = [field.name for field in vectors.type]
    for name, child in zip(names, vectors.flatten(), strict=True):
        if name in _REQUIRED["deletion_vector"] and child.null_count:
            raise pa.ArrowInvalid(f"the deletion vector of an action {kind} has no {name}")
