from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date, timezone
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from builders import History, history, vector
from corpus import CorpusTable, corpus_tables
from staging import metadata
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.protocol.predicates import In, Predicate, all_of, column_named
from truckee.protocol.schema import FieldChain, PrimitiveType, leaf_columns
from truckee.scan.pruning import pruned_scan_files
from truckee.scan.scan_file import ALL_ROWS, RowSelection
from truckee.scan.snapshot_scan import scan_files
from truckee.storage.local import LocalStorage
from values import compare


def bounds(low: int, high: int) -> str:
    return json.dumps({"numRecords": 10, "minValues": {"id": low}, "maxValues": {"id": high}})


def by_day() -> History:
    table = history().stage(metadata("id long", "day date", partitioned_by=("day",)))
    for path, day, low in (("a", "2024-01-01", 0), ("b", "2024-01-01", 10), ("c", None, 0)):
        table.add(path, partition_values={"day": day}, stats=bounds(low, low + 9))
    return table


def paths(snapshot: Snapshot, predicate: Predicate | None = None) -> list[str]:
    return sorted(file.path for file in scan_files(snapshot, predicate))


def test_without_a_predicate_every_file_is_read() -> None:
    assert paths(by_day().snapshot()) == ["a", "b", "c"]


def test_a_predicate_leaves_out_what_cannot_match() -> None:
    snapshot = by_day().snapshot()
    first = In(column_named("day"), (date.fromisoformat("2024-01-01"),))

    assert paths(snapshot, first) == ["a", "b"]
    assert paths(snapshot, compare("id", "<", 10)) == ["a", "c"]
    assert paths(snapshot, all_of(first, compare("id", ">", 12))) == ["b"]


def test_a_file_carries_its_constants_its_version_and_its_statistics() -> None:
    snapshot = by_day().then().add("d", partition_values={"day": "2024-01-02"}).snapshot()

    (found,) = scan_files(snapshot, compare("day", ">", date.fromisoformat("2024-01-01")))

    assert found.version == 1
    assert found.partition_values == {"day": "2024-01-02"}
    assert (found.size, found.num_records) == (100, 10)
    assert found.rows == ALL_ROWS


def test_deleted_rows_are_left_out_by_their_vector() -> None:
    snapshot = history().add("a").then().delete("a", rows=[2, 5]).snapshot()

    (found,) = scan_files(snapshot)

    assert found.rows == RowSelection(without=vector(2, 5))


def test_paths_come_decoded() -> None:
    snapshot = (
        history().add("c=a%20b/f%25.parquet").add("file:///x/y%20z").add("s3a://b/k").snapshot()
    )

    assert paths(snapshot) == ["/x/y z", "c=a b/f%.parquet", "s3a://b/k"]


ORDERED = ("byte", "short", "integer", "long", "float", "double", "string", "date", "boolean")


def _columns(snapshot: Snapshot) -> list[FieldChain]:
    return [
        chain
        for chain in leaf_columns(snapshot.schema)
        if len(chain.path) == 1
        and (getattr(chain.field.type, "name", "").startswith((*ORDERED, "decimal", "timestamp")))
        and chain.path[0] not in snapshot.partition_columns
    ]


def _values(file: Path, chain: FieldChain) -> Iterator[Any]:
    """The values of a column, as far as the file is there and has it."""
    name = chain.field.physical_name
    if not file.is_file() or name not in pq.read_schema(file).names:
        return
    data = pq.ParquetFile(file, coerce_int96_timestamp_unit="us").read([name])
    for value in data.column(0).slice(0, 50).drop_null().to_pylist():
        is_moment = chain.field.type == PrimitiveType("timestamp")
        yield value.replace(tzinfo=timezone.utc) if is_moment else value


@pytest.mark.golden
@pytest.mark.parametrize("table", corpus_tables("stats", "types", "basic", "dv"), ids=str)
def test_no_value_of_the_corpus_is_left_out_by_the_statistics_of_its_file(
    table: CorpusTable,
) -> None:
    snapshot = load_snapshot(LocalStorage(str(table.path)))
    for file in scan_files(snapshot)[:3]:
        for chain in _columns(snapshot)[:20]:
            values = list(_values(table.path / file.path, chain))[:: 1 + len(_columns(snapshot))]
            for op, value in product(("=", "<=", ">="), values):
                predicate = compare(chain.path[0], op, value)
                assert pruned_scan_files([file], snapshot.configuration, predicate), (chain, value)
