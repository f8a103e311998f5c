"""Values as they are compared: equal if and only if Spark holds them equal."""

from __future__ import annotations

import pyarrow as pa
import pytest

from truckee.arrow.compare.row_comparison import comparable_array

# Microseconds of the year 12000, and days of the year -5000: Python has no dates for either.
FAR_US, FAR_DAYS = 316_516_809_600_000_000, -2_545_711
MOMENTS = pa.array([FAR_US, FAR_US, FAR_US + 1, None], pa.int64()).cast(pa.timestamp("us", "UTC"))
DAYS = pa.array([FAR_DAYS, FAR_DAYS, FAR_DAYS + 1, None], pa.int32()).cast(pa.date32())
OFFSETS = pa.array([0, 1, 2, 3, 4], pa.int32())
STRUCTS = pa.StructArray.from_arrays([MOMENTS, DAYS], ["t", "d"])


@pytest.mark.parametrize(
    "values",
    [
        MOMENTS,
        DAYS,
        STRUCTS,
        pa.ListArray.from_arrays(OFFSETS, STRUCTS),
        pa.MapArray.from_arrays(OFFSETS, pa.array(["k"] * 4), MOMENTS),
    ],
    ids=lambda values: str(values.type)[:20],
)
def test_times_beyond_the_years_of_python_are_compared(values: pa.Array) -> None:
    first, same, later, none = comparable_array(values).to_pylist()

    assert first == same
    assert len({first, later, none}) == 3
