from __future__ import annotations

import pytest

from changes.tables import Table, add, cdc, remove
from staging import plan_changes
from truckee.changes.missing_files import missing_file_error
from truckee.deletion_vectors.bitmap import RowBitmap
from truckee.deletion_vectors.store import write_deletion_vectors
from truckee.errors.changes import ChangeDataFileNotFoundError
from truckee.options.feed import Bound, FeedOptions


def table_without(*missing: str) -> Table:
    """A table that adds a, b, c and d, one a version from 1 on; then a version with no files."""
    table = Table.created().commits((add("a"),), (add("b"),), (cdc("c"),), (add("d"),), ())
    for name in {"a", "b", "c", "d"} - set(missing):
        table.storage.write(name, b"PAR1")
    return table


def error_of(table: Table, start: int = 0) -> ChangeDataFileNotFoundError | None:
    plan = plan_changes(table.storage, FeedOptions(start=Bound(version=start)))
    return missing_file_error(table.storage, plan.files, end=plan.end)


def test_nothing_is_said_while_all_files_are_there() -> None:
    assert error_of(table_without()) is None


@pytest.mark.parametrize(
    ("missing", "path", "version", "readable_from"),
    [
        (("a",), "a", 1, 2),
        (("a", "c"), "c", 3, 4),
        (("b",), "b", 2, 3),
        (("d",), "d", 4, 5),
    ],
)
def test_the_feed_can_be_read_after_the_last_version_that_lacks_a_file(
    missing: tuple[str, ...], path: str, version: int, readable_from: int
) -> None:
    error = error_of(table_without(*missing))

    assert error.sentence() == (
        f"the file '{path}' is gone, but the change feed of memory://t needs it for version "
        f"{version}\n"
        f"hint: the feed can still be read from version {readable_from} on"
    )
    assert error is not None
    assert error.code == "DELTA_CHANGE_DATA_FILE_NOT_FOUND"


def test_if_the_last_version_lacks_a_file_no_version_can_be_read() -> None:
    table = Table.created().commit(add("a"))

    assert error_of(table).sentence() == (
        "the file 'a' is gone, but the change feed of memory://t needs it for version 1\n"
        "hint: no version up to 1 can be read any more"
    )


def test_a_file_counts_for_the_newest_version_that_needs_it() -> None:
    table = Table.created().commits((add("a"),), (add("b"),), (remove("a"),), ())
    table.storage.write("b", b"PAR1")

    error = error_of(table)

    assert error is not None
    assert (error.version, error.readable_from) == (3, 4)


def test_files_of_vectors_are_looked_for_too() -> None:
    table = Table.created().commit(add("a"))
    table.storage.write("a", b"PAR1")
    (vector,) = write_deletion_vectors(table.storage, [RowBitmap([1])])
    table.commit(remove("a"), add("a", dv=vector))
    table.storage.delete(vector.file_path)

    error = error_of(table)

    assert error is not None
    assert (error.path, error.version) == (vector.file_path, 2)


def test_many_files_are_looked_for_newest_first() -> None:
    table = Table.created()
    for number in range(600):
        table.commit(add(f"f{number}"))
        if number != 100:
            table.storage.write(f"f{number}", b"PAR1")

    error = error_of(table)

    assert error is not None
    assert (error.path, error.readable_from) == ("f100", 102)
