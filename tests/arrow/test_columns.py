"""Columns of a table, found in its files."""

from __future__ import annotations

import pyarrow as pa
import pytest

from counted_calls import counted_calls
from truckee.arrow.columns import columns_in_file
from truckee.protocol.column_metadata import COLUMN_ID_KEY, PHYSICAL_NAME_KEY
from truckee.protocol.schema import PrimitiveType, StructField, StructType

LONG = PrimitiveType("long")


def column(name: str, physical: str, number: int) -> StructField:
    metadata = {COLUMN_ID_KEY: number, PHYSICAL_NAME_KEY: physical}
    return StructField(name, LONG, nullable=True, metadata=metadata)


@pytest.mark.parametrize(
    ("mode", "places"), [("none", [1, 2, None]), ("name", [0, None, 3]), ("id", [3, None, 0])]
)
def test_columns_are_found_by_name_physical_name_or_id(mode: str, places: list[int | None]) -> None:
    numbered = [("p", 3), ("a", None), ("B", None), ("q", 1)]
    file = pa.schema(
        [
            pa.field(name, pa.int64(), metadata=number and {"PARQUET:field_id": str(number)})
            for name, number in numbered
        ]
    )
    columns = [column("a", "p", 1), column("b", "elsewhere", 2), column("c", "q", 3)]

    assert columns_in_file(file, columns, mode) == places


def test_the_same_case_wins_over_another_and_the_first_field_over_later_ones() -> None:
    file = pa.schema([pa.field(name, pa.int64()) for name in ("A", "a", "a")])

    found = columns_in_file(file, [column("a", "a", 1), column("A", "A", 2)], "none")

    assert found == [1, 0]


def test_the_work_for_columns_grows_with_their_number_and_no_faster() -> None:
    def calls(count: int) -> int:
        file = pa.schema([pa.field(f"c{number}", pa.int64()) for number in range(count)])
        columns = [column(f"C{number}", f"p{number}", number) for number in range(count)]
        schema = StructType(tuple(columns))

        def work() -> None:
            assert columns_in_file(file, columns, "none") == list(range(count))
            assert [schema.field(field.name.lower()) for field in columns] == columns

        return counted_calls(work)

    assert calls(800) < 5 * calls(200)
