"""ADD and DROP CONSTRAINT: conditions that every row of a table must satisfy."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

from truckee.commands.table_plan import table_plan
from truckee.errors.commands.alter import (
    ConstraintAlreadyViolatedError,
    ConstraintExistsError,
    ConstraintNotBooleanError,
    ConstraintNotFoundError,
)
from truckee.errors.commands.dml import InvalidExpressionError
from truckee.log.running_command import running
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.protocol.actions import Metadata
from truckee.protocol.properties import CONSTRAINT_PREFIX
from truckee.protocol.schema import PrimitiveType, StructType, type_text
from truckee.spark.read.frames import snapshot_frame
from truckee.spark.session.job_descriptions import job_description
from truckee.spark.write.condition_checks import parse_expression
from truckee.spark.write.session_copy import COLUMN_SETTINGS, on_session
from truckee.spark.write.table_sql import check_rule
from truckee.storage.base import Storage


def add_constraint(spark: SparkSession, storage: Storage, name: str, expression: str) -> int:
    """Add a condition in SQL as a constraint of the table, and return the version that has it.

    All existing rows are checked first, and must satisfy it.
    """
    snapshot = load_snapshot(storage)
    known = snapshot.properties.constraints
    if name.lower() in known:
        raise ConstraintExistsError(name=name, expression=known[name.lower()])
    _check_condition(spark, name, expression, snapshot.schema)
    key = f"{CONSTRAINT_PREFIX}{name.lower()}"
    configuration = {**snapshot.metadata.configuration, key: expression}
    metadata = replace(snapshot.metadata, configuration=configuration)
    table = table_plan(storage, snapshot, metadata)
    table.check("ADD CONSTRAINT")

    rows = on_session(snapshot_frame(spark, snapshot), COLUMN_SETTINGS)
    with running("ADD CONSTRAINT", storage.root), job_description(spark, "checking rows"):
        broken = rows.where(~sf.coalesce(sf.expr(expression), sf.lit(False))).count()
    if broken:
        raise ConstraintAlreadyViolatedError(name=name, expression=expression, rows=broken)
    transaction = table.transaction()
    transaction.read_whole_table()
    return transaction.commit("ADD CONSTRAINT", parameters={"name": name, "expr": expression})


def _check_condition(spark: SparkSession, name: str, expression: str, schema: StructType) -> None:
    found = parse_expression(spark, expression, schema, what=f"constraint {name}")
    if isinstance(found, InvalidExpressionError):
        raise found
    check_rule(name, expression)
    reason = None
    if found.type != PrimitiveType("boolean"):
        reason = f"it gives {type_text(found.type)}"
    elif not found.is_deterministic:
        reason = "its result is not the same each time"
    if reason is not None:
        raise ConstraintNotBooleanError(name=name, expression=expression, reason=reason)


def drop_constraint(storage: Storage, name: str, *, if_exists: bool = False) -> int:
    """Drop a constraint, and return the version that no longer has it.

    With `if_exists`, there is a commit even if the table does not have the constraint.
    """
    snapshot = load_snapshot(storage)
    known = snapshot.properties.constraints
    expression = known.get(name.lower())
    if expression is None:
        if not if_exists:
            raise ConstraintNotFoundError(name=name, known=tuple(sorted(known)))
        return _commit_drop(snapshot, snapshot.metadata, {"name": name, "existed": "false"})
    key = f"{CONSTRAINT_PREFIX}{name.lower()}"
    configuration = {
        other: value
        for other, value in snapshot.metadata.configuration.items()
        if other.lower() != key
    }
    metadata = replace(snapshot.metadata, configuration=configuration)
    parameters = {"name": name, "expr": expression, "existed": "true"}
    return _commit_drop(snapshot, metadata, parameters)


def _commit_drop(snapshot: Snapshot, metadata: Metadata, parameters: Mapping[str, str]) -> int:
    table = table_plan(snapshot.storage, snapshot, metadata)
    table.check("DROP CONSTRAINT")
    return table.transaction().commit("DROP CONSTRAINT", parameters=parameters, allow_empty=True)
