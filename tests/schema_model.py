"""Schema changes, for histories that are run on a table and on a model alike: no row changes."""

from __future__ import annotations

from dataclasses import dataclass

from dml_model import Counts, Model
from dml_tables import Table
from truckee.commands.ddl.alter_columns import (
    ColumnChange,
    NewColumn,
    add_columns,
    change_columns,
    drop_columns,
    rename_column,
)

EXTRA = "extra"
WIDENING = {"delta.enableTypeWidening": "true"}


@dataclass(frozen=True)
class SchemaChange:
    """One change of the schema, which is a version of its own."""

    def on_model(self, model: Model) -> None:
        model.jump(model.rows, [])

    def on_table(self, table: Table) -> dict[str, int]:
        raise NotImplementedError

    def metrics(self, counts: Counts) -> dict[str, int]:
        return {}

    def affected(self, counts: Counts) -> dict[str, int]:
        return {}


@dataclass(frozen=True)
class Widen(SchemaChange):
    """Let `v` be a long; again, if a restore has made it an integer."""

    def on_table(self, table: Table) -> dict[str, int]:
        change_columns(table.spark, table.storage, [ColumnChange(name="v", type="bigint")])
        return {}


@dataclass(frozen=True)
class Rename(SchemaChange):
    """Spell `v` as `V`, or the other way: another name, by which SQL finds it all the same."""

    def on_table(self, table: Table) -> dict[str, int]:
        name = table.snapshot.schema.names[1]
        rename_column(table.spark, table.storage, name, name.swapcase())
        return {}


@dataclass(frozen=True)
class AddColumn(SchemaChange):
    """Add a column in front, null in all rows."""

    def on_table(self, table: Table) -> dict[str, int]:
        add_columns(table.storage, [NewColumn(name=EXTRA, type="int", position="first")])
        return {}


@dataclass(frozen=True)
class DropColumn(SchemaChange):
    """Drop that column."""

    def on_table(self, table: Table) -> dict[str, int]:
        drop_columns(table.spark, table.storage, [EXTRA])
        return {}
