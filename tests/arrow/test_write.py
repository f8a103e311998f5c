"""Files that pyarrow writes for a table, without a session."""

from __future__ import annotations

import datetime as dt
import decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from changes.tables import PROTOCOL, Table, metadata
from truckee.arrow.columns import arrow_schema
from truckee.arrow.file_columns import TableRead
from truckee.arrow.parts import tasks
from truckee.arrow.read import read_parts
from truckee.arrow.write import write_batches
from truckee.errors.commands.write import (
    OverwriteOptionError,
    PartitioningMismatchError,
    SchemaMismatchError,
)
from truckee.errors.commands.write_rows import NotNullViolationError
from truckee.errors.streaming import NativeWriterNeededError, ValueDoesNotFitError
from truckee.log.snapshot import load_snapshot
from truckee.protocol.schema import VOID, PrimitiveType, StructField, StructType, parse_schema
from truckee.protocol.stats import parse_stats
from truckee.scan.snapshot_scan import scan_files
from truckee.storage import open_storage
from truckee.storage.local import LocalStorage
from truckee.streaming.write_commit import commit_arrow_files
from truckee.streaming.write_plan import write_plan
from values import simple_schema


def write(
    path: Path,
    schema: StructType,
    rows: list[dict[str, Any]],
    overwrite: bool = False,
    **options: Any,
) -> int | None:
    planned = write_plan({"path": str(path), **options}, schema, is_overwrite=overwrite)
    batch = pa.RecordBatch.from_pylist(rows, schema=arrow_schema(schema))
    return commit_arrow_files(planned, write_batches(planned.target, [batch]))


def rows_of(path: Path) -> list[dict[str, Any]]:
    snapshot = load_snapshot(open_storage(str(path)))
    read = TableRead(
        url=str(path),
        store_options={},
        table=snapshot.configuration,
    )
    parts = tasks(scan_files(snapshot))
    found = [row for part in parts for batch in read_parts(read, part) for row in batch.to_pylist()]
    return sorted(found, key=str)


LONG = PrimitiveType("long")
IDS = simple_schema("id long", "name string")
ROWS = [{"id": 1, "name": "a"}, {"id": 2, "name": None}]


def test_rows_come_back_and_other_readers_agree(tmp_path: Path) -> None:
    assert write(tmp_path, IDS, ROWS) == 0
    assert write(tmp_path, IDS, [{"id": 3, "name": "c"}]) == 1

    assert rows_of(tmp_path) == [*ROWS, {"id": 3, "name": "c"}]
    assert sorted(DeltaTable(tmp_path).to_pyarrow_table()["id"].to_pylist()) == [1, 2, 3]


def test_every_type_comes_back(tmp_path: Path) -> None:
    schema = parse_schema(
        '{"type":"struct","fields":['
        + ",".join(
            f'{{"name":"{name}","type":{kind},"nullable":true,"metadata":{{}}}}'
            for name, kind in {
                "b": '"byte"',
                "s": '"short"',
                "i": '"integer"',
                "l": '"long"',
                "f": '"float"',
                "d": '"double"',
                "n": '"decimal(10,2)"',
                "t": '"string"',
                "x": '"binary"',
                "o": '"boolean"',
                "day": '"date"',
                "at": '"timestamp"',
                "wall": '"timestamp_ntz"',
                "list": '{"type":"array","elementType":"long","containsNull":true}',
                "map": '{"type":"map","keyType":"string","valueType":"long",'
                '"valueContainsNull":true}',
                "inner": '{"type":"struct","fields":[{"name":"p","type":"long",'
                '"nullable":true,"metadata":{}}]}',
            }.items()
        )
        + "]}"
    )
    row = {
        "b": 1,
        "s": 2,
        "i": 3,
        "l": 4,
        "f": 0.5,
        "d": 0.25,
        "n": decimal.Decimal("1.25"),
        "t": "text",
        "x": b"bytes",
        "o": True,
        "day": dt.date(2024, 1, 2),
        "at": dt.datetime(2024, 1, 2, 3, 4, 5, 6, tzinfo=dt.timezone.utc),
        "wall": dt.datetime(2024, 1, 2, 3, 4, 5, 6),  # noqa: DTZ001
        "list": [1, None],
        "map": [("k", 1)],
        "inner": {"p": None},
    }
    nothing = dict.fromkeys(row)

    write(tmp_path, schema, [row, nothing])

    assert rows_of(tmp_path) == sorted([row, nothing], key=str)


def test_partitions_are_folders_and_texts_in_the_log(tmp_path: Path) -> None:
    schema = simple_schema("id long", "day date", "kind string")
    day = dt.date(2024, 1, 2)
    rows = [
        {"id": 1, "day": day, "kind": "a b"},
        {"id": 2, "day": None, "kind": ""},
        {"id": 3, "day": day, "kind": "a b"},
    ]

    write(tmp_path, schema, rows, partitionBy="day,kind")

    adds = list(load_snapshot(open_storage(str(tmp_path))).files())
    assert {tuple(add.partition_values.values()) for add in adds} == {
        ("2024-01-02", "a b"),
        (None, None),
    }
    assert len(adds) == 2
    expected = [{**row, "kind": row["kind"] or None} for row in rows]
    assert rows_of(tmp_path) == sorted(expected, key=str)
    with pytest.raises(PartitioningMismatchError):
        write(tmp_path, schema, rows, partitionBy="kind")


def test_mapped_columns_have_physical_names_and_ids_in_files(tmp_path: Path) -> None:
    write(tmp_path, IDS, ROWS, **{"delta.columnMapping.mode": "name"})

    (add,) = load_snapshot(open_storage(str(tmp_path))).files()
    stored = pq.read_schema(tmp_path / add.path)
    assert all(name.startswith("col-") for name in stored.names)
    assert [stored.field(i).metadata[b"PARQUET:field_id"] for i in range(2)] == [b"1", b"2"]
    assert rows_of(tmp_path) == ROWS


def test_statistics_are_those_of_the_rows(tmp_path: Path) -> None:
    schema = simple_schema("id long", "x double", "name string")
    rows = [
        {"id": 1, "x": 1.5, "name": "a"},
        {"id": 7, "x": float("nan"), "name": None},
    ]

    write(tmp_path, schema, rows)

    (add,) = load_snapshot(open_storage(str(tmp_path))).files()
    stats = parse_stats(add.stats)
    assert stats is not None
    assert (stats.num_records, stats.min_values, stats.max_values, stats.null_count) == (
        2,
        {"id": 1, "name": "a"},
        {"id": 7, "name": "a"},
        {"id": 0, "x": 0, "name": 1},
    )


def test_columns_without_a_type_are_in_no_file_and_move_no_statistics(tmp_path: Path) -> None:
    inner = StructType((StructField("a", LONG), StructField("b", VOID)))
    fields = (StructField("n", VOID), StructField("s", inner), StructField("id", LONG))
    Table(LocalStorage(str(tmp_path))).commit(PROTOCOL, metadata(*fields))

    write(tmp_path, simple_schema("id long"), [{"id": 7}])

    [add] = load_snapshot(LocalStorage(str(tmp_path))).files()
    assert pq.read_schema(tmp_path / add.path).names == ["s", "id"]
    stats = parse_stats(add.stats)
    assert stats is not None
    assert (stats.min_values, stats.max_values) == ({"id": 7}, {"id": 7})
    assert rows_of(tmp_path) == [{"n": None, "s": None, "id": 7}]


def test_overwriting_replaces_the_rows(tmp_path: Path) -> None:
    write(tmp_path, IDS, ROWS)

    write(tmp_path, IDS, [{"id": 9, "name": "z"}], overwrite=True)

    assert rows_of(tmp_path) == [{"id": 9, "name": "z"}]


def test_new_columns_need_to_be_asked_for(tmp_path: Path) -> None:
    write(tmp_path, IDS, ROWS)
    wider = simple_schema("id long", "name string", "extra long")
    row = {"id": 3, "name": "c", "extra": 1}

    with pytest.raises(SchemaMismatchError):
        write(tmp_path, wider, [row])
    write(tmp_path, wider, [row], mergeSchema=True)

    assert rows_of(tmp_path) == [*({**old, "extra": None} for old in ROWS), row]


def test_missing_columns_are_null_and_names_match_in_any_case(tmp_path: Path) -> None:
    write(tmp_path, IDS, ROWS)

    write(tmp_path, simple_schema("ID long"), [{"ID": 3}])

    assert rows_of(tmp_path)[-1] == {"id": 3, "name": None}


def test_numbers_are_cast_and_those_too_large_are_refused(tmp_path: Path) -> None:
    write(tmp_path, simple_schema("n integer", "d decimal(4,1)"), [{"n": 1, "d": None}])
    wide = simple_schema("n double", "d decimal(6,3)")

    write(tmp_path, wide, [{"n": -2.9, "d": decimal.Decimal("1.250")}])
    assert rows_of(tmp_path)[0] == {"n": -2, "d": decimal.Decimal("1.3")}

    with pytest.raises(ValueDoesNotFitError) as raised:
        write(tmp_path, wide, [{"n": 1e12, "d": None}])
    assert raised.value.sentence().startswith("a value does not fit column n of type int: ")
    assert len(rows_of(tmp_path)) == 2


def test_a_null_where_none_may_be(tmp_path: Path) -> None:
    table = Table(LocalStorage(str(tmp_path)))
    table.commit(PROTOCOL, metadata("id long not null", "name string"))

    with pytest.raises(NotNullViolationError) as raised:
        write(tmp_path, IDS, [{"id": None, "name": "x"}])

    assert (raised.value.column, raised.value.row) == ("id", "id: NULL, name: x")


def test_files_are_cut_and_no_file_is_left_of_a_write_that_fails(tmp_path: Path) -> None:
    rows = [{"id": number, "name": "x"} for number in range(10)]

    write(tmp_path, IDS, rows, maxRecordsPerFile=4)

    counts = [add.stats for add in load_snapshot(open_storage(str(tmp_path))).files()]
    assert sorted(parse_stats(text).num_records for text in counts) == [2, 4, 4]  # type: ignore[union-attr]
    before = set(tmp_path.rglob("*.parquet"))
    planned = write_plan({"path": str(tmp_path), "maxRecordsPerFile": 1}, IDS, is_overwrite=False)

    def batches() -> Any:
        yield pa.RecordBatch.from_pylist(rows, schema=arrow_schema(IDS))
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_batches(planned.target, batches())
    assert set(tmp_path.rglob("*.parquet")) == before


def test_a_write_that_was_committed_before_is_left_out(tmp_path: Path) -> None:
    for _ in range(2):
        write(tmp_path, IDS, ROWS, txnAppId="app", txnVersion=1)

    assert rows_of(tmp_path) == ROWS
    assert load_snapshot(open_storage(str(tmp_path))).version == 0


def test_rules_in_sql_are_refused_rather_than_left_out(tmp_path: Path) -> None:
    with pytest.raises(NativeWriterNeededError) as raised:
        write(tmp_path, IDS, ROWS, **{"delta.constraints.positive": "id > 0"})

    assert raised.value.sentence() == (
        f'{tmp_path} cannot be written by format("truckee"): it has the CHECK constraint positive\n'
        "hint: write with truckee.write(df) in a classic session, in foreachBatch for a stream; "
        "over Spark Connect, use a server started by truckee serve"
    )


@pytest.mark.parametrize(
    ("option", "value", "reason"),
    [
        ("replaceWhere", "id = 1", "option replaceWhere is a condition in SQL"),
        ("replaceOn", "id = 1", "option replaceOn is a condition in SQL"),
        (
            "replaceUsing",
            "id",
            "option replaceUsing compares rows of the table with those of the data",
        ),
        ("partitionOverwriteMode", "dynamic", "option partitionOverwriteMode is dynamic"),
    ],
)
def test_options_that_need_spark(tmp_path: Path, option: str, value: str, reason: str) -> None:
    write(tmp_path, IDS, ROWS)

    with pytest.raises(NativeWriterNeededError) as raised:
        write(tmp_path, IDS, ROWS, overwrite=True, **{option: value})

    assert raised.value.reason == reason
    assert load_snapshot(open_storage(str(tmp_path))).version == 0


@pytest.mark.parametrize("option", ["replaceWhere", "replaceOn", "replaceUsing"])
def test_an_append_that_is_to_replace_rows_is_refused(tmp_path: Path, option: str) -> None:
    write(tmp_path, IDS, ROWS)

    with pytest.raises(OverwriteOptionError):
        write(tmp_path, IDS, ROWS, **{option: "id"})

    assert rows_of(tmp_path) == ROWS
