"""Spark is not asked to read a file outside the table's root where the session forbids it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import truckee
from builders import PROTOCOL
from changes.tables import FEED_ON
from session_settings import set_as
from staging import add, metadata
from truckee.deletion_vectors.bitmap import RowBitmap
from truckee.deletion_vectors.store import write_deletion_vectors
from truckee.errors.storage import PathOutsideTableError
from truckee.protocol.actions import encode_actions
from truckee.protocol.paths import commit_path
from truckee.storage.local import LocalStorage
from truckee.storage.read_bounds import ALSO_BELOW, ONLY_BELOW_ROOT

pytestmark = pytest.mark.spark


def test_spark_reads_only_below_the_root_where_the_session_says_so(
    spark: SparkSession, tmp_path: Path
) -> None:
    other = LocalStorage(str(tmp_path / "other"))
    (vector,) = write_deletion_vectors(other, [RowBitmap([0])])
    file = tmp_path / "other" / "secret.parquet"
    pq.write_table(pa.table({"id": pa.array([42, 43], pa.int64())}), file)
    for name, added in {
        "data": add(str(file), rows=2),
        "vector": add("a.parquet", rows=2, vector=vector.copy_with_absolute_path(other.root)),
    }.items():
        storage = LocalStorage(str(tmp_path / name))
        actions = [PROTOCOL, metadata(properties=FEED_ON), added]
        storage.put_if_absent(commit_path(0), encode_actions(actions))
        (tmp_path / name / "a.parquet").write_bytes(file.read_bytes())
        for read in (
            partial(truckee.read(spark).load, storage.root),
            partial(truckee.table_changes, spark, storage.root, 0),
        ):
            assert 43 in [row.id for row in read().collect()]
            with set_as(spark, {ONLY_BELOW_ROOT: "true"}):
                with pytest.raises(PathOutsideTableError):
                    read().collect()
                with set_as(spark, {ALSO_BELOW: other.root}):
                    assert 43 in [row.id for row in read().collect()]
