"""DeltaTable: the front door, with the names that delta-spark users know."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.types import DataType, StructType

from truckee.care.health.doctor import diagnosis
from truckee.care.health.findings import Diagnosis
from truckee.changes.diff.request import VersionOrTime
from truckee.commands.care.auto_compact import enable_auto_compaction
from truckee.commands.care.clone import CloneRequest, clone
from truckee.commands.care.drop_feature import drop_feature
from truckee.commands.care.generate import generate
from truckee.commands.care.optimize_builder import DeltaOptimizeBuilder
from truckee.commands.care.restore import restore
from truckee.commands.care.table_properties import set_table_properties, unset_table_properties
from truckee.commands.care.vacuum import vacuum
from truckee.commands.catalog import location_of_table
from truckee.commands.ddl.alter_columns import (
    ColumnChange,
    NewColumn,
    add_columns,
    change_columns,
    drop_columns,
    rename_column,
)
from truckee.commands.ddl.alter_constraints import add_constraint, drop_constraint
from truckee.commands.ddl.alter_protocol import add_feature, upgrade_protocol
from truckee.commands.ddl.convert import convert_to_delta
from truckee.commands.ddl.create import Creation
from truckee.commands.ddl.table_builder import DeltaTableBuilder
from truckee.commands.dml.delete import delete
from truckee.commands.dml.update import update
from truckee.commands.merge.builder import DeltaMergeBuilder, merge_builder
from truckee.connect.client import over_connect
from truckee.doors.enable import enable_on_first_use
from truckee.errors.log import NotADeltaTableError
from truckee.log.files.history import history
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.options.arguments import (
    checked_argument,
    checked_feature_name,
    checked_flag,
    checked_version,
)
from truckee.options.feed import feed_options
from truckee.options.feed_shape import given_options
from truckee.report.notebook import table_overview
from truckee.spark.dml.frame_columns import ShownColumns
from truckee.spark.read.diff_frames import diff_frame
from truckee.spark.read.engine import changes_frame
from truckee.spark.read.frames import table_frame
from truckee.spark.read.history_frames import row_history_frame
from truckee.spark.read.table_description import detail_frame, history_frame
from truckee.spark.session.arguments import PathLike, checked_path, checked_session
from truckee.spark.session.catalog import full_name
from truckee.spark.session.settings import session_settings, session_storage, session_zone
from truckee.storage.base import Storage

enable_auto_compaction()
enable_on_first_use()


@over_connect
class DeltaTable:
    """A table, at whatever version is the latest when a method is called."""

    def __init__(self, spark: SparkSession, storage: Storage, alias: str | None = None) -> None:
        self._spark = spark
        self._storage = storage
        self._alias = alias
        self._name: str | None = None
        self._shown = ShownColumns()

    def __repr__(self) -> str:
        return f"DeltaTable.forPath(spark, {self._storage.root!r})"

    def _repr_html_(self) -> str:
        """Show the table in a notebook: its columns and last commits, read from the log alone."""
        return table_overview(self._snapshot())

    @classmethod
    def forPath(
        cls, sparkSession: SparkSession, path: PathLike, hadoopConf: Mapping[str, str] | None = None
    ) -> DeltaTable:
        """Return the table at a path; raises NotADeltaTableError if there is none."""
        storage = session_storage(sparkSession, path, hadoopConf)
        load_snapshot(storage)
        return cls(sparkSession, storage)

    @classmethod
    def forName(cls, sparkSession: SparkSession, tableOrViewName: str) -> DeltaTable:
        """Return the table of a name in Spark's catalog; NotADeltaTableError if there is none."""
        checked_session(sparkSession)
        name = checked_argument(tableOrViewName, str, what="tableOrViewName")
        opened = cls.forPath(sparkSession, location_of_table(sparkSession, name))
        opened._name = name
        return opened

    @classmethod
    def convertToDelta(
        cls,
        sparkSession: SparkSession,
        identifier: PathLike,
        partitionSchema: str | StructType | None = None,
    ) -> DeltaTable:
        """Convert the Parquet files at ``parquet.`path` `` or a Path to a table, in place."""
        return cls(sparkSession, convert_to_delta(sparkSession, identifier, partitionSchema))

    @classmethod
    def create(cls, sparkSession: SparkSession | None = None) -> DeltaTableBuilder[DeltaTable]:
        """Return a builder that creates a table; it is an error if there is one already."""
        return cls._builder(sparkSession, Creation.CREATE)

    @classmethod
    def createIfNotExists(
        cls, sparkSession: SparkSession | None = None
    ) -> DeltaTableBuilder[DeltaTable]:
        """Return a builder that creates a table unless there is one already."""
        return cls._builder(sparkSession, Creation.CREATE_IF_NOT_EXISTS)

    @classmethod
    def replace(cls, sparkSession: SparkSession | None = None) -> DeltaTableBuilder[DeltaTable]:
        """Return a builder that replaces a table; it is an error if there is none."""
        return cls._builder(sparkSession, Creation.REPLACE)

    @classmethod
    def createOrReplace(
        cls, sparkSession: SparkSession | None = None
    ) -> DeltaTableBuilder[DeltaTable]:
        """Return a builder that replaces a table, or creates it if there is none."""
        return cls._builder(sparkSession, Creation.CREATE_OR_REPLACE)

    @classmethod
    def _builder(cls, spark: SparkSession | None, kind: Creation) -> DeltaTableBuilder[DeltaTable]:
        session = SparkSession.active() if spark is None else checked_session(spark)
        return DeltaTableBuilder(session, kind, cls)

    @classmethod
    def isDeltaTable(cls, sparkSession: SparkSession, identifier: PathLike) -> bool:
        """Return whether there is a Delta table at a path."""
        try:
            load_snapshot(session_storage(sparkSession, identifier))
        except NotADeltaTableError:
            return False
        return True

    def toDF(self) -> DataFrame:
        """Return the rows of the version that is the latest when a query runs."""
        frame = self._shown.remember(table_frame(self._spark, self._snapshot(), follows=True))
        return frame if self._alias is None else frame.alias(self._alias)

    def alias(self, aliasName: str) -> DeltaTable:
        """Return the table under a name that conditions can use."""
        checked_argument(aliasName, str, what="aliasName")
        named = DeltaTable(self._spark, self._storage, aliasName)
        named._shown, named._name = self._shown, self._name
        return named

    def delete(self, condition: str | Column | None = None) -> DataFrame:
        """Delete the rows that the condition is true of, or all rows; return what was done."""
        return delete(self._spark, self._storage, condition, alias=self._alias, shown=self._shown)

    def update(
        self, condition: str | Column | None = None, set: Mapping[str, str | Column] | None = None
    ) -> DataFrame:
        """Give new values to the rows that the condition is true of; return what was done."""
        return update(
            self._spark, self._storage, condition, set, alias=self._alias, shown=self._shown
        )

    def merge(self, source: DataFrame, condition: str | Column) -> DeltaMergeBuilder:
        """Return a builder of a merge of a source into the table."""
        return merge_builder(
            self._spark, self._storage, source, condition, alias=self._alias, shown=self._shown
        )

    def optimize(self) -> DeltaOptimizeBuilder:
        """Return a builder that compacts, Z-orders, clusters or purges the files of the table."""
        return DeltaOptimizeBuilder(self._spark, self._storage)

    def detail(self) -> DataFrame:
        """Return one row that describes the table: format, id, size, protocol and so on."""
        return detail_frame(self._spark, self._snapshot(), name=full_name(self._spark, self._name))

    def history(self, limit: int | None = None) -> DataFrame:
        """Return the commits that the log still has, newest first."""
        if limit is not None:
            checked_argument(limit, int, what="limit")
        return history_frame(self._spark, history(self._storage, limit))

    def changes(
        self,
        startingVersion: int | None = None,
        endingVersion: int | None = None,
        startingTimestamp: str | date | datetime | None = None,
        endingTimestamp: str | date | datetime | None = None,
        **options: object,
    ) -> DataFrame:
        """Return the rows that were inserted, updated and deleted, both ends included.

        Without an end, the range ends at the latest version when a query runs, or, if rows are
        compared or columns are followed, at the latest version now. `options` are those of a feed,
        such as `changeFeed`, `deduplicationMode`, `computeUpdates` and `keys`.
        """
        given = given_options(
            options,
            startingVersion=startingVersion,
            endingVersion=endingVersion,
            startingTimestamp=startingTimestamp,
            endingTimestamp=endingTimestamp,
        )
        spark = self._spark
        asked = feed_options(given, conf=session_settings(spark), time_zone=session_zone(spark))
        return changes_frame(spark, self._storage, asked)

    def diff(
        self,
        start: VersionOrTime | None = None,
        end: VersionOrTime | None = None,
        keys: Sequence[str] | None = None,
        *,
        other: DeltaTable | None = None,
    ) -> DataFrame:
        """Return the rows that differ between two versions, with the type of their change.

        `start` and `end` are versions or timestamps in any order; None is the latest. The feed need
        not be on. Row ids or `keys` pair updates. With `other`, a clone, `end` is a version of it.
        """
        theirs = None if other is None else other._storage
        return diff_frame(self._spark, self._storage, (start, end), keys, theirs)

    def row_history(
        self,
        condition: str,
        keys: Sequence[str] | None = None,
        *,
        start: VersionOrTime | None = None,
    ) -> DataFrame:
        """Return every image of the rows that a condition is true of, oldest first.

        Each image has its version, time, operation, user and changed columns. Row ids, `keys` or
        conditions like `column = value` pair the images of updates.
        """
        checked_argument(condition, str, what="condition")
        return row_history_frame(self._spark, self._storage, condition, keys, start)

    def vacuum(
        self, retentionHours: float | None = None, *, protect: Iterable[str | int] = ()
    ) -> DataFrame:
        """Delete the files that no version within the retention needs; return an empty DataFrame.

        Without hours, the retention is the table's own. `protect` names readers whose files are
        kept: checkpoint folders of streams, or versions.
        """
        vacuum(self._spark, self._storage, retention_hours=retentionHours, protect=protect)
        return self._spark.range(0).select()

    def restoreToVersion(self, version: int) -> DataFrame:
        """Restore the table to a version, in a new version; return what was done."""
        return restore(self._spark, self._storage, version=version)

    def restoreToTimestamp(self, timestamp: str | date | datetime) -> DataFrame:
        """Restore the table to a time, in a new version; return what was done."""
        return restore(self._spark, self._storage, timestamp=timestamp)

    def clone(
        self,
        target: PathLike,
        isShallow: bool = False,
        replace: bool = False,
        properties: Mapping[str, str] | None = None,
    ) -> DeltaTable:
        """Return a new table at `target` with the same rows; files are shared or copied."""
        return self._cloned(target, isShallow, replace, properties)

    def cloneAtVersion(
        self,
        version: int,
        target: PathLike,
        isShallow: bool = False,
        replace: bool = False,
        properties: Mapping[str, str] | None = None,
    ) -> DeltaTable:
        """Return a new table at `target` with the rows of a version."""
        return self._cloned(target, isShallow, replace, properties, version=version)

    def cloneAtTimestamp(
        self,
        timestamp: str,
        target: PathLike,
        isShallow: bool = False,
        replace: bool = False,
        properties: Mapping[str, str] | None = None,
    ) -> DeltaTable:
        """Return a new table at `target` with the rows of a time."""
        return self._cloned(target, isShallow, replace, properties, timestamp=timestamp)

    def _cloned(
        self,
        target: PathLike,
        is_shallow: bool,
        replace: bool,
        properties: Mapping[str, str] | None,
        *,
        version: int | None = None,
        timestamp: str | None = None,
    ) -> DeltaTable:
        request = CloneRequest(is_shallow=is_shallow, replace=replace, properties=properties or {})
        place = checked_path(target, what="target")
        clone(self._spark, self._storage, place, request, version=version, timestamp=timestamp)
        return DeltaTable.forPath(self._spark, place)

    def generate(self, mode: str) -> None:
        """Write lists of the table's files for other readers; `symlink_format_manifest`."""
        generate(self._storage, mode)

    def doctor(self) -> Diagnosis:
        """Return what the table needs, based on its log and a listing; print it to read it."""
        return diagnosis(self._snapshot())

    def setProperties(self, properties: Mapping[str, str]) -> None:
        """Set table properties; those that need a feature also raise the protocol."""
        set_table_properties(self._spark, self._storage, properties)

    def unsetProperties(self, *keys: str) -> None:
        """Reset table properties to their defaults."""
        unset_table_properties(self._spark, self._storage, keys)

    def addConstraint(self, name: str, condition: str) -> None:
        """Require a condition to be true for every row, including existing rows."""
        add_constraint(self._spark, self._storage, name, condition)

    def dropConstraint(self, name: str) -> None:
        """Drop a constraint."""
        drop_constraint(self._storage, name)

    def addColumn(
        self,
        colName: str,
        dataType: str | DataType,
        comment: str | None = None,
        position: str | None = None,
    ) -> None:
        """Add a column, which is null in existing rows; `position` is `first` or `after x`."""
        column = NewColumn(name=colName, type=dataType, comment=comment, position=position)
        add_columns(self._storage, [column])

    def renameColumn(self, colName: str, newName: str) -> None:
        """Rename a column of a table with column mapping; data files do not change."""
        rename_column(self._spark, self._storage, colName, newName)

    def dropColumn(self, *colNames: str) -> None:
        """Drop columns of a table with column mapping; data files do not change."""
        drop_columns(self._spark, self._storage, colNames)

    def changeColumn(
        self,
        colName: str,
        dataType: str | DataType | None = None,
        nullable: bool | None = None,
        comment: str | None = None,
        default: str | None = None,
        position: str | None = None,
    ) -> None:
        """Change the given attributes of a column: a wider type, comment, default or position."""
        change = ColumnChange(
            name=colName,
            type=dataType,
            nullable=nullable,
            comment=comment,
            default=default,
            position=position,
        )
        change_columns(self._spark, self._storage, [change])

    def upgradeTableProtocol(self, readerVersion: int, writerVersion: int) -> None:
        """Raise the protocol to at least these reader and writer versions."""
        checked_version(readerVersion, what="readerVersion")
        checked_version(writerVersion, what="writerVersion")
        upgrade_protocol(self._storage, readerVersion, writerVersion)

    def addFeatureSupport(self, featureName: str) -> None:
        """Add a feature to the table's protocol."""
        checked_feature_name(featureName)
        add_feature(self._storage, featureName)

    def dropFeatureSupport(self, featureName: str, truncateHistory: bool | None = None) -> None:
        """Drop a feature that the table no longer uses; files with vectors are rewritten first."""
        checked_feature_name(featureName)
        asked = truncateHistory is not None
        truncates = asked and checked_flag(truncateHistory, what="truncateHistory")
        drop_feature(self._spark, self._storage, featureName, truncates=truncates)

    def _snapshot(self) -> Snapshot:
        return load_snapshot(self._storage)
