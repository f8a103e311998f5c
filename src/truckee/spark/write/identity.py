"""Identity columns: unique numbers that Spark's tasks hand out in parallel.

The protocol keeps `delta.identity.start`, `.step` and `.highWaterMark` (the last number given, if
any) in a column's metadata. Task p of n takes every n-th number: with start 1, step 1 and two
tasks, one has 1, 3, 5 and the other 2, 4, 6. The new high-water mark is then the largest number in
the files that were written (the smallest, if the step is negative). Gaps are allowed.
"""

from __future__ import annotations

from typing import NamedTuple

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as sf

from truckee.errors.columns import IdentityExhaustedError
from truckee.protocol.column_metadata import (
    IDENTITY_ALLOWS_EXPLICIT_KEY,
    IDENTITY_HIGH_WATER_MARK_KEY,
    IDENTITY_START_KEY,
    IDENTITY_STEP_KEY,
    identity_number,
)
from truckee.protocol.schema import StructField
from truckee.spark.jvm.bridge import gateway, scala_seq, to_column

# Spark's monotonically_increasing_id has the task's number above this many bits, and the number
# of the row within the task below.
_ROW_BITS = 33
# The numbers of a bigint are below this one.
_LIMIT = 1 << 63


class Identity(NamedTuple):
    """How one identity column continues: the next number and the step."""

    column: str
    next: int
    step: int
    takes_values: bool


def identity_of(field: StructField) -> Identity | None:
    """Return how an identity column continues; None if the column is not an identity column."""
    metadata = field.metadata
    if IDENTITY_STEP_KEY not in metadata:
        return None
    step = identity_number(field.name, field.metadata, IDENTITY_STEP_KEY)
    if metadata.get(IDENTITY_HIGH_WATER_MARK_KEY) is None:
        first = identity_number(field.name, field.metadata, IDENTITY_START_KEY)
    else:
        first = identity_number(field.name, field.metadata, IDENTITY_HIGH_WATER_MARK_KEY) + step
    return Identity(
        field.name, first, step, bool(metadata.get(IDENTITY_ALLOWS_EXPLICIT_KEY, False))
    )


def identity_values(spark: SparkSession, identity: Identity) -> Column:
    """Return a column with a number of its own for each row.

    Raises IdentityExhaustedError if there is not even one left.
    """
    if not -_LIMIT <= identity.next < _LIMIT:
        last = identity.next - identity.step
        raise IdentityExhaustedError(column=identity.column, last=last)
    row = sf.monotonically_increasing_id().bitwiseAND(sf.lit((1 << _ROW_BITS) - 1))
    position = row * _number_of_tasks(spark) + sf.spark_partition_id()
    return sf.lit(identity.next).cast("long") + position * sf.lit(identity.step).cast("long")


def _number_of_tasks(spark: SparkSession) -> Column:
    """Return `TaskContext.get().numPartitions()` as a column: how many tasks the stage has."""
    jvm = gateway(spark).jvm
    types = getattr(jvm, "org.apache.spark.sql.types")
    objects = getattr(jvm, "org.apache.spark.sql.catalyst.expressions.objects")
    context_class = jvm.java.lang.Class.forName("org.apache.spark.TaskContext")
    none = getattr(jvm.scala, "None$").__getattr__("MODULE$")
    nothing = scala_seq(spark, [])
    # Not deterministic, so that it is never evaluated on the driver, where there is no task.
    context = objects.StaticInvoke(
        context_class,
        types.ObjectType(context_class),
        "get",
        nothing,
        nothing,
        False,
        False,
        False,
        none,
    )
    integer = getattr(types, "IntegerType$").__getattr__("MODULE$")
    count = objects.Invoke(context, "numPartitions", integer, nothing, nothing, False, False, False)
    return to_column(spark, count)
