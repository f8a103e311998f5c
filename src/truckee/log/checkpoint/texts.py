"""Typed checkpoint columns, converted back to the text that commits have.

A checkpoint may have statistics as a struct (`stats_parsed`) without JSON, and partition values as
a struct (`partitionValues_parsed`) beside their strings. Whole columns are converted to text at
once, so that a checkpoint of a million files does not create a million Python objects.
"""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.compute as pc

from truckee.log.checkpoint.action_file import INT96_UNIT
from truckee.log.checkpoint.columns import text_scalar, typed_child
from truckee.log.checkpoint.schema import STRING_MAP

_NOT_FINITE = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
_SPECIAL_CHARACTERS = r'["\\\x00-\x1f]'


def stats_json(parsed: pa.StructArray) -> pa.StringArray:
    """Return `stats_parsed` as the JSON of `add.stats`, null where there are no statistics.

    Null bounds are left out, and timestamps truncated to milliseconds, as in JSON statistics.
    """
    return _json(parsed)


def partition_value_maps(parsed: pa.StructArray) -> pa.MapArray:
    """Return `partitionValues_parsed` as the maps of `add.partitionValues`."""
    names = [field.name for field in parsed.type]
    texts = [_partition_text(child).to_pylist() for child in parsed.flatten()]
    if not names:
        return typed_child([{}] * len(parsed), STRING_MAP)
    rows = zip(*texts, strict=True)
    return typed_child([dict(zip(names, row, strict=True)) for row in rows], STRING_MAP)


def _partition_text(values: pa.Array) -> pa.Array:
    if not pa.types.is_timestamp(values.type):
        return _text(values)
    pattern = "%Y-%m-%dT%H:%M:%SZ" if _is_moment(values.type) else "%Y-%m-%d %H:%M:%S"
    return pc.strftime(values.cast(pa.timestamp("us"), safe=False), format=pattern)


def _json(values: pa.Array) -> pa.Array:
    if pa.types.is_struct(values.type):
        return _json_objects(values)
    text = _text(values)
    if _is_bare(values.type):
        return text
    if pa.types.is_floating(values.type):
        return pc.if_else(pc.is_finite(values), text, _joined('"', text, '"'))
    return _json_strings(text)


def _json_objects(values: pa.StructArray) -> pa.Array:
    # Every member starts with a comma, or is empty if it is null; the first comma is removed.
    members = [
        pc.fill_null(_joined(f",{json.dumps(field.name)}:", _json(child)), text_scalar(""))
        for field, child in zip(values.type, values.flatten(), strict=True)
        if _has_text(field.type)
    ]
    if not members:
        members = [pa.repeat(text_scalar(""), len(values))]
    inside = pc.utf8_slice_codeunits(_joined(*members), start=1)
    return pc.if_else(values.is_valid(), _joined("{", inside, "}"), text_scalar(None))


def _json_strings(text: pa.Array) -> pa.Array:
    quoted = _joined('"', text, '"')
    special = pc.match_substring_regex(text, _SPECIAL_CHARACTERS)
    if not pc.any(special).as_py():
        return quoted
    escaped = [json.dumps(value, ensure_ascii=False) for value in text.filter(special).to_pylist()]
    return pc.replace_with_mask(quoted, special, typed_child(escaped, pa.string()))


def _text(values: pa.Array) -> pa.Array:
    """Return values as Delta spells them, without quotes; null stays null."""
    if pa.types.is_timestamp(values.type):
        return _timestamp_text(values)
    if pa.types.is_floating(values.type):
        text = values.cast(pa.string())
        for arrow, delta in _NOT_FINITE.items():
            text = pc.if_else(pc.equal(text, text_scalar(arrow)), text_scalar(delta), text)
        return text
    return values.cast(pa.string())


def _timestamp_text(values: pa.Array) -> pa.Array:
    zone = "Z" if _is_moment(values.type) else ""
    milliseconds = pc.floor_temporal(values, unit="millisecond")
    text = pc.strftime(milliseconds.cast(pa.timestamp("ms")), format="%Y-%m-%dT%H:%M:%S")
    return _joined(text, zone)


def _is_moment(data_type: pa.TimestampType) -> bool:
    """Whether values are moments in UTC: those of INT96 are, though Arrow has no zone for them."""
    return data_type.tz is not None or data_type.unit == INT96_UNIT


def _is_bare(data_type: pa.DataType) -> bool:
    """Whether every value is valid JSON without quotes, such as a number or true."""
    return bool(
        pa.types.is_integer(data_type)
        or pa.types.is_decimal(data_type)
        or pa.types.is_boolean(data_type)
    )


def _has_text(data_type: pa.DataType) -> bool:
    """Whether statistics of this type can be JSON; leaving a bound out is always correct."""
    return not (pa.types.is_nested(data_type) and not pa.types.is_struct(data_type)) and not (
        pa.types.is_binary(data_type) or pa.types.is_large_binary(data_type)
    )


def _joined(*parts: pa.Array | str) -> pa.Array:
    texts = [text_scalar(part) if isinstance(part, str) else part for part in parts]
    return pc.binary_join_element_wise(*texts, text_scalar(""))
