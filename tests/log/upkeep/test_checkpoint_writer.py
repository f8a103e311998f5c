"""Checkpoints that truckee writes, read by truckee and by deltalake."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from msgspec.structs import replace

from staging import VECTORS_ON, add, append, create_table, metadata, paths, remove, vector
from truckee.log.commit.transaction import Transaction
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.log.upkeep.checkpoint_writer import write_checkpoint, write_v2_checkpoint
from truckee.protocol.actions import AddFile, DomainMetadata, Metadata, SetTransaction
from truckee.protocol.paths import (
    LAST_CHECKPOINT_PATH,
    checkpoint_path,
    commit_path,
    parse_log_name,
    sidecar_path,
)
from truckee.storage import LocalStorage, MemoryStorage, Storage

V2 = {"delta.checkpointPolicy": "v2"}


def drop_commits(storage: Storage, up_to: int) -> None:
    """Delete commits, so that only the checkpoint is left to read."""
    for version in range(up_to + 1):
        storage.delete(commit_path(version))


def rows(storage: Storage, path: str) -> list[dict[str, Any]]:
    """Return the rows of a checkpoint file, each without the columns that are null in it."""
    table = pq.read_table(pa.BufferReader(storage.read(path)))
    return [
        {kind: row for kind, row in line.items() if row is not None}
        for line in table.to_pylist(maps_as_pydicts="strict")
    ]


def actions(storage: Storage, path: str, kind: str) -> list[dict[str, Any]]:
    return [line[kind] for line in rows(storage, path) if kind in line]


def busy_table(storage: Storage, properties: dict[str, str] | None = None) -> Snapshot:
    """Return a table that has a bit of everything that a checkpoint holds."""
    table = metadata(
        "id long",
        "day date",
        partitioned_by=("day",),
        properties={
            **VECTORS_ON,
            "delta.feature.domainMetadata": "supported",
            # The tombstones of these tests are older than what tables usually keep.
            "delta.deletedFileRetentionDuration": "interval 100000 days",
            "delta.logRetentionDuration": "interval 100000 days",
            **(properties or {}),
        },
    )
    first = add("day=2024-01-01/a%20b.parquet", partition={"day": "2024-01-01"}, rows=3)
    gone = add("gone.parquet", partition={"day": None})
    tagged = replace(add("tagged.parquet", partition={"day": None}), tags={"k": "v", "n": None})
    create_table(storage, table, first, gone, tagged)
    marked = replace(
        first, deletion_vector=vector("v", 2), stats='{"numRecords":3,"tightBounds":false}'
    )
    transaction = Transaction(storage, load_snapshot(storage))
    transaction.stage(
        marked,
        remove(first),
        remove(gone),
        SetTransaction(app_id="app", version=4, last_updated=5),
        DomainMetadata(domain="kept", configuration="{}"),
        DomainMetadata(domain="dropped", configuration="{}"),
    )
    transaction.commit("DELETE")
    transaction = Transaction(storage, load_snapshot(storage))
    transaction.stage(DomainMetadata(domain="dropped", configuration="", removed=True))
    transaction.commit("WRITE")
    return load_snapshot(storage)


def state(snapshot: Snapshot) -> tuple[Any, ...]:
    return (
        snapshot.version,
        snapshot.protocol,
        snapshot.metadata,
        sorted(snapshot.files(), key=lambda file: file.path),
        sorted(
            (r.path, r.deletion_vector, r.size, r.partition_values) for r in snapshot.tombstones()
        ),
        dict(snapshot.set_transactions),
        dict(snapshot.domain_metadata),
    )


@pytest.mark.parametrize("properties", [{}, V2], ids=["classic", "v2"])
@pytest.mark.parametrize(
    "forms",
    [
        {},
        {"delta.checkpoint.writeStatsAsStruct": "false"},
        {"delta.checkpoint.writeStatsAsJson": "false"},
    ],
    ids=["both", "json", "struct"],
)
def test_snapshot_from_a_checkpoint_is_the_snapshot_from_the_commits(
    properties: dict[str, str], forms: dict[str, str]
) -> None:
    storage = MemoryStorage()
    before = busy_table(storage, {**properties, **forms})
    expected = state(before)

    write_checkpoint(before)
    drop_commits(storage, before.version)

    assert state(load_snapshot(storage)) == expected


@pytest.mark.parametrize("properties", [{}, V2], ids=["classic", "v2"])
def test_deltalake_reads_the_checkpoint(tmp_path: Path, properties: dict[str, str]) -> None:
    storage = LocalStorage(str(tmp_path))
    before = busy_table(storage, properties)
    write_checkpoint(before)
    drop_commits(storage, before.version - 1)

    table = DeltaTable(tmp_path)

    assert table.version() == before.version
    assert sorted(Path(uri).name for uri in table.file_uris()) == ["a b.parquet", "tagged.parquet"]
    assert [(f.name, f.type.type) for f in table.schema().fields] == [
        ("id", "long"),
        ("day", "date"),
    ]
    assert table.metadata().partition_columns == ["day"]
    assert table.metadata().configuration == before.metadata.configuration
    assert table.transaction_version("app") == 4
    found = pa.table(table.get_add_actions(flatten=True)).to_pylist()
    assert sorted((str(f["partition.day"]), f["num_records"]) for f in found) == [
        ("2024-01-01", 3),
        ("None", 10),
    ]


@pytest.mark.parametrize("properties", [{}, V2], ids=["classic", "v2"])
def test_deltalake_goes_on_where_truckee_made_a_checkpoint(
    tmp_path: Path, properties: dict[str, str]
) -> None:
    storage = LocalStorage(str(tmp_path))
    table = metadata(properties={"delta.checkpointInterval": "3", **properties})
    create_table(storage, table)
    for name in "abcd":
        append(storage, add(f"{name}.parquet"))
    drop_commits(storage, 2)

    found = DeltaTable(tmp_path)

    assert found.version() == 4
    assert sorted(Path(uri).stem for uri in found.file_uris()) == ["a", "b", "c", "d"]


def test_files_and_tombstones_carry_what_the_protocol_wants() -> None:
    storage = MemoryStorage()
    before = busy_table(storage)

    write_checkpoint(before)

    path = checkpoint_path(before.version)
    (tagged,) = [a for a in actions(storage, path, "add") if a["path"] == "tagged.parquet"]
    assert tagged["tags"] == {"k": "v", "n": None}
    assert tagged["partitionValues"] == {"day": None}
    assert tagged["dataChange"] is False
    removes = actions(storage, path, "remove")
    assert {r["path"] for r in removes} == {"day=2024-01-01/a%20b.parquet", "gone.parquet"}
    assert {r["dataChange"] for r in removes} == {False}
    assert {r["extendedFileMetadata"] for r in removes} == {True}
    assert {"stats", "tags"}.isdisjoint(removes[0])
    assert [d["domain"] for d in actions(storage, path, "domainMetadata")] == ["kept"]
    assert all(len(line) == 1 for line in rows(storage, path))


def test_tombstones_and_transactions_that_have_expired_are_left_out() -> None:
    storage = MemoryStorage()
    table = metadata(properties={"delta.setTransactionRetentionDuration": "interval 1 day"})
    create_table(storage, table, add("a"), add("b"))
    fresh = replace(remove(add("b")), deletion_timestamp=2_000_000_000_000_000)
    transaction = Transaction(storage, load_snapshot(storage))
    transaction.stage(
        remove(add("a")),
        fresh,
        SetTransaction(app_id="old", version=1, last_updated=5),
        SetTransaction(app_id="never", version=1),
        SetTransaction(app_id="new", version=1, last_updated=2_000_000_000_000_000),
    )
    transaction.commit("DELETE")

    write_checkpoint(load_snapshot(storage))

    assert [r["path"] for r in actions(storage, checkpoint_path(1), "remove")] == ["b"]
    assert [t["appId"] for t in actions(storage, checkpoint_path(1), "txn")] == ["new"]


def test_last_checkpoint_says_what_was_written() -> None:
    storage = MemoryStorage()
    before = busy_table(storage)

    write_checkpoint(before)

    assert json.loads(storage.read(LAST_CHECKPOINT_PATH)) == {
        "version": 2,
        # protocol, metadata, one application, one domain, two files, two tombstones
        "size": 8,
        "sizeInBytes": len(storage.read(checkpoint_path(2))),
        "numOfAddFiles": 2,
    }


def test_last_checkpoint_of_a_v2_checkpoint_names_its_file() -> None:
    storage = MemoryStorage()
    write_checkpoint(busy_table(storage, V2))

    hint = json.loads(storage.read(LAST_CHECKPOINT_PATH))

    named = hint["v2Checkpoint"]
    top = storage.read(f"_delta_log/{named['path']}")
    kinds = [next(iter(json.loads(line))) for line in top.splitlines()]
    assert named["sizeInBytes"] == len(top)
    assert kinds == [
        "checkpointMetadata",
        "protocol",
        "metaData",
        "txn",
        "domainMetadata",
        "sidecar",
        "sidecar",
    ]
    assert hint["size"] == len(kinds) + 4


def test_last_checkpoint_never_goes_back() -> None:
    storage = MemoryStorage()
    create_table(storage)
    append(storage, add("a"))
    append(storage, add("b"))

    write_checkpoint(load_snapshot(storage, 2))
    write_checkpoint(load_snapshot(storage, 1))

    assert json.loads(storage.read(LAST_CHECKPOINT_PATH))["version"] == 2


def test_checkpoint_that_is_there_stays_as_it_is() -> None:
    storage = MemoryStorage()
    snapshot = create_table(storage, None, add("a"))
    write_checkpoint(snapshot)
    written = storage.read(checkpoint_path(0))

    write_checkpoint(load_snapshot(storage))

    assert storage.read(checkpoint_path(0)) == written


def test_a_classic_checkpoint_is_written_in_pieces_of_50_000_files() -> None:
    storage = MemoryStorage()
    snapshot = create_table(storage, None, *(add(f"{number}.parquet") for number in range(50_001)))

    write_checkpoint(snapshot)

    data = storage.read(checkpoint_path(0))
    groups = pq.ParquetFile(pa.BufferReader(data)).metadata
    rows_of = [groups.row_group(group).num_rows for group in range(groups.num_row_groups)]
    assert rows_of == [1, 1, 50_000, 1]


def test_v2_checkpoint_parts_its_files_among_sidecars() -> None:
    storage = MemoryStorage()
    names = [f"f{i}" for i in range(7)]
    snapshot = create_table(storage, metadata(properties=V2), *map(add, names))

    write_v2_checkpoint(snapshot, sidecar_actions=3)

    (top,) = [
        file.path
        for file in storage.list_from("_delta_log/")
        if (name := parse_log_name(file.path)) is not None and name.is_checkpoint
    ]
    lines = [json.loads(line) for line in storage.read(top).splitlines()]
    sidecars = [line["sidecar"] for line in lines if "sidecar" in line]
    parts = [actions(storage, sidecar_path(s["path"]), "add") for s in sidecars]
    assert [len(part) for part in parts] == [3, 3, 1]
    # Delta's own names: some readers take the version from the name of a sidecar.
    prefix = "00000000000000000000.checkpoint"
    assert [s["path"][: len(prefix) + 22] for s in sidecars] == [
        f"{prefix}.000000000{part}.0000000003" for part in (1, 2, 3)
    ]
    assert all(parse_log_name(sidecar_path(s["path"])) is not None for s in sidecars)
    assert [s["sizeInBytes"] for s in sidecars] == [
        len(storage.read(sidecar_path(s["path"]))) for s in sidecars
    ]
    drop_commits(storage, 0)
    assert paths(load_snapshot(storage)) == names


# Typed columns.


def written(table: Metadata, *files: AddFile) -> list[dict[str, Any]]:
    storage = MemoryStorage()
    write_checkpoint(create_table(storage, table, *files))
    return actions(storage, checkpoint_path(0), "add")


def with_stats(stats: str | None) -> AddFile:
    return replace(add("f"), stats=stats)


ALL_TYPES = metadata(
    "b byte",
    "i integer",
    "f float",
    "d double",
    "n decimal(10,2)",
    "s string",
    "o boolean",
    "x binary",
    "y date",
    "t timestamp",
    "z timestamp_ntz",
)


def test_statistics_become_values_of_the_columns_types() -> None:
    bounds = (
        '{"b":1,"i":-2,"f":0.5,"d":1e3,"n":12.5,"s":"a\\"\\nb","y":"2024-02-29",'
        '"t":"2024-01-02T03:04:05.678Z","z":"2024-01-02T03:04:05.678"}'
    )
    stats = f'{{"numRecords":9,"minValues":{bounds},"nullCount":{{"o":3,"x":1}}}}'

    (file,) = written(ALL_TYPES, with_stats(stats))

    parsed = file["stats_parsed"]
    low = parsed["minValues"]
    assert file["stats"] == stats
    assert parsed["numRecords"] == 9
    assert parsed["tightBounds"] is None
    assert parsed["maxValues"] is None
    assert (parsed["nullCount"]["o"], parsed["nullCount"]["x"]) == (3, 1)
    assert {"o", "x"}.isdisjoint(low)
    assert [low[name] for name in "bifdns"] == [1, -2, 0.5, 1000.0, Decimal("12.50"), 'a"\nb']
    assert [str(low[name]) for name in "ytz"] == [
        "2024-02-29",
        "2024-01-02 03:04:05.678000+00:00",
        "2024-01-02 03:04:05.678000",
    ]


@pytest.mark.parametrize(
    ("bounds", "kept"),
    [
        ('{"d":"NaN","i":1}', {"d": "nan", "i": "1"}),
        ('{"d":"-Infinity","i":1}', {"d": "-inf", "i": "1"}),
        ('{"i":1.5,"s":"x"}', {"s": "x"}),
        ('{"i":99999999999,"s":"x"}', {"s": "x"}),
        ('{"y":"soon","s":"x"}', {"s": "x"}),
        ('{"t":"2024-01-02 03:04:05","s":"x"}', {"s": "x"}),
        ('{"n":"1.25","s":"x"}', {"n": "1.25", "s": "x"}),
        ('{"n":123456789012345,"s":"x"}', {"s": "x"}),
        ('{"s":7,"i":1}', {"i": "1"}),
        ('{"o":true,"i":1,"unknown":[{}]}', {"i": "1"}),
    ],
)
def test_bounds_that_do_not_fit_their_column_are_left_out(
    bounds: str, kept: dict[str, str]
) -> None:
    stats = f'{{"numRecords":9,\n"minValues":{bounds}}}'

    (file,) = written(ALL_TYPES, with_stats(stats))

    low = file["stats_parsed"]["minValues"]
    assert file["stats_parsed"]["numRecords"] == 9
    assert {name: str(value) for name, value in low.items() if value is not None} == kept


@pytest.mark.parametrize("stats", [None, "", "null", "[]", "7", '{"numRecords":', "nonsense {}"])
def test_statistics_that_are_none_become_none(stats: str | None) -> None:
    other = with_stats('{"numRecords":3}')

    first, second = written(metadata(), with_stats(stats), replace(other, path="g"))

    assert first["stats_parsed"] is None
    assert first["stats"] == stats
    assert second["stats_parsed"]["numRecords"] == 3


def test_only_columns_that_have_statistics_are_typed() -> None:
    stats = '{"numRecords":1,"minValues":{"a":1,"b":2,"p":3},"nullCount":{"a":0,"b":0}}'
    table = metadata(
        "p long",
        "a long",
        "b long",
        partitioned_by=("p",),
        properties={"delta.dataSkippingNumIndexedCols": "1"},
    )

    (file,) = written(table, replace(add("f", partition={"p": "3"}), stats=stats))

    assert file["stats_parsed"]["minValues"] == {"a": 1}
    assert file["stats_parsed"]["nullCount"] == {"a": 0}
    assert file["partitionValues_parsed"] == {"p": 3}


def test_table_without_typed_statistics_has_only_their_text() -> None:
    table = metadata(
        "id long",
        "p long",
        partitioned_by=("p",),
        properties={"delta.checkpoint.writeStatsAsStruct": "false"},
    )

    (file,) = written(table, add("f", partition={"p": "3"}))

    assert "stats_parsed" not in file
    assert "partitionValues_parsed" not in file
    assert file["stats"] == '{"numRecords":10}'


def test_typed_columns_go_by_physical_names() -> None:
    schema = metadata("id long", "p long").schema_string
    for number, name in enumerate(("id", "p"), 1):
        schema = schema.replace(
            f'"name":"{name}","type":"long","nullable":true,"metadata":{{}}',
            f'"name":"{name}","type":"long","nullable":true,"metadata":'
            f'{{"delta.columnMapping.id":{number},"delta.columnMapping.physicalName":"c{number}"}}',
        )
    table = replace(
        metadata(properties={"delta.columnMapping.mode": "name"}),
        schema_string=schema,
        partition_columns=["p"],
    )
    file = replace(add("f", partition={"c2": "5"}), stats='{"numRecords":1,"minValues":{"c1":7}}')

    (found,) = written(table, file)

    assert found["partitionValues_parsed"] == {"c2": 5}
    assert found["stats_parsed"]["minValues"] == {"c1": 7}


def test_moments_in_int96_are_in_utc_and_do_not_overflow() -> None:
    storage = MemoryStorage()
    table = metadata("t timestamp", properties={"delta.checkpoint.writeStatsAsJson": "false"})
    stats = {
        "numRecords": 2,
        "minValues": {"t": "0001-01-01T00:00:00.001Z"},
        "maxValues": {"t": "9999-12-31T23:59:59.001Z"},
    }
    write_checkpoint(create_table(storage, table, with_stats(json.dumps(stats))))
    as_spark_writes = pa.BufferOutputStream()
    whole = pq.read_table(pa.BufferReader(storage.read(checkpoint_path(0))))
    pq.write_table(whole, as_spark_writes, use_deprecated_int96_timestamps=True)
    storage.write(checkpoint_path(0), as_spark_writes.getvalue().to_pybytes())
    drop_commits(storage, 0)

    (file,) = load_snapshot(storage).files()

    assert file.stats is not None
    assert json.loads(file.stats) == stats
