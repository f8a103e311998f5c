"""Columns put together from their buffers are those that pyarrow makes."""

from __future__ import annotations

from typing import Any

import msgspec
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders import vector
from truckee.log.checkpoint.columns import flags, typed_child
from truckee.log.checkpoint.compact import compact
from truckee.log.checkpoint.schema import DELETION_VECTOR, STRING_MAP

TEXTS = st.none() | st.text(max_size=5)
VALUES: list[tuple[pa.DataType, st.SearchStrategy[Any]]] = [
    (pa.string(), TEXTS),
    (pa.bool_(), st.none() | st.booleans()),
    (pa.int32(), st.none() | st.integers(-(2**31), 2**31 - 1)),
    (pa.int64(), st.none() | st.integers(-(2**63), 2**63 - 1)),
    (STRING_MAP, st.none() | st.dictionaries(st.text(max_size=2), TEXTS, max_size=3)),
]


def as_pyarrow_wants_it(value: Any) -> Any:
    return list(value.items()) if isinstance(value, dict) else value


@pytest.mark.property
@pytest.mark.parametrize(("data_type", "values"), VALUES, ids=lambda value: str(value)[:20])
def test_a_column_is_the_one_that_pyarrow_makes(
    data_type: pa.DataType, values: st.SearchStrategy[Any]
) -> None:
    @settings(deadline=None)
    @given(st.lists(values, max_size=20))
    def check(items: list[Any]) -> None:
        made = typed_child(items, data_type)
        made.validate(full=True)
        assert made.equals(pa.array(list(map(as_pyarrow_wants_it, items)), data_type))

    check()


def test_structs_are_read_from_attributes() -> None:
    descriptors = [vector(1), None, vector(2, 3)]

    made = typed_child(descriptors, DELETION_VECTOR)

    made.validate(full=True)
    assert made.to_pylist() == [v and msgspec.structs.asdict(v) for v in descriptors]


def test_flags_are_booleans_none_of_them_null() -> None:
    values = [True, False, True] * 7

    assert flags(values).to_pylist() == values


@pytest.mark.property
@settings(deadline=None)
@given(st.lists(st.tuples(TEXTS, st.none(), st.integers(0, 9)), max_size=20), st.integers(0, 5))
def test_compact_rows_are_the_same_rows(rows: list[tuple[Any, ...]], start: int) -> None:
    columns = list(zip(*rows, strict=True)) or [(), (), ()]
    batch = pa.RecordBatch.from_arrays(
        [typed_child(values, t) for values, t in zip(columns, TYPES, strict=True)],
        names=["a", "b", "c"],
    ).slice(start)

    made = compact(batch)

    made.validate(full=True)
    assert made.equals(batch)


TYPES = (pa.string(), STRING_MAP, pa.int64())
