"""The bytes of log files: whole, many at a time, or only their `commitInfo`."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from itertools import islice
from typing import Any

import msgspec

from truckee.errors.log import CorruptLogFileError, LogFileNotFoundError
from truckee.protocol.json_text import NOT_JSON
from truckee.storage.base import Storage

_READ_AHEAD = 32
_HEAD_BYTES = 1 << 14


def read_log_file(storage: Storage, path: str) -> bytes:
    """Return the bytes of a file that the log needs; `LogFileNotFoundError` if it is gone.

    No writer creates an empty file: a crash leaves one on a store that writes in two steps. To
    read it as a commit without actions would hide what the commit did.
    """
    try:
        data = storage.read(path)
    except FileNotFoundError as error:
        raise LogFileNotFoundError(table=storage.root, path=path) from error
    if not data:
        raise _empty(storage, path)
    return data


def _empty(storage: Storage, path: str) -> CorruptLogFileError:
    return CorruptLogFileError(table=storage.root, path=path, reason="it is empty")


def read_in_order(storage: Storage, paths: Sequence[str]) -> Iterator[bytes]:
    """Yield the bytes of each file.

    If a read is a network request, several are sent at the same time.
    """
    if not is_remote(storage) or len(paths) < 2:
        for path in paths:
            yield read_log_file(storage, path)
        return
    remaining = iter(paths)
    with ThreadPoolExecutor(_READ_AHEAD) as pool:
        ahead: deque[Future[bytes]] = deque(
            pool.submit(read_log_file, storage, path) for path in islice(remaining, _READ_AHEAD)
        )
        while ahead:
            data = ahead.popleft().result()
            ahead.extend(pool.submit(read_log_file, storage, p) for p in islice(remaining, 1))
            yield data


def is_remote(storage: Storage) -> bool:
    """Return whether a read goes over a network."""
    scheme, separator, _ = storage.root.partition("://")
    return bool(separator) and scheme not in ("file", "memory")


class _Head(msgspec.Struct):
    commitInfo: dict[str, Any] | None = None  # noqa: N815


_STARTS_WITH_COMMIT_INFO = re.compile(rb'\s*\{\s*"commitInfo"')
_head_decoder = msgspec.json.Decoder(_Head)


def read_commit_info(storage: Storage, path: str) -> dict[str, Any] | None:
    """Return the `commitInfo` of a commit as it was written, None if it has none.

    It is the first line of almost every commit, so a large commit is not read to its end.
    """
    try:
        head = storage.read_range(path, 0, _HEAD_BYTES)
        if not head:
            raise _empty(storage, path)
        first, newline, _ = head.partition(b"\n")
        if newline and _STARTS_WITH_COMMIT_INFO.match(first):
            with suppress(*NOT_JSON):
                return _head_decoder.decode(first).commitInfo
        whole = head if len(head) < _HEAD_BYTES else storage.read(path)
    except FileNotFoundError as error:
        raise LogFileNotFoundError(table=storage.root, path=path) from error
    return _search(storage, path, whole)


def _search(storage: Storage, path: str, data: bytes) -> dict[str, Any] | None:
    try:
        heads = _head_decoder.decode_lines(data)
    except NOT_JSON as error:
        raise CorruptLogFileError(table=storage.root, path=path, reason=str(error)) from error
    return next((head.commitInfo for head in heads if head.commitInfo is not None), None)
