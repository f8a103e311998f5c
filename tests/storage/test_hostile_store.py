"""A store that announces a terabyte, lists without end or never answers: an error, and soon."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from threading import Event, Thread
from urllib.parse import parse_qs, urlsplit

import pytest

from truckee.errors.options import IllegalOptionError
from truckee.errors.storage import StorageError
from truckee.log.snapshot import load_snapshot
from truckee.storage import open_storage
from truckee.storage.base import Storage

_HUGE = 1 << 40
_WHEN = "Wed, 01 Jan 2025 00:00:00 GMT"


class Hostile(BaseHTTPRequestHandler):
    """Answers for S3, whose fault is the first part of a key."""

    protocol_version = "HTTP/1.1"
    stopped = Event()
    numbers = count()

    def do_GET(self) -> None:
        place = urlsplit(self.path)
        asked = parse_qs(place.query)
        kind = (asked.get("prefix") or [place.path.removeprefix("/bucket/")])[0].split("/")[0]
        if kind == "silent":
            self.stopped.wait(60)
        elif "list-type" in asked:
            self._list(kind)
        else:
            self._send(kind)

    do_HEAD = do_GET  # noqa: N815

    def _send(self, kind: str) -> None:
        length = _HUGE if kind == "huge" else 1000
        is_part = "Range" in self.headers
        self.send_response(206 if is_part else 200)
        if is_part:
            end = {"huge": _HUGE - 1, "more": 999, "longer": 9}[kind]
            self.send_header("Content-Range", f"bytes 0-{end}/{_HUGE}")
        self.send_header("Content-Length", str(length))
        self.send_header("ETag", '"x"')
        self.send_header("Last-Modified", _WHEN)
        self.end_headers()
        if self.command == "GET":
            with suppress(OSError):
                self.wfile.write(b" " * 1000)
                self.stopped.wait(60 if length > 1000 else 0)

    def _list(self, kind: str) -> None:
        number = next(self.numbers)
        keys = () if kind == "empty" else range(1000)
        files = "".join(
            f"<Contents><Key>{kind}/_delta_log/{number:010d}-{key:04d}</Key><Size>1</Size>"
            f"<LastModified>2025-01-01T00:00:00.000Z</LastModified><ETag>x</ETag></Contents>"
            for key in keys
        )
        text = (
            '<?xml version="1.0" encoding="UTF-8"?><ListBucketResult><Name>bucket</Name>'
            f"<IsTruncated>true</IsTruncated><NextContinuationToken>{number}"
            f"</NextContinuationToken>{files}</ListBucketResult>"
        ).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        with suppress(OSError):
            self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def options() -> Iterator[dict[str, str]]:
    Hostile.stopped.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hostile)
    server.daemon_threads = True
    Thread(target=server.serve_forever, daemon=True).start()
    yield {
        "fs.s3a.endpoint": f"http://127.0.0.1:{server.server_port}",
        "fs.s3a.endpoint.region": "eu-west-1",
        "fs.s3a.access.key": "someone",
        "fs.s3a.secret.key": "secret",
        "fs.s3a.retry.limit": "2",
        "spark.truckee.storage.timeout": "1",
        "spark.truckee.storage.retryTimeout": "2",
        "spark.truckee.storage.mostListed": "50000",
    }
    Hostile.stopped.set()
    server.shutdown()
    server.server_close()


def opened(kind: str, options: dict[str, str]) -> Storage:
    return open_storage(f"s3a://bucket/{kind}", options)


# Invariant 68.
@pytest.mark.parametrize(
    ("call", "says"),
    [
        (
            "storage.read('x')",
            "cannot read s3a://bucket/huge/x: it has 1099511627776 bytes, more than "
            "spark.truckee.storage.largestRead allows (2147483648)",
        ),
        (
            "storage.read_range('x', 0, 10)",
            "cannot read s3a://bucket/huge/x: ",
        ),
    ],
)
def test_a_length_that_a_store_announces_is_not_believed(
    options: dict[str, str], call: str, says: str
) -> None:
    # In a process of its own, since what is tested is that it survives.
    code = (
        "from truckee.storage import open_storage\n"
        "from truckee.errors.storage import StorageError\n"
        f"storage = open_storage('s3a://bucket/huge', {options!r})\n"
        f"try: {call}\n"
        "except StorageError as error: print(error.sentence())\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        check=False,
        timeout=100,
    )

    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode().startswith(says)


@pytest.mark.parametrize("kind", ["more", "longer"])
def test_more_bytes_than_were_asked_for_are_an_error(options: dict[str, str], kind: str) -> None:
    with pytest.raises(StorageError):
        opened(kind, options).read_range("x", 0, 10)


@pytest.mark.parametrize("kind", ["endless", "empty"])
@pytest.mark.parametrize("is_tree", [False, True])
def test_a_listing_has_an_end(options: dict[str, str], kind: str, is_tree: bool) -> None:
    storage = opened(kind, options)
    start = time.monotonic()

    with pytest.raises(StorageError) as raised:
        for _ in storage.list_tree("_delta_log") if is_tree else storage.list_from("_delta_log/"):
            pass

    assert time.monotonic() - start < 30
    assert raised.value.reason == (
        "its listing has more files than spark.truckee.storage.mostListed allows (50000)"
        if kind == "endless"
        else "its listing gave no file for 3 seconds (spark.truckee.storage.timeout, "
        "spark.truckee.storage.retryTimeout)"
    )


def test_a_store_that_never_answers_is_given_up(options: dict[str, str]) -> None:
    storage = opened("silent", options)
    start = time.monotonic()

    with pytest.raises(StorageError):
        storage.read("x")
    with pytest.raises(StorageError):
        load_snapshot(storage)

    assert time.monotonic() - start < 40


@pytest.mark.parametrize("setting", ["timeout", "retryTimeout", "mostListed", "largestRead"])
@pytest.mark.parametrize("value", ["0", "-1", "much", ""])
def test_a_bound_is_a_number(tmp_path: Path, setting: str, value: str) -> None:
    with pytest.raises(IllegalOptionError):
        open_storage(str(tmp_path), {f"spark.truckee.storage.{setting}": value})
