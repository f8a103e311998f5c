"""A commit file without a byte is damage, whichever way one comes across it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from builders import history
from changes.tables import FEED_ON
from staging import add, metadata, plan_changes
from streaming.streams import batches, stream
from truckee.cli.main import main
from truckee.errors.log import CorruptLogFileError
from truckee.log.commit.transaction import Transaction
from truckee.log.files.commits import read_commit
from truckee.log.files.history import commit_timestamps
from truckee.log.files.history import history as table_history
from truckee.log.files.listing import commit_lines
from truckee.log.snapshot import load_snapshot, update_snapshot
from truckee.log.upkeep.checkpoint_writer import write_checkpoint
from truckee.options.feed import feed_options
from truckee.protocol.paths import commit_path
from truckee.report.page import report_html
from truckee.storage.base import Storage
from truckee.storage.local import LocalStorage

DOORS: dict[str, Callable[[Storage], object]] = {
    "snapshot": lambda storage: load_snapshot(storage, 2),
    "update": lambda storage: update_snapshot(load_snapshot(storage, 1)),
    "history": table_history,
    "commit": lambda storage: read_commit(storage, 2),
    "lines": lambda storage: list(commit_lines(storage, 2)),
    "timestamp": lambda storage: commit_timestamps(storage, 2, 2),
    "feed": lambda storage: plan_changes(storage, feed_options({"startingVersion": "1"})),
    "stream": lambda storage: list(batches(stream(storage, startingVersion=1))),
    "report": lambda storage: report_html(load_snapshot(storage)),
}


def table(tmp_path: Path) -> LocalStorage:
    """Return a table whose version 2 is empty, with a checkpoint after it."""
    storage = LocalStorage(str(tmp_path))
    made = history(storage).stage(metadata(properties=FEED_ON)).then()
    made.add("a").then().add("b").then().add("c").then()
    write_checkpoint(load_snapshot(storage))
    (tmp_path / commit_path(2)).write_bytes(b"")
    return storage


@pytest.mark.parametrize("door", DOORS)
def test_an_empty_commit_is_corrupt_at_every_door(tmp_path: Path, door: str) -> None:
    """Invariant 25."""
    storage = table(tmp_path)

    with pytest.raises(CorruptLogFileError) as error:
        DOORS[door](storage)

    assert error.value.path == commit_path(2)
    assert error.value.reason == "it is empty"


def test_an_empty_commit_in_the_way_of_another_is_corrupt(tmp_path: Path) -> None:
    storage = table(tmp_path)
    transaction = Transaction(storage, load_snapshot(storage))
    transaction.stage(add("d"))
    (tmp_path / commit_path(4)).write_bytes(b"")

    with pytest.raises(CorruptLogFileError, match="it is empty"):
        transaction.commit("WRITE")

    assert (tmp_path / commit_path(4)).read_bytes() == b""


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("history", []),
        ("log", ["--version", "2"]),
        ("files", ["--version", "2"]),
        ("changes", ["--from", "1", "--summary"]),
        ("report", []),
    ],
)
def test_the_command_line_says_that_a_commit_is_empty(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, options: list[str]
) -> None:
    code = main([command, table(tmp_path).root, *options])

    assert code == 1
    assert "it is empty" in capsys.readouterr().err
