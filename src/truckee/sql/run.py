"""One statement of Delta -> one command -> its result, with delta-spark's columns."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from truckee.commands.care.drop_feature import drop_feature
from truckee.commands.care.generate import generate
from truckee.commands.care.optimize import optimize, purge
from truckee.commands.care.restore import restore
from truckee.commands.care.vacuum import vacuum
from truckee.commands.ddl.alter_constraints import add_constraint, drop_constraint
from truckee.commands.ddl.cluster_by import cluster_by
from truckee.commands.ddl.convert import convert_to_delta
from truckee.commands.ddl.sync_identity import sync_identity
from truckee.errors.commands.create import NotATruckeeTableError
from truckee.errors.log import NotADeltaTableError
from truckee.errors.sql import StatementNotAllowedError
from truckee.log.files.history import history
from truckee.spark.local_frames import local_frame
from truckee.spark.read.table_description import history_frame
from truckee.sql.clone import run_clone
from truckee.sql.detail import detail_rows
from truckee.sql.refusals import refusal_of_name, refusal_of_path
from truckee.sql.result_columns import result_columns
from truckee.sql.statements import (
    AddConstraintStatement,
    CloneStatement,
    ClusterByStatement,
    ConvertStatement,
    DetailStatement,
    DropConstraintStatement,
    DropFeatureStatement,
    GenerateStatement,
    HistoryStatement,
    OptimizeStatement,
    PartitionField,
    ReorgStatement,
    RestoreStatement,
    Statement,
    SyncIdentityStatement,
    TableRef,
    VacuumStatement,
)
from truckee.sql.tables import table_storage


def run_statement(spark: SparkSession, statement: Statement) -> DataFrame:
    """Do what a statement says, once and now, and return its result.

    The columns are those of `result_columns`; statements that return nothing have none.
    """
    try:
        found = _result(spark, statement)
    except NotADeltaTableError as error:
        raise refusal_of_path(statement, error) from None
    except NotATruckeeTableError as error:
        raise refusal_of_name(statement, error) from None
    if found is not None:
        return found
    columns = result_columns(statement)
    return local_frame(spark, [], columns)


def _result(spark: SparkSession, statement: Statement) -> DataFrame | None:
    match statement:
        case DetailStatement(table):
            return detail_rows(spark, table)
        case HistoryStatement(table, limit):
            return history_frame(spark, history(table_storage(spark, table), limit))
        case CloneStatement():
            return run_clone(spark, statement)
        case VacuumStatement() | OptimizeStatement() | ReorgStatement() | RestoreStatement():
            return _cared(spark, statement)
    _altered(spark, statement)
    return None


def _cared(
    spark: SparkSession,
    statement: VacuumStatement | OptimizeStatement | ReorgStatement | RestoreStatement,
) -> DataFrame:
    if isinstance(statement, ReorgStatement) and statement.upgrades_uniform:
        raise StatementNotAllowedError(
            operation="REORG TABLE ... APPLY (UPGRADE UNIFORM ...)",
            hint="write Iceberg metadata with an engine that has UniForm",
        )
    storage = table_storage(spark, statement.table)
    match statement:
        case OptimizeStatement(where=where, zorder_by=columns, full=full):
            return optimize(spark, storage, where=_all(where), zorder_by=columns, full=full)
        case ReorgStatement(where=where):
            return purge(spark, storage, where=_all(where))
        case RestoreStatement(at=at):
            return restore(spark, storage, version=at.version, timestamp=at.timestamp)
        case VacuumStatement():
            return vacuum(
                spark,
                storage,
                retention_hours=statement.retention_hours,
                dry_run=statement.dry_run,
                mode=statement.mode,
                inventory=_inventory(spark, statement),
            )


def _all(where: str | None) -> tuple[str, ...]:
    return () if where is None else (where,)


def _inventory(spark: SparkSession, statement: VacuumStatement) -> DataFrame | None:
    if statement.inventory is not None:
        return spark.table(str(statement.inventory))
    if statement.inventory_query is not None:
        return spark.sql(statement.inventory_query)
    return None


def _altered(spark: SparkSession, statement: Statement) -> None:
    match statement:
        case ConvertStatement(table=table, partition_fields=fields, collect_stats=stats):
            convert_to_delta(spark, _identifier(table), _schema(fields), collect_stats=stats)
        case GenerateStatement(mode, table):
            generate(table_storage(spark, table), mode)
        case AddConstraintStatement(table, name, expression):
            add_constraint(spark, table_storage(spark, table), name, expression)
        case DropConstraintStatement(table, name, if_exists):
            drop_constraint(table_storage(spark, table), name, if_exists=if_exists)
        case DropFeatureStatement(table, feature, truncates):
            drop_feature(spark, table_storage(spark, table), feature, truncates=truncates)
        case ClusterByStatement(table, columns):
            cluster_by(table_storage(spark, table), columns)
        case SyncIdentityStatement(table, column):
            sync_identity(spark, table_storage(spark, table), column)


def _identifier(table: TableRef) -> str:
    """Return what CONVERT is about: the name of a table, or a path as ``parquet.`/p` ``."""
    if len(table.parts) == 2 and table.parts[0].lower() == "parquet":
        return f"parquet.`{table.parts[1]}`"
    return str(table)


def _schema(fields: tuple[PartitionField, ...]) -> str | None:
    if not fields:
        return None
    columns = (f"`{field.name.replace('`', '``')}` {field.type}" for field in fields)
    return ", ".join(columns)
