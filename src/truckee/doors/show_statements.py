"""Statements that show a table as Delta does, and those that Delta refuses."""

from __future__ import annotations

from typing import Any

from truckee.errors.sql import StatementNotAllowedError
from truckee.log.snapshot import load_snapshot
from truckee.spark.read.frames import snapshot_frame
from truckee.spark.session.catalog_tables import java_frame
from truckee.spark.session.doors import Question
from truckee.spark.session.settings import session_storage

_REFUSED = {
    "ShowCreateTable": ("SHOW CREATE TABLE", "see DESCRIBE DETAIL and DESCRIBE EXTENDED"),
    "AnalyzeTable": ("ANALYZE TABLE", "statistics of a Delta table are in its log"),
}


def show(question: Question) -> str:
    """Answer with the columns of the result of a statement; raise if it is refused."""
    refused = _REFUSED.get(question.about["statement"])
    if refused is not None:
        raise StatementNotAllowedError(operation=refused[0], hint=refused[1])
    snapshot = load_snapshot(session_storage(question.spark, question.about["path"]))
    if not snapshot.partition_columns:
        raise StatementNotAllowedError(
            operation="SHOW PARTITIONS of a table without partitions", hint="leave it out"
        )
    rows = snapshot_frame(question.spark, snapshot).select(*snapshot.partition_columns)
    return ", ".join(f"`{f.name}` {f.dataType.simpleString()}" for f in rows.schema.fields)


def shown(question: Question) -> Any:
    """Answer with the partitions of a table, one column for each partition column."""
    snapshot = load_snapshot(session_storage(question.spark, question.about["path"]))
    rows = snapshot_frame(question.spark, snapshot).select(*snapshot.partition_columns)
    return java_frame(rows.distinct().orderBy(*snapshot.partition_columns))
