"""`truckee.open`: counting, first rows, fields of structs, versions by time, and polling a feed."""

from __future__ import annotations

import os
from datetime import date, datetime, timezone
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable as RustTable
from deltalake import write_deltalake
from msgspec.structs import replace

import truckee
from builders import History, history
from staging import metadata
from truckee.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    ColumnNotFoundError,
    InvalidSchemaError,
    InvalidTimestampError,
    StartAfterLatestError,
    TableWithoutColumnsError,
    TimestampTooEarlyError,
)
from truckee.local_table import LocalTable
from truckee.protocol.paths import commit_path
from truckee.storage.local import LocalStorage

FEED_ON = {"delta.enableChangeDataFeed": "true"}
PEOPLE = pa.table(
    {
        "id": [1, 2, 3],
        "name": [{"First": "Ada", "x.y": 1}, {"First": "Bo", "x.y": 2}, None],
    }
)


def schema_of(field_metadata: str) -> str:
    """Return the schema of a column `id` with metadata."""
    return (
        '{"type":"struct","fields":[{"name":"id","type":"long","nullable":true,'
        f'"metadata":{{{field_metadata}}}}}]}}'
    )


@pytest.fixture
def counted(tmp_path: Path) -> History:
    """Two files of three rows, the second without statistics, then two rows of the first go."""
    made = history(LocalStorage(str(tmp_path)))
    made.stage(metadata("id long", properties=FEED_ON))
    for name, ids, stats in (("a", [1, 2, 3], '{"numRecords":3}'), ("b", [4, 5, 6], None)):
        pq.write_table(pa.table({"id": ids}), tmp_path / name)
        made.add(name, stats=stats, size=(tmp_path / name).stat().st_size)
    made.then().delete("a", rows=[1, 2]).then()
    return made


@pytest.fixture
def people(tmp_path: Path) -> LocalTable:
    write_deltalake(str(tmp_path), PEOPLE, configuration=FEED_ON)
    return truckee.open(tmp_path)


def test_rows_are_counted_with_and_without_statistics_vectors_and_conditions(
    counted: History,
) -> None:
    table = truckee.open(counted.storage.root)

    assert table.count() == 4
    assert table.count(version=0) == 6
    assert table.count(where="id > 4") == 2
    assert table.count(where="id = 2") == 0
    assert table.changes(startingVersion=0).count() == 8


def test_a_count_opens_no_file_whose_rows_the_log_counts(counted: History) -> None:
    (Path(counted.storage.root) / "a").unlink()

    assert truckee.open(counted.storage.root).count() == 4


def test_the_first_rows_of_a_version(counted: History) -> None:
    table = truckee.open(counted.storage.root)

    assert table.head(2, version=0).to_pydict() == {"id": [1, 2]}
    assert table.head(1, ["id"], "id > 4", 0).to_pydict() == {"id": [5]}
    assert table.head(0).num_rows == 0
    assert table.head().num_rows == 4


def test_polars_gets_a_frame(people: LocalTable) -> None:
    found = people.to_polars(columns=["id"], where="id > 1")

    assert isinstance(found, pl.DataFrame)
    assert found.sort("id")["id"].to_list() == [2, 3]
    assert people.changes(startingVersion=0, columns=["id"]).to_polars().height == 3
    assert people.diff(0, 0).to_polars().height == 0


def test_fields_of_structs_are_columns_with_their_path_as_name(people: LocalTable) -> None:
    found = people.to_arrow(columns=["NAME.first", "id", "name"], where="name.First LIKE 'A%'")

    assert found.schema.names == ["name.First", "id", "name"]
    assert found.to_pylist() == [{"name.First": "Ada", "id": 1, "name": {"First": "Ada", "x.y": 1}}]
    assert people.to_arrow(columns=["name.First"]).column(0).to_pylist() == ["Ada", "Bo", None]


def test_fields_of_structs_are_columns_of_feeds_and_diffs(people: LocalTable) -> None:
    feed = people.changes(startingVersion=0, columns=["name.First", "_change_type"])
    paired = people.changes(startingVersion=0, keys=["id"], columns=["name.First"])
    write_deltalake(people.snapshot().storage.root, PEOPLE.slice(0, 1), mode="append")
    diff = people.diff(0, 1, columns=["name.First", "_change_type"])

    assert feed.to_arrow().to_pydict() == {
        "name.First": ["Ada", "Bo", None],
        "_change_type": ["insert"] * 3,
    }
    assert paired.schema.names == paired.to_arrow().schema.names == ["name.First"]
    assert diff.to_arrow().to_pylist() == [{"name.First": "Ada", "_change_type": "insert"}]


@pytest.mark.parametrize("name", ["name.Last", "id.x", "name.", "nonsense.First"])
def test_a_field_that_is_not_there(people: LocalTable, name: str) -> None:
    with pytest.raises(ColumnNotFoundError) as raised:
        people.to_arrow(columns=[name])

    assert raised.value.column == name


def test_a_column_with_a_dot_in_its_name_wins_over_a_field(tmp_path: Path) -> None:
    write_deltalake(str(tmp_path), pa.table({"a.b": [1], "a": [{"b": 2}]}))

    assert truckee.open(tmp_path).to_arrow(columns=["a.b"]).column(0).to_pylist() == [1]


@pytest.mark.parametrize("read", ["to_arrow", "changes", "diff", "keys"])
def test_no_columns_at_all_are_refused(people: LocalTable, read: str) -> None:
    reads: dict[str, Any] = {
        "to_arrow": lambda: people.to_arrow(columns=[]),
        "changes": lambda: people.changes(startingVersion=0, columns=[]),
        "diff": lambda: people.diff(0, 0, columns=[]),
        "keys": lambda: people.changes(startingVersion=0, keys=["id"], columns=[]),
    }

    with pytest.raises(ArgumentValueError, match="name at least one column"):
        reads[read]()


def test_a_version_may_be_given_by_its_time(counted: History) -> None:
    for version, day in ((0, 4), (1, 6)):
        at = datetime(2024, 3, day, tzinfo=timezone.utc).timestamp()
        os.utime(Path(counted.storage.root) / commit_path(version), (at, at))
    table = truckee.open(counted.storage.root)

    assert table.to_arrow(version="2024-03-05 12:30:00").num_rows == 6
    assert table.count(version=date(2024, 3, 5)) == 6
    assert table.count(version=datetime(2024, 3, 6, tzinfo=timezone.utc)) == 4
    assert table.files(version="2024-03-04").num_rows == 2
    with pytest.raises(TimestampTooEarlyError):
        table.to_batches(version=datetime(2001, 1, 1, tzinfo=timezone.utc))
    with pytest.raises(InvalidTimestampError):
        table.rows(version="yesterday-ish")


@pytest.mark.parametrize("options", [{}, {"keys": ["id"]}])
def test_polling_a_feed_goes_on_where_it_ended(counted: History, options: dict[str, Any]) -> None:
    table = truckee.open(counted.storage.root)

    first = table.changes(after=-1, **options)
    nothing = table.changes(after=first.end_version, **options)
    read_before, again = nothing.to_arrow().num_rows, nothing.end_version
    counted.delete("a", rows=[0, 1, 2]).then()
    new = table.changes(after=again, **options)

    assert (first.count(), first.end_version, read_before, again) == (8, 1, 0, 1)
    assert nothing.schema == new.schema
    assert new.to_arrow().select(["id", "_change_type"]).to_pylist() == [
        {"id": 1, "_change_type": "delete"}
    ]
    assert new.end_version == 2


def test_a_position_that_the_table_never_had_is_an_error(counted: History) -> None:
    table = truckee.open(counted.storage.root)

    for start in ({"after": 2}, {"startingVersion": 2}, {"after": 1, "endingVersion": 2}):
        with pytest.raises(StartAfterLatestError):
            table.changes(**start)


def test_a_range_has_one_start(counted: History) -> None:
    table = truckee.open(counted.storage.root)

    for start in ({"startingVersion": 0}, {"startingTimestamp": "2024-01-01"}):
        with pytest.raises(ArgumentValueError, match="after needs to be the only start"):
            table.changes(after=0, **start)
    with pytest.raises(ArgumentTypeError):
        table.changes(after="0")


def test_preimages_come_before_postimages_whatever_the_writer(people: LocalTable) -> None:
    RustTable(people.snapshot().storage.root).update(updates={"id": "id + 10"})

    feed = people.changes(startingVersion=1)

    found = feed.to_arrow()["_change_type"].to_pylist()
    assert found == ["update_preimage"] * 3 + ["update_postimage"] * 3
    only = people.changes(startingVersion=1, columns=["id", "_change_type"]).to_arrow()
    assert only.to_pydict()["id"] == [1, 2, 3, 11, 12, 13]


@pytest.mark.parametrize(
    ("schema", "error"),
    [
        ('{"type":"struct","fields":[]}', TableWithoutColumnsError),
        (schema_of('"delta.typeChanges":5'), InvalidSchemaError),
        (schema_of('"delta.typeChanges":[5]'), InvalidSchemaError),
    ],
)
def test_schemas_that_cannot_be_read_are_typed_errors(
    counted: History, schema: str, error: type[Exception]
) -> None:
    counted.stage(replace(metadata(), schema_string=schema)).then()

    with pytest.raises(error):
        truckee.open(counted.storage.root).to_arrow(where="id > 1" if "id" in schema else None)


def test_a_map_with_void_keys_is_a_typed_error(counted: History) -> None:
    kind = '{"type":"map","keyType":"void","valueType":"long","valueContainsNull":true}'
    schema = schema_of("").replace('"long"', kind, 1)
    counted.stage(replace(metadata(), schema_string=schema)).then()

    with pytest.raises(InvalidSchemaError, match="no key of a map is null"):
        truckee.open(counted.storage.root).to_arrow()
