"""Pipelines create a table before they know its columns: its first `metaData` has no schema."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from builders import PROTOCOL
from changes.tables import FEED_ON
from staging import add, metadata, plan_changes
from streaming.streams import batches, feed, stream
from truckee.cli.main import main
from truckee.errors.stream_schema import SchemaNotSetError
from truckee.log.commit.transaction import Transaction
from truckee.log.detail import table_detail
from truckee.log.files.history import history
from truckee.log.snapshot import load_snapshot, update_snapshot
from truckee.log.upkeep.checkpoint_writer import write_checkpoint
from truckee.options.feed import feed_options
from truckee.protocol.actions import Action, Metadata, encode_actions
from truckee.protocol.paths import commit_path
from truckee.storage.local import LocalStorage

SCHEMA = metadata("id long", "name string", properties=FEED_ON)
NO_SCHEMA = replace(SCHEMA, schema_string=None)


def table(folder: Path, *commits: tuple[Action, ...]) -> LocalStorage:
    storage = LocalStorage(str(folder))
    for version, actions in enumerate(commits):
        storage.put_if_absent(commit_path(version), encode_actions(actions))
    return storage


@pytest.fixture
def unborn(tmp_path: Path) -> LocalStorage:
    """A table with no schema yet."""
    return table(tmp_path, (PROTOCOL, NO_SCHEMA))


@pytest.fixture
def born(tmp_path: Path) -> LocalStorage:
    """A table whose schema came with its second version."""
    return table(tmp_path, (PROTOCOL, NO_SCHEMA), (SCHEMA,), (add("a"),))


def test_the_wire_has_no_schema_rather_than_null() -> None:
    assert b"schemaString" not in encode_actions([NO_SCHEMA])
    assert NO_SCHEMA != SCHEMA


def test_a_schema_that_comes_later_is_the_tables(born: LocalStorage) -> None:
    snapshot = load_snapshot(born)

    assert snapshot.schema.names == ("id", "name")
    assert [file.path for file in snapshot.files()] == ["a"]
    assert update_snapshot(load_snapshot(born, 0)).schema == snapshot.schema


def test_feed_and_stream_begin_before_the_schema(born: LocalStorage) -> None:
    plan = plan_changes(born, feed_options({"startingVersion": "0"}))

    assert [file.path for file in plan.files] == ["a"]
    assert plan.schema.names == ("id", "name")
    assert [b.paths for b in batches(stream(born, startingVersion=0))] == [["a"]]
    assert [b.paths for b in batches(feed(born, startingVersion=0))] == [["a"]]


def test_what_needs_no_schema_works_without_one(
    unborn: LocalStorage, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = str(tmp_path / "page.html")
    snapshot = load_snapshot(unborn)

    assert snapshot.num_files == 0
    assert table_detail(snapshot).id == SCHEMA.id
    assert [entry.version for entry in history(unborn)] == [0]
    for command in ("history", "detail", "log", "files"):
        assert main([command, unborn.root]) == 0, capsys.readouterr().err
    assert main(["report", unborn.root, "--output", page]) == 0, capsys.readouterr().err


def test_what_needs_a_schema_says_that_there_is_none(unborn: LocalStorage) -> None:
    with pytest.raises(SchemaNotSetError) as error:
        _ = load_snapshot(unborn).schema
    with pytest.raises(SchemaNotSetError):
        plan_changes(unborn, feed_options({"startingVersion": "0"}))
    with pytest.raises(SchemaNotSetError):
        stream(unborn)

    assert str(error.value) == (
        f"[DELTA_SCHEMA_NOT_SET] {unborn.root} has no columns yet, so its rows cannot be read\n"
        "hint: read it again after a commit has set its schema"
    )


def test_a_checkpoint_keeps_metadata_without_a_schema(unborn: LocalStorage) -> None:
    write_checkpoint(load_snapshot(unborn))
    unborn.delete(commit_path(0))

    assert load_snapshot(unborn).metadata == NO_SCHEMA


def test_a_transaction_can_bring_the_schema(unborn: LocalStorage) -> None:
    transaction = Transaction(unborn, load_snapshot(unborn))
    transaction.set_metadata(SCHEMA)

    transaction.commit("ADD COLUMNS")

    assert load_snapshot(unborn).schema.names == ("id", "name")
    assert isinstance(load_snapshot(unborn).metadata, Metadata)
