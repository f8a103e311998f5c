"""Streams that follow the schema of their table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from changes.tables import PROTOCOL, Table, add, mapped, metadata
from streaming.streams import Batch, batches, reread
from truckee.errors.stream_schema import (
    CorruptSchemaLogError,
    MetadataEvolvedError,
    SchemaChangeNotAllowedError,
    SchemaLocationError,
    SchemaLogConflictError,
)
from truckee.options.stream import stream_options
from truckee.protocol.actions import Metadata, Protocol
from truckee.protocol.schema import StructField
from truckee.storage import open_storage
from truckee.streaming.offset import (
    BASE,
    METADATA_CHANGE,
    POST_METADATA_CHANGE,
    StreamOffset,
)
from truckee.streaming.schema_log import SchemaLog
from truckee.streaming.table_stream import TableStream, open_stream
from values import simple_schema


class Follower:
    """A query with a schema log that is started again and again, each time where it stopped."""

    def __init__(self, table: Table, checkpoint: Path, **options: Any) -> None:
        self.table = table
        self.checkpoint = checkpoint
        self.options = {"schemaTrackingLocation": str(checkpoint / "schemas"), **options}
        self.before: StreamOffset | None = None
        self.at: StreamOffset | None = None

    def start(self, **options: Any) -> TableStream:
        opened = open_stream(self.table.storage, stream_options({**self.options, **options}))
        return TableStream(opened, f"{self.checkpoint}/sources/0")

    def run(self, **options: Any) -> list[Batch]:
        of = self.start(**options)
        found: list[Batch] = []
        if self.at is not None:
            # A query that is started again asks for its last batch before it asks for the next.
            of.plan(self.before, self.at)
        while (end := of.latest_offset(self.at)) != self.at:
            assert end is not None
            end = reread(of, end)
            files = of.plan(self.at, end)
            found.append(Batch(end.position, [file.path for file in files], files))
            self.before, self.at = self.at, end
        return found

    def log(self) -> SchemaLog:
        return SchemaLog(open_storage(str(self.checkpoint / "schemas" / "_schema_log_t")))


def columns(*names: str) -> Metadata:
    """Metadata of a mapped table; `x=y` is column x under its new name y."""
    fields = []
    for number, name in enumerate(names, 1):
        fields.append(mapped(name.rpartition("=")[2], "long", number, name.partition("=")[0]))
    return metadata(*fields, mapping="name")


def made(*names: str) -> Table:
    return Table.created(*[mapped(n, "long", i, n) for i, n in enumerate(names, 1)], mapping="name")


def test_a_rename_is_a_barrier_that_the_stream_crosses_in_two_empty_batches(
    tmp_path: Path,
) -> None:
    table = made("id", "x")
    table.commit(add("a"))
    follower = Follower(table, tmp_path, startingVersion=0)
    assert [batch.paths for batch in follower.run()] == [["a"]]
    table.commit(add("b"))
    table.commit(columns("id", "x=y"), add("c"))

    ends: list[tuple[int, int]] = []
    with pytest.raises(MetadataEvolvedError) as raised:
        ends += [batch.end for batch in follower.run()]

    assert raised.value.code == "DELTA_STREAMING_METADATA_EVOLUTION"
    assert raised.value.sentence() == (
        f"the stream of {table.storage.root} has reached the change of its metadata at version 3; "
        "from there on the schema is struct<id:bigint,y:bigint>\n"
        "hint: load the stream again and restart the query"
    )
    assert follower.at == StreamOffset(table_id="t", version=3, index=POST_METADATA_CHANGE)
    rest = follower.run(allowSourceColumnRename="3")
    assert [(batch.end, batch.paths) for batch in rest] == [((4, BASE), ["c"])]


def test_data_before_a_change_ends_at_it(tmp_path: Path) -> None:
    table = made("id", "x")
    follower = Follower(table, tmp_path, startingVersion=0)
    follower.run()
    table.commit(add("b"))
    table.commit(columns("id", "x=y"), add("c"))
    of = follower.start()

    first = of.latest_offset(follower.at)
    assert first == StreamOffset(table_id="t", version=2, index=METADATA_CHANGE)
    assert [file.path for file in of.plan(follower.at, first)] == ["b"]
    second = of.latest_offset(first)
    assert second == StreamOffset(table_id="t", version=2, index=POST_METADATA_CHANGE)
    assert of.plan(first, second) == []


def test_a_change_must_be_allowed_until_the_next_one(tmp_path: Path) -> None:
    table = made("id", "x")
    follower = Follower(table, tmp_path, startingVersion=0)
    follower.run()
    table.commit(columns("id", "x=y"), add("c"))
    with pytest.raises(MetadataEvolvedError):
        follower.run()

    with pytest.raises(SchemaChangeNotAllowedError) as raised:
        follower.run(allowSourceColumnRename="7")

    assert raised.value.sentence() == (
        f"version 1 of {table.storage.root} changed its columns: column x was renamed\n"
        "hint: check that the query and its sink can handle this, then set "
        "allowSourceColumnRename to 1, or to always"
    )
    assert [batch.paths for batch in follower.run(allowSourceColumnRename="always")] == [["c"]]
    table.commit(add("d"))
    with pytest.raises(SchemaChangeNotAllowedError):
        follower.run()
    assert [batch.paths for batch in follower.run(allowSourceColumnRename="1")] == [["d"]]


def test_a_dropped_column_and_one_that_is_new(tmp_path: Path) -> None:
    table = made("id", "x")
    follower = Follower(table, tmp_path, startingVersion=0)
    follower.run()
    table.commit(columns("id"), add("c"))
    with pytest.raises(MetadataEvolvedError):
        follower.run()
    with pytest.raises(SchemaChangeNotAllowedError, match="column x was dropped"):
        follower.run()
    assert [batch.paths for batch in follower.run(allowSourceColumnDrop="1")] == [["c"]]

    table.commit(columns("id", "z"), add("d"))
    with pytest.raises(MetadataEvolvedError):
        follower.run(allowSourceColumnDrop="1")
    assert [batch.paths for batch in follower.run()] == [["d"]]
    assert follower.start().read.schema.names == ("id", "z")


def test_each_change_of_a_commit_needs_its_agreement(tmp_path: Path) -> None:
    table = made("id", "x", "z")
    follower = Follower(table, tmp_path, startingVersion=0)
    follower.run()
    table.commit(columns("id", "x=y"), add("c"))
    with pytest.raises(MetadataEvolvedError):
        follower.run()

    with pytest.raises(SchemaChangeNotAllowedError) as none:
        follower.run()
    with pytest.raises(SchemaChangeNotAllowedError) as rest:
        follower.run(allowSourceColumnRename="always")

    assert none.value.change == "column x was renamed, column z was dropped"
    assert none.value.options == ("allowSourceColumnRename", "allowSourceColumnDrop")
    assert rest.value.change == "column z was dropped"
    assert rest.value.options == ("allowSourceColumnDrop",)
    both = follower.run(allowSourceColumnRename="always", allowSourceColumnDrop="1")
    assert [batch.paths for batch in both] == [["c"]]


def test_a_widened_column_needs_an_agreement_of_its_own(tmp_path: Path) -> None:
    table = Table().commit(PROTOCOL, metadata("id integer"), add("a"))
    follower = Follower(table, tmp_path, startingVersion=0)
    follower.run()
    (field,) = simple_schema("id long").fields
    changes = [{"fromType": "integer", "toType": "long"}]
    wider = StructField("id", field.type, True, {"delta.typeChanges": changes})
    table.commit(metadata(wider), add("b"))
    with pytest.raises(MetadataEvolvedError):
        follower.run()

    with pytest.raises(SchemaChangeNotAllowedError) as raised:
        follower.run(allowSourceColumnRename="always", allowSourceColumnDrop="always")

    assert raised.value.options == ("allowSourceColumnTypeChange",)
    assert raised.value.change == "column id has another type"
    assert [b.paths for b in follower.run(allowSourceColumnTypeChange="1")] == [["b"]]


def test_an_agreement_in_the_session_will_do(tmp_path: Path) -> None:
    table = made("id", "x")
    follower = Follower(table, tmp_path, startingVersion=0)
    follower.run()
    table.commit(columns("id"), add("c"))
    with pytest.raises(MetadataEvolvedError):
        follower.run()

    name = "spark.databricks.delta.streaming.allowSourceColumnRenameAndDrop"
    options = stream_options(follower.options, conf={name: "always"})
    of = TableStream(open_stream(table.storage, options), f"{tmp_path}/sources/0")

    assert of.latest_offset(follower.at) == StreamOffset(table_id="t", version=2)


def test_properties_of_delta_are_a_change_and_others_are_not(tmp_path: Path) -> None:
    table = made("id")
    follower = Follower(table, tmp_path, startingVersion=0)
    follower.run()
    same = columns("id")
    table.commit(Metadata(**{**as_fields(same), "description": "new"}))
    assert [batch.end for batch in follower.run()] == [(2, BASE)]

    changed = {**same.configuration, "delta.appendOnly": "true"}
    table.commit(Metadata(**{**as_fields(same), "configuration": changed}))
    with pytest.raises(MetadataEvolvedError):
        follower.run()
    assert [batch.end for batch in follower.run()] == [(3, BASE)]


def as_fields(of: Metadata) -> dict[str, Any]:
    return {name: getattr(of, name) for name in of.__struct_fields__}


def test_a_stream_that_starts_at_an_older_schema_is_started_twice(tmp_path: Path) -> None:
    table = made("id", "x")
    table.commit(add("a"))
    table.commit(columns("id", "x=y"), add("b"))
    follower = Follower(table, tmp_path, startingVersion=0)

    with pytest.raises(MetadataEvolvedError) as raised:
        follower.run()
    assert raised.value.version == 0
    assert follower.start().read.schema.names == ("id", "x")
    with pytest.raises(MetadataEvolvedError):
        follower.run()
    assert [batch.paths for batch in follower.run(allowSourceColumnRename="2")] == [["b"]]


def test_a_stream_that_was_loaded_before_the_change_is_to_be_loaded_again(tmp_path: Path) -> None:
    table = made("id", "x")
    follower = Follower(table, tmp_path, startingVersion=0, allowSourceColumnRename="always")
    follower.run()
    stale = open_stream(table.storage, stream_options(follower.options))
    table.commit(columns("id", "x=y"), add("c"))
    with pytest.raises(MetadataEvolvedError):
        follower.run()

    with pytest.raises(MetadataEvolvedError) as raised:
        TableStream(stale, f"{tmp_path}/sources/0")

    assert raised.value.schema == "struct<id:bigint,y:bigint>"
    assert [batch.paths for batch in follower.run()] == [["c"]]


def test_a_protocol_is_a_change_unless_it_names_the_same_features(tmp_path: Path) -> None:
    table = made("id")
    table.commit(features("columnMapping", "appendOnly"))
    follower = Follower(table, tmp_path, startingVersion=1)
    follower.run()
    table.commit(features("appendOnly", "columnMapping"))
    assert [batch.end for batch in follower.run()] == [(3, BASE)]

    table.commit(features("appendOnly", "columnMapping", "invariants"))
    with pytest.raises(MetadataEvolvedError):
        follower.run()
    assert [batch.end for batch in follower.run()] == [(4, BASE)]


def features(*names: str) -> Protocol:
    return Protocol(
        min_reader_version=3,
        min_writer_version=7,
        reader_features=("columnMapping",),
        writer_features=names,
    )


def test_the_feed_stops_and_goes_on_at_the_same_places(tmp_path: Path) -> None:
    table = made("id", "x")
    follower = Follower(table, tmp_path, startingVersion=0, readChangeFeed=True)
    table.commit(add("a"))
    follower.run()
    table.commit(columns("id", "x=y"), add("b"))

    with pytest.raises(MetadataEvolvedError):
        follower.run()
    (last,) = follower.run(allowSourceColumnRename="2")

    assert (last.end, last.paths) == ((3, BASE), ["b"])
    assert follower.start(allowSourceColumnRename="2").read.schema.names == ("id", "y")


def test_entries_are_files_with_a_number_each(tmp_path: Path) -> None:
    table = made("id")
    follower = Follower(table, tmp_path, startingVersion=0)
    follower.run()

    text = (tmp_path / "schemas" / "_schema_log_t" / "0").read_text()

    first, _, rest = text.partition("\n")
    assert first == "v1"
    assert rest.startswith('{"tableId":"t","deltaCommitVersion":0,"dataSchemaJson":"')
    assert f'"sourceMetadataPath":"{tmp_path}/sources/0"' in rest
    entry = follower.log().latest()
    assert entry is not None
    assert entry.previous_metadata_seq_num is None
    assert follower.log().before(entry) is None
    assert entry.protocol_json is not None
    assert entry.protocol_json.startswith('{"protocol":{"minReaderVersion":')
    assert entry.read.metadata.configuration["delta.columnMapping.mode"] == "name"


def test_a_log_beside_the_checkpoint_is_refused(tmp_path: Path) -> None:
    table = made("id")
    follower = Follower(table, tmp_path / "c")
    follower.options["schemaTrackingLocation"] = str(tmp_path / "schemas")

    with pytest.raises(SchemaLocationError) as raised:
        follower.start()

    assert raised.value.code == "DELTA_STREAMING_SCHEMA_LOCATION_NOT_UNDER_CHECKPOINT"
    assert raised.value.sentence() == (
        f"schemaTrackingLocation is {tmp_path}/schemas, which is not below the query's checkpoint "
        f"{tmp_path}/c\n"
        f"hint: set it to {tmp_path}/c/_schemas, or to another folder there"
    )


def test_two_sources_of_one_table_need_logs_of_their_own(tmp_path: Path) -> None:
    table = made("id")
    follower = Follower(table, tmp_path, startingVersion=0)
    follower.run()
    opened = open_stream(table.storage, stream_options(follower.options))

    with pytest.raises(SchemaLogConflictError) as raised:
        TableStream(opened, f"{tmp_path}/sources/1")

    assert raised.value.sentence() == (
        f"two streams of one table share the schema log {tmp_path}/schemas/_schema_log_t\n"
        "hint: give each its own streamingSourceTrackingId"
    )
    options = {**follower.options, "streamingSourceTrackingId": "second"}
    other = TableStream(
        open_stream(table.storage, stream_options(options)), f"{tmp_path}/sources/1"
    )
    assert len(list(batches(other))) == 1


def test_an_entry_that_cannot_be_read(tmp_path: Path) -> None:
    table = made("id")
    follower = Follower(table, tmp_path, startingVersion=0)
    follower.run()
    path = tmp_path / "schemas" / "_schema_log_t" / "0"
    path.write_text("v9\n{}")

    with pytest.raises(CorruptSchemaLogError) as raised:
        follower.start()

    assert raised.value.sentence() == (
        f"the entry {path} of the schema log cannot be read: it does not start with "
        "v1\n"
        "hint: start the query with a new checkpoint and a new schema log"
    )
