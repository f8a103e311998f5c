"""A checkpoint whose columns are not what the protocol says is corrupt, and no harm to us."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from staging import VECTORS_ON, add, create_table, metadata, vector
from truckee.errors.log import CorruptLogFileError
from truckee.log.snapshot import load_snapshot
from truckee.log.upkeep.checkpoint_writer import write_checkpoint
from truckee.protocol.paths import checkpoint_path, commit_path
from truckee.storage.local import LocalStorage

TYPES: dict[str, pa.Array] = {
    "number": pa.array([1], pa.int64()),
    "text": pa.array(["x"]),
    "bytes": pa.array([b"\xff\xfe"]),
    "flag": pa.array([True]),
    "list": pa.array([["a"]]),
    "struct": pa.array([{"a": 1}]),
    "map of numbers": pa.array([[(1, 2)]], pa.map_(pa.int32(), pa.int32())),
    "time": pa.array([1], pa.timestamp("us")),
    "decimal": pa.array([1], pa.int32()).cast(pa.decimal128(38, 10)),
    "double": pa.array([1.5]),
    "view": pa.array(["x"], pa.string_view()),
    "list of structs": pa.array([[{"key": "a", "value": "b"}]]),
    "nulls": pa.nulls(1, pa.string()),
}
FIELDS = {
    "add.path": {"text"},
    "add.partitionValues": set[str](),
    "add.size": {"number"},
    "add.stats": {"text", "nulls"},
    "add.deletionVector": set[str](),
    "add.deletionVector.storageType": {"text"},
    "add.deletionVector.cardinality": {"number"},
    "add.tags": set[str](),
    "add.stats_parsed": {"struct"},
    "remove.path": {"text", "nulls", "bytes"},
    "add": set[str](),
    "metaData": set[str](),
    "metaData.configuration": {"nulls"},
    "protocol": set[str](),
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> pa.Table:
    """The checkpoint of a table with a file and a deletion vector."""
    storage = LocalStorage(str(tmp_path_factory.mktemp("whole")))
    properties = {**VECTORS_ON, "delta.checkpoint.writeStatsAsStruct": "true"}
    create_table(storage, metadata(properties=properties), add("a"), add("b", vector=vector("v")))
    write_checkpoint(load_snapshot(storage))
    return pq.read_table(f"{storage.root}/{checkpoint_path(0)}")


def replaced(table: pa.Table, field: str, value: pa.Array) -> pa.Table:
    """Return a checkpoint in which a field has one value throughout, or texts that differ."""
    values = pa.concat_arrays([value] * table.num_rows)
    if values.type == pa.string() and not values.null_count:
        # A path may be live only once.
        values = pa.array([f"{value[0]}{row}" for row in range(len(values))])
    column, *path = field.split(".")
    found = table.column(column).combine_chunks()
    return table.set_column(
        table.schema.get_field_index(column), column, _replaced(found, path, values)
    )


def _replaced(column: Any, path: list[str], values: pa.Array) -> pa.Array:
    if not path:
        return values
    names = [field.name for field in column.type]
    children = dict(zip(names, column.flatten(), strict=True))
    children[path[0]] = _replaced(children[path[0]], path[1:], values)
    return pa.StructArray.from_arrays(list(children.values()), names, mask=column.is_null())


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("kind", TYPES)
def test_a_column_of_another_type_is_corrupt(
    tmp_path: Path, whole: pa.Table, field: str, kind: str
) -> None:
    log = tmp_path / "_delta_log"
    log.mkdir()
    pq.write_table(replaced(whole, field, TYPES[kind]), tmp_path / checkpoint_path(0))
    storage = LocalStorage(str(tmp_path))

    def read() -> int:
        snapshot = load_snapshot(storage)
        return len(list(snapshot.files())) + len(list(snapshot.tombstones()))

    if kind in FIELDS[field]:
        assert read() >= 2
    else:
        with pytest.raises(CorruptLogFileError) as error:
            read()
        assert error.value.path == checkpoint_path(0)
    assert not (tmp_path / commit_path(0)).exists()
