from __future__ import annotations

import pytest

from changes.tables import PROTOCOL, Table, add, cdc, metadata, remove, vector
from staging import plan_changes
from truckee.changes.summary import summary
from truckee.options.feed import Bound, FeedOptions
from truckee.storage.base import Storage


def counted(
    storage: Storage, *, with_vectors: bool = False
) -> list[tuple[int, str | None, int | None, int]]:
    plan = plan_changes(storage, FeedOptions(start=Bound(version=0)))
    counts = summary(plan.files, storage if with_vectors else None)
    return [(c.version, c.change_type, c.rows, c.files) for c in counts]


def test_rows_are_counted_by_statistics_and_cardinalities() -> None:
    table = Table().commit(PROTOCOL, metadata(), add("a", rows=10), add("b", rows=5))
    table.commit(add("a", dv=vector(1, 2)), remove("a"))
    table.commit(add("a"), remove("a", dv=vector(1, 2)))
    table.commit(add("c", dv=vector(7), rows=8))

    assert counted(table.storage) == [
        (0, "insert", 15, 2),
        (1, "delete", 2, 1),
        (2, "insert", 2, 1),
        (3, "insert", 7, 1),
    ]


def test_a_removed_file_has_the_rows_it_had_when_it_was_added() -> None:
    table = Table().commit(PROTOCOL, metadata(), add("a", rows=10))
    table.commit(add("a", dv=vector(1, 2)), remove("a"))
    table.commit(remove("a", dv=vector(1, 2)))

    assert counted(table.storage)[-1] == (2, "delete", 8, 1)


def test_what_only_the_data_can_tell_is_unknown() -> None:
    table = Table().commit(PROTOCOL, metadata(), add("a", rows=None), add("b"))
    table.commit(remove("never-added")).commit(cdc("c"), cdc("d"))

    assert counted(table.storage) == [
        (0, "insert", None, 2),
        (1, "delete", None, 1),
        (2, None, None, 2),
    ]


@pytest.mark.parametrize(
    ("with_vectors", "expected"),
    [
        (False, [(1, "insert", None, 1), (1, "delete", None, 1)]),
        (True, [(1, "insert", 1, 1), (1, "delete", 2, 1)]),
    ],
)
def test_two_vectors_are_compared_only_if_they_may_be_read(
    with_vectors: bool, expected: list[tuple[int, str, int | None, int]]
) -> None:
    table = Table().commit(PROTOCOL, metadata(), add("a", dv=vector(0, 1)))
    table.commit(remove("a", dv=vector(0, 1)), add("a", dv=vector(1, 2, 3)))

    assert counted(table.storage, with_vectors=with_vectors)[1:] == expected


def test_changes_without_rows_are_left_out() -> None:
    table = Table().commit(PROTOCOL, metadata(), add("a", dv=vector(0)))
    table.commit(remove("a", dv=vector(0)), add("a", dv=vector(0, 1)))

    assert counted(table.storage, with_vectors=True)[1:] == [(1, "delete", 1, 1)]
