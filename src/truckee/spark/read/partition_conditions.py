"""Conditions on partition columns alone, evaluated by Spark on the values in the log."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from truckee.log.snapshot import Snapshot
from truckee.protocol.actions import AddFile
from truckee.protocol.schema import StructType, physical_schema
from truckee.spark.jvm.projection import quoted
from truckee.spark.local_frames import local_frame
from truckee.spark.schema_conversion import to_spark

_POSITION = "__truckee_position"


def files_of_partitions(
    spark: SparkSession, snapshot: Snapshot, given: str | Column, alias: str | None = None
) -> list[AddFile]:
    """Return the files whose partition values a condition is true of.

    The condition reads partition columns only. It is evaluated once for each partition, in one
    query that needs no job.
    """
    files = snapshot.files_table()
    names = partition_names(snapshot)
    partitions: dict[tuple[str | None, ...], int] = {}
    of_file = []
    for values in files.column("partition_values").to_pylist():
        known = dict(values or ())
        key = tuple(known.get(physical) or None for physical in names.values())
        of_file.append(partitions.setdefault(key, len(partitions)))
    if not partitions:
        return []
    matching = _matching(spark, snapshot, given, list(partitions), alias)
    mask = pa.array([partition in matching for partition in of_file], pa.bool_())
    return snapshot.add_files(files.filter(mask))


def partition_names(snapshot: Snapshot) -> dict[str, str]:
    """Return the physical names of the partition columns, by logical name."""
    wanted = {name.casefold() for name in snapshot.partition_columns}
    mode = snapshot.properties.column_mapping_mode
    physical = physical_schema(snapshot.schema, mode)
    pairs = zip(snapshot.schema.fields, physical.fields, strict=True)
    return {here.name: there.name for here, there in pairs if here.name.casefold() in wanted}


def _matching(
    spark: SparkSession,
    snapshot: Snapshot,
    given: str | Column,
    partitions: list[tuple[str | None, ...]],
    alias: str | None,
) -> set[int]:
    fields = [snapshot.schema.field(name) for name in partition_names(snapshot)]
    schema = to_spark(StructType(tuple(field for field in fields if field is not None)))
    texts = {f"c{index}": [row[index] for row in partitions] for index in range(len(fields))}
    table = pa.table(
        {
            _POSITION: pa.array(range(len(partitions)), pa.int32()),
            **{name: pa.array(values, pa.string()) for name, values in texts.items()},
        }
    )
    typed = local_frame(spark, table).select(
        _POSITION,
        *(
            F.col(f"c{index}").cast(field.dataType).alias(field.name)
            for index, field in enumerate(schema.fields)
        ),
    )
    if alias is not None:
        typed = typed.alias(alias)
    return {row[0] for row in typed.where(given).select(quoted(_POSITION)).collect()}
