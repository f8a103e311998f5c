"""The error for a table that a statement cannot use, where delta-spark has one for that statement.

There are several, so a program that tests for one of them depends on which statement has which.
"""

from __future__ import annotations

from truckee.errors.base import DeltaError
from truckee.errors.commands.clone import CloneSourceError
from truckee.errors.commands.create import (
    IdentityOfOtherTableError,
    NotATruckeeTableError,
    ReorgOfOtherTableError,
    RestoreOfOtherTableError,
    ViewNamedError,
)
from truckee.errors.log import (
    NamedPathError,
    NoHistoryError,
    NotADeltaTableError,
    ReorgPathError,
)
from truckee.sql.statements import (
    CloneStatement,
    DetailStatement,
    HistoryStatement,
    OptimizeStatement,
    ReorgStatement,
    RestoreStatement,
    Statement,
    SyncIdentityStatement,
    VacuumStatement,
)


def refusal_of_path(statement: Statement, error: NotADeltaTableError) -> DeltaError:
    """Return the error of a statement for a path that has no table."""
    match statement:
        case HistoryStatement():
            return error.told_as(NoHistoryError)
        case VacuumStatement(table=table) | OptimizeStatement(table=table) if table.path:
            return error.told_as(NoHistoryError)
        case ReorgStatement():
            return error.told_as(ReorgPathError)
        case (
            VacuumStatement(table=table)
            | OptimizeStatement(table=table)
            | DetailStatement(table=table)
        ) if table.parts and error.table not in table.parts:
            return error.told_as(NamedPathError)
    return error


def refusal_of_name(statement: Statement, error: NotATruckeeTableError) -> DeltaError:
    """Return the error of a statement for the name of a view or of a table of another format."""
    is_view = isinstance(error, ViewNamedError)
    match statement:
        case RestoreStatement():
            kind = NotATruckeeTableError if is_view else RestoreOfOtherTableError
            return kind(table=error.table, provider=error.provider)
        case CloneStatement(source=source) if is_view and error.table == str(source):
            return CloneSourceError(source=error.table, provider=error.provider)
        case ReorgStatement() if not is_view:
            return ReorgOfOtherTableError(table=error.table, provider=error.provider)
        case SyncIdentityStatement() if not is_view:
            return IdentityOfOtherTableError(table=error.table, provider=error.provider)
    return error
