"""What commits did to rows, from their metrics, files and vectors."""

from __future__ import annotations

import pytest

from builders import history
from staging import metadata
from truckee.report.activity import RowCounts, activities

FEED_ON = {"delta.enableChangeDataFeed": "true"}


def test_files_and_vectors_tell_the_rows_of_a_write() -> None:
    table = history().add("a").then().delete("a", rows=[1, 2]).then()
    told = {"extended_file_metadata": True, "size": 100, "stats": '{"numRecords":10}'}
    table.remove("a", partition_values={}, **told).add("b").then()

    rows = [activity.rows for activity in activities(table.snapshot())]

    assert rows == [RowCounts(10, 0, 0), RowCounts(0, 0, 2), RowCounts(10, 0, 8)]


def test_commands_are_believed_more_than_the_files_they_wrote_anew() -> None:
    table = (
        history()
        .add("a")
        .then()
        .info(operation="UPDATE", operation_metrics={"numUpdatedRows": "1"})
        .remove("a")
        .add("b")
        .then()
        .info(
            operation="MERGE",
            operation_metrics={
                "numTargetRowsInserted": "3",
                "numTargetRowsUpdated": "2",
                "numTargetRowsDeleted": "1",
            },
        )
        .then()
    )

    rows = [activity.rows for activity in activities(table.snapshot(), limit=2)]

    assert rows == [RowCounts(0, 1, 0), RowCounts(3, 2, 1)]


@pytest.mark.parametrize(
    ("written", "deleted"), [("4", 4), (4, 4), (0, 0), ("4" * 5000, None), (None, None)]
)
def test_metrics_of_delta_rs_count_too(written: object, deleted: int | None) -> None:
    table = (
        history()
        .add("a")
        .then()
        .info(operation="DELETE", operation_metrics={"num_deleted_rows": written})
        .cdc("c")
        .then()
    )

    unknown = RowCounts(None, None, None)
    expected = unknown if deleted is None else RowCounts(0, 0, deleted)
    assert activities(table.snapshot())[-1].rows == expected


def test_change_files_without_metrics_leave_the_rows_unknown() -> None:
    table = history().add("a").then().cdc("c").then()

    assert activities(table.snapshot())[-1].rows == RowCounts(None, None, None)


def test_the_feed_is_followed_through_the_metadata() -> None:
    table = history().empty(2).stage(metadata(properties=FEED_ON)).then().empty(1)

    found = activities(table.snapshot())

    assert [(activity.version, activity.is_feed_on) for activity in found] == [
        (0, False),
        (1, False),
        (2, True),
        (3, True),
    ]


def test_a_late_start_knows_whether_the_feed_is_on() -> None:
    table = history().stage(metadata(properties=FEED_ON)).empty(3)

    (last,) = activities(table.snapshot(), limit=1)

    assert (last.version, last.is_feed_on) == (2, True)


@pytest.mark.parametrize(
    ("recorded", "condition"),
    [
        ('["(id = 1)"]', "(id = 1)"),
        ("[]", ""),
        (None, ""),
        ("id = 1", "id = 1"),
        ("[1]", "[1]"),
    ],
)
def test_conditions_are_read_as_writers_record_them(recorded: str | None, condition: str) -> None:
    made = history().info(operation="DELETE", operation_parameters={"predicate": recorded})

    (found,) = activities(made.add("a").then().snapshot())

    assert found.condition == condition
