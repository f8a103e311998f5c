"""A table in plain Python, and commands that can be run on it and on a real table.

A row is (id, v, part); v and part may be None. A condition is SQL, with a function that gives the
same result for a row: True, False or None.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from dml_tables import Table
from truckee.commands.care.optimize import optimize, purge
from truckee.commands.dml.delete import delete
from truckee.commands.dml.update import update
from truckee.commands.merge.builder import merge_builder
from truckee.writer import write

Row = tuple[Any, Any, Any]
Changed = tuple[Any, Any, Any, str]
COLUMNS = ("id", "v", "part")
SCHEMA = pa.schema([("id", pa.int64()), ("v", pa.int32()), ("part", pa.int32())])


class Sql(NamedTuple):
    """An expression over the columns of a row, in SQL and in Python; `{}` is the row's alias."""

    text: str
    value: Callable[[Row], Any]

    def of(self, alias: str) -> str:
        return self.text.replace("{}", alias)


def null_safe(function: Callable[..., Any], *columns: int) -> Callable[[Row], Any]:
    """Return a function of some columns that is None if one of them is."""

    def value(row: Row) -> Any:
        given = [row[column] for column in columns]
        return None if None in given else function(*given)

    return value


@dataclass
class Model:
    """The rows of a table, those of all its versions, and what every version changed."""

    rows: list[Row]
    changes: list[list[Changed]] = field(default_factory=list)
    past: list[list[Row]] = field(default_factory=list)
    untold: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.past.append(list(self.rows))

    def commit(self, rows: list[Row], changes: list[Changed]) -> None:
        """Make a version, unless nothing changed."""
        if changes:
            self.jump(rows, changes)

    def jump(self, rows: list[Row], changes: list[Changed] | None = None) -> None:
        """Make a version of these rows; None if it depends on files which changes are shown."""
        self.rows = list(rows)
        self.changes.append(changes or [])
        self.past.append(list(rows))
        if changes is None:
            self.untold.add(len(self.changes))


Counts = Mapping[str, int]
"""How many rows were changed in which way, by change type."""


class Command(Protocol):
    """Something that changes a table; `on_table` returns the command's own result."""

    def on_model(self, model: Model) -> None: ...

    def on_table(self, table: Table) -> dict[str, int]: ...

    def metrics(self, counts: Counts) -> dict[str, int]:
        """The metrics of rows that the commit must have."""
        ...

    def affected(self, counts: Counts) -> dict[str, int]:
        """What the command must return."""
        ...


def counted(changes: Sequence[Changed]) -> Counts:
    return Counter(change[3] for change in changes)


@dataclass(frozen=True)
class Append:
    rows: tuple[Row, ...]

    def on_model(self, model: Model) -> None:
        model.commit([*model.rows, *self.rows], [(*row, "insert") for row in self.rows])

    def on_table(self, table: Table) -> dict[str, int]:
        table.append(frame(table.spark, self.rows))
        return {}

    def metrics(self, counts: Counts) -> dict[str, int]:
        return {"numOutputRows": counts["insert"]}

    def affected(self, counts: Counts) -> dict[str, int]:
        return {}


@dataclass(frozen=True)
class Overwrite:
    rows: tuple[Row, ...]

    def on_model(self, model: Model) -> None:
        changes = [(*row, "delete") for row in model.rows]
        model.commit(list(self.rows), changes + [(*row, "insert") for row in self.rows])

    def on_table(self, table: Table) -> dict[str, int]:
        write(frame(table.spark, self.rows)).mode("overwrite").save(str(table.path))
        return {}

    def metrics(self, counts: Counts) -> dict[str, int]:
        return {"numOutputRows": counts["insert"]}

    def affected(self, counts: Counts) -> dict[str, int]:
        return {}


@dataclass(frozen=True)
class Delete:
    where: Sql

    def on_model(self, model: Model) -> None:
        gone = [row for row in model.rows if self.where.value(row) is True]
        kept = [row for row in model.rows if self.where.value(row) is not True]
        model.commit(kept, [(*row, "delete") for row in gone])

    def on_table(self, table: Table) -> dict[str, int]:
        return told(delete(table.spark, table.storage, self.where.of("t"), alias="t"))

    def metrics(self, counts: Counts) -> dict[str, int]:
        return {"numDeletedRows": counts["delete"]}

    def affected(self, counts: Counts) -> dict[str, int]:
        return {"num_affected_rows": counts["delete"]}


@dataclass(frozen=True)
class Update:
    where: Sql
    values: tuple[tuple[str, Sql], ...]

    def on_model(self, model: Model) -> None:
        rows: list[Row] = []
        changes: list[Changed] = []
        for row in model.rows:
            if self.where.value(row) is True:
                rows.append(updated(row, self.values, row))
                changes += images(row, rows[-1])
            else:
                rows.append(row)
        model.commit(rows, changes)

    def on_table(self, table: Table) -> dict[str, int]:
        values = {name: value.of("t") for name, value in self.values}
        return told(update(table.spark, table.storage, self.where.of("t"), values, alias="t"))

    def metrics(self, counts: Counts) -> dict[str, int]:
        return {"numUpdatedRows": counts["update_preimage"]}

    def affected(self, counts: Counts) -> dict[str, int]:
        return {"num_affected_rows": counts["update_preimage"]}


@dataclass(frozen=True)
class Merge:
    """A merge by id, which the source has once; conditions of clauses are about the target row,
    those of inserts about the source row."""

    source: tuple[Row, ...]
    matched_delete: Sql | None = None
    matched_update: Sql | None = None
    insert: Sql | None = None
    by_source_update: Sql | None = None
    by_source_delete: Sql | None = None

    def on_model(self, model: Model) -> None:
        keys = {row[0]: row for row in self.source if row[0] is not None}
        rows: list[Row] = []
        changes: list[Changed] = []
        for row in model.rows:
            deletes, updates = self.matched_delete, self.matched_update
            theirs = keys.get(row[0])
            if theirs is None:
                deletes, updates = self.by_source_delete, self.by_source_update
            if deletes is not None and deletes.value(row) is True:
                changes.append((*row, "delete"))
            elif updates is not None and updates.value(row) is True:
                new = (row[0], *theirs[1:]) if theirs is not None else (row[0], -7, row[2])
                rows.append(new)
                changes += images(row, new)
            else:
                rows.append(row)
        there = {row[0] for row in model.rows}
        for row in self.source:
            is_new = row[0] is None or row[0] not in there
            if is_new and self.insert is not None and self.insert.value(row) is True:
                rows.append(row)
                changes.append((*row, "insert"))
        model.commit(rows, changes)

    def on_table(self, table: Table) -> dict[str, int]:
        source = frame(table.spark, self.source).alias("s")
        builder = merge_builder(table.spark, table.storage, source, "t.id = s.id", alias="t")
        if self.matched_delete is not None:
            builder = builder.whenMatchedDelete(self.matched_delete.of("t"))
        if self.matched_update is not None:
            builder = builder.whenMatchedUpdateAll(self.matched_update.of("t"))
        if self.insert is not None:
            builder = builder.whenNotMatchedInsertAll(self.insert.of("s"))
        if self.by_source_delete is not None:
            builder = builder.whenNotMatchedBySourceDelete(self.by_source_delete.of("t"))
        if self.by_source_update is not None:
            builder = builder.whenNotMatchedBySourceUpdate(
                self.by_source_update.of("t"), {"v": "-7"}
            )
        return told(builder.execute())

    def metrics(self, counts: Counts) -> dict[str, int]:
        return {
            "numSourceRows": len(self.source),
            "numTargetRowsInserted": counts["insert"],
            "numTargetRowsUpdated": counts["update_preimage"],
            "numTargetRowsDeleted": counts["delete"],
        }

    def affected(self, counts: Counts) -> dict[str, int]:
        updated, deleted = counts["update_preimage"], counts["delete"]
        return {
            "num_affected_rows": updated + deleted + counts["insert"],
            "num_updated_rows": updated,
            "num_deleted_rows": deleted,
            "num_inserted_rows": counts["insert"],
        }


@dataclass(frozen=True)
class Rewrite:
    """OPTIMIZE, Z-order or PURGE: files change, but no row does."""

    kind: str

    def on_model(self, model: Model) -> None:
        """Change nothing; a commit without rows is told by `on_table`."""

    def on_table(self, table: Table) -> dict[str, int]:
        if self.kind == "purge":
            purge(table.spark, table.storage)
        else:
            zorder = ["v", "id"] if self.kind == "z-order" else []
            optimize(table.spark, table.storage, zorder_by=zorder)
        return {}

    def metrics(self, counts: Counts) -> dict[str, int]:
        return {}

    def affected(self, counts: Counts) -> dict[str, int]:
        return {}


def told(frame: DataFrame) -> dict[str, int]:
    """Return the one row that a command answers with."""
    [row] = frame.collect()
    return row.asDict()


def updated(row: Row, values: Sequence[tuple[str, Sql]], old: Row) -> Row:
    new = list(row)
    for name, value in values:
        new[COLUMNS.index(name)] = value.value(old)
    return new[0], new[1], new[2]


def images(before: Row, after: Row) -> list[Changed]:
    return [(*before, "update_preimage"), (*after, "update_postimage")]


def frame(spark: SparkSession, rows: Sequence[Row]) -> DataFrame:
    columns = list(zip(*rows, strict=True)) or [(), (), ()]
    return spark.createDataFrame(
        pa.table([pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)], schema=SCHEMA)
    )


def applied(rows: Sequence[Row], changes: Sequence[tuple[Any, ...]]) -> Counter[Row]:
    """Return rows with changes applied, as a multiset; counts below 0 were removed too often."""
    found = Counter(rows)
    for id_, v, part, kind, *_ in changes:
        found[id_, v, part] += 1 if kind in ("insert", "update_postimage") else -1
    return Counter({row: count for row, count in found.items() if count})


def in_order(rows: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return sorted(rows, key=lambda row: [(value is None, str(value)) for value in row])
