"""Statements that show a table as Delta does, and those that Delta refuses."""

from __future__ import annotations

from typing import Any

from pyspark.sql import functions as F

from truckee.doors.create_statement import create_statement
from truckee.doors.inserted_rows import partition_field
from truckee.errors.sql import NoPartitionsError, StatementNotAllowedError, TruncatedPartitionError
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.spark.dml.statements import partition_pattern
from truckee.spark.jvm.projection import quoted
from truckee.spark.local_frames import local_frame
from truckee.spark.read.frames import snapshot_frame
from truckee.spark.schema_conversion import spark_type
from truckee.spark.session.catalog import named_table
from truckee.spark.session.catalog_tables import java_frame
from truckee.spark.session.doors import Question
from truckee.spark.session.settings import session_storage

_CREATE = "ShowCreateTable"


def show(question: Question) -> str:
    """Answer with the columns of the result of a statement; raise if it is refused."""
    if question.about["statement"] == "TruncatePartition":
        raise TruncatedPartitionError(
            operation="TRUNCATE TABLE ... PARTITION", hint="use DELETE FROM ... WHERE"
        )
    if question.about["statement"] == _CREATE:
        if question.objects[0].asSerde():
            raise StatementNotAllowedError(
                operation="SHOW CREATE TABLE ... AS SERDE", hint="leave AS SERDE out"
            )
        return "createtab_stmt string"
    snapshot = load_snapshot(session_storage(question.spark, question.about["path"]))
    if not snapshot.partition_columns:
        raise NoPartitionsError(
            operation="SHOW PARTITIONS of a table without partitions", hint="leave it out"
        )
    names = [quoted(name) for name in snapshot.partition_columns]
    rows = snapshot_frame(question.spark, snapshot).select(*names)
    return ", ".join(f"`{f.name}` {f.dataType.simpleString()}" for f in rows.schema.fields)


def shown_rows(question: Question) -> Any:
    """Answer with the result of a statement that shows a table."""
    snapshot = load_snapshot(session_storage(question.spark, question.about["path"]))
    if question.about["statement"] == _CREATE:
        return _creation(question, snapshot)
    return _partitions(question, snapshot)


def _creation(question: Question, snapshot: Snapshot) -> Any:
    """Return the statement that makes a table again; a managed one has no location in it."""
    spark, root = question.spark, snapshot.storage.root
    parts = question.about.get("parts")
    found = None if parts is None else named_table(spark, ".".join(quoted(part) for part in parts))
    if found is None:
        text = create_statement(spark, snapshot, f"delta.{quoted(root)}", None)
    else:
        location = None if found.is_managed else root
        text = create_statement(spark, snapshot, found.quoted_name, location)
    return java_frame(local_frame(spark, [(text,)], "createtab_stmt string"))


def _partitions(question: Question, snapshot: Snapshot) -> Any:
    names = [quoted(name) for name in snapshot.partition_columns]
    rows = snapshot_frame(question.spark, snapshot).select(*names).distinct()
    for name, text in partition_pattern(question.objects[0]).items():
        field = partition_field(snapshot, name)
        rows = rows.where(F.col(quoted(field.name)) == F.lit(text).cast(spark_type(field.type)))
    return java_frame(rows.orderBy(*names))
