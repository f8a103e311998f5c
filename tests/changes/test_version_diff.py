from __future__ import annotations

import pytest

from changes.tables import add, cdc, commit, merge_info, remove, vector
from truckee.changes.version_diff import VectorChange, VersionDiff, version_diff
from truckee.errors.changes import ContradictingActionsError, MissingExtendedMetadataError
from truckee.protocol.actions import CommitInfo, RemoveFile, decode_actions
from truckee.protocol.deletion_vector import DeletionVectorDescriptor

NOTHING = VersionDiff(version=1, timestamp_ms=1000)


def test_a_commit_with_change_files_ignores_its_adds_and_removes() -> None:
    diff = version_diff(commit(add("a"), remove("b"), cdc("c"), cdc("d")))

    assert diff == VersionDiff(version=1, timestamp_ms=1000, change_files=(cdc("c"), cdc("d")))


def test_adds_and_removes_are_told_apart_by_path() -> None:
    diff = version_diff(commit(add("a"), remove("b"), add("c")))

    assert diff.added == (add("a"), add("c"))
    assert diff.removed == (remove("b"),)
    assert diff.vector_changes == ()


def test_files_that_move_rows_without_changing_them_do_not_count() -> None:
    optimize = commit(
        add("a", data_change=False),
        remove("b", dv=vector(1), data_change=False),
        remove("c", data_change=False, extended=None),
    )

    assert version_diff(optimize) == NOTHING


def test_a_remove_that_does_not_say_whether_data_changed_counts() -> None:
    (old,) = decode_actions(
        b'{"remove":{"path":"a","extendedFileMetadata":true,"partitionValues":{},"size":1}}'
    )
    assert isinstance(old, RemoveFile)

    assert version_diff(commit(old)).removed == (old,)


@pytest.mark.parametrize(
    ("before", "after"), [(None, vector(1)), (vector(1), None), (vector(1), vector(2))]
)
def test_a_path_that_is_added_and_removed_changed_its_vector(
    before: DeletionVectorDescriptor | None, after: DeletionVectorDescriptor | None
) -> None:
    swapped = commit(add("a", dv=after), remove("a", dv=before), add("b"))

    diff = version_diff(swapped)

    assert diff.vector_changes == (VectorChange(add("a", dv=after), before),)
    assert diff.vector_changes[0].after == after
    assert diff.added == (add("b"),)
    assert diff.removed == ()


def test_a_vector_that_gives_way_to_itself_is_no_change() -> None:
    same = commit(add("a", dv=vector(1)), remove("a", dv=vector(1)))

    assert version_diff(same) == NOTHING


def test_paths_are_compared_as_they_are_written() -> None:
    diff = version_diff(commit(add("a%20b", dv=vector(1)), remove("a b")))

    assert len(diff.added) == len(diff.removed) == 1


def test_a_merge_that_changed_no_row_gives_none() -> None:
    info = merge_info(numTargetRowsInserted="0", numTargetRowsUpdated="0", numTargetRowsDeleted="0")

    assert version_diff(commit(info, add("a"), remove("b"))) == NOTHING


@pytest.mark.parametrize(
    "info",
    [
        merge_info(numTargetRowsInserted="0", numTargetRowsUpdated="0"),
        merge_info(numTargetRowsInserted="0", numTargetRowsUpdated="1", numTargetRowsDeleted="0"),
        CommitInfo(operation="MERGE"),
        CommitInfo(
            operation="UPDATE",
            operation_metrics={
                "numTargetRowsInserted": "0",
                "numTargetRowsUpdated": "0",
                "numTargetRowsDeleted": "0",
            },
        ),
    ],
)
def test_without_all_three_metrics_at_zero_a_commit_is_taken_at_its_files(info: CommitInfo) -> None:
    diff = version_diff(commit(info, add("a"), remove("b")))

    assert (diff.added, diff.removed) == ((add("a"),), (remove("b"),))


def test_a_merge_without_effect_that_has_change_files_shows_them() -> None:
    info = merge_info(numTargetRowsInserted="0", numTargetRowsUpdated="0", numTargetRowsDeleted="0")

    assert version_diff(commit(info, cdc("c"))).change_files == (cdc("c"),)


@pytest.mark.parametrize("extended", [None, False])
def test_a_removed_file_of_which_too_little_is_known_is_refused(extended: bool | None) -> None:
    with pytest.raises(MissingExtendedMetadataError) as raised:
        version_diff(commit(remove("x/a.parquet", extended=extended), version=4))

    assert raised.value.sentence() == (
        "version 4 removes 'x/a.parquet' without extended file metadata, "
        "so its rows cannot be shown as deleted\n"
        "hint: read the versions before and after it"
    )
    assert raised.value.code == "DELTA_REMOVE_FILE_CDC_MISSING_EXTENDED_METADATA"


def test_a_file_added_and_removed_with_no_vector_is_refused() -> None:
    with pytest.raises(ContradictingActionsError) as raised:
        version_diff(commit(add("a"), remove("a"), version=4))

    assert raised.value.sentence() == (
        "version 4 both adds and removes 'a' with no deletion vector\n"
        "hint: the writer of this commit made a mistake; read the versions before and after it"
    )
