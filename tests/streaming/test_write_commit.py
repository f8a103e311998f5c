"""Commits of streams and of writes by Python workers, without a session."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from truckee.arrow.columns import arrow_schema
from truckee.arrow.write import write_batches
from truckee.errors.commit import AppendOnlyTableError
from truckee.log.files.history import history
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.protocol.schema import StructType, type_text
from truckee.storage.local import LocalStorage
from truckee.streaming.write_commit import (
    STREAM_OPERATION,
    commit_arrow_files,
    is_committed,
    stream_parameters,
)
from truckee.streaming.write_plan import WritePlan, write_plan
from values import simple_schema

IDS = simple_schema("id integer")


def planned(path: Path, schema: StructType = IDS, **options: Any) -> WritePlan:
    is_overwrite = options.pop("overwrite", False)
    return write_plan({"path": str(path), **options}, schema, is_overwrite=is_overwrite)


def commit(of: WritePlan, *ids: int, schema: StructType = IDS, batch: int = 0) -> int | None:
    rows = pa.RecordBatch.from_pylist([{"id": n} for n in ids], schema=arrow_schema(schema))
    return commit_arrow_files(
        of,
        write_batches(of.target, [rows] if ids else []),
        operation=STREAM_OPERATION,
        parameters=stream_parameters("Append", "q", batch),
        txn=("q", batch),
    )


def latest(path: Path) -> Snapshot:
    return load_snapshot(LocalStorage(str(path)))


def test_a_batch_without_rows_is_put_on_record(tmp_path: Path) -> None:
    commit(planned(tmp_path), 1)

    assert commit(planned(tmp_path), batch=1) == 1

    assert latest(tmp_path).set_transactions["q"].version == 1
    assert latest(tmp_path).num_files == 1


def test_a_batch_that_comes_again_leaves_no_file(tmp_path: Path) -> None:
    commit(planned(tmp_path), 1)
    commit(planned(tmp_path), 2, batch=1)

    again = planned(tmp_path)

    assert is_committed(again, LocalStorage(str(tmp_path)), ("q", 0))
    assert commit(again, 1, batch=0) is None
    assert latest(tmp_path).version == 1
    assert len(list(tmp_path.rglob("*.parquet"))) == 2


def test_history_tells_query_batch_and_files(tmp_path: Path) -> None:
    commit(planned(tmp_path), 1, 2, batch=7)

    (entry,) = history(LocalStorage(str(tmp_path)))

    assert entry.operation == "STREAMING UPDATE"
    assert entry.operation_parameters == {"outputMode": "Append", "queryId": "q", "epochId": "7"}
    metrics = dict(entry.operation_metrics or {})
    assert int(metrics.pop("numOutputBytes")) > 0
    assert metrics == {"numOutputRows": "2", "numAddedFiles": "1", "numRemovedFiles": "0"}


def test_a_table_that_only_grows_cannot_be_replaced(tmp_path: Path) -> None:
    commit(planned(tmp_path, **{"delta.appendOnly": "true"}), 1)

    with pytest.raises(AppendOnlyTableError) as raised:
        commit(planned(tmp_path, overwrite=True), 2, batch=1)

    assert raised.value.code == "DELTA_CANNOT_MODIFY_APPEND_ONLY"
    assert len(list(tmp_path.rglob("*.parquet"))) == 1


def test_merged_schemas_widen_columns_where_the_table_lets_them(tmp_path: Path) -> None:
    commit(planned(tmp_path, **{"delta.enableTypeWidening": "true"}), 1)
    longs = simple_schema("id long")

    of = planned(tmp_path, longs, mergeSchema=True)
    commit(of, 1 << 40, schema=longs, batch=1)

    assert type_text(latest(tmp_path).schema) == "struct<id:bigint>"
