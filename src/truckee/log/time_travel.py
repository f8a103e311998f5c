"""Which table and which version a read asks for, for every way to read."""

from __future__ import annotations

from collections.abc import Callable

from truckee.errors.options import TwoTimeTravelsError
from truckee.log.files.history import version_as_of
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.options.feed import Bound
from truckee.options.text import Options
from truckee.options.time_travel import split_path, time_travel
from truckee.protocol.paths import split_partition_directory
from truckee.storage.base import Storage


def path_and_time(
    options: Options, path: str, *, time_zone: str, open_storage: Callable[[str], Storage]
) -> tuple[str, Bound | None]:
    """Return the path of a table, and the version or time that options or the path ask for.

    A path that ends in `@v7` is version 7 of a table, unless a table has exactly this path. Raises
    TwoTimeTravelsError if both the options and the path name a version or a time.
    """
    at = time_travel(options, time_zone=time_zone)
    if "@" not in path or has_log(open_storage(path)):
        return path, at
    root, in_path = split_path(path, time_zone=time_zone)
    if at is not None and in_path is not None:
        raise TwoTimeTravelsError(path=path)
    return root, at or in_path


def root_and_partition(
    path: str, *, open_storage: Callable[[str], Storage]
) -> tuple[str, dict[str, str | None]]:
    """Return the path of a table, and the values of the partition that the path goes on to.

    `orders/day=2024-01-01` is a partition of `orders`, unless there is a table at that very path or
    none at `orders`.
    """
    root, values = split_partition_directory(path)
    if values and not has_log(open_storage(path)) and has_log(open_storage(root)):
        return root, values
    return path, {}


def has_log(storage: Storage) -> bool:
    """Return whether there is a Delta log."""
    return any(storage.list_from("_delta_log/"))


def snapshot_at(storage: Storage, at: Bound | None, latest: int | None = None) -> Snapshot:
    """Return the snapshot at a version or time; if neither is given, `latest` or the newest."""
    if at is None:
        return load_snapshot(storage, latest)
    if at.version is not None:
        return load_snapshot(storage, at.version)
    assert at.timestamp_ms is not None
    return load_snapshot(storage, version_as_of(storage, at.timestamp_ms))
