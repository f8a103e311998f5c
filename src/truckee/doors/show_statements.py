"""Statements that show a table as Delta does, and those that Delta refuses."""

from __future__ import annotations

from typing import Any

from pyspark.sql import functions as F

from truckee.doors.inserted_rows import partition_field
from truckee.errors.sql import NoPartitionsError, StatementNotAllowedError, TruncatedPartitionError
from truckee.log.snapshot import load_snapshot
from truckee.spark.dml.statements import partition_pattern
from truckee.spark.jvm.projection import quoted
from truckee.spark.read.frames import snapshot_frame
from truckee.spark.schema_conversion import spark_type
from truckee.spark.session.catalog_tables import java_frame
from truckee.spark.session.doors import Question
from truckee.spark.session.settings import session_storage

_REFUSED = {
    "TruncatePartition": ("TRUNCATE TABLE ... PARTITION", "use DELETE FROM ... WHERE"),
    "ShowCreateTable": ("SHOW CREATE TABLE", "see DESCRIBE DETAIL and DESCRIBE EXTENDED"),
}


def show(question: Question) -> str:
    """Answer with the columns of the result of a statement; raise if it is refused."""
    refused = _REFUSED.get(question.about["statement"])
    if refused is not None:
        is_truncate = question.about["statement"] == "TruncatePartition"
        kind = TruncatedPartitionError if is_truncate else StatementNotAllowedError
        raise kind(operation=refused[0], hint=refused[1])
    snapshot = load_snapshot(session_storage(question.spark, question.about["path"]))
    if not snapshot.partition_columns:
        raise NoPartitionsError(
            operation="SHOW PARTITIONS of a table without partitions", hint="leave it out"
        )
    names = [quoted(name) for name in snapshot.partition_columns]
    rows = snapshot_frame(question.spark, snapshot).select(*names)
    return ", ".join(f"`{f.name}` {f.dataType.simpleString()}" for f in rows.schema.fields)


def partition_rows(question: Question) -> Any:
    """Answer with the partitions of a table, one column for each partition column."""
    snapshot = load_snapshot(session_storage(question.spark, question.about["path"]))
    names = [quoted(name) for name in snapshot.partition_columns]
    rows = snapshot_frame(question.spark, snapshot).select(*names).distinct()
    for name, text in partition_pattern(question.objects[0]).items():
        field = partition_field(snapshot, name)
        rows = rows.where(F.col(quoted(field.name)) == F.lit(text).cast(spark_type(field.type)))
    return java_frame(rows.orderBy(*names))
