"""Parts of files and rows of parts, read without a session."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from changes.tables import vector
from staging import configuration
from truckee.arrow.file_columns import TableRead
from truckee.arrow.parts import FilePart, tasks
from truckee.arrow.read import read_parts
from truckee.errors.spark import DataFileNotFoundError, DataFileUnreadableError
from truckee.protocol.schema import PrimitiveType, StructField, StructType
from truckee.scan.scan_file import Change, RowSelection, ScanFile
from values import simple_schema

IDS = simple_schema("id long")
LONG = PrimitiveType("long")


def file(path: str = "f", size: int = 100, **fields: Any) -> ScanFile:
    given = {"partition_values": {}, **fields}
    return ScanFile(path=path, size=size, modification_time=0, version=3, **given)


def written(folder: Path, count: int = 10, *, group: int = 100) -> int:
    """Write a file of so many rows, in row groups of so many, and return its size."""
    table = pa.table({"id": pa.array(range(count), pa.int64())})
    pq.write_table(table, folder / "f", row_group_size=group)
    return (folder / "f").stat().st_size


def read(folder: Path, *parts: FilePart, schema: StructType = IDS, **fields: Any) -> pa.Table:
    table = configuration(
        schema, fields.pop("partition_columns", ()), mode=fields.pop("mapping_mode", "none")
    )
    of = TableRead(url=str(folder), store_options={}, table=table, **fields)
    batches = list(read_parts(of, parts))
    return pa.Table.from_batches(batches) if batches else pa.table({})


def whole(of: ScanFile) -> FilePart:
    return FilePart(of, 0, 1 << 62)


@given(st.lists(st.integers(1, 1 << 31), max_size=40))
def test_tasks_have_every_byte_of_every_file_once(sizes: list[int]) -> None:
    files = [file(f"f{number}", size) for number, size in enumerate(sizes)]

    found = tasks(files)

    by_path: dict[str, list[tuple[int, int]]] = {}
    for task in found:
        for part in task:
            by_path.setdefault(part.file.path, []).append((part.start, part.end))
    assert set(by_path) == {of.path for of in files}
    for ranges in by_path.values():
        ranges.sort()
        assert ranges[0][0] == 0
        assert ranges[-1][1] == 1 << 62
        assert all(before[1] == after[0] for before, after in pairwise(ranges))


def test_small_files_share_a_task() -> None:
    assert len(tasks([file(f"f{number}", 10) for number in range(200)])) < 50


def test_a_small_read_has_one_task_for_each_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)

    found = tasks([file(f"f{number}", 2 << 20) for number in range(5)])

    assert sorted(len(task) for task in found) == [2, 3]


def test_a_large_read_has_the_same_number_of_tasks_for_each_core(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 3)

    found = tasks([file(f"f{number}", 60 << 20) for number in range(10)])

    sizes = [sum(part.size for part in task) for task in found]
    assert len(found) == 12
    assert max(sizes) <= 64 << 20


def test_the_versions_of_a_file_share_a_task(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    deletes = [file("f", 1 << 20, rows=RowSelection(within=vector(number))) for number in range(30)]

    found = tasks([*deletes, file("g", 1 << 20)])

    assert sorted(len(task) for task in found) == [1, 30]


def test_every_row_group_is_read_by_one_part(tmp_path: Path) -> None:
    size = written(tmp_path, 1000, group=100)
    of = file(size=size)
    cuts = [0, size // 3, size // 2, 1 << 62]
    parts = [FilePart(of, a, b) for a, b in pairwise(cuts)]

    found = [read(tmp_path, part) for part in parts]

    assert all(table.num_rows < 1000 for table in found)
    ids = [number for table in found if table.num_rows for number in table["id"].to_pylist()]
    assert sorted(ids) == list(range(1000))


def test_rows_that_a_vector_marks_are_left_out_in_any_row_group(tmp_path: Path) -> None:
    written(tmp_path, 10, group=3)

    live = read(tmp_path, whole(file(rows=RowSelection(without=vector(0, 4, 9)))))
    gone = read(tmp_path, whole(file(rows=RowSelection(within=vector(0, 4, 9)))))
    fresh = RowSelection(within=vector(0, 4, 9), without=vector(4))

    assert live["id"].to_pylist() == [1, 2, 3, 5, 6, 7, 8]
    assert gone["id"].to_pylist() == [0, 4, 9]
    assert read(tmp_path, whole(file(rows=fresh)))["id"].to_pylist() == [0, 9]


def test_a_batch_has_as_many_rows_as_the_columns_that_are_read_allow(tmp_path: Path) -> None:
    table = pa.table({"id": pa.array(range(20_000), pa.int64()), "text": ["x" * 2000] * 20_000})
    pq.write_table(table, tmp_path / "f", use_dictionary=False)
    of = TableRead(
        url=str(tmp_path),
        store_options={},
        table=configuration(simple_schema("id long, text string")),
    )

    long_rows = list(read_parts(of, [whole(file())]))
    ids = list(read_parts(replace(of, columns=("id",)), [whole(file())]))

    assert max(batch.nbytes for batch in long_rows) <= 17 << 20
    assert sum(batch.num_rows for batch in long_rows) == 20_000
    assert [batch.num_rows for batch in ids] == [20_000]


def test_a_column_of_a_local_file_is_read_piece_by_piece(tmp_path: Path) -> None:
    numbers = pa.Array.from_buffers(pa.int64(), 4 << 20, [None, pa.py_buffer(os.urandom(32 << 20))])
    options = {"use_dictionary": False, "compression": "none", "row_group_size": 4 << 20}
    pq.write_table(pa.table({"id": numbers}), tmp_path / "f", **options)
    of = TableRead(url=str(tmp_path), store_options={}, table=configuration(IDS))
    held = pa.total_allocated_bytes()

    batches = read_parts(of, [whole(file())])
    first = next(batches)

    assert first.column("id").equals(numbers.slice(0, first.num_rows))
    assert pa.total_allocated_bytes() - held < 8 << 20


def test_constants_stand_beside_the_rows(tmp_path: Path) -> None:
    written(tmp_path, 2)
    of = file(partition_values={"day": "2024-01-02"}, change=Change("insert", 3, 1500))

    found = read(
        tmp_path,
        whole(of),
        schema=simple_schema("id long", "day date"),
        partition_columns=("day",),
        is_feed=True,
    )

    assert [tuple(map(str, row.values())) for row in found.to_pylist()] == [
        ("0", "2024-01-02", "insert", "3", "1970-01-01 00:00:01.500000+00:00"),
        ("1", "2024-01-02", "insert", "3", "1970-01-01 00:00:01.500000+00:00"),
    ]


def test_columns_are_looked_up_again_in_a_file_with_another_schema(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": [1], "n": [10]}), tmp_path / "a")
    pq.write_table(pa.table({"id": [2], "n": [20]}), tmp_path / "b")
    pq.write_table(pa.table({"N": [30], "id": [3]}), tmp_path / "c")
    pq.write_table(pa.table({"id": [4]}), tmp_path / "d")
    parts = [whole(file(name)) for name in ("a", "b", "c", "d", "a")]

    found = read(tmp_path, *parts, schema=simple_schema("id long", "n long"))

    rows = [tuple(row.values()) for row in found.to_pylist()]
    assert sorted(rows) == [(1, 10), (1, 10), (2, 20), (3, 30), (4, None)]


def test_files_that_differ_in_the_ids_of_columns_have_other_columns(tmp_path: Path) -> None:
    mapped = StructType(
        tuple(
            StructField(name, LONG, metadata={"delta.columnMapping.id": number})
            for number, name in enumerate(("id", "n"), 1)
        )
    )
    for name, ids in (("a", (1, 2)), ("b", (2, 1))):
        fields = [
            pa.field(column, pa.int64(), metadata={"PARQUET:field_id": str(number)})
            for column, number in zip("xy", ids, strict=True)
        ]
        pq.write_table(pa.table([[5], [7]], schema=pa.schema(fields)), tmp_path / name)

    found = read(tmp_path, whole(file("a")), whole(file("b")), schema=mapped, mapping_mode="id")

    assert found.to_pylist() == [{"id": 5, "n": 7}, {"id": 7, "n": 5}]


def test_partition_columns_alone_need_no_column_of_the_file(tmp_path: Path) -> None:
    written(tmp_path, 3)
    of = file(partition_values={"day": "x"})

    found = read(
        tmp_path,
        whole(of),
        schema=simple_schema("id long", "day string"),
        partition_columns=("day",),
        columns=("day",),
    )

    assert found.to_pylist() == [{"day": "x"}] * 3


def test_a_file_that_is_gone(tmp_path: Path) -> None:
    with pytest.raises(DataFileNotFoundError) as raised:
        read(tmp_path, whole(file("nothing")))

    assert (raised.value.path, raised.value.version) == ("nothing", 3)


def test_a_file_that_is_no_parquet(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"text")

    with pytest.raises(DataFileUnreadableError) as raised:
        read(tmp_path, whole(file()))

    assert raised.value.path == "f"


def test_rows_that_many_versions_deleted_have_the_constants_of_their_version(
    tmp_path: Path,
) -> None:
    written(tmp_path, 10, group=4)
    files = [
        file(rows=RowSelection(within=vector(*rows)), change=Change("delete", version, time))
        for version, (rows, time) in enumerate([((0, 9), 1500), ((5,), None), ((1, 8), 2500)], 3)
    ]

    found = read(tmp_path, *map(whole, files), is_feed=True)

    rows = [(row["id"], row["_change_type"], row["_commit_version"]) for row in found.to_pylist()]
    assert sorted(rows) == [
        (0, "delete", 3),
        (1, "delete", 5),
        (5, "delete", 4),
        (8, "delete", 5),
        (9, "delete", 3),
    ]
    times = dict(zip(found["id"].to_pylist(), found["_commit_timestamp"].to_pylist(), strict=True))
    assert times[5] is None
    assert str(times[8]) == "1970-01-01 00:00:02.500000+00:00"
