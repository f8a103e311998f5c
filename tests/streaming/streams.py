"""Streams of small tables, taken batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from truckee.options.stream import stream_options
from truckee.scan.scan_file import ScanFile
from truckee.storage.base import Storage
from truckee.streaming.offset import StreamOffset, parse_offset
from truckee.streaming.table_stream import TableStream, open_stream


class Batch(NamedTuple):
    """A batch, and the version and index that it ends at."""

    end: tuple[int, int]
    paths: list[str]
    files: list[ScanFile]


def stream(storage: Storage, **options: object) -> TableStream:
    return TableStream(open_stream(storage, stream_options(options)))


def feed(storage: Storage, **options: object) -> TableStream:
    return stream(storage, readChangeFeed=True, **options)


def batches(of: TableStream, start: StreamOffset | None = None) -> Iterator[Batch]:
    """Yield all batches up to the latest version; offsets go through a checkpoint's JSON."""
    while (end := of.latest_offset(start)) != start:
        assert end is not None
        end = reread(of, end)
        files = of.plan(start, end)
        yield Batch(end.position, [file.path for file in files], files)
        start = end


def reread(of: TableStream, offset: StreamOffset) -> StreamOffset:
    return parse_offset(offset.to_json(), table=of.storage.root, table_id=of.table_id)
