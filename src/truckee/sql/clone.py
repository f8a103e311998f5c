"""CREATE TABLE ... CLONE: the location and name of the clone, and what to do if it exists."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from truckee.commands.care.clone import CloneRequest, clone
from truckee.commands.catalog import delta_location, enter_table
from truckee.commands.table_plan import existing_table
from truckee.errors.commands.clone import CloneSourceError, CloneTargetError
from truckee.errors.commands.create import CloneTargetExistsError, CloneTargetNotFoundError
from truckee.spark.session.catalog import (
    DELTA_PROVIDERS,
    default_location,
    named_table,
    path_in_name,
)
from truckee.spark.session.settings import session_storage
from truckee.sql.statements import CloneStatement, TableRef
from truckee.sql.tables import table_storage


def run_clone(spark: SparkSession, statement: CloneStatement) -> DataFrame | None:
    """Clone a table; return delta-spark's row of numbers, None if there was nothing to do."""
    _check_source(spark, statement.source)
    path = path_in_name(spark, str(statement.table))
    if path is not None:
        return _by_path(spark, statement, path)
    return _by_name(spark, statement)


def _check_source(spark: SparkSession, source: TableRef) -> None:
    found = named_table(spark, str(source)) if len(source.parts) < 3 else None
    if found is not None and found.provider not in DELTA_PROVIDERS:
        raise CloneSourceError(source=str(source), provider=found.provider)
    head = source.parts[0].lower() if len(source.parts) == 2 else ""
    if found is None and head in ("parquet", "iceberg"):
        raise CloneSourceError(source=str(source), provider=head)


def _by_path(spark: SparkSession, statement: CloneStatement, path: str) -> DataFrame | None:
    if statement.location is not None and statement.location.rstrip("/") != path.rstrip("/"):
        raise CloneTargetError(location=statement.location, path=path)
    is_there = existing_table(session_storage(spark, path)) is not None
    if is_there and statement.if_not_exists:
        return None
    if not is_there and not statement.creates:
        raise _not_found(str(statement.table))
    return _cloned(spark, statement, path)


def _by_name(spark: SparkSession, statement: CloneStatement) -> DataFrame | None:
    name = str(statement.table)
    if named_table(spark, name) is not None:
        if statement.if_not_exists:
            return None
        if not statement.replaces:
            raise CloneTargetExistsError(table=name)
        return _cloned(spark, statement, delta_location(spark, name))
    if not statement.creates:
        raise _not_found(name)
    place = statement.location or default_location(spark, name)
    done = _cloned(spark, statement, place)
    enter_table(spark, name, place, is_managed=statement.location is None)
    return done


def _not_found(name: str) -> CloneTargetNotFoundError:
    return CloneTargetNotFoundError(table=name, hint="write CREATE OR REPLACE TABLE to create it")


def _cloned(spark: SparkSession, statement: CloneStatement, target: str) -> DataFrame:
    found = named_table(spark, str(statement.source))
    request = CloneRequest(
        is_shallow=statement.is_shallow,
        replace=statement.replaces,
        properties=dict(statement.properties),
        source_name=None if found is None else found.name,
    )
    return clone(
        spark,
        table_storage(spark, statement.source),
        target,
        request,
        version=statement.at.version,
        timestamp=statement.at.timestamp,
    )
