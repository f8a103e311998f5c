"""What tasks send back of their files is what the footers of these files say."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import pytest
from pyspark.sql import SparkSession

from truckee.commands.table_plan import new_metadata
from truckee.protocol.actions import Protocol
from truckee.protocol.paths import decode_path
from truckee.protocol.stats import encode_stats
from truckee.protocol.table_configuration import TableConfiguration
from truckee.scan.footer_statistics import file_stats, indexed_columns, read_footer
from truckee.spark.schema_conversion import from_spark
from truckee.spark.write.writer import FileOptions, write_files
from truckee.storage import LocalStorage

PLAIN = Protocol(min_reader_version=1, min_writer_version=2)

EVERY_TYPE = (
    "cast(id as byte) AS tiny",
    "cast(-id as short) AS small",
    "if(id % 5 = 0, null, cast(id as int)) AS number",
    "id * 4000000000 AS big",
    "if(id % 7 = 0, float('NaN'), float(id)) AS some_nan",
    "if(id = 3, double('-Infinity'), double(-id)) AS some_infinite",
    "cast(0.0 as double) AS zero",
    "cast(-0.0 as double) AS minus_zero",
    "cast(id - 50 as decimal(9, 2)) AS money",
    "cast(id as decimal(18, 4)) * -1000 AS more_money",
    "cast(id - 7 as decimal(38, 10)) * cast('99999999999999999999' as decimal(20)) AS most_money",
    "concat('ä', repeat('x', cast(id as int))) AS text",
    "repeat('long text ', 300 + cast(id as int)) AS long_text",
    "'' AS empty",
    "cast(null as string) AS nothing",
    "cast(cast(id as string) as binary) AS bytes",
    "id % 2 = 0 AS flag",
    "date_add(date'0001-01-01', cast(id as int)) AS day",
    "timestamp'1969-12-31 23:59:59.999999' AS moment",
    "timestamp_ntz'9999-12-31 23:59:59.999999' AS local",
    "named_struct('x', id, 'y', named_struct('z', cast(id as string))) AS nested",
    "array(id, null) AS some",
    "array(named_struct('p', id, 'q', id)) AS structs",
    "map(id, 'a') AS pairs",
    "if(id > 50, array(id), null) AS null_arrays",
)


class NeverAsked(LocalStorage):
    """A storage that lists nothing and opens no data file."""

    def list_tree(self, folder: str):  # type: ignore[no-untyped-def]
        raise AssertionError(f"{folder} was listed")

    def open_input(self, path: str) -> BinaryIO:
        raise AssertionError(f"{path} was read")


def bytes_read_by_tasks(spark: SparkSession) -> int:
    """Return how many bytes Hadoop has read from the local disk, in this JVM."""
    files = spark.sparkContext._jvm.org.apache.hadoop.fs.FileSystem  # type: ignore[union-attr]
    return int(files.getGlobalStorageStatistics().get("file").getLong("bytesRead"))


# Invariant 48.
@pytest.mark.parametrize("block_size", [None, "4096"], ids=["one group", "many groups"])
def test_statistics_are_those_of_the_footers_and_nothing_is_listed_or_read_again(
    spark: SparkSession, tmp_path: Path, block_size: str | None
) -> None:
    rows = spark.range(0, 120, 1, 1).selectExpr(*EVERY_TYPE)
    table = TableConfiguration(new_metadata(from_spark(rows.schema)), PLAIN)
    small_groups = {
        "parquet.block.size": "4096",
        "parquet.block.size.row.check.min": "10",
        "parquet.block.size.row.check.max": "10",
        "parquet.page.size.row.check.min": "10",
    }
    options = FileOptions(parquet=small_groups if block_size else {})
    read_before = bytes_read_by_tasks(spark)

    files = write_files(
        rows,
        storage=NeverAsked(str(tmp_path)),
        table=table,
        options=options,
    )

    assert bytes_read_by_tasks(spark) == read_before
    storage = LocalStorage(str(tmp_path))
    columns = indexed_columns(table)
    [add] = files.adds
    footer = read_footer(storage, decode_path(add.path), columns)
    expected = file_stats(footer, columns, prefix_length=32, tight_bounds=None)
    assert add.stats == encode_stats(expected)
    assert add.size == (tmp_path / add.path).stat().st_size
    assert add.modification_time == (tmp_path / add.path).stat().st_mtime_ns // 1_000_000
    assert files.num_rows == 120


def test_a_frame_without_rows_leaves_no_file(spark: SparkSession, tmp_path: Path) -> None:
    rows = spark.range(0)

    files = write_files(
        rows,
        storage=LocalStorage(str(tmp_path)),
        table=TableConfiguration(new_metadata(from_spark(rows.schema)), PLAIN),
    )

    assert (files.adds, files.num_rows, list(tmp_path.iterdir())) == ((), 0, [])
