"""The requests to an object store, through obstore.

A conditional put can succeed while its answer is lost; if it is sent again, it finds its own
object. So each put stores a unique token in the object's metadata, and if the object exists, the
token shows who wrote it. Without failures no additional request is sent.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from truckee.errors.storage import (
    CredentialsNotFoundError,
    ForkedProcessError,
    MissingObjectStoreError,
    StorageError,
    StoragePermissionError,
    WriteOutcomeUnknownError,
)
from truckee.storage.object_options import store_config
from truckee.storage.read_bounds import RETRY_TIMEOUT, TIMEOUT, StorageLimits
from truckee.storage.urls import Bucket, StoreKind

if TYPE_CHECKING:
    from obstore import GetResult, ObjectMeta
    from obstore.store import ObjectStore

_WRITER = "truckeewriter"  # Azure requires metadata names to be identifiers
_PUTS = 3
_PAGE = 1000
_LAST = "\U0010ffff"  # sorts after every name

_SHORT = re.compile(r".*?(?=: <\?xml|\n|$)")
_SAID = re.compile(r"<Code>(?P<code>.*?)</Code>.*?<Message>(?P<message>.*?)</Message>", re.DOTALL)
_REFUSAL = re.compile(r"status code: 4(?!09|12)\d\d")
# Where a cloud tells a machine of its role, which obstore asks last.
_ROLE_OF_MACHINE = re.compile(
    r"/latest/(api/token|meta-data)|/computeMetadata/|/metadata/identity/"
)


class ObjectPlace(NamedTuple):
    """An object or a folder: its store, its key there, and its URL for display."""

    store: ObjectStore
    key: str
    url: str


@cache
def _obstore() -> Any:
    """Return obstore, which is optional, and slow to load."""
    import_module("obstore.store")
    return import_module("obstore")


def open_store(bucket: Bucket, options: Mapping[str, str], *, url: str) -> ObjectStore:
    """Return obstore's store for a bucket; nothing is sent before the first request."""
    try:
        obstore = _obstore()
    except ImportError as error:
        raise MissingObjectStoreError(
            action="open", path=url, reason="the library for its store is not installed"
        ) from error
    kinds = {StoreKind.S3: "S3Store", StoreKind.GCS: "GCSStore", StoreKind.AZURE: "AzureStore"}
    config, client, retry = store_config(bucket, options)
    try:
        store: ObjectStore = getattr(obstore.store, kinds[bucket.kind])(
            bucket.name, config=config, client_options=client, retry_config=retry
        )
    except (obstore.exceptions.BaseError, ValueError) as error:
        raise StorageError(action="open", path=url, reason=_reason(error)) from error
    return store


def get(place: ObjectPlace, limits: StorageLimits) -> bytes:
    """Return the object; FileNotFoundError if there is none."""
    with _typed_errors("read", place):
        found = _obstore().get(place.store, place.key)
        limits.check_read(place.url, found.meta["size"])
        return _body(place, found, found.meta["size"])


def get_range(place: ObjectPlace, offset: int, length: int) -> bytes:
    """Return `length` bytes from `offset` on, fewer if the object ends before."""
    if length <= 0:
        return b""
    obstore = _obstore()
    with _typed_errors("read", place):
        try:
            asked = {"range": (offset, offset + length)}
            return _body(place, obstore.get(place.store, place.key, options=asked), length)
        except obstore.exceptions.GenericError:
            # Stores refuse a range that starts at or after the end, instead of returning no bytes.
            if offset >= obstore.head(place.store, place.key)["size"]:
                return b""
            raise


def _body(place: ObjectPlace, found: GetResult, length: int) -> bytes:
    """Return the bytes of an answer; StorageError if they are more than this many.

    They are taken in parts. If obstore is asked for all bytes, it makes room for as many as the
    store says, and aborts the process if it cannot.
    """
    parts: list[bytes] = []
    for part in found.stream():
        length -= len(part)
        if length < 0:
            reason = "the store sends more bytes than it was asked for"
            raise StorageError(action="read", path=place.url, reason=reason)
        parts.append(bytes(part))
    return b"".join(parts)


def size(place: ObjectPlace) -> int:
    """Return the size of the object; FileNotFoundError if there is none."""
    with _typed_errors("read", place):
        return int(_obstore().head(place.store, place.key)["size"])


def objects(place: ObjectPlace, limits: StorageLimits, *, after: str = "") -> Iterator[ObjectMeta]:
    """Yield all objects below a folder whose keys come after `after`, in order of their keys.

    Raises StorageError for a listing that is too long, or does not come to its next page.
    """
    count = 0
    with _typed_errors("list", place):
        pages = _obstore().list(
            place.store, place.key or None, offset=after or None, chunk_size=_PAGE
        )
        while page := _next_page(pages, place, limits):
            count += len(page)
            limits.check_listed(place.url, count)
            yield from page


def _next_page(
    pages: Iterator[Sequence[ObjectMeta]], place: ObjectPlace, limits: StorageLimits
) -> Sequence[ObjectMeta]:
    """Return a page of a listing, an empty one at its end.

    obstore asks for the next page as long as pages are empty. Each answer is in time, so it could
    go on for ever; it is left alone then, in a thread that does not keep the process.
    """
    done: SimpleQueue[Sequence[ObjectMeta] | BaseException] = SimpleQueue()

    def ask() -> None:
        try:
            done.put(next(pages, ()))
        except BaseException as error:
            done.put(error)

    seconds = limits.timeout_s + limits.retry_timeout_s
    Thread(target=ask, name="truckee-listing", daemon=True).start()
    try:
        found = done.get(timeout=seconds)
    except Empty:
        reason = f"its listing gave no file for {seconds} seconds ({TIMEOUT}, {RETRY_TIMEOUT})"
        raise StorageError(action="list", path=place.url, reason=reason) from None
    if isinstance(found, BaseException):
        raise found
    return found


def names(
    place: ObjectPlace, limits: StorageLimits, *, first: str
) -> Iterator[tuple[str, ObjectMeta]]:
    """Yield the names in a folder that are not less than `first`, in order, with their objects.

    A store lists what comes *after* a key, including everything in subfolders. So the listing
    starts one character early, and if a subfolder has more than a page, it starts again after it.
    """
    prefix = f"{place.key}/" if place.key else ""
    after: str | None = prefix + first[:-1]
    while after is not None:
        start, after = after, None
        folder, inside = "", 0
        for found in objects(place, limits, after=start):
            name, slash, _ = found["path"].removeprefix(prefix).partition("/")
            if not slash:
                if name >= first:
                    yield name, found
                continue
            folder, inside = name, (inside + 1 if name == folder else 1)
            if inside > _PAGE:
                after = f"{prefix}{folder}/{_LAST}"
                break


def put(place: ObjectPlace, data: bytes | BinaryIO) -> None:
    """Create or replace the object, in parts if it is a file of more than a few megabytes."""
    with _typed_errors("write", place):
        _obstore().put(place.store, place.key, data)


def put_if_absent(place: ObjectPlace, data: bytes) -> None:
    """Create the object, or raise FileExistsError if there is one that is not from this call.

    WriteOutcomeUnknownError if the store cannot report the outcome.
    """
    mine = {_WRITER: os.urandom(16).hex()}
    failure: Exception | None = None
    with _typed_errors("write", place):
        for _ in range(_PUTS):
            failure = _put_once(place, data, mine)
            if failure is None or _is_mine(place, mine, failure):
                return
        raise _outcome_unknown(place, failure) from failure


def delete_object(place: ObjectPlace) -> None:
    """Delete the object; it is not an error if there is none."""
    with _typed_errors("delete", place):
        try:
            _obstore().delete(place.store, place.key)
        except FileNotFoundError:
            return


def _put_once(place: ObjectPlace, data: bytes, mine: dict[str, str]) -> Exception | None:
    """Ask the store to create the object; return the error if it is unknown whether it did."""
    obstore = _obstore()
    unsure: tuple[type[Exception], ...] = (
        obstore.exceptions.AlreadyExistsError,
        obstore.exceptions.GenericError,
    )
    try:
        obstore.put(place.store, place.key, data, mode="create", attributes=mine)
    except Exception as error:
        if isinstance(error, unsure) and not _is_refusal(error):
            return error
        raise
    return None


def _is_mine(place: ObjectPlace, mine: dict[str, str], failure: Exception) -> bool:
    """Return whether the object exists and is ours; False if there is none.

    A store may report that an object exists while another writer creates or deletes it, so that
    there is none when we look; then the put is tried again.
    """
    obstore = _obstore()
    try:
        found = obstore.get(place.store, place.key, options={"head": True})
    except FileNotFoundError:
        return False
    except obstore.exceptions.BaseError as error:
        raise _outcome_unknown(place, failure) from error
    if found.attributes.get(_WRITER) != mine[_WRITER]:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), place.url)
    return True


def _is_refusal(error: Exception) -> bool:
    """Return whether the store rejected the request itself."""
    return _REFUSAL.search(str(error)) is not None


def _outcome_unknown(place: ObjectPlace, failure: Exception | None) -> WriteOutcomeUnknownError:
    reason = _reason(failure) if failure else "the store gave no answer"
    return WriteOutcomeUnknownError(action="write", path=place.url, reason=reason)


@contextmanager
def _typed_errors(action: str, place: ObjectPlace) -> Iterator[None]:
    """Turn obstore's errors into ours, except for a missing or an existing object."""
    if _serving_process() != os.getpid():
        raise ForkedProcessError(
            action=action, path=place.url, reason="the process was forked while it used the store"
        )
    denied = ("PermissionDeniedError", "UnauthenticatedError")
    try:
        yield
    except FileNotFoundError as error:
        if action == "read":
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), place.url) from error
        raise StorageError(action=action, path=place.url, reason=_reason(error)) from error
    except (_obstore().exceptions.BaseError, ValueError) as error:
        kind: type[StorageError] = StorageError
        if _ROLE_OF_MACHINE.search(str(error)):
            kind = CredentialsNotFoundError
        elif type(error).__name__ in denied:
            kind = StoragePermissionError
        raise kind(action=action, path=place.url, reason=_reason(error)) from error


@cache
def _serving_process() -> int:
    """Return the process that made the first request.

    obstore uses threads, which do not exist in a forked child: the child would wait forever.
    """
    return os.getpid()


def _reason(error: Exception) -> str:
    """Return what the store said, without the debug print that obstore adds."""
    text = str(error)
    said = _SAID.search(text)
    if said:
        return f"{said['message'].strip().rstrip('.')} ({said['code']})"
    short = _SHORT.match(text)
    return short[0] if short else text
