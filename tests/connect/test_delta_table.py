"""`DeltaTable` in a client of `truckee serve`, which has no JVM."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from connect_server import client_outcome

pytestmark = [pytest.mark.spark, pytest.mark.slow]

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def found(url: str, folder: Path) -> dict[str, Any]:
    return client_outcome(HERE / "table_client.py", url, folder)


# Invariant 72.
def test_rows_are_changed_by_texts_columns_and_functions(found: dict[str, Any]) -> None:
    *counts, rows, commits = found["rows"]

    assert counts == [[[1]], [[1]], [[2]], [[1]]]
    assert rows == [[12, "b1.50"]]
    # Each call was made once.
    assert commits == 5
    assert found["gateway"] is False


def test_merges_have_all_clauses_and_evolve_the_schema(found: dict[str, Any]) -> None:
    by_text, after, by_column, at_last = found["merges"]

    # Affected, updated, deleted, inserted.
    assert by_text == [[3, 2, 1, 0]]
    assert after == [[1, "gone"], [3, "C"]]
    assert by_column == [[3, 1, 1, 1]]
    assert at_last == [[3, "C", 1], [4, "D", 2]]


def test_columns_of_the_table_itself_are_those_of_the_target(found: dict[str, Any]) -> None:
    rows, kind, text = found["own columns"]

    assert rows == [[2, "b"], [3, "new"]]
    assert kind == "AmbiguousColumnError"
    assert text.endswith("for the source was made of the table")


def test_history_feeds_diffs_and_restores(found: dict[str, Any]) -> None:
    history, kinds, since, diff, images, restored, rows = found["versions"]

    assert history == [[3, "DELETE"], [2, "UPDATE"]]
    assert kinds == [["delete", 1], ["update_postimage", 1], ["update_preimage", 1]]
    assert since == [[3, "delete"]]
    assert diff == [[2, "update_preimage"], [2, "update_postimage"], [3, "delete"]]
    assert images == [["b"], ["b"], ["new"]]
    assert restored == [[1]]
    assert rows == [[1, "a"], [2, "new"], [3, "c"]]


def test_tables_are_taken_care_of(found: dict[str, Any]) -> None:
    added, removed, vacuumed, detail, has_manifest = found["care"]

    assert (added, removed) == ([[1]], [[1]])
    assert vacuumed == [[], 0]
    assert detail == [["delta", 1]]
    assert has_manifest is True


def test_protocol_features_and_constraints_are_changed(found: dict[str, Any]) -> None:
    *features, refused = found["protocol"]

    checks = ["appendOnly", "checkConstraints"]
    assert features == [
        [1, 2, ["appendOnly", "invariants"]],
        [1, 3, [*checks, "invariants"]],
        [3, 7, [*checks, "deletionVectors", "invariants"]],
        [1, 7, [*checks, "checkpointProtection", "invariants"]],
    ]
    assert refused[0] == "CheckConstraintViolationError"


def test_tables_are_cloned_converted_and_compared(found: dict[str, Any]) -> None:
    shallow, first, properties, diff, converted, is_table = found["clones"]

    assert shallow == [[2, "b"], [3, "c"]]
    assert (first, properties) == (3, {"by": "us"})
    assert diff == [[2, "delete"]]
    assert (converted, is_table) == (4, True)


def test_builders_create_and_replace_tables(found: dict[str, Any]) -> None:
    rows, detail, again, replaced = found["created"]

    assert rows == [[5, "p"]]
    assert detail == [["spark_catalog.default.built", "made by a client", ["x"]]]
    assert again == "TableAlreadyExistsError"
    assert replaced == ["y"]


def test_columns_are_added_renamed_and_dropped(found: dict[str, Any]) -> None:
    assert found["columns"] == [["id", "text"], [["a"], ["b"], ["c"]]]


def test_errors_are_the_classes_of_a_classic_session(found: dict[str, Any]) -> None:
    ours = "DeltaError"

    assert [(kind, caught_as) for kind, _, caught_as in found["refused"]] == [
        ("NotADeltaTableError", ["AnalysisException", ours]),
        ("NotADeltaTableError", ["AnalysisException", ours]),
        ("NoAssignmentsError", ["ValueError", ours]),
        ("ArgumentTypeError", ["TypeError", ours]),
        ("ArgumentTypeError", ["TypeError", ours]),
        ("RestoreVersionError", ["AnalysisException", ours]),
        ("MissingColumnError", ["AnalysisException", ours]),
        ("StatementNotAllowedError", ["AnalysisException", ours]),
        ("AttributeError", []),
        ("AppendOnlyTargetError", [ours]),
    ]
    assert found["refused"][7][1] == (
        "[DELTA_OPERATION_NOT_ALLOWED] Operation not allowed: `DeltaTable.doctor over Spark "
        "Connect` is not supported\n"
        "hint: call it in a classic session, or where the table is: truckee doctor PATH"
    )


def test_a_program_written_for_delta_spark_runs_unchanged(url: str, folder: Path) -> None:
    found = client_outcome(HERE / "drop_in_client.py", url, folder)

    before, updated, left = [0, 1, 2, 3, 4, 5], [1, 3, 5, 100, 102, 104], [1, 3, 5]
    assert all("DELTA_MISSING_DELTA_TABLE" in text for text in found.pop("missing"))
    assert found == {
        "by name": [[0, 1, 2, 3, 4]] * 3,
        "by path": [before] * 3,
        "updated": [updated] * 3,
        "deleted": [left] * 3,
        "before": before,
        "class": True,
    }
