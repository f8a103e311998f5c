"""A flipped bit in a data file or a change file is an error or changes nothing."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import truckee
from builders import history
from staging import metadata
from truckee.arrow.columns import arrow_schema
from truckee.arrow.write import write_batches
from truckee.errors import DataFileUnreadableError
from truckee.protocol.actions import AddCDCFile
from truckee.storage.local import LocalStorage
from truckee.streaming.write_commit import commit_arrow_files
from truckee.streaming.write_plan import write_plan
from values import simple_schema

SCHEMA = simple_schema("id long", "x double", "s string")
NUMBERS = random.Random(1)
ROWS = {
    "id": list(range(3000)),
    "x": [NUMBERS.random() for _ in range(3000)],
    "s": [f"name {number % 50}" for number in range(3000)],
}
FEED_ON = {"delta.enableChangeDataFeed": "true"}
FLIPS = 60


@pytest.fixture
def data_file(tmp_path: Path) -> Path:
    """A table of one file, as truckee writes it with pyarrow."""
    planned = write_plan({"path": str(tmp_path), "compression": "none"}, SCHEMA, is_overwrite=False)
    batch = pa.RecordBatch.from_pydict(ROWS, schema=arrow_schema(SCHEMA))
    commit_arrow_files(planned, write_batches(planned.target, [batch]))
    (file,) = tmp_path.rglob("*.parquet")
    return file


@pytest.fixture
def change_file(tmp_path: Path) -> Path:
    """A table whose first version has a change file, with checksums as Spark writes them."""
    made = history(LocalStorage(str(tmp_path)))
    made.stage(metadata("id long", "x double", "s string", properties=FEED_ON)).then()
    rows = pa.table({**ROWS, "_change_type": ["insert"] * 3000})
    pq.write_table(rows, tmp_path / "c", compression="none", write_page_checksum=True)
    size = (tmp_path / "c").stat().st_size
    made.stage(AddCDCFile(path="c", partition_values={}, size=size)).then()
    return tmp_path / "c"


def read(root: Path, is_feed: bool) -> list[dict[str, Any]]:
    table = truckee.open(root)
    rows = table.changes(startingVersion=1) if is_feed else table.rows()
    return rows.to_arrow().to_pylist()


@pytest.mark.parametrize("kind", ["data_file", "change_file"])
def test_no_flipped_bit_of_a_page_gives_other_rows(
    kind: str, request: pytest.FixtureRequest
) -> None:
    file: Path = request.getfixturevalue(kind)
    is_feed = kind == "change_file"
    root = Path(request.getfixturevalue("tmp_path"))
    good, data = read(root, is_feed), file.read_bytes()
    end_of_pages = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    noticed = 0
    for number in range(FLIPS):
        at = NUMBERS.randrange(4, end_of_pages)
        damaged = bytearray(data)
        damaged[at] ^= 1 << (number % 8)
        file.write_bytes(damaged)
        try:
            # Bits of page headers that nothing depends on may change.
            assert read(root, is_feed) == good
        except DataFileUnreadableError:
            noticed += 1

    assert noticed > FLIPS * 0.9


def test_a_name_that_is_no_text_any_more_is_an_unreadable_file(
    data_file: Path, tmp_path: Path
) -> None:
    data = data_file.read_bytes()
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    at = data.index(b"\x18\x01x", footer) + 2
    data_file.write_bytes(data[:at] + b"\xf8" + data[at + 1 :])

    with pytest.raises(DataFileUnreadableError) as raised:
        truckee.open(tmp_path).to_arrow()

    assert raised.value.path.endswith(data_file.name)


def test_a_change_file_without_the_types_of_its_changes_is_refused(change_file: Path) -> None:
    pq.write_table(pa.table(ROWS), change_file)

    with pytest.raises(DataFileUnreadableError) as raised:
        truckee.open(change_file.parent).changes(startingVersion=1).to_arrow()

    assert "it is a change file without the column _change_type" in str(raised.value)


@pytest.mark.parametrize(
    "column", ["s struct<a:long>", "s array<long>", "s map<string,long>", "s variant", "s long"]
)
@pytest.mark.parametrize(
    "values",
    [[1], [{"b": 1}], [[1]], [[("k", 1)]], ["text"]],
    ids=["long", "struct", "list", "map", "text"],
)
def test_a_column_of_another_kind_than_in_the_log(
    tmp_path: Path, column: str, values: list[Any]
) -> None:
    types = {"[[('k', 1)]]": pa.map_(pa.string(), pa.int64())}
    array = pa.array(values, types.get(repr(values)))
    pq.write_table(pa.table({"s": array}), tmp_path / "a")
    made = history(LocalStorage(str(tmp_path)))
    made.stage(metadata(column)).add("a", size=(tmp_path / "a").stat().st_size).then()

    try:
        outcome: object = truckee.open(tmp_path).to_arrow().num_rows
    except DataFileUnreadableError as error:
        outcome = error.path
    assert outcome in ("a", 1)
