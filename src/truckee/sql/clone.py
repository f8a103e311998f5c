"""CREATE TABLE ... CLONE: the location and name of the clone, and what to do if it exists."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from truckee.commands.care.clone import CloneRequest, clone
from truckee.commands.care.clone_parquet import clone_parquet
from truckee.commands.catalog import delta_location, enter_table
from truckee.commands.table_plan import existing_table
from truckee.errors.commands.clone import CloneSourceError, CloneTargetError
from truckee.errors.commands.create import CloneTargetExistsError, CloneTargetNotFoundError
from truckee.spark.session.catalog import (
    DELTA_PROVIDERS,
    NamedTable,
    default_location,
    named_table,
    path_in_name,
)
from truckee.spark.session.settings import session_storage
from truckee.sql.statements import LATEST, CloneStatement, TableRef
from truckee.sql.tables import table_storage

_PARQUET = "parquet"
_OTHERS = (_PARQUET, "iceberg")


def run_clone(spark: SparkSession, statement: CloneStatement) -> DataFrame | None:
    """Clone a table; return delta-spark's row of numbers, None if there was nothing to do."""
    _check_source(spark, statement)
    path = path_in_name(spark, str(statement.table))
    if path is not None:
        return _by_path(spark, statement, path)
    return _by_name(spark, statement)


def _check_source(spark: SparkSession, statement: CloneStatement) -> None:
    source = statement.source
    found = named_table(spark, str(source)) if len(source.parts) < 3 else None
    head = source.parts[0].lower() if found is None and len(source.parts) == 2 else ""
    provider = head if found is None else found.provider
    if provider == _PARQUET and _takes_parquet(statement):
        return
    is_other = provider not in DELTA_PROVIDERS if found is not None else head in _OTHERS
    if is_other:
        raise CloneSourceError(source=str(source), provider=provider)


def _takes_parquet(statement: CloneStatement) -> bool:
    """Return whether the source may be Parquet files, which have one version and no log."""
    return statement.is_shallow and statement.at == LATEST


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
    source = statement.source
    found = named_table(spark, str(source))
    request = CloneRequest(
        is_shallow=statement.is_shallow,
        replace=statement.replaces,
        properties=dict(statement.properties),
        source_name=None if found is None else found.name,
    )
    folder = _parquet_folder(source, found) if _takes_parquet(statement) else None
    if folder is not None:
        return clone_parquet(spark, session_storage(spark, folder), target, request, found)
    return clone(
        spark,
        table_storage(spark, source),
        target,
        request,
        version=statement.at.version,
        timestamp=statement.at.timestamp,
    )


def _parquet_folder(source: TableRef, found: NamedTable | None) -> str | None:
    """Return where the Parquet files of a source lie, None if it is a Delta table."""
    if found is not None:
        return found.location if found.provider == _PARQUET else None
    is_path = len(source.parts) == 2 and source.parts[0].lower() == _PARQUET
    return source.parts[1] if is_path else None
