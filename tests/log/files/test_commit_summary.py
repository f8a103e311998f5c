"""What a commit did, in a few words."""

from __future__ import annotations

import pytest

from truckee.log.files.commit_summary import commit_summary
from truckee.log.files.history import HistoryEntry


@pytest.mark.parametrize(
    ("operation", "metrics", "parameters", "expected"),
    [
        ("WRITE", {"numFiles": "1", "numOutputRows": "3"}, {"mode": "Append"}, "+3 rows"),
        ("WRITE", {"numFiles": "1", "numOutputRows": "1"}, {}, "+1 row"),
        ("DELETE", {"numDeletedRows": "12345"}, {"predicate": '["(id = 1)"]'}, "-12,345 rows"),
        ("UPDATE", {"numUpdatedRows": "2", "numAddedFiles": "1"}, {}, "~2 rows"),
        (
            "MERGE",
            {
                "numTargetRowsInserted": "1",
                "numTargetRowsUpdated": "2",
                "numTargetRowsDeleted": "3",
                "numOutputRows": "99",
            },
            {},
            "+1 ~2 -3 rows",
        ),
        (
            "MERGE",
            {
                "numTargetRowsInserted": "0",
                "numTargetRowsUpdated": "4",
                "numTargetRowsDeleted": "0",
                "numOutputRows": "4",
            },
            {},
            "~4 rows",
        ),
        ("OPTIMIZE", {"numRemovedFiles": "12", "numAddedFiles": "1"}, {}, "12 files -> 1"),
        (
            "RESTORE",
            {"numRestoredFiles": "1", "numRemovedFiles": "1"},
            {"version": "0", "timestamp": "null"},
            "to version 0",
        ),
        (
            "RESTORE",
            {"numRestoredFiles": "1"},
            {"version": None, "timestamp": "2024-01-31 12:00:00"},
            "to 2024-01-31 12:00:00",
        ),
        ("RESTORE", {"numRestoredFiles": "2"}, {}, "+2 files"),
        ("WRITE", {"num_added_files": "3", "num_added_rows": "4"}, {}, "+4 rows"),
        ("DELETE", {"num_deleted_rows": "1", "num_copied_rows": "1"}, {}, "-1 row"),
        (
            "MERGE",
            {
                "num_target_rows_inserted": "1",
                "num_target_rows_updated": "2",
                "num_target_rows_deleted": "0",
            },
            {},
            "+1 ~2 rows",
        ),
        ("TRUNCATE", {"numRemovedFiles": "4"}, {}, "-4 files"),
        (
            "SET TBLPROPERTIES",
            None,
            {"properties": '{"a":"b"}', "other": "[]"},
            'properties={"a":"b"}',
        ),
        ("DELETE", {"numDeletedRows": "no number"}, None, ""),
        (None, None, None, ""),
    ],
)
def test_a_commit_is_told_in_a_few_words(
    operation: str | None,
    metrics: dict[str, str | None] | None,
    parameters: dict[str, str | None] | None,
    expected: str,
) -> None:
    entry = HistoryEntry(
        version=1,
        timestamp_ms=0,
        operation=operation,
        operation_metrics=metrics,
        operation_parameters=parameters,
    )

    assert commit_summary(entry) == expected
