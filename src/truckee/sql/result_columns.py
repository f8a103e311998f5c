"""The result columns of each statement, which Spark needs before the statement runs."""

from __future__ import annotations

from truckee.commands.care.clone import CLONE_RESULT_COLUMNS as CLONE_COLUMNS
from truckee.commands.care.optimize_metrics import METRICS_TYPE
from truckee.commands.care.restore import RESTORE_RESULT_COLUMNS as RESTORE_COLUMNS
from truckee.spark.read.table_description import DETAIL_COLUMNS, HISTORY_COLUMNS
from truckee.sql.statements import (
    CloneStatement,
    DetailStatement,
    HistoryStatement,
    OptimizeStatement,
    ReorgStatement,
    RestoreStatement,
    Statement,
    VacuumStatement,
)


def result_columns(statement: Statement) -> str:
    """Return the columns of a statement's result as DDL, empty if it has none."""
    match statement:
        case VacuumStatement():
            return "path string"
        case OptimizeStatement() | ReorgStatement():
            return f"path string, metrics {METRICS_TYPE}"
        case DetailStatement():
            return DETAIL_COLUMNS
        case HistoryStatement():
            return HISTORY_COLUMNS
        case RestoreStatement():
            return ", ".join(f"{name} bigint" for name in RESTORE_COLUMNS)
        case CloneStatement():
            return ", ".join(f"{name} bigint" for name in CLONE_COLUMNS)
    return ""
