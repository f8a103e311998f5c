"""Feeds that are derived, netted or follow their columns, as DataFrames.

parts by era -> the columns of all eras -> compared -> netted -> the columns that are shown
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType as SparkStruct

from truckee.changes.changelog.changelog import (
    CHANGE_SOURCE_COLUMN,
    SCHEMA_VERSION_COLUMN,
    Changelog,
    FeedPart,
    RowIdentity,
)
from truckee.changes.changelog.column_history import keyed_type
from truckee.changes.changelog.opening import key_path, open_changelog
from truckee.changes.changelog.row_id_read import FEED_BASE_ROW_ID, FEED_ROW_VERSION
from truckee.changes.columns import (
    CHANGE_TYPE,
    COMMIT_TIMESTAMP,
    COMMIT_VERSION,
    DELETE,
    FEED_FIELDS,
    INSERT,
    UPDATE_POSTIMAGE,
    UPDATE_PREIMAGE,
)
from truckee.changes.plan import ChangeFeed, ChangePlan, open_feed
from truckee.changes.row_identity import ROW_ID
from truckee.changes.version_range import VersionRange
from truckee.options.feed import FeedOptions
from truckee.protocol.schema import StructField
from truckee.scan.scan_file import ScanFile
from truckee.spark.jvm.projection import column
from truckee.spark.read.column_conversion import conformed
from truckee.spark.read.frames import feed_frame, feed_scan
from truckee.spark.read.net_rows import IS_COMPARED, ROW_VERSION, net_by_identity, net_by_rows
from truckee.spark.read.relations import ROW, scan_frame
from truckee.spark.read.row_pairing import is_after, paired_rows, uncancelled_rows
from truckee.spark.schema_conversion import bare, public_schema, spark_type
from truckee.storage.base import Storage

_TOLD_AS = "__truckee_told_as"
_FEED = tuple(field.name for field in FEED_FIELDS)
_WITHIN = (COMMIT_VERSION, COMMIT_TIMESTAMP)
_SIDES = ("deleted by one version", "inserted by one version")


def changes_frame(spark: SparkSession, storage: Storage, options: FeedOptions) -> DataFrame:
    """Return the rows of the feed that the options ask for.

    An open range ends at the version that is the latest when a query runs. If rows are compared or
    columns are followed, it ends at the version that is the latest now.
    """
    if options.shape.is_plain:
        return feed_frame(spark, open_feed(storage, options))
    return changelog_frame(spark, open_changelog(storage, options))


def changelog_frame(spark: SparkSession, feed: Changelog) -> DataFrame:
    """Return the rows of a feed, as its schema says."""
    return _Frames(spark, feed).shown()


def as_declared(frame: DataFrame, schema: SparkStruct) -> DataFrame:
    """Return rows with the types that a stream has declared for its columns."""
    found = {field.name: field.dataType for field in frame.schema.fields}
    return frame.select(
        *(
            column(field.name)
            if found[field.name] == field.dataType
            else column(field.name).try_cast(field.dataType).alias(field.name)
            for field in schema.fields
        )
    )


@dataclass(frozen=True, eq=False)
class _SettledFeed(ChangeFeed):
    """A fixed list of files as a feed, for engines that ask a feed for its plan."""

    files: tuple[ScanFile, ...] = ()

    def plan(self) -> ChangePlan:
        """Return what to read."""
        start, end = self.range.start, self.range.end
        assert end is not None
        return ChangePlan(self.storage.root, start, end, self.read, self.files)


def part_feed(feed: Changelog, part: FeedPart) -> ChangeFeed:
    """Return a part of a feed as a feed of its own."""
    first = min((file.version for file in part.files), default=feed.start)
    versions = VersionRange(min(first, feed.start), feed.end)
    table = part.read.configuration
    return _SettledFeed(feed.storage, versions, part.read, table, files=part.files)


class _Frames:
    """Makes the DataFrames of one feed."""

    def __init__(self, spark: SparkSession, feed: Changelog) -> None:
        self._spark = spark
        self._feed = feed
        self._shape = feed.shape
        self._columns = [c.field.name for c in feed.history.columns]

    def shown(self) -> DataFrame:
        """Return the rows with the columns that are shown."""
        rows = self._netted() if self._feed.net_by is not None else self._changes()
        if self._shape.drop_unchanged and self._feed.net_by is None:
            rows = self._without_unchanged(rows)
        return rows.select(*self._output())

    def _changes(self) -> DataFrame:
        """Return all changes, after comparing the rows that need it."""
        frames = [self._read(part) for part in self._feed.direct]
        pool = self._union([self._read(part) for part in self._feed.compared])
        if pool is not None:
            frames.append(self._compared(pool))
        by_id = self._union([self._read(part, ids=True) for part in self._feed.identified])
        if by_id is not None:
            frames.append(self._paired_by_id(by_id))
        found = self._union(frames)
        return self._empty() if found is None else found

    def _compared(self, pool: DataFrame) -> DataFrame:
        if self._feed.pairs_by_keys:
            names, keyed = self._keyed(pool)
            # Updates that a change file tells stay what they are: each image is a group of its own.
            kind = column(CHANGE_TYPE)
            told_as = F.when(kind.isin(INSERT, DELETE), "").otherwise(kind)
            paired = paired_rows(
                keyed.withColumn(_TOLD_AS, told_as),
                self._columns,
                identity=names,
                within=(*_WITHIN, _TOLD_AS),
                drop_unchanged=self._shape.drops_carryovers,
                where=_SIDES,
            )
            shown = F.when(column(_TOLD_AS) == "", kind).otherwise(column(_TOLD_AS))
            return paired.withColumn(CHANGE_TYPE, shown).select(
                *map(column, (*self._columns, *_FEED))
            )
        left = uncancelled_rows(pool, self._columns, within=_WITHIN)
        return left.select(*map(column, (*self._columns, *_FEED)))

    def _paired_by_id(self, rows: DataFrame) -> DataFrame:
        paired = paired_rows(
            rows,
            self._columns,
            identity=[ROW_ID],
            within=_WITHIN,
            row_version=ROW_VERSION,
            drop_unchanged=False,
            where=_SIDES,
        ).select(*map(column, (*self._columns, *_FEED)))
        if self._feed.distrusted:
            paired = self._without_moved(paired)
        return self._as_asked(paired)

    def _without_moved(self, rows: DataFrame) -> DataFrame:
        """Return the rows without those that got a new id when they were moved."""
        is_alone = column(CHANGE_TYPE).isin(INSERT, DELETE)
        versions = sorted(self._feed.distrusted)
        is_doubtful = is_alone & column(COMMIT_VERSION).isin(versions)
        left = uncancelled_rows(rows.where(is_doubtful), self._columns, within=_WITHIN)
        return rows.where(~is_doubtful).unionByName(left)

    def _as_asked(self, rows: DataFrame) -> DataFrame:
        """Return updates in the form that was requested: as updates, or as deletes and inserts."""
        if self._shape.compute_updates is not False:
            return rows
        return rows.withColumn(CHANGE_TYPE, F.when(is_after(), INSERT).otherwise(DELETE))

    def _netted(self) -> DataFrame:
        net_by = self._feed.net_by
        if net_by is RowIdentity.ROWS:
            rows = self._union(
                [self._read(part) for part in (*self._feed.direct, *self._feed.compared)]
            )
            by_id = self._union([self._read(part, ids=True) for part in self._feed.identified])
            if by_id is not None:
                paired = self._paired_by_id(by_id)
                rows = paired if rows is None else rows.unionByName(paired)
            return net_by_rows(self._empty() if rows is None else rows, self._columns)
        if net_by is RowIdentity.ROW_IDS:
            return self._net_by_ids()
        direct = [
            self._read(part).withColumn(IS_COMPARED, F.lit(False)) for part in self._feed.direct
        ]
        moved = [
            self._read(part).withColumn(IS_COMPARED, F.lit(True)) for part in self._feed.compared
        ]
        rows = self._union([*direct, *moved])
        if rows is None:
            return self._empty()
        names, keyed = self._keyed(rows)
        return self._net(keyed, names)

    def _net_by_ids(self) -> DataFrame:
        found = self._union([self._read(part, ids=True) for part in self._feed.identified])
        if found is None:
            return self._empty()
        net = self._net(found.withColumn(IS_COMPARED, F.lit(True)), [ROW_ID])
        if not self._feed.distrusted:
            return net
        is_alone = column(CHANGE_TYPE).isin(INSERT, DELETE)
        if not self._shape.compute_updates:
            return net_by_rows(net, self._columns)
        return net.where(~is_alone).unionByName(net_by_rows(net.where(is_alone), self._columns))

    def _net(self, rows: DataFrame, identity: Sequence[str]) -> DataFrame:
        return net_by_identity(
            rows,
            self._columns,
            identity=identity,
            as_updates=bool(self._shape.compute_updates),
            drop_unchanged=self._shape.drop_unchanged,
        )

    def _keyed(self, rows: DataFrame) -> tuple[list[str], DataFrame]:
        """Return the key columns by the names that users gave; missing ones are added."""
        names = []
        for key in self._shape.keys:
            path = key_path(self._feed.table_schema, key)
            assert path is not None
            names.append(".".join(path))
            if len(path) > 1:
                value = reduce(Column.getField, path[1:], column(path[0]))
                rows = rows.withColumn(names[-1], value)
        return names, rows

    def _without_unchanged(self, rows: DataFrame) -> DataFrame:
        """Return the rows without updates whose two images are equal."""
        is_update = column(CHANGE_TYPE).isin(UPDATE_PREIMAGE, UPDATE_POSTIMAGE)
        updates = rows.where(is_update)
        if self._shape.keys:
            names, keyed = self._keyed(updates)
            left = paired_rows(keyed, self._columns, identity=names, within=_WITHIN, where=_SIDES)
        else:
            left = uncancelled_rows(updates, self._columns, within=_WITHIN)
        kind = F.when(is_after(), UPDATE_POSTIMAGE).otherwise(UPDATE_PREIMAGE)
        return rows.where(~is_update).unionByName(left.withColumn(CHANGE_TYPE, kind))

    def _read(self, part: FeedPart, *, ids: bool = False) -> DataFrame:
        """Return the rows of a part, with the columns of all eras and those of the feed."""
        scan = feed_scan(part_feed(self._feed, part))
        frame = scan_frame(self._spark, scan, row_ids=ids)
        mode = self._feed.history.eras[part.era].configuration.column_mapping_mode
        shown = [
            self._in_all_eras(c.in_era.get(part.era), c.field, mode)
            for c in self._feed.history.columns
        ]
        extra = []
        if ids:
            assert part.held_ids is not None
            held = column(part.held_ids.row_id), column(part.held_ids.row_version)
            base = column(FEED_BASE_ROW_ID) + column(ROW)
            extra = [
                F.coalesce(held[0], base).alias(ROW_ID),
                F.coalesce(held[1], column(FEED_ROW_VERSION)).alias(ROW_VERSION),
            ]
        return frame.select(*shown, *map(column, _FEED), *extra)

    def _in_all_eras(self, own: StructField | None, wanted: StructField, mode: str) -> Column:
        if own is None:
            return F.lit(None).cast(spark_type(bare(wanted.type))).alias(wanted.name)
        return conformed(column(own.name), own.type, mode, wanted.type).alias(wanted.name)

    def _output(self) -> list[Column]:
        """Return the columns that are shown, of rows with the columns of all eras."""
        feed = self._feed
        last = feed.history.eras[-1]
        fields = public_schema(feed.table_schema).fields
        columns: list[Column] = []
        for followed, field, own in zip(
            feed.columns, fields, feed.table_schema.fields, strict=True
        ):
            value = column(followed.field.name)
            if feed.shape.following is not None and followed.last_version is None:
                wanted = keyed_type(own.type, last.configuration.column_mapping_mode)
                value = conformed(value, followed.field.type, "name", wanted)
            columns.append(value.alias(field.name, metadata=field.metadata or {}))
        columns += [column(name) for name in _FEED]
        if feed.shape.schema_version:
            columns.append(_schema_version(feed.schema_versions).alias(SCHEMA_VERSION_COLUMN))
        if feed.shape.change_source:
            columns.append(_change_source(feed).alias(CHANGE_SOURCE_COLUMN))
        return columns

    def _union(self, frames: Sequence[DataFrame]) -> DataFrame | None:
        return reduce(DataFrame.unionAll, frames) if frames else None

    def _empty(self) -> DataFrame:
        fields = [*self._feed.history.schema.fields, *FEED_FIELDS]
        types = [(field.name, spark_type(bare(field.type))) for field in fields]
        return self._spark.range(0).select(*(F.lit(None).cast(t).alias(n) for n, t in types))


def _schema_version(versions: Sequence[int]) -> Column:
    """Return the version whose schema a row has; a preimage has that of an earlier version."""
    version = column(COMMIT_VERSION) - F.when(is_after(), 0).otherwise(1)
    known = F.array(*(F.lit(v).cast("bigint") for v in versions))
    set_by_then = F.filter(known, lambda each: each <= version)
    return F.coalesce(F.array_max(set_by_then), F.array_min(known))


def _change_source(feed: Changelog) -> Column:
    sources = feed.sources or {}
    found = F.lit(None).cast("string")
    for source in sorted(set(sources.values())):
        versions = [version for version, of in sources.items() if of == source]
        found = F.when(column(COMMIT_VERSION).isin(versions), source).otherwise(found)
    return found
