"""ALTER TABLE as Spark's catalog receives it: changes of properties and columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import groupby
from typing import Any

from pyspark.sql import SparkSession

from truckee.commands.care.table_properties import set_table_properties, unset_table_properties
from truckee.commands.ddl.alter_columns import (
    ColumnChange,
    NewColumn,
    add_columns,
    change_columns,
    drop_columns,
    rename_column,
)
from truckee.commands.ddl.replace_columns import replace_columns
from truckee.commands.ddl.set_location import set_location
from truckee.doors.definitions import spark_field
from truckee.doors.tables import table_name, table_storage_of
from truckee.errors.commands.create import PathLocationError
from truckee.errors.sql import AddedDefaultError, StatementNotAllowedError
from truckee.log.snapshot import load_snapshot
from truckee.protocol.schema import find_column
from truckee.spark.jvm.projection import quoted
from truckee.spark.session.doors import Question
from truckee.storage.base import Storage

_PROVIDER, _LOCATION = "provider", "location"
_SET, _UNSET, _ADD, _DROP = "SetProperty", "RemoveProperty", "AddColumn", "DeleteColumn"

AlterChange = dict[str, Any]


def alter(question: Question) -> None:
    """Run an ALTER TABLE: properties first, then columns."""
    spark, storage = question.spark, table_storage_of(question)
    changes: list[AlterChange] = question.about["changes"]
    if not changes:
        return  # Spark leaves out what is so already, as a type that a column has
    _check(changes)
    if changes[0]["change"] == _SET and changes[0]["key"] == _LOCATION:
        _move(question, changes[0]["value"])
        return
    columns = [change for change in changes if change["change"] not in (_SET, _UNSET)]
    given = {c["key"]: c["value"] for c in changes if c["change"] == _SET}
    taken = [c["key"] for c in changes if c["change"] == _UNSET]
    if given:
        set_table_properties(spark, storage, given)
    if taken:
        unset_table_properties(spark, storage, taken)
    if _replaces_columns(storage, columns):
        added = [
            replace(_new_column(c), name=c["column"][-1], position=None)
            for c in columns
            if c["change"] == _ADD
        ]
        replace_columns(spark, storage, added)
        return
    for kind, group in groupby(columns, key=_group):
        _RUN[kind](spark, storage, list(group))


def _move(question: Question, location: str) -> None:
    """Run SET LOCATION, which Spark's catalog is told as a property."""
    name = table_name(question.about)
    if name is None:
        raise PathLocationError(path=question.about["path"])
    set_location(question.spark, name, location)


def _check(changes: Iterable[AlterChange]) -> None:
    for change in changes:
        kind = change["change"]
        if kind in (_SET, _UNSET) and change["key"] == _PROVIDER:
            raise StatementNotAllowedError(
                operation="changing the provider of a table", hint="create another table"
            )
        if kind not in (_SET, _UNSET) and _group(change) not in _RUN:
            raise StatementNotAllowedError(
                operation=f"ALTER TABLE ({kind})", hint="see the documentation for what is"
            )
        if kind == _ADD and change.get("default") is not None:
            raise AddedDefaultError(
                operation="ALTER TABLE ADD COLUMN with a DEFAULT",
                hint="add the column, then use ALTER COLUMN ... SET DEFAULT",
            )


def _group(change: AlterChange) -> str:
    kind = str(change["change"])
    return "UpdateColumn" if kind.startswith("UpdateColumn") else kind


def _replaces_columns(storage: Storage, changes: list[AlterChange]) -> bool:
    """Return whether this is REPLACE COLUMNS: Spark drops all columns and adds others."""
    dropped = [c["column"][0] for c in changes if c["change"] == _DROP and len(c["column"]) == 1]
    if not dropped or changes[-1]["change"] != _ADD:
        return False
    return {n.casefold() for n in dropped} == {
        n.casefold() for n in load_snapshot(storage).schema.names
    }


def _add(_: SparkSession, storage: Storage, changes: list[AlterChange]) -> None:
    add_columns(storage, [_new_column(change) for change in changes])


def _new_column(change: AlterChange) -> NewColumn:
    field = spark_field(change["column"][-1], change["type"], nullable=change["nullable"])
    return NewColumn(
        name=_name(change),
        type=field.dataType,
        nullable=change["nullable"],
        comment=change.get("comment"),
        position=change.get("position"),
    )


def _drop(spark: SparkSession, storage: Storage, changes: list[AlterChange]) -> None:
    schema = load_snapshot(storage).schema
    there = [
        _name(c) for c in changes if not c["if_exists"] or find_column(schema, tuple(c["column"]))
    ]
    if there:
        drop_columns(spark, storage, there)


def _rename(spark: SparkSession, storage: Storage, changes: list[AlterChange]) -> None:
    for change in changes:
        rename_column(spark, storage, _name(change), change["name"])


def _update(spark: SparkSession, storage: Storage, changes: list[AlterChange]) -> None:
    by_column: dict[str, dict[str, Any]] = {}
    for change in changes:
        told = by_column.setdefault(_name(change), {})
        if "type" in change:
            told["type"] = spark_field("value", change["type"], nullable=True).dataType
        told |= {
            key: change[key]
            for key in ("nullable", "comment", "position", "default")
            if key in change
        }
    changes_of = [ColumnChange(name=name, **told) for name, told in by_column.items()]
    change_columns(spark, storage, changes_of)


def _name(change: AlterChange) -> str:
    return ".".join(quoted(part) for part in change["column"])


_RUN: dict[str, Callable[[SparkSession, Storage, list[AlterChange]], None]] = {
    _ADD: _add,
    _DROP: _drop,
    "RenameColumn": _rename,
    "UpdateColumn": _update,
}
