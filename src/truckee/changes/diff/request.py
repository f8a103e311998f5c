"""The request of a diff as two snapshots: versions or times, of one table or of two."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime

from truckee.changes.diff.recorded_diff import diff_plan
from truckee.changes.diff.snapshot_diff import SnapshotDiff
from truckee.errors.commands.alter import ColumnNotFoundError
from truckee.errors.diff import NoKeysError
from truckee.errors.options import ArgumentTypeError
from truckee.log.files.history import version_as_of
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.options.arguments import type_name
from truckee.options.feed import bound
from truckee.options.feed_shape import parsed_keys
from truckee.protocol.schema import StructType
from truckee.storage.base import Storage

VersionOrTime = int | str | date | datetime
"""A version, or a time at which some version was the latest."""


def requested_diff(
    storage: Storage,
    start: VersionOrTime | None,
    end: VersionOrTime | None,
    keys: Sequence[str] | None = None,
    *,
    other: Storage | None = None,
    time_zone: str = "UTC",
) -> SnapshotDiff:
    """Return what to read for the rows that differ between two versions, in either order.

    None is the latest version. With `other`, the second version is of that table. Raises
    `VersionNotFoundError` and the errors of timestamps for versions that are gone,
    `ColumnNotFoundError` and `NoKeysError` for keys, and the errors of `diff_plan`.
    """
    before = version_at(storage, start, name="start", time_zone=time_zone)
    after = version_at(other or storage, end, name="end", time_zone=time_zone)
    backwards = other is None and before.version > after.version
    schema = before.schema if backwards else after.schema
    return diff_plan(before, after, known_keys(keys, schema))


def version_at(
    storage: Storage, at: VersionOrTime | None, *, name: str, time_zone: str = "UTC"
) -> Snapshot:
    """Return the version of a number or a time; None is the latest."""
    if at is None:
        return load_snapshot(storage)
    if isinstance(at, bool) or not isinstance(at, int | str | date):
        needs = "be a version or a timestamp"
        raise ArgumentTypeError(what=name, needs=needs, found=type_name(at))
    asked = bound(at, name=name, time_zone=time_zone)
    if asked.version is not None:
        return load_snapshot(storage, asked.version)
    assert asked.timestamp_ms is not None
    return load_snapshot(storage, version_as_of(storage, asked.timestamp_ms))


def known_keys(keys: object, schema: StructType) -> tuple[str, ...]:
    """Return keys as the table spells them; a text has commas between its names."""
    if keys is None:
        return ()
    if isinstance(keys, str):
        keys = parsed_keys(keys)
    if not isinstance(keys, Sequence) or not all(isinstance(key, str) for key in keys):
        needs = "be a list of column names"
        raise ArgumentTypeError(what="keys", needs=needs, found=type_name(keys))
    if not keys:
        raise NoKeysError
    found = []
    for key in keys:
        field = schema.field(key)
        if field is None:
            raise ColumnNotFoundError(column=key, columns=schema.names)
        found.append(field.name)
    return tuple(dict.fromkeys(found))
