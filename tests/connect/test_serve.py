"""A Spark Connect server of truckee: a real one, and a client in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import truckee
from connect_server import client_outcome
from scripts.generated_docs import error_classes
from truckee.errors.spark import ConnectServerError

pytestmark = [pytest.mark.spark, pytest.mark.slow]

CLIENT = Path(__file__).with_name("sql_client.py")


@pytest.fixture(scope="module")
def found(url: str, folder: Path) -> dict[str, Any]:
    return client_outcome(CLIENT, url, folder)


def test_clients_run_the_sql_of_delta(found: dict[str, Any], folder: Path) -> None:
    rows, count, feed = found["statements"]

    assert rows == [[1, "sent"], [2, "paid"], [4, "new"]]
    assert count == [[3]]
    # Version 2 updates a row, 3 deletes one, and version 4 updates one and inserts one.
    kinds = {"insert": 1, "update_preimage": 2, "update_postimage": 2, "delete": 1}
    assert dict(feed) == kinds
    # It is there for those who read the folder without the server.
    history = truckee.open(folder / "lake" / "orders").history()
    assert [commit.operation for commit in history][-5:] == [
        "MERGE",
        "DELETE",
        "UPDATE",
        "WRITE",
        "CREATE TABLE",
    ]
    assert found["imported"] == []


def test_clients_without_the_token_are_refused(url: str) -> None:
    code = (
        "import sys; from pyspark.sql import SparkSession; "
        "SparkSession.builder.remote(sys.argv[1]).getOrCreate().sql('SELECT 1').collect()"
    )

    done = subprocess.run(
        [sys.executable, "-c", code, f"{url}/;token=another"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )

    assert done.returncode != 0
    assert "Invalid authentication token" in done.stderr


def test_clients_take_care_of_tables(found: dict[str, Any]) -> None:
    operations, kind = found["care"]

    assert [each for (each,) in operations][:3] == ["VACUUM END", "VACUUM START", "OPTIMIZE"]
    assert kind == "delta"


def test_clients_read_and_write_dataframes(found: dict[str, Any], folder: Path) -> None:
    first, count, exists = found["frames"]

    assert first == [[0], [1], [2], [3]]
    # Four rows saved, four appended; of 2, 3, 4 and 5 the merge inserts the last two.
    assert (count, exists) == (10, True)
    assert truckee.open(folder / "lake" / "by_path").to_arrow().num_rows == 4


def test_clients_stream_a_feed_into_a_table(found: dict[str, Any]) -> None:
    # Three rows inserted, and the six changes of the statements after that.
    assert found["stream"] == [[9]]


def test_clients_get_the_errors_of_a_classic_session(found: dict[str, Any], folder: Path) -> None:
    told = [each[:3] for each in found["errors"]]
    texts = [each[3] for each in found["errors"]]

    kinds_and_conditions = [
        ("SparkException", "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES"),
        ("AnalysisException", "UNRESOLVED_COLUMN.WITH_SUGGESTION"),
        ("AnalysisException", "PATH_NOT_FOUND"),
        ("IllegalArgumentException", "DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT"),
        ("ParseException", "PARSE_SYNTAX_ERROR"),
        ("AnalysisException", "DELTA_METADATA_MISMATCH"),
        ("AnalysisException", "DELTA_CANNOT_RESTORE_TABLE_VERSION"),
    ]
    states = {kind.code: kind.state for kind in error_classes()}
    assert told == [[*each, states[each[1]]] for each in kinds_and_conditions]
    assert str(folder / "nothing") in texts[2]
    assert not [text for text in texts if "truckee-error" in text or "Traceback" in text]


def test_sessions_of_clients_have_settings_of_their_own(found: dict[str, Any]) -> None:
    assert found["other session"] == [["WRITE", None]]


def test_a_port_that_is_taken_is_told(spark: SparkSession, url: str) -> None:
    port = int(url.rpartition(":")[2])

    with pytest.raises(ConnectServerError) as caught:
        truckee.serve(spark, port=port)

    assert caught.value.reason == f"Failed to bind to address /127.0.0.1:{port}"
