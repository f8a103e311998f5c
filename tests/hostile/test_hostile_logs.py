"""Tables that were made to do harm: a DeltaError comes of each, in little time and memory."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hostile.reading import DOORS, limited
from truckee.deletion_vectors.bitmap import RowBitmap
from truckee.deletion_vectors.store import write_deletion_vectors
from truckee.errors.base import DeltaError
from truckee.protocol.paths import commit_path
from truckee.storage.local import LocalStorage

SCHEMA = '{"type":"struct","fields":[{"name":"id","type":"long","nullable":true,"metadata":{}}]}'
PROTOCOL = {
    "minReaderVersion": 3,
    "minWriterVersion": 7,
    "readerFeatures": ["deletionVectors"],
    "writerFeatures": ["deletionVectors", "changeDataFeed"],
}
METADATA = {
    "id": "1",
    "format": {"provider": "parquet", "options": {}},
    "schemaString": SCHEMA,
    "partitionColumns": [],
    "configuration": {"delta.enableChangeDataFeed": "true"},
}
ADD = {
    "path": "a.parquet",
    "partitionValues": {},
    "size": 100,
    "modificationTime": 1,
    "dataChange": True,
    "stats": '{"numRecords":3}',
}
VECTOR = {
    "storageType": "u",
    "pathOrInlineDv": "vBn[lx{q8@P<9BNH/isA",
    "offset": 1,
    "sizeInBytes": 34,
    "cardinality": 2,
}


def write_table(folder: Path, **changed: Any) -> Path:
    """Write a table of one file; whole actions, or fields of the file, can be replaced."""
    (folder / "_delta_log").mkdir()
    pq.write_table(pa.table({"id": pa.array([1, 2, 3], pa.int64())}), folder / "a.parquet")
    actions = {"protocol": PROTOCOL, "metaData": METADATA, "add": {**ADD, **changed.pop("add", {})}}
    lines = [json.dumps({name: value}) for name, value in {**actions, **changed}.items()]
    (folder / commit_path(0)).write_text("\n".join(lines))
    return folder


def raw(folder: Path, *lines: bytes) -> Path:
    """Write a table with lines of any bytes as its second commit."""
    write_table(folder)
    (folder / commit_path(1)).write_bytes(b"\n".join(lines))
    return folder


def vector_in(folder: Path, make: Callable[[Path], object], **changed: Any) -> Path:
    """Write a table whose deletion vector lies in a file that `make` makes."""
    path = folder / "v.bin"
    make(path)
    vector = {**VECTOR, "storageType": "p", "pathOrInlineDv": f"file://{path}", **changed}
    return write_table(folder, add={"deletionVector": vector})


def all_rows(folder: Path) -> Path:
    """Write a table whose vector has four billion rows in some bytes, and so do its statistics."""
    storage = LocalStorage(str(folder))
    rows = RowBitmap.deserialize_portable(_everything())
    (vector,) = write_deletion_vectors(storage, [rows])
    shown = {
        "storageType": "u",
        "pathOrInlineDv": vector.path_or_inline_dv,
        "offset": vector.offset,
        "sizeInBytes": vector.size_in_bytes,
        "cardinality": vector.cardinality,
    }
    stats = json.dumps({"numRecords": 2**33})
    return write_table(folder, add={"deletionVector": shown, "stats": stats})


def _everything() -> bytes:
    from pyroaring import BitMap64

    rows = BitMap64()
    rows.add_range(0, 2**32)
    return bytes(rows.serialize())


def _nested(depth: int) -> str:
    return "[" * depth + "]" * depth


def _deep_schema(depth: int) -> str:
    inner = '"long"'
    for _ in range(depth):
        inner = '{"type":"array","containsNull":true,"elementType":' + inner + "}"
    return '{"type":"struct","fields":[{"name":"id","type":' + inner + ',"nullable":true}]}'


def _two_columns(kind: str) -> str:
    field = f'{{"name":"id","type":"{kind}","nullable":true,"metadata":{{}}}}'
    return f'{{"type":"struct","fields":[{field},{field}]}}'


def _struct_column(kind: str) -> str:
    return (
        '{"type":"struct","fields":[{"name":"s","type":'
        + kind
        + ',"nullable":true,"metadata":{}}]}'
    )


def _id_column(metadata: str) -> str:
    return SCHEMA.replace('"metadata":{}', f'"metadata":{{{metadata}}}')


_VOID_KEYS = '{"type":"map","keyType":"void","valueType":"long","valueContainsNull":true}'

HOSTILE: dict[str, Callable[[Path], Path]] = {
    "a huge version": lambda f: (
        raw(f, b"{}").joinpath(commit_path(1)).rename(f / commit_path(200_000_000)) and f
    ),
    "the largest version": lambda f: (
        raw(f, b"{}").joinpath(commit_path(1)).rename(f / commit_path(2**63 - 1)) and f
    ),
    "a huge size": lambda f: write_table(f, add={"size": 10**30}),
    "the largest size, and rows": lambda f: write_table(
        f, add={"size": 2**63 - 1, "stats": '{"numRecords":9223372036854775807}'}
    ),
    "negative numbers": lambda f: write_table(
        f, add={"size": -(2**63), "modificationTime": -1, "stats": '{"numRecords":-5}'}
    ),
    "a time after all years": lambda f: write_table(
        f, metaData={**METADATA, "createdTime": 2**63 - 1}
    ),
    "a recorded time after all years": lambda f: raw(
        f, b'{"commitInfo":{"inCommitTimestamp":9223372036854775807}}'
    ),
    "a long number": lambda f: raw(f, b'{"txn":{"appId":"a","version":1' + b"0" * 10_000 + b"}}"),
    "deep JSON": lambda f: raw(f, f'{{"x":{_nested(200_000)}}}'.encode()),
    "deep statistics": lambda f: write_table(f, add={"stats": _nested(100_000)}),
    "a deep schema": lambda f: write_table(
        f, metaData={**METADATA, "schemaString": _deep_schema(5000)}
    ),
    "a schema as deep as JSON can be": lambda f: write_table(
        f, metaData={**METADATA, "schemaString": _deep_schema(400)}
    ),
    "bad UTF-8": lambda f: raw(f, b'{"txn":{"appId":"\xff\xfe","version":1}}'),
    "half a surrogate": lambda f: raw(f, b'{"txn":{"appId":"\\ud800","version":1}}'),
    "a path of NUL": lambda f: write_table(f, add={"path": "a\0b"}),
    "a path of escaped NUL": lambda f: write_table(f, add={"path": "a%00b"}),
    "an empty path": lambda f: write_table(f, add={"path": ""}),
    "a path too long": lambda f: write_table(f, add={"path": "a" * 100_000}),
    "a data file that is a pipe": lambda f: (
        write_table(f, add={"path": "p"}) and os.mkfifo(f / "p") is None and f
    ),
    "a data file that is a device": lambda f: write_table(f, add={"path": "/dev/zero"}),
    "a vector that is a pipe": lambda f: vector_in(f, os.mkfifo),
    "a vector that is a device": lambda f: vector_in(f, lambda p: p.symlink_to("/dev/zero")),
    "a vector that is a folder": lambda f: vector_in(f, Path.mkdir),
    "a vector larger than its file": lambda f: vector_in(
        f, lambda p: p.write_bytes(b"\x01\x7f\xff\xff\xff"), sizeInBytes=2**31 - 1
    ),
    "a vector far behind its file": lambda f: vector_in(
        f, lambda p: p.write_bytes(b"\x01"), offset=2**31 - 1
    ),
    "a vector with an offset too large": lambda f: vector_in(f, Path.touch, offset=2**31),
    "a vector of all rows": all_rows,
    "a vector of more rows than there are": lambda f: vector_in(
        f, Path.touch, cardinality=2**62, sizeInBytes=10
    ),
    "two columns of one name": lambda f: write_table(
        f, metaData={**METADATA, "schemaString": _two_columns("long")}
    ),
    "two fields of one name": lambda f: write_table(
        f, metaData={**METADATA, "schemaString": _struct_column(_two_columns("long"))}
    ),
    "type changes that are a number": lambda f: write_table(
        f, metaData={**METADATA, "schemaString": _id_column('"delta.typeChanges":5')}
    ),
    "a declared type that is a number": lambda f: write_table(
        f, metaData={**METADATA, "schemaString": _id_column('"__CHAR_VARCHAR_TYPE_STRING":5')}
    ),
    "a map with void keys": lambda f: write_table(
        f, metaData={**METADATA, "schemaString": _struct_column(_VOID_KEYS)}
    ),
    "no columns": lambda f: write_table(
        f, metaData={**METADATA, "schemaString": '{"type":"struct","fields":[]}'}
    ),
    "a long line": lambda f: raw(f, b'{"x":"' + b"y" * 40_000_000 + b'"}', b'{"add":'),
    "a hint at a huge checkpoint": lambda f: (
        (
            write_table(f)
            and (f / "_delta_log/_last_checkpoint").write_text(f'{{"version":{10**40}}}')
        )
        and f
    ),
    "a hint of bad UTF-8": lambda f: (
        (write_table(f) and (f / "_delta_log/_last_checkpoint").write_bytes(b'{"v\xff":1}')) and f
    ),
    "a hint that is a pipe": lambda f: (
        write_table(f) and os.mkfifo(f / "_delta_log/_last_checkpoint") is None and f
    ),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_table_costs_little_and_raises_a_delta_error(tmp_path: Path, case: str) -> None:
    """Invariant 44."""
    storage = LocalStorage(str(HOSTILE[case](tmp_path)))

    def untyped() -> Iterator[str]:
        for door, read in DOORS.items():
            try:
                read(storage)
            except DeltaError as error:
                if len(str(error)) > 1_000_000:
                    yield f"{door}: a message of {len(str(error))} characters"
            except BaseException as error:
                yield f"{door}: {type(error).__name__}: {str(error)[:300]}"

    assert limited(untyped) == []
