"""What a path without a table has instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from truckee.log.files.absent_table import absent_table
from truckee.storage.local import LocalStorage

HINT = "hint: give the folder that holds _delta_log"


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """A folder of two tables, a folder of Parquet files, and two of others."""
    for folder in ("orders/_delta_log", "orders/day=1", "people/_delta_log", "empty", "plain"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "parts/day=1").mkdir(parents=True)
    (tmp_path / "plain/a.parquet").write_bytes(b"")
    (tmp_path / "parts/day=1/a.parquet").write_bytes(b"")
    (tmp_path / "notes.txt").write_bytes(b"")
    return tmp_path


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("nothing", f"the path does not exist\n{HINT}"),
        ("notes.txt", f"it is a file, not a folder\n{HINT}"),
        ("empty", f"it has no _delta_log\n{HINT}"),
        ("orders", f"it has no _delta_log with a commit or a checkpoint\n{HINT}"),
        ("orders/_delta_log", f"it is a folder of the table {{lake}}/orders\n{HINT}"),
        ("orders/day=1", f"it is a folder of the table {{lake}}/orders\n{HINT}"),
        (".", f"it has no _delta_log, but is a folder of tables: orders and 1 more\n{HINT}"),
        (
            "plain",
            f"it has Parquet files, but no _delta_log\n{HINT}, or make a table of these files with "
            "CONVERT TO DELTA",
        ),
        (
            "parts",
            f"it has Parquet files, but no _delta_log\n{HINT}, or make a table of these files with "
            "CONVERT TO DELTA",
        ),
    ],
)
def test_the_error_says_what_is_there_instead(path: str, says: str, lake: Path) -> None:
    storage = LocalStorage(str(lake / path))

    error = absent_table(storage)

    expected = f"{storage.root} is not a Delta table: {says.format(lake=lake)}"
    assert error.sentence() == expected
