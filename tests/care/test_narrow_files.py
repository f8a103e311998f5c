"""Files whose columns have narrower types than the table."""

from __future__ import annotations

import pyarrow as pa
import pytest

from truckee.care.narrow_files import has_narrow_columns
from truckee.protocol.schema import parse_schema

SCHEMA = parse_schema(
    '{"type":"struct","fields":['
    '{"name":"i","type":"long","nullable":true,"metadata":{}},'
    '{"name":"d","type":"double","nullable":true,"metadata":{}},'
    '{"name":"n","type":"decimal(12,2)","nullable":true,"metadata":{}},'
    '{"name":"t","type":"timestamp_ntz","nullable":true,"metadata":{}},'
    '{"name":"text","type":"string","nullable":true,"metadata":{}},'
    '{"name":"l","type":{"type":"array","elementType":"integer","containsNull":true},'
    '"nullable":true,"metadata":{}},'
    '{"name":"m","type":{"type":"map","keyType":"short","valueType":{"type":"struct","fields":['
    '{"name":"x","type":"long","nullable":true,"metadata":{}}]},"valueContainsNull":true},'
    '"nullable":true,"metadata":{}}]}'
)
LONG = pa.struct([("x", pa.int64())])


@pytest.mark.parametrize(
    ("name", "current", "narrow"),
    [
        ("i", pa.int64(), pa.int32()),
        ("d", pa.float64(), pa.float32()),
        ("d", pa.float64(), pa.int32()),
        ("n", pa.decimal128(12, 2), pa.decimal128(10, 2)),
        ("n", pa.decimal128(12, 2), pa.int32()),
        ("t", pa.timestamp("us"), pa.date32()),
        ("l", pa.list_(pa.int32()), pa.list_(pa.int16())),
        ("m", pa.map_(pa.int16(), LONG), pa.map_(pa.int8(), LONG)),
        (
            "m",
            pa.map_(pa.int16(), LONG),
            pa.map_(pa.int16(), pa.struct([("x", pa.int32())])),
        ),
    ],
)
def test_a_file_is_as_wide_as_its_columns(
    name: str, current: pa.DataType, narrow: pa.DataType
) -> None:
    beside = [pa.field("text", pa.string()), pa.field("dropped", pa.int8())]

    assert not has_narrow_columns([*beside, pa.field(name, current)], SCHEMA)
    assert has_narrow_columns([*beside, pa.field(name, narrow)], SCHEMA)


def test_times_of_any_unit_are_wide_enough() -> None:
    assert not has_narrow_columns([pa.field("t", pa.timestamp("ns"))], SCHEMA)
