"""Which files an overwrite replaces, and what it reads to find them.

| requested    | what is removed                         | conflicts with                  |
|--------------|-----------------------------------------|---------------------------------|
| overwrite    | all files                               | any change of data              |
| replaceWhere | rows for which it is true, as by DELETE | files added to such partitions  |
| dynamic      | files of the partitions in the new data | files added to those partitions |
| replaceOn,   | rows that match one of the data         | files that may have such rows   |
| replaceUsing |                                         |                                 |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from msgspec.structs import replace as msgspec_replace
from pyspark.sql import SparkSession

from truckee.commands.dml.delete import DeletedRows, delete_rows
from truckee.commands.dml.outcome import RowChanges
from truckee.commands.removed_files import file_removals
from truckee.errors.protocol import InvalidPartitionValueError
from truckee.log.commit.transaction import Transaction
from truckee.log.snapshot import Snapshot
from truckee.protocol.actions import Action, AddFile, RemoveFile
from truckee.protocol.partition_values import parse
from truckee.protocol.predicates import (
    ALWAYS_FALSE,
    UNKNOWN,
    Column,
    Comparison,
    Predicate,
    all_of,
    any_of,
)
from truckee.protocol.schema import StructField
from truckee.spark.session.settings import session_zone

# With more partitions than this, their values are not compared one by one with other commits.
_MOST_PARTITIONS_TOLD = 100


@dataclass(frozen=True, kw_only=True)
class Replacement:
    """What an overwrite replaces: files that are removed, and rows that are kept from them.

    `predicate` selects the partitions that were read, None for all; `read` are the files that were
    read. `copied` are new files with the remaining rows of removed files, and `num_copied` is their
    number. `num_deleted` is the number of rows removed, None if unknown. By default nothing is
    replaced.
    """

    actions: tuple[Action, ...] = ()
    removed: tuple[AddFile, ...] = ()
    copied: tuple[AddFile, ...] = ()
    predicate: Predicate | None = ALWAYS_FALSE
    read: tuple[AddFile, ...] = ()
    num_deleted: int | None = None
    num_copied: int = 0
    num_change_files: int = 0
    changes: RowChanges | None = None

    @property
    def looked_at_table(self) -> bool:
        """Whether any rows of the table were read."""
        return self.predicate != ALWAYS_FALSE

    def note(self, transaction: Transaction) -> None:
        """Tell a transaction what was read."""
        if self.predicate is None:
            transaction.read_whole_table()
        elif self.looked_at_table:
            transaction.read_partitions(self.predicate)
            transaction.read_files(self.read)

    def with_data_change(self, data_change: bool) -> Replacement:
        """Return the same with `data_change` set on all actions."""
        if data_change:
            return self
        actions = tuple(
            msgspec_replace(action, data_change=False)
            if isinstance(action, AddFile | RemoveFile)
            else action
            for action in self.actions
        )
        return replace(self, actions=actions)

    def discard(self) -> None:
        """Delete the files that were written, because their commit failed."""
        if self.changes is not None:
            self.changes.discard()


def every_file(snapshot: Snapshot) -> Replacement:
    """Return all files of a table."""
    files = tuple(snapshot.files())
    return Replacement(actions=tuple(file_removals(files)), removed=files, predicate=None)


def rows_where(spark: SparkSession, snapshot: Snapshot, condition: str) -> Replacement:
    """Return the rows for which a condition is true, removed as by DELETE.

    Deletion vectors, and files with the remaining rows, are written.
    """
    return replacement_of(delete_rows(spark, snapshot, condition))


def replacement_of(found: DeletedRows) -> Replacement:
    """Return rows that were taken out as what gives way to new ones."""
    changes = found.changes
    changes.drop_parts()
    snapshot = changes.snapshot
    return Replacement(
        actions=changes.actions,
        removed=changes.removed,
        copied=tuple(changes.adds),
        predicate=changes.reading.predicate,
        read=tuple(snapshot.add_files(changes.reading.files)),
        num_deleted=found.num_deleted,
        num_copied=found.num_copied,
        num_change_files=changes.num_change_files,
        changes=changes,
    )


def files_beside(spark: SparkSession, snapshot: Snapshot, new: Iterable[AddFile]) -> Replacement:
    """Return the files of all partitions that have new files.

    Values are compared, not their texts: other writers may spell a timestamp differently.
    """
    fields = _partition_fields(snapshot)
    zone = session_zone(spark)
    wanted = {_values(file.partition_values, fields, zone) for file in new}
    files = tuple(
        file for file in snapshot.files() if _values(file.partition_values, fields, zone) in wanted
    )
    return Replacement(
        actions=tuple(file_removals(files)),
        removed=files,
        predicate=_predicate_of(fields, wanted),
        read=files,
    )


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
    except InvalidPartitionValueError:  # a date that Python cannot hold is compared as text
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
