"""What a read of `format("truckee")` asks for: a version of a table, or a range of its feed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from truckee.changes.file_index import matching_files
from truckee.changes.read_schema import feed_schema
from truckee.errors.options import IllegalOptionError
from truckee.errors.stream_schema import SchemaLogOfBatchReadError
from truckee.errors.streaming import NoPathToReadError
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.log.time_travel import path_and_time, snapshot_at
from truckee.options.feed import FEED_SWITCHES, Bound, feed_options, is_feed_read
from truckee.options.feed_shape import FEED_SCHEMA_MODE, feed_shape
from truckee.options.stream import SCHEMA_LOG, STREAM_OPTIONS, stream_options
from truckee.options.text import Options
from truckee.protocol.predicates import Predicate
from truckee.protocol.property_kinds import parse_column_names
from truckee.protocol.schema import StructType
from truckee.rows.feed import feed_plan
from truckee.rows.plan import Read, RowPlan, settled, snapshot_read
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

    def shown(self, schema: StructType) -> StructType:
        """Return the requested columns, found by their names in the schema; by default all."""
        if "columns" not in self.options:
            return schema
        text = self.options["columns"]
        try:
            paths = parse_column_names(text)
        except ValueError as error:
            raise IllegalOptionError(
                option="columns", value=text, needs="names of columns, with commas between them"
            ) from error
        fields = [schema.field(".".join(path)) for path in paths]
        found = tuple(field for field in fields if field is not None)
        if len(found) < len(paths):
            names = ", ".join(schema.names)
            raise IllegalOptionError(option="columns", value=text, needs=f"some of {names}")
        return StructType(found)


def read_request(options: Mapping[str, object]) -> ReadRequest:
    """Return the parsed request.

    A path that ends in `@v7` is version 7 of a table, unless a table has exactly that path.
    """
    text = Options(options)
    if "path" not in text:
        raise NoPathToReadError
    asked = ReadRequest(text, text["path"])
    path, at = path_and_time(
        text, asked.path, time_zone=asked.zone, open_storage=asked.open_storage
    )
    return ReadRequest(text, path, at)


def requested_schema(request: ReadRequest) -> tuple[int, StructType]:
    """Return the columns of what is read, and the latest version when that was looked up.

    Batch reads and streams with the same options have the same columns. An end, a version or one
    schema for all is only allowed in a batch read, so these options tell that it is one.
    """
    storage = request.storage()
    latest = load_snapshot(storage)
    is_batch = any(name in request.options for name in _BATCH_ONLY) or _has_one_schema(request)
    if request.is_feed and is_batch:
        schema = _feed(request, latest).schema
    elif not is_batch and _needs_stream(request):
        parsed = stream_options(request.options, time_zone=request.zone)
        schema = open_stream(storage, parsed, request.open_storage).schema
    elif request.is_feed:
        schema = feed_schema(latest.schema)
    else:
        schema = _snapshot(request, latest.version).schema
    return latest.version, request.shown(schema)


def check_no_schema_log(request: ReadRequest) -> None:
    """Raise `SchemaLogOfBatchReadError` for a batch read with the schema log of a stream.

    Its columns would be those of the stream's last entry, not those of the table.
    """
    for name in SCHEMA_LOG:
        if name in request.options:
            raise SchemaLogOfBatchReadError(option=name)


def _has_one_schema(request: ReadRequest) -> bool:
    """Return whether a feed is read with one schema that the options name."""
    is_named = request.is_feed and FEED_SCHEMA_MODE in request.options
    return is_named and feed_shape(request.options).following is None


def _needs_stream(request: ReadRequest) -> bool:
    """Return whether the columns depend on more than the latest version."""
    if any(name in request.options for name in SCHEMA_LOG):
        return True
    return request.is_feed and not feed_shape(request.options).is_plain


def read_plan(request: ReadRequest, version: int | None, predicate: Predicate) -> RowPlan:
    """Return what to read, without files that cannot have a row for which the predicate is true.

    `version` is the version that was the latest when the columns were looked up; None means the
    latest now.
    """
    if not request.is_feed:
        snapshot = _snapshot(request, version)
        files = scan_files(snapshot, predicate, session_zone=request.zone)
        return snapshot_read(snapshot, files)
    plan = settled(_feed(request, load_snapshot(request.storage(), version)))
    if isinstance(plan, Read):
        files = matching_files(plan.files, predicate, plan.table, request.zone)
        return replace(plan, files=files)
    return plan


def _feed(request: ReadRequest, latest: Snapshot) -> RowPlan:
    options = feed_options(request.options, time_zone=request.zone)
    return feed_plan(request.storage(), options, snapshot=latest)


def _snapshot(request: ReadRequest, latest: int | None) -> Snapshot:
    """Return the version that the options ask for, else the one given."""
    return snapshot_at(request.storage(), request.as_of, latest)
