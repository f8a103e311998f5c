"""Which files are rewritten together, told from what the log says of them; no Spark."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truckee.care.bins import (
    batches,
    compaction_bins,
    deleted_ratio,
    is_candidate,
    logical_size,
    packed_bins,
    partition_of,
    whole_partitions,
)
from truckee.care.cubes import CUBE_COLUMNS, CUBE_ID, CubeSizes, column_names, cube_bins
from truckee.protocol.actions import AddFile
from truckee.protocol.deletion_vector import DeletionVectorDescriptor
from truckee.protocol.schema import PrimitiveType, StructField

SIZES = CubeSizes(sealed=100, target=150, max_file_size=10)
FLAT = partition_of([])


def file(
    name: str,
    size: int,
    *,
    rows: int | None = None,
    deleted: int = 0,
    part: str | None = None,
    cube: str | None = None,
    columns: str = '["a"]',
    provider: str | None = None,
) -> AddFile:
    vector = DeletionVectorDescriptor(
        storage_type="i", path_or_inline_dv="", size_in_bytes=1, cardinality=deleted
    )
    return AddFile(
        path=name,
        partition_values={} if part is None else {"p": part},
        size=size,
        modification_time=0,
        data_change=True,
        stats=None if rows is None else json.dumps({"numRecords": rows}),
        deletion_vector=vector if deleted else None,
        tags=None if cube is None else {CUBE_ID: cube, CUBE_COLUMNS: columns},
        clustering_provider=provider or (None if cube is None else "liquid"),
    )


def names(bins: list) -> list[str]:  # type: ignore[type-arg]
    return ["".join(f.path for f in each.files) for each in bins]


def compacted(files: list[AddFile], *, max_size: int = 10, min_size: int = 10) -> list[str]:
    found = compaction_bins(files, FLAT, min_size=min_size, max_size=max_size, max_deleted=0.05)
    return names(found)


def test_bins_are_filled_smallest_first_and_a_lone_file_stays() -> None:
    files = [file("e", 9), file("d", 5), file("c", 4), file("b", 3), file("a", 1)]

    assert compacted(files) == ["abc"]


def test_a_file_larger_than_a_bin_leaves_no_empty_bin_behind() -> None:
    found = packed_bins([file("a", 20), file("b", 30)], FLAT, max_size=10)

    assert names(found) == ["a", "b"]


def test_large_files_are_left_alone() -> None:
    assert compacted([file("a", 10), file("b", 11), file("c", 4)]) == []


@pytest.mark.parametrize(
    ("rows", "deleted", "is_chosen"),
    [(100, 5, False), (100, 6, True), (None, 1, True), (None, 0, False)],
)
def test_a_large_file_is_chosen_if_more_than_a_twentieth_is_deleted(
    rows: int | None, deleted: int, is_chosen: bool
) -> None:
    found = file("a", 50, rows=rows, deleted=deleted)

    assert is_candidate(found, min_size=10, max_deleted=0.05) == is_chosen


def test_bytes_of_deleted_rows_do_not_count() -> None:
    assert logical_size(file("a", 100, rows=10, deleted=4)) == 60
    assert logical_size(file("a", 100)) == 100
    assert deleted_ratio(file("a", 1, deleted=1)) is None


def test_partitions_are_told_by_value_and_not_by_spelling() -> None:
    of = partition_of([StructField("p", PrimitiveType("timestamp"))])
    files = [
        file("a", 1, part="2024-01-02 03:04:05"),
        file("b", 1, part="2024-01-02T03:04:05.000000Z"),
        file("c", 1, part="2024-01-02 03:04:06"),
        file("d", 1),
    ]

    found = packed_bins(files, of, max_size=10)

    assert names(found) == ["ab", "c", "d"]


def test_z_order_takes_whole_partitions_and_cuts_them_by_size() -> None:
    [found] = whole_partitions([file("a", 15), file("b", 16)], FLAT, max_size=10)

    assert (names([found]), found.num_outputs) == (["ab"], 3)


def test_a_limit_makes_several_commits() -> None:
    bins = packed_bins([file("a", 6), file("b", 7), file("c", 8)], FLAT, max_size=1)

    assert [names(batch) for batch in batches(bins, 13)] == [["a", "b"], ["c"]]
    assert [names(batch) for batch in batches(bins, None)] == [["a", "b", "c"]]
    assert list(batches([], None)) == []


@given(st.lists(st.integers(1, 30), max_size=30), st.integers(1, 40))
def test_every_file_is_in_one_bin_and_no_bin_of_several_is_too_large(
    sizes: list[int], limit: int
) -> None:
    files = [file(f"f{number}", size) for number, size in enumerate(sizes)]

    found = packed_bins(files, FLAT, max_size=limit)

    assert sorted(f.path for each in found for f in each.files) == sorted(f.path for f in files)
    assert all(each.size <= limit or len(each.files) == 1 for each in found)


def clustered(files: list[AddFile], *, full: bool = False) -> list[str]:
    return names(cube_bins(files, '["a"]', SIZES, full=full))


def test_new_files_are_clustered_with_the_cubes_that_still_grow() -> None:
    files = [file("b", 20, cube="2"), file("a", 10, cube="1"), file("n", 5)]

    assert clustered(files) == ["nab"]


def test_one_cube_alone_is_left_as_it_is() -> None:
    assert clustered([file("a", 10, cube="1"), file("b", 10, cube="1")]) == []


def test_a_sealed_cube_is_left_as_it_is_even_by_full() -> None:
    files = [file("a", 60, cube="1"), file("b", 60, cube="1"), file("n", 5)]

    assert clustered(files) == ["n"]
    assert clustered(files, full=True) == ["n"]


def test_files_of_other_columns_or_makers_are_for_full_alone() -> None:
    files = [
        file("o", 10, cube="1", columns='["b"]'),
        file("f", 10, provider="theirs"),
        file("a", 10, cube="2"),
    ]

    assert clustered(files) == []
    assert clustered(files, full=True) == ["ofa"]


def test_cubes_are_filled_up_to_their_target() -> None:
    files = [file("a", 90), file("b", 90), file("c", 30)]

    found = cube_bins(files, '["a"]', SIZES)

    assert names(found) == ["a", "bc"]
    assert [each.num_outputs for each in found] == [9, 12]


def test_the_tag_names_columns_as_json() -> None:
    assert column_names([("a",), ("s", "x")]) == '["a","s.x"]'
