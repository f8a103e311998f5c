"""What a read of `format("truckee")` asks for: a version of a table, or a range of its feed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from truckee.arrow.file_columns import TableRead
from truckee.changes.file_index import matching_files
from truckee.changes.plan import open_feed
from truckee.changes.read_schema import feed_schema
from truckee.errors.changes import ChangelogNotHereError
from truckee.errors.options import IllegalOptionError
from truckee.errors.stream_schema import SchemaLogOfBatchReadError
from truckee.errors.streaming import NoPathToReadError
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.log.time_travel import path_and_time, snapshot_at
from truckee.options.feed import FEED_SWITCHES, Bound, feed_options, is_feed_read
from truckee.options.feed_shape import SHAPE_OPTIONS, feed_shape
from truckee.options.stream import SCHEMA_LOG, STREAM_OPTIONS, stream_options
from truckee.options.text import Options
from truckee.protocol.predicates import Predicate
from truckee.protocol.property_kinds import parse_column_names
from truckee.protocol.schema import StructType
from truckee.protocol.table_configuration import TableConfiguration
from truckee.scan.scan_file import ScanFile
from truckee.scan.snapshot_scan import scan_files
from truckee.storage import open_storage
from truckee.storage.base import Storage
from truckee.streaming.table_stream import open_stream

READ_OPTIONS = (
    *STREAM_OPTIONS,
    *FEED_SWITCHES,
    "versionAsOf",
    "timestampAsOf",
    "columns",
    "timeZone",
)
"""The options of a read of `format("truckee")`, for batch and stream."""

_BATCH_ONLY = ("versionAsOf", "timestampAsOf", "endingVersion", "endingTimestamp")
_STORE_OPTIONS = ("fs.", "spark.hadoop.fs.", "spark.truckee.read.")


@dataclass(frozen=True)
class ReadRequest:
    """The options of a read, and what its path gives: the table and the version."""

    options: Options
    path: str
    as_of: Bound | None = None

    @property
    def zone(self) -> str:
        """The zone of timestamps that have none."""
        return self.options.get("timeZone", "UTC")

    @property
    def is_feed(self) -> bool:
        """Whether changes are read rather than rows."""
        return is_feed_read(self.options)

    @property
    def store_options(self) -> Mapping[str, str]:
        """Credentials and endpoints of the table's store."""
        return {k: v for k, v in self.options.items() if k.lower().startswith(_STORE_OPTIONS)}

    def storage(self) -> Storage:
        """Return the storage of the table."""
        return self.open_storage(self.path)

    def open_storage(self, url: str) -> Storage:
        """Return the storage of another folder, with the table's credentials."""
        return open_storage(url, self.store_options)

    def columns(self, schema: StructType) -> tuple[str, ...] | None:
        """Return the columns to read by their names in the schema, None for all."""
        if "columns" not in self.options:
            return None
        text = self.options["columns"]
        try:
            paths = parse_column_names(text)
        except ValueError as error:
            raise IllegalOptionError(
                option="columns", value=text, needs="names of columns, with commas between them"
            ) from error
        fields = [schema.field(".".join(path)) for path in paths]
        found = tuple(field.name for field in fields if field is not None)
        if len(found) < len(paths):
            names = ", ".join(schema.names)
            raise IllegalOptionError(option="columns", value=text, needs=f"some of {names}")
        return found


def read_request(options: Mapping[str, object]) -> ReadRequest:
    """Return the parsed request.

    A path that ends in `@v7` is version 7 of a table, unless a table has exactly that path.
    """
    text = Options(options)
    if "path" not in text:
        raise NoPathToReadError
    _check_no_changelog(text)
    asked = ReadRequest(text, text["path"])
    path, at = path_and_time(
        text, asked.path, time_zone=asked.zone, open_storage=asked.open_storage
    )
    return ReadRequest(text, path, at)


def _check_no_changelog(options: Options) -> None:
    """Raise `ChangelogNotHereError` for a feed whose rows have to be compared."""
    if is_feed_read(options) and not feed_shape(options).is_plain:
        option = next(name for name in SHAPE_OPTIONS if name in options)
        raise ChangelogNotHereError(option=option)


def requested_schema(request: ReadRequest) -> tuple[int, StructType]:
    """Return the columns of what is read, and the latest version when that was looked up.

    Batch reads and streams with the same options have the same columns. An end or a version is only
    allowed in a batch read, so these options tell that it is one.
    """
    storage = request.storage()
    latest = load_snapshot(storage)
    is_batch = any(name in request.options for name in _BATCH_ONLY)
    if request.is_feed and is_batch:
        feed = feed_options(request.options, time_zone=request.zone)
        schema = open_feed(storage, feed, snapshot=latest).schema
    elif not is_batch and any(name in request.options for name in SCHEMA_LOG):
        parsed = stream_options(request.options, time_zone=request.zone)
        schema = open_stream(storage, parsed, request.open_storage).schema
    elif request.is_feed:
        schema = feed_schema(latest.schema)
    else:
        schema = _snapshot(request, latest.version).schema
    columns = request.columns(schema)
    if columns is not None:
        fields = (schema.field(name) for name in columns)
        schema = StructType(tuple(field for field in fields if field is not None))
    return latest.version, schema


def check_no_schema_log(request: ReadRequest) -> None:
    """Raise `SchemaLogOfBatchReadError` for a batch read with the schema log of a stream.

    Its columns would be those of the stream's last entry, not those of the table.
    """
    for name in SCHEMA_LOG:
        if name in request.options:
            raise SchemaLogOfBatchReadError(option=name)


def read_plan(
    request: ReadRequest, version: int | None, predicate: Predicate
) -> tuple[TableRead, list[ScanFile]]:
    """Return what to read, without files that cannot have a row for which the predicate is true.

    `version` is the version that was the latest when the columns were looked up; None means the
    latest now.
    """
    if request.is_feed:
        return _planned_feed(request, version, predicate)
    snapshot = _snapshot(request, version)
    read = _table_read(request, snapshot.configuration)
    return read, scan_files(snapshot, predicate, session_zone=request.zone)


def _planned_feed(
    request: ReadRequest, version: int | None, predicate: Predicate
) -> tuple[TableRead, list[ScanFile]]:
    storage = request.storage()
    options = feed_options(request.options, time_zone=request.zone)
    plan = open_feed(storage, options, snapshot=load_snapshot(storage, version)).plan()
    read = _table_read(request, plan.read.configuration)
    return read, matching_files(plan.files, predicate, read.table, request.zone)


def _table_read(request: ReadRequest, table: TableConfiguration) -> TableRead:
    shown = feed_schema(table.schema) if request.is_feed else table.schema
    return TableRead(
        url=request.storage().root,
        store_options=request.store_options,
        table=table,
        is_feed=request.is_feed,
        columns=request.columns(shown),
        zone=request.zone,
    )


def _snapshot(request: ReadRequest, latest: int | None) -> Snapshot:
    """Return the version that the options ask for, else the one given."""
    return snapshot_at(request.storage(), request.as_of, latest)
