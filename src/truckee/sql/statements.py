"""Statements of Delta as values."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct


class TableRef(Struct, frozen=True):
    """How a statement names a table: by the parts of a name, or by a path in quotes."""

    parts: tuple[str, ...] = ()
    path: str | None = None

    def __str__(self) -> str:
        if self.path is not None:
            return f"'{self.path}'"
        return ".".join(f"`{part.replace('`', '``')}`" for part in self.parts)


class TimeTravel(Struct, frozen=True, kw_only=True):
    """A version, or a time as text; without either, the latest version."""

    version: int | None = None
    timestamp: str | None = None


LATEST = TimeTravel()


class PartitionField(Struct, frozen=True):
    """A partition column of CONVERT: its name, and its type as SQL has it."""

    name: str
    type: str
    nullable: bool = True
    comment: str | None = None


class VacuumStatement(Struct, frozen=True, kw_only=True):
    """`VACUUM t [LITE | FULL] [USING INVENTORY ...] [RETAIN n HOURS] [DRY RUN]`."""

    table: TableRef
    mode: str | None = None
    inventory: TableRef | None = None
    inventory_query: str | None = None
    retention_hours: float | None = None
    dry_run: bool = False


class OptimizeStatement(Struct, frozen=True, kw_only=True):
    """`OPTIMIZE t [FULL] [WHERE ...] [ZORDER BY ...]`."""

    table: TableRef
    full: bool = False
    where: str | None = None
    zorder_by: tuple[str, ...] = ()


class ReorgStatement(Struct, frozen=True, kw_only=True):
    """`REORG TABLE t [WHERE ...] APPLY (PURGE)`, or `APPLY (UPGRADE UNIFORM (...))`."""

    table: TableRef
    where: str | None = None
    upgrades_uniform: bool = False


class DetailStatement(Struct, frozen=True):
    """`DESCRIBE DETAIL t`."""

    table: TableRef


class HistoryStatement(Struct, frozen=True):
    """`DESCRIBE HISTORY t [LIMIT n]`."""

    table: TableRef
    limit: int | None = None


class GenerateStatement(Struct, frozen=True):
    """`GENERATE mode FOR TABLE t`."""

    mode: str
    table: TableRef


class ConvertStatement(Struct, frozen=True, kw_only=True):
    """`CONVERT TO DELTA t [NO STATISTICS] [PARTITIONED BY (...)]`."""

    table: TableRef
    partition_fields: tuple[PartitionField, ...] = ()
    collect_stats: bool = True


class RestoreStatement(Struct, frozen=True):
    """`RESTORE [TABLE] t [TO] VERSION AS OF n`, or a time."""

    table: TableRef
    at: TimeTravel


class CloneStatement(Struct, frozen=True, kw_only=True):
    """`CREATE TABLE t SHALLOW CLONE s ...`, or one that replaces `t`."""

    table: TableRef
    source: TableRef
    creates: bool = True
    replaces: bool = False
    if_not_exists: bool = False
    is_shallow: bool = True
    at: TimeTravel = LATEST
    properties: tuple[tuple[str, str], ...] = ()
    location: str | None = None


class AddConstraintStatement(Struct, frozen=True):
    """`ALTER TABLE t ADD CONSTRAINT n CHECK (...)`."""

    table: TableRef
    name: str
    expression: str


class DropConstraintStatement(Struct, frozen=True):
    """`ALTER TABLE t DROP CONSTRAINT [IF EXISTS] n`."""

    table: TableRef
    name: str
    if_exists: bool = False


class DropFeatureStatement(Struct, frozen=True):
    """`ALTER TABLE t DROP FEATURE f [TRUNCATE HISTORY]`."""

    table: TableRef
    feature: str
    truncate_history: bool = False


class ClusterByStatement(Struct, frozen=True):
    """`ALTER TABLE t CLUSTER BY (...)`; no columns for `CLUSTER BY NONE`."""

    table: TableRef
    columns: tuple[tuple[str, ...], ...] = ()


class SyncIdentityStatement(Struct, frozen=True):
    """`ALTER TABLE t ALTER COLUMN c SYNC IDENTITY`."""

    table: TableRef
    column: tuple[str, ...]


Statement: TypeAlias = (
    VacuumStatement
    | OptimizeStatement
    | ReorgStatement
    | DetailStatement
    | HistoryStatement
    | GenerateStatement
    | ConvertStatement
    | RestoreStatement
    | CloneStatement
    | AddConstraintStatement
    | DropConstraintStatement
    | DropFeatureStatement
    | ClusterByStatement
    | SyncIdentityStatement
)
