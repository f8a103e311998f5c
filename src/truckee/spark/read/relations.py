"""A scan as one relation that Spark reads.

Columns are read by the names (or ids) that they have in data files, and then given their logical
names and types. Three kinds of columns are not read:

| column                          | where its values come from                                 |
|---------------------------------|------------------------------------------------------------|
| partition columns, `FILE`       | constants of a file, which Spark calls partition columns   |
| `ROW`, the feed's three columns | the reader, for each row (see `TruckeeFormat.java`)        |
| `_change_type` of change files  | the file                                                   |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import (
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from truckee.changes.columns import feed_schema
from truckee.changes.feed_pruning import may_match_by_constants
from truckee.protocol.predicates import Predicate
from truckee.protocol.schema import physical_schema
from truckee.scan.scan_file import ScanFile, check_paths
from truckee.spark.jvm.projection import Item, Named, selected
from truckee.spark.read.catalyst_predicates import predicate_of
from truckee.spark.read.file_index import Constant, Listing, Relation, relation_frame
from truckee.spark.read.file_rows import FileRead, file_reads
from truckee.spark.read.read_errors import explain_failures_of
from truckee.spark.read.scan import Scan
from truckee.spark.session.settings import session_zone
from truckee.spark.types import file_schema, shown_schema, to_spark

FILE = "__truckee_file"
ROW = "__truckee_row"
_FEED_FIELDS = (
    StructField("_change_type", StringType()),
    StructField("_commit_version", LongType()),
    StructField("_commit_timestamp", TimestampType()),
)


def scan_frame(spark: SparkSession, scan: Scan, *, row_ids: bool = False) -> DataFrame:
    """Return the rows of a scan.

    With `row_ids`, two columns more say where each row is: `FILE`, a number that
    `scan.registry.file` turns into a ScanFile, and `ROW`, its position in that file.
    """
    partitions = _physical_partitions(scan)
    constants = [
        Constant(field.name, field.dataType, _partition_value(field.name), field.nullable)
        for field in partitions.values()
    ]
    if row_ids:
        number = scan.registry.file_id
        constants.append(Constant(FILE, IntegerType(), lambda f: str(number(f)), False))
    by_id = {"spark.sql.parquet.fieldId.read.enabled": "true"}
    relation = Relation(
        name=scan.name,
        root=scan.storage.root,
        data_schema=_data_schema(scan, partitions, row_ids=row_ids),
        constants=tuple(constants),
        size_in_bytes=scan.size_in_bytes,
        is_feed=scan.is_feed,
        files=_listing(spark, scan),
        session_conf=by_id if scan.mapping_mode == "id" else {},
    )
    return selected(relation_frame(spark, relation), _columns(scan, row_ids=row_ids))


def _listing(spark: SparkSession, scan: Scan) -> Listing:
    schema = feed_schema(scan.schema) if scan.is_feed else scan.schema
    last: tuple[Sequence[ScanFile], Predicate | None, Sequence[FileRead]] = ((), None, ())

    def files(filters: Sequence[str], query: str | None) -> Sequence[FileRead]:
        nonlocal last
        explain_failures_of(scan)
        zone = session_zone(spark)
        predicate = predicate_of(filters, schema, zone)
        planned = scan.files(predicate, query)
        known, answered, reads = last
        if planned is not known or predicate != answered:
            may_match = may_match_by_constants(predicate, scan.table, zone)
            chosen = [file for file in planned if may_match(file)]
            reads = file_reads(chosen, scan.storage.root)
            check_paths(scan.storage, chosen)
            last = (planned, predicate, reads)
            scan.listed.append(chosen)
        return reads

    return files


def _data_schema(scan: Scan, partitions: Mapping[str, StructField], *, row_ids: bool) -> StructType:
    physical = file_schema(scan.schema, scan.mapping_mode)
    fields = [f for f in physical.fields if f.name not in partitions]
    if scan.is_feed:
        fields += _FEED_FIELDS
    if row_ids:
        fields.append(StructField(ROW, LongType()))
    return StructType(fields)


def _physical_partitions(scan: Scan) -> dict[str, StructField]:
    names = {name.casefold() for name in scan.partition_columns}
    physical = to_spark(physical_schema(scan.schema, scan.mapping_mode))
    return {
        there.name: there
        for there, here in zip(physical.fields, scan.schema.fields, strict=True)
        if here.name.casefold() in names
    }


def _columns(scan: Scan, *, row_ids: bool) -> list[Item]:
    logical = shown_schema(scan.schema)
    physical = file_schema(scan.schema, scan.mapping_mode)
    columns: list[Item] = [
        _renamed(there, here) for there, here in zip(physical.fields, logical.fields, strict=True)
    ]
    if scan.is_feed:
        columns += [Named(field.name) for field in _FEED_FIELDS]
    if row_ids:
        columns += [Named(FILE), Named(ROW)]
    return columns


def _partition_value(name: str) -> Callable[[ScanFile], str | None]:
    # An empty text stands for null, whatever the type.
    return lambda file: file.partition_values.get(name) or None


def _renamed(there: StructField, here: StructField) -> Item:
    """Return a column of the data files under its logical name, nested names included."""
    if there.name == here.name and there.dataType == here.dataType and not here.metadata:
        return Named(here.name)
    is_cast = there.dataType.simpleString() != here.dataType.simpleString()
    cast = here.dataType if is_cast else None
    return Named(there.name, here.name, cast, here.metadata or {})
