"""Checkpoints of every kind, written here by hand as other engines write them."""

from __future__ import annotations

import io
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from builders import PROTOCOL, history, live_paths, vector
from staging import metadata
from truckee.errors.log import (
    CorruptLogFileError,
    LogFileNotFoundError,
    StateNotRecoverableError,
)
from truckee.log.checkpoint.schema import (
    DOMAIN_METADATA,
    METADATA,
    SET_TRANSACTION,
    STRING_MAP,
)
from truckee.log.checkpoint.schema import (
    PROTOCOL as PROTOCOL_TYPE,
)
from truckee.log.snapshot import load_snapshot
from truckee.protocol.paths import checkpoint_path, checkpoint_v2_path, commit_path, sidecar_path
from truckee.storage.base import Storage
from truckee.storage.memory import MemoryStorage
from values import checkpoint_part_path

UUID = "aaaaaaaa-0000-0000-0000-000000000000"
VECTOR = pa.struct(
    [
        ("storageType", pa.string()),
        ("pathOrInlineDv", pa.string()),
        ("offset", pa.int32()),
        ("sizeInBytes", pa.int32()),
        ("cardinality", pa.int64()),
        ("maxRowIndex", pa.int64()),
    ]
)
SIDECAR = pa.struct(
    [("path", pa.string()), ("sizeInBytes", pa.int64()), ("modificationTime", pa.int64())]
)
ADD_FIELDS: dict[str, pa.DataType] = {
    "path": pa.string(),
    "partitionValues": STRING_MAP,
    "size": pa.int64(),
    "modificationTime": pa.int64(),
    "dataChange": pa.bool_(),
    "stats": pa.string(),
    "tags": STRING_MAP,
    "deletionVector": VECTOR,
}
REMOVE = pa.struct(
    [("path", pa.string()), ("deletionTimestamp", pa.int64()), ("deletionVector", VECTOR)]
)


def add_row(path: str, **fields: Any) -> dict[str, Any]:
    row = {"path": path, "partitionValues": [], "size": 1, "modificationTime": 2, **fields}
    return {"add": row}


STATE: list[dict[str, Any]] = [
    {
        "protocol": {
            "minReaderVersion": 3,
            "minWriterVersion": 7,
            "readerFeatures": list(PROTOCOL.reader_features or ()),
            "writerFeatures": list(PROTOCOL.writer_features or ()),
        }
    },
    {
        "metaData": {
            "id": "some-id",
            "format": {"provider": "parquet", "options": []},
            "schemaString": metadata().schema_string,
            "partitionColumns": [],
            "configuration": [("delta.appendOnly", "true")],
        }
    },
]


def write_rows(
    storage: Storage,
    path: str,
    rows: list[dict[str, Any]],
    *,
    add_fields: dict[str, pa.DataType] | None = None,
    row_group_size: int | None = None,
) -> None:
    schema = pa.schema(
        [
            ("txn", SET_TRANSACTION),
            ("add", pa.struct(list((add_fields or ADD_FIELDS).items()))),
            ("remove", REMOVE),
            ("metaData", METADATA),
            ("protocol", PROTOCOL_TYPE),
            ("domainMetadata", DOMAIN_METADATA),
            ("sidecar", SIDECAR),
        ]
    )
    target = io.BytesIO()
    full = [{name: row.get(name) for name in schema.names} for row in rows]
    pq.write_table(pa.Table.from_pylist(full, schema), target, row_group_size=row_group_size)
    storage.write(path, target.getvalue())


def test_a_classic_checkpoint_is_the_whole_state() -> None:
    storage = MemoryStorage()
    descriptor = vector(1, 2)
    on_wire = {
        "storageType": descriptor.storage_type,
        "pathOrInlineDv": descriptor.path_or_inline_dv,
        "sizeInBytes": descriptor.size_in_bytes,
        "cardinality": 2,
        "maxRowIndex": 2,
    }
    rows = [
        *STATE,
        {"txn": {"appId": "app", "version": 7}},
        {"domainMetadata": {"domain": "d", "configuration": "{}", "removed": False}},
        add_row("a", partitionValues=[("p", None)], stats='{"numRecords":3}', tags=[("t", "u")]),
        add_row("b", deletionVector=on_wire),
        {"remove": {"path": "gone", "deletionTimestamp": 5}},
    ]
    write_rows(storage, checkpoint_path(3), rows)

    snapshot = load_snapshot(storage)

    a, b = snapshot.files()
    assert snapshot.version == 3
    assert snapshot.protocol == PROTOCOL
    assert snapshot.metadata.configuration == {"delta.appendOnly": "true"}
    assert snapshot.set_transactions["app"].version == 7
    assert set(snapshot.domain_metadata) == {"d"}
    assert (a.partition_values, a.stats, a.tags) == ({"p": None}, '{"numRecords":3}', {"t": "u"})
    assert b.deletion_vector == descriptor
    assert [(r.path, r.deletion_timestamp) for r in snapshot.tombstones()] == [("gone", 5)]


def test_commits_after_a_checkpoint_replace_its_rows() -> None:
    storage = MemoryStorage()
    write_rows(storage, checkpoint_path(0), [*STATE, add_row("a"), add_row("b"), add_row("c")])
    history(storage)  # version 0 is only in the checkpoint
    storage.write(
        commit_path(1),
        b'{"remove":{"path":"a","dataChange":true}}\n'
        b'{"add":{"path":"d","partitionValues":{},"size":1,"modificationTime":1,'
        b'"dataChange":true}}\n',
    )

    snapshot = load_snapshot(storage)

    assert live_paths(snapshot) == ["b", "c", "d"]
    assert [r.path for r in snapshot.tombstones()] == ["a"]


def test_parts_make_one_checkpoint() -> None:
    storage = MemoryStorage()
    write_rows(storage, checkpoint_part_path(2, 1, 2), [*STATE, add_row("a")])
    write_rows(storage, checkpoint_part_path(2, 2, 2), [add_row("b")])

    assert live_paths(load_snapshot(storage)) == ["a", "b"]


@pytest.mark.parametrize("inline", [True, False])
def test_a_v2_checkpoint_in_parquet_has_its_files_in_sidecars_or_in_itself(inline: bool) -> None:
    storage = MemoryStorage()
    sidecar = {"path": "s.parquet", "sizeInBytes": 1, "modificationTime": 1}
    top = [add_row("a")] if inline else [{"sidecar": sidecar}]
    write_rows(storage, checkpoint_v2_path(2, UUID, "parquet"), [*STATE, *top])
    write_rows(storage, sidecar_path("s.parquet"), [add_row("a"), {"remove": {"path": "gone"}}])

    snapshot = load_snapshot(storage)

    assert live_paths(snapshot) == ["a"]
    assert [r.path for r in snapshot.tombstones()] == ([] if inline else ["gone"])


@pytest.mark.parametrize("inline", [True, False])
def test_a_v2_checkpoint_in_json_has_its_files_in_sidecars_or_in_itself(inline: bool) -> None:
    storage = MemoryStorage()
    top = (
        b'{"add":{"path":"a","partitionValues":{},"size":1,"modificationTime":1,'
        b'"dataChange":false}}\n{"remove":{"path":"gone","dataChange":false}}\n'
        if inline
        else b'{"sidecar":{"path":"s.parquet","sizeInBytes":1,"modificationTime":1}}\n'
    )
    first = history().empty(1).storage.read(commit_path(0))
    storage.write(
        checkpoint_v2_path(2, UUID, "json"), b'{"checkpointMetadata":{"version":2}}\n' + first + top
    )
    write_rows(storage, sidecar_path("s.parquet"), [add_row("a"), {"remove": {"path": "gone"}}])

    snapshot = load_snapshot(storage)

    assert live_paths(snapshot) == ["a"]
    assert [r.path for r in snapshot.tombstones()] == ["gone"]


def test_a_classic_name_may_hold_a_v2_checkpoint() -> None:
    storage = MemoryStorage()
    sidecar = {"path": "s.parquet", "sizeInBytes": 1, "modificationTime": 1}
    write_rows(storage, checkpoint_path(2), [*STATE, {"sidecar": sidecar}])
    write_rows(storage, sidecar_path("s.parquet"), [add_row("a")])

    assert live_paths(load_snapshot(storage)) == ["a"]


class FarAway(MemoryStorage):
    """Memory that calls itself remote."""

    @property
    def root(self) -> str:
        return "s3://bucket/t"


def test_a_checkpoint_over_a_network_is_the_same() -> None:
    storage = FarAway()
    write_rows(storage, checkpoint_path(2), [*STATE, add_row("a"), add_row("b")], row_group_size=2)

    assert live_paths(load_snapshot(storage)) == ["a", "b"]


def test_row_groups_are_read_wherever_the_actions_are() -> None:
    storage = MemoryStorage()
    rows = [add_row(f"f{number:02}") for number in range(20)]
    rows[7:7] = [STATE[0], {"txn": {"appId": "app", "version": 1}}]
    rows[15:15] = [STATE[1], {"remove": {"path": "gone"}}]
    write_rows(storage, checkpoint_path(2), rows, row_group_size=3)

    snapshot = load_snapshot(storage)

    assert live_paths(snapshot) == [f"f{number:02}" for number in range(20)]
    assert set(snapshot.set_transactions) == {"app"}
    assert [r.path for r in snapshot.tombstones()] == ["gone"]


BOUNDS = pa.struct(
    [
        ("i", pa.int32()),
        ("f", pa.float64()),
        ("d", pa.decimal128(5, 2)),
        ("s", pa.string()),
        ("day", pa.date32()),
        ("t", pa.timestamp("us", tz="UTC")),
        ("n", pa.timestamp("us")),
        ("x", pa.struct([("y", pa.string())])),
        ("b", pa.binary()),
    ]
)
PARSED_STATS = pa.struct(
    [
        ("numRecords", pa.int64()),
        ("minValues", BOUNDS),
        ("nullCount", pa.struct([("i", pa.int64()), ("x", pa.struct([("y", pa.int64())]))])),
        ("tightBounds", pa.bool_()),
    ]
)


def test_statistics_kept_only_as_a_struct_become_json_again() -> None:
    storage = MemoryStorage()
    moment = datetime(1969, 12, 31, 23, 59, 58, 999_999, timezone.utc)
    fields = {name: kind for name, kind in ADD_FIELDS.items() if name != "stats"}
    bounds = {
        "i": -1,
        "f": float("inf"),
        "d": Decimal("1.50"),
        "s": 'say "é"\n',
        "day": date(2024, 2, 29),
        "t": moment,
        "n": moment.replace(tzinfo=None),
        "x": {"y": "z"},
        "b": b"\x00",
    }
    rows = [
        *STATE,
        add_row(
            "a",
            stats_parsed={
                "numRecords": 3,
                "minValues": bounds,
                "nullCount": {"i": 0, "x": {"y": 1}},
                "tightBounds": False,
            },
        ),
        add_row("b", stats_parsed={"numRecords": 1, "minValues": {"x": {"y": None}}}),
        add_row("c", stats_parsed=None),
    ]
    write_rows(
        storage, checkpoint_path(2), rows, add_fields={**fields, "stats_parsed": PARSED_STATS}
    )

    a, b, c = load_snapshot(storage).files()

    assert a.stats == (
        '{"numRecords":3,"minValues":{"i":-1,"f":"Infinity","d":1.50,"s":"say \\"é\\"\\n",'
        '"day":"2024-02-29","t":"1969-12-31T23:59:58.999Z","n":"1969-12-31T23:59:58.999",'
        '"x":{"y":"z"}},"nullCount":{"i":0,"x":{"y":1}},"tightBounds":false}'
    )
    assert b.stats == '{"numRecords":1,"minValues":{"x":{}}}'
    assert c.stats is None


def test_a_struct_fills_in_for_json_that_is_missing() -> None:
    storage = MemoryStorage()
    rows = [
        *STATE,
        add_row("a", stats='{"numRecords":1}', stats_parsed={"numRecords": 99}),
        add_row("b", stats=None, stats_parsed={"numRecords": 2}),
    ]
    write_rows(
        storage, checkpoint_path(2), rows, add_fields={**ADD_FIELDS, "stats_parsed": PARSED_STATS}
    )

    assert [f.stats for f in load_snapshot(storage).files()] == [
        '{"numRecords":1}',
        '{"numRecords":2}',
    ]


def test_partition_values_kept_only_as_a_struct_become_text_again() -> None:
    storage = MemoryStorage()
    fields = {name: kind for name, kind in ADD_FIELDS.items() if name != "partitionValues"}
    parsed = pa.struct(
        [
            ("i", pa.int32()),
            ("day", pa.date32()),
            ("t", pa.timestamp("us", tz="UTC")),
            ("n", pa.timestamp("us")),
            ("flag", pa.bool_()),
        ]
    )
    moment = datetime(2024, 1, 2, 3, 4, 5, 6, timezone.utc)
    values = {
        "i": 7,
        "day": date(2024, 1, 2),
        "t": moment,
        "n": moment.replace(tzinfo=None),
        "flag": True,
    }
    rows = [*STATE, *(add_row("a"), add_row("b"))]
    rows[-2]["add"]["partitionValues_parsed"] = values
    rows[-1]["add"]["partitionValues_parsed"] = dict.fromkeys(values)
    for row in rows[-2:]:
        del row["add"]["partitionValues"]
    write_rows(
        storage, checkpoint_path(2), rows, add_fields={**fields, "partitionValues_parsed": parsed}
    )

    a, b = load_snapshot(storage).files()

    assert a.partition_values == {
        "i": "7",
        "day": "2024-01-02",
        "t": "2024-01-02T03:04:05.000006Z",
        "n": "2024-01-02 03:04:05.000006",
        "flag": "true",
    }
    assert b.partition_values == dict.fromkeys(values)


def test_columns_of_other_widths_are_taken() -> None:
    storage = MemoryStorage()
    wide = {
        **ADD_FIELDS,
        "path": pa.large_string(),
        "stats": pa.dictionary(pa.int32(), pa.string()),
        "size": pa.int32(),
        "partitionValues": pa.map_(pa.string(), pa.large_string()),
    }
    write_rows(
        storage,
        checkpoint_path(2),
        [*STATE, add_row("a", stats="{}", partitionValues=[("p", "1")])],
        add_fields=wide,
    )

    (file,) = load_snapshot(storage).files()

    assert (file.path, file.size, file.stats, file.partition_values) == ("a", 1, "{}", {"p": "1"})


def test_a_file_that_is_no_parquet_is_named() -> None:
    storage = MemoryStorage()
    storage.write(checkpoint_path(2), b"not parquet at all")

    with pytest.raises(CorruptLogFileError) as raised:
        load_snapshot(storage)

    assert raised.value.path == checkpoint_path(2)
    assert raised.value.sentence().startswith(
        "_delta_log/00000000000000000002.checkpoint.parquet of memory://t cannot be read: "
        "it is not a complete Parquet file ("
    )


def test_a_sidecar_that_is_gone_is_named_and_never_passes_as_empty() -> None:
    storage = MemoryStorage()
    sidecar = {"path": "s.parquet", "sizeInBytes": 1, "modificationTime": 1}
    write_rows(storage, checkpoint_v2_path(2, UUID, "parquet"), [*STATE, {"sidecar": sidecar}])

    with pytest.raises(LogFileNotFoundError) as raised:
        load_snapshot(storage).files_table()

    assert raised.value.sentence() == (
        "_delta_log/_sidecars/s.parquet of memory://t is gone, but the log needs it\n"
        "hint: a log cleanup may have deleted it meanwhile; open the table again"
    )


def test_a_checkpoint_without_protocol_is_no_state() -> None:
    storage = MemoryStorage()
    write_rows(storage, checkpoint_path(2), [STATE[1], add_row("a")])

    with pytest.raises(StateNotRecoverableError) as raised:
        load_snapshot(storage)

    assert raised.value.sentence() == (
        "version 2 of memory://t has no protocol action in its log\n"
        "hint: files of _delta_log may have been deleted by hand; restore them"
    )
