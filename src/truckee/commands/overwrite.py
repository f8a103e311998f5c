"""Which files an overwrite replaces, and what it has to have read to know.

| asked for                | files that go                           | conflicts with       |
|--------------------------|-----------------------------------------|----------------------|
| overwrite                | all                                     | any change of data   |
| replaceWhere, partitions | those of partitions where it is true    | files added to such  |
| dynamic                  | those of the partitions in the new data | files added to those |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

from truckee.errors.protocol import InvalidPartitionValueError
from truckee.errors.write import ReplaceWhereDataConditionError
from truckee.log.snapshot import Snapshot
from truckee.log.transaction import Transaction
from truckee.protocol.actions import AddFile
from truckee.protocol.partition_values import parse
from truckee.protocol.predicates import UNKNOWN, Column, Comparison, Predicate, all_of, any_of
from truckee.protocol.schema import StructField, StructType
from truckee.spark.conf import session_zone
from truckee.spark.writer_conditions import Condition, matching_partitions

# Beyond this many partitions their values are not compared one by one with those of other commits.
_MOST_PARTITIONS_TOLD = 100


@dataclass(frozen=True)
class Replaced:
    """Files that give way to new ones; `predicate` tells which partitions were looked at.

    None for `predicate` stands for the whole table.
    """

    files: tuple[AddFile, ...]
    predicate: Predicate | None

    def note(self, transaction: Transaction) -> None:
        """Tell a transaction what was read."""
        if self.predicate is None:
            transaction.read_whole_table()
        else:
            transaction.read_partitions(self.predicate)
            transaction.read_files(self.files)


def every_file(snapshot: Snapshot) -> Replaced:
    """Return all files of a table."""
    return Replaced(tuple(snapshot.files()), None)


def files_where(spark: SparkSession, snapshot: Snapshot, condition: Condition) -> Replaced:
    """Return the files of the partitions for which a condition is true.

    Raises ReplaceWhereDataConditionError if the condition reads other columns.
    """
    if not condition.reads_only(snapshot.partition_columns):
        raise ReplaceWhereDataConditionError(
            condition=condition.sql,
            columns=tuple(sorted(condition.columns)),
            partition_columns=snapshot.partition_columns,
        )
    files = tuple(snapshot.files())
    partitions = list({_key(file): file.partition_values for file in files}.values())
    schema = StructType(tuple(_partition_fields(snapshot)))
    hit = matching_partitions(spark, condition.sql, schema, partitions)
    matching = {tuple(sorted(p.items())) for p, hits in zip(partitions, hit, strict=True) if hits}
    return Replaced(tuple(f for f in files if _key(f) in matching), condition.predicate)


def _key(file: AddFile) -> tuple[tuple[str, str | None], ...]:
    return tuple(sorted(file.partition_values.items()))


def files_beside(spark: SparkSession, snapshot: Snapshot, new: Iterable[AddFile]) -> Replaced:
    """Return the files of all partitions that new files lie in.

    Values are compared, not their texts: other writers may spell a timestamp in another way.
    """
    fields = _partition_fields(snapshot)
    zone = session_zone(spark)
    wanted = {_values(file.partition_values, fields, zone) for file in new}
    files = tuple(
        file for file in snapshot.files() if _values(file.partition_values, fields, zone) in wanted
    )
    return Replaced(files, _predicate_of(fields, wanted))


def _partition_fields(snapshot: Snapshot) -> list[StructField]:
    fields = [snapshot.schema.field(name) for name in snapshot.partition_columns]
    return [field for field in fields if field is not None]


def _values(
    texts: Mapping[str, str | None], fields: Sequence[StructField], zone: str
) -> tuple[Any, ...]:
    return tuple(_value(texts.get(field.physical_name), field, zone) for field in fields)


def _value(text: str | None, field: StructField, zone: str) -> Any:
    try:
        return parse(text, field.type, zone)
    except InvalidPartitionValueError:  # a date that Python cannot hold is compared as it is told
        return text


def _predicate_of(fields: Sequence[StructField], wanted: set[tuple[Any, ...]]) -> Predicate:
    if len(wanted) > _MOST_PARTITIONS_TOLD:
        return UNKNOWN
    return any_of(
        *(
            all_of(
                *(
                    Comparison("<=>", Column((field.name,)), value)
                    for field, value in zip(fields, values, strict=True)
                )
            )
            for values in wanted
        )
    )
