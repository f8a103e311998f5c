from __future__ import annotations

import pytest
from msgspec.structs import replace

from changes.tables import add, cdc, commit, remove, vector
from truckee.changes.file_index import (
    AddedFiles,
    ChangeFiles,
    RemovedFiles,
    version_files,
)
from truckee.changes.version_diff import version_diff
from truckee.protocol.deletion_vector import EMPTY, DeletionVectorDescriptor
from truckee.scan.scan_file import ALL_ROWS, Change, RowSelection, ScanFile

INSERT = Change("insert", 1, 1000)
DELETE = Change("delete", 1, 1000)
R, A = vector(0, 1), vector(1, 2)

OLD_AND_NEW = (
    version_diff(
        commit(
            add("p=1/a", partition={"p": "1"}),
            add("p=2/b", partition={"p": "2"}),
            add("n", partition={"p": None}),
            version=3,
            timestamp_ms=3000,
        )
    ),
    version_diff(
        commit(
            remove("p=1/a", partition={"p": "1"}),
            add("p=1/c", partition={"p": "1"}),
            version=4,
            timestamp_ms=4000,
        )
    ),
    version_diff(commit(cdc("_change_data/d", partition={"p": "2"}), version=5, timestamp_ms=5000)),
)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (None, A, [(DELETE, RowSelection(within=A))]),
        (R, None, [(INSERT, RowSelection(within=R))]),
        (
            R,
            A,
            [
                (INSERT, RowSelection(within=R, without=A)),
                (DELETE, RowSelection(within=A, without=R)),
            ],
        ),
        (EMPTY, A, [(DELETE, RowSelection(within=A))]),
        (R, EMPTY, [(INSERT, RowSelection(within=R))]),
        (EMPTY, None, []),
    ],
)
def test_a_change_of_vectors_selects_rows_by_both(
    before: DeletionVectorDescriptor | None,
    after: DeletionVectorDescriptor | None,
    expected: list[tuple[Change, RowSelection]],
) -> None:
    diff = version_diff(commit(add("a", dv=after), remove("a", dv=before)))

    assert [(file.change, file.rows) for file in version_files(diff)] == expected


@pytest.mark.parametrize(
    ("dv", "rows"), [(None, ALL_ROWS), (EMPTY, ALL_ROWS), (A, RowSelection(without=A))]
)
def test_a_file_on_one_side_only_shows_the_rows_that_live_in_it(
    dv: DeletionVectorDescriptor | None, rows: RowSelection
) -> None:
    diff = version_diff(commit(add("a", dv=dv), remove("b", dv=dv)))

    assert [(f.path, f.change, f.rows) for f in version_files(diff)] == [
        ("a", INSERT, rows),
        ("b", DELETE, rows),
    ]


def test_an_added_file_is_read_with_all_that_is_known_of_it() -> None:
    diff = version_diff(commit(add("p=x%20y/a%2525", partition={"p": "x y"})))

    assert list(version_files(diff)) == [
        ScanFile(
            path="p=x y/a%25",
            size=100,
            modification_time=5,
            partition_values={"p": "x y"},
            version=1,
            stats='{"numRecords":10}',
            change=INSERT,
        )
    ]


@pytest.mark.parametrize(
    ("stats", "known"),
    [
        ('{"numRecords":10,"nullCount":{"c":10},"tightBounds":false}', '{"numRecords":10}'),
        ('{"nullCount":{"c":10}}', None),
        (None, None),
    ],
)
def test_of_a_file_with_rows_in_a_vector_only_the_number_of_rows_is_known(
    stats: str | None, known: str | None
) -> None:
    wide = replace(add("a", dv=A), stats=stats)

    (file,) = version_files(version_diff(commit(wide, remove("a"))))

    assert file.stats == known


def test_a_change_file_carries_its_types_itself() -> None:
    diff = version_diff(commit(cdc("_change_data/c", partition={"p": "1"})))

    assert list(version_files(diff)) == [
        ScanFile(
            path="_change_data/c",
            size=50,
            modification_time=0,
            partition_values={"p": "1"},
            version=1,
            change=Change(None, 1, 1000),
        )
    ]


def test_each_index_has_the_files_of_its_kind_in_order_of_version() -> None:
    def files(index: AddedFiles | RemovedFiles | ChangeFiles) -> list[tuple[int, str]]:
        return [(file.version, file.path) for file in index.scan_files()]

    assert files(AddedFiles(OLD_AND_NEW)) == [(3, "p=1/a"), (3, "p=2/b"), (3, "n"), (4, "p=1/c")]
    assert files(RemovedFiles(OLD_AND_NEW)) == [(4, "p=1/a")]
    assert files(ChangeFiles(OLD_AND_NEW)) == [(5, "_change_data/d")]
