"""What `format("truckee")` refuses and warns of, asked without a session."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql.types import LongType, StringType, StructField, StructType

from changes.tables import PROTOCOL, Table, add, metadata
from truckee.datasource.source import StreamReader, TruckeeSource
from truckee.datasource.writers import SourceWriter
from truckee.errors.changes import ChangeDataNotRecordedError
from truckee.errors.options import IllegalOptionError
from truckee.errors.stream_schema import (
    GivenSchemaError,
    MetadataEvolvedError,
    SchemaLogOfBatchReadError,
)
from truckee.errors.streaming import (
    DifferentTableError,
    MissingCommitsError,
    NativeWriterNeededError,
    NoPathToReadError,
    NoPathToWriteError,
    TimeTravelOfStreamError,
)
from truckee.log.snapshot import load_snapshot
from truckee.log.upkeep.checkpoint_writer import write_checkpoint
from truckee.options.text import UnknownOptionWarning
from truckee.protocol.paths import commit_path
from truckee.storage.local import LocalStorage

IDS = StructType([StructField("id", LongType())])
LIMIT: Any = None
"""What Spark says about limits is not looked at, unless it asks for all there is."""


@pytest.fixture
def table(tmp_path: Path) -> Table:
    storage = LocalStorage(str(tmp_path / "t"))
    return Table(storage).commit(PROTOCOL, metadata("id long"), add("a"))


def source(table: Table, **options: object) -> TruckeeSource:
    # Spark hands over options as texts, with names in small letters.
    text = {name.lower(): str(value) for name, value in options.items()}
    return TruckeeSource({"path": table.storage.root, **text})


def stream(table: Table, **options: object) -> StreamReader:
    of = source(table, **options)
    reader = of.streamReader(of.schema())
    assert isinstance(reader, StreamReader)
    return reader


def test_options_that_a_read_does_not_know_are_told_with_the_nearest_one(table: Table) -> None:
    with pytest.warns(UnknownOptionWarning) as warned:
        source(table, startngVersion=0, nonsense=1).schema()

    assert sorted(str(warning.message) for warning in warned) == [
        "option nonsense has no effect on a read",
        "option startngversion has no effect on a read; did you mean startingVersion?",
    ]


def test_options_that_a_write_does_not_know_are_told_too(table: Table) -> None:
    columns = StructType([StructField("id", LongType())])

    with pytest.warns(UnknownOptionWarning) as warned:
        SourceWriter({"path": table.storage.root, "mergeSchemas": "true"}, columns, False)

    (warning,) = warned
    assert str(warning.message) == (
        "option mergeSchemas has no effect on a write; did you mean mergeSchema?"
    )


def test_options_of_spark_and_of_stores_are_theirs(table: Table) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        source(table, **{"fs.s3a.endpoint": "x", "checkpointLocation": "y"}).schema()


@pytest.mark.parametrize(
    ("option", "value", "needs"),
    [
        ("maxFilesPerTrigger", "0", "a positive integer"),
        ("maxFilesPerTrigger", "many", "a positive integer"),
        ("maxBytesPerTrigger", "-5m", "a positive size such as 1048576, 512k or 10m"),
        ("startingVersion", "-1", "a version from 0 on, or latest"),
        ("excludeRegex", "(", "a regular expression (missing ), unterminated subpattern at "),
    ],
)
def test_bad_options_of_a_stream(table: Table, option: str, value: str, needs: str) -> None:
    reader = stream(table, **{option: value})

    with pytest.raises(IllegalOptionError) as raised:
        reader.initialOffset()

    is_pattern = option == "excludeRegex"
    expected = "DELTA_REGEX_OPT_SYNTAX_ERROR" if is_pattern else "DELTA_ILLEGAL_OPTION"
    assert raised.value.code == expected
    assert f"option {option} is {value!r}, but needs to be {needs}" in raised.value.sentence()


@pytest.mark.parametrize("option", ["versionAsOf", "timestampAsOf"])
def test_a_stream_has_no_time_travel(table: Table, option: str) -> None:
    value = "0" if option == "versionAsOf" else "2999-01-01"
    reader = StreamReader({"path": table.storage.root, option: value}, StructType(), 0)

    with pytest.raises(TimeTravelOfStreamError):
        reader.initialOffset()


def test_a_path_with_a_version_is_time_travel_too(table: Table) -> None:
    reader = StreamReader({"path": f"{table.storage.root}@v0"}, StructType(), 0)

    with pytest.raises(TimeTravelOfStreamError):
        reader.initialOffset()


def test_columns_given_by_hand_must_be_those_of_the_stream(table: Table) -> None:
    given = StructType([StructField("id", StringType())])

    with pytest.raises(GivenSchemaError) as raised:
        source(table).streamReader(given).initialOffset()

    assert raised.value.given == "struct<id:string>"


def test_a_checkpoint_of_another_table(table: Table) -> None:
    offset = {**stream(table).initialOffset(), "reservoirId": "another"}

    with pytest.raises(DifferentTableError) as raised:
        stream(table).latestOffset(offset, LIMIT)

    assert (raised.value.expected, raised.value.found) == ("another", "t")


def test_versions_that_were_cleaned_up(table: Table) -> None:
    reader = stream(table, startingVersion=0)
    offset = reader.latestOffset(reader.initialOffset(), LIMIT)
    for path in ("b", "c", "d"):
        table.commit(add(path))
    write_checkpoint(load_snapshot(table.storage))
    for version in (0, 1):
        table.storage.delete(commit_path(version))

    with pytest.raises(MissingCommitsError):
        stream(table).latestOffset(offset, LIMIT)
    rest = stream(table, failOnDataLoss="false").latestOffset(offset, LIMIT)

    assert rest["reservoirVersion"] == 4


def test_a_feed_that_is_off(table: Table) -> None:
    table.commit(metadata("id long", feed="false"))
    reader = stream(table, readChangeFeed="true")

    with pytest.raises(ChangeDataNotRecordedError):
        reader.latestOffset(reader.initialOffset(), LIMIT)


@pytest.mark.parametrize("option", ["schemaTrackingLocation", "schemaLocation"])
@pytest.mark.parametrize("others", [{}, {"versionAsOf": 0}, {"readChangeFeed": "true"}])
def test_a_batch_read_with_a_schema_log_is_refused(
    table: Table, tmp_path: Path, option: str, others: dict[str, object]
) -> None:
    batch = source(table, **{option: tmp_path / "schemas"}, **others)

    with pytest.raises(SchemaLogOfBatchReadError) as raised:
        batch.reader(batch.schema())

    assert raised.value.code == "DELTA_ILLEGAL_OPTION"
    assert raised.value.sentence() == (
        f"option {option} is set, but a batch read does not use a schema log\n"
        f"hint: leave out {option}, or read with readStream"
    )


def test_a_batch_read_with_a_schema_log_is_refused_where_the_columns_were_given(
    table: Table, tmp_path: Path
) -> None:
    batch = source(table, schemaLocation=tmp_path / "schemas")

    with pytest.raises(SchemaLogOfBatchReadError):
        batch.reader(StructType())


def test_a_stream_is_loaded_again_after_its_schema_log_has_a_new_entry(
    table: Table, tmp_path: Path
) -> None:
    options = {"schemaLocation": tmp_path / "schemas", "startingVersion": 0}
    reader = stream(table, **options)
    offset = reader.latestOffset(reader.initialOffset(), LIMIT)
    stale = source(table, **options)
    columns = stale.schema()
    table.commit(metadata("id long", "x long"), add("b"))
    moving = stream(table, **options)
    for _ in ("before the change", "after it"):
        offset = moving.latestOffset(offset, LIMIT)
    with pytest.raises(MetadataEvolvedError):
        moving.latestOffset(offset, LIMIT)

    with pytest.raises(MetadataEvolvedError):
        stale.streamReader(columns).latestOffset(offset, LIMIT)
    again = stream(table, **options)

    assert again.latestOffset(offset, LIMIT)["reservoirVersion"] == 2
    assert len(again.partitions(offset, again.latestOffset(offset, LIMIT))) == 1


# For a table by name, Spark passes a Python data source no path.
def test_reads_without_a_path_say_that_names_are_not_known_here() -> None:
    nameless = TruckeeSource({})
    reads = (
        nameless.schema,
        lambda: nameless.reader(IDS),
        lambda: nameless.streamReader(IDS).initialOffset(),
    )

    for read in reads:
        with pytest.raises(NoPathToReadError) as caught:
            read()
        assert str(caught.value) == (
            "[DELTA_OPERATION_NOT_ALLOWED] no path is given to read; of a table by name, Spark "
            "does not tell a Python data source where it is\n"
            "hint: give one path to load, or read by name in a session of truckee.session() or "
            "truckee.enable(spark); over Spark Connect, on a server started by truckee serve"
        )


def test_writes_without_a_path_say_that_names_are_not_known_here() -> None:
    with pytest.raises(NoPathToWriteError) as caught:
        SourceWriter({}, IDS, overwrite=False)

    assert str(caught.value) == (
        "[DELTA_OPERATION_NOT_ALLOWED] no path is given to write to; for a table by name, Spark "
        "passes a Python data source only the rows\n"
        "hint: give a path to save or start, or write by name in a session of truckee.session() or "
        "truckee.enable(spark); over Spark Connect, on a server started by truckee serve"
    )


def test_rows_are_not_shuffled_by_python_workers(table: Table) -> None:
    place = {"path": table.storage.root}

    with pytest.raises(NativeWriterNeededError) as caught:
        SourceWriter({**place, "optimizeWrite": "true"}, IDS, overwrite=False)
    SourceWriter({**place, "optimizeWrite": "false"}, IDS, overwrite=False)

    assert "option optimizeWrite has rows shuffled first" in str(caught.value)
