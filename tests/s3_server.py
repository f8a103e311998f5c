"""A real S3-compatible server on loopback: moto, in a process of its own.

moto looks for the key and then stores it, so two parallel requests could both win a conditional
put. So requests are handled one at a time here, as if each were atomic.

    with s3_server() as server:
        storage = open_storage(server.url("tables/t"), server.options)

The server ends with the process that started it. It can be told to carry out the next requests but
answer with an error, as if the network broke at the worst moment, or to deny them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock, Thread
from typing import Any
from urllib.request import Request, urlopen

BUCKET = "bucket"
REGION = "eu-west-1"
_CONTROL = "/-/next/"
_REQUESTS = "/-/requests"


@dataclass(frozen=True)
class S3Server:
    """Where the server is, and what Spark users write to reach it."""

    endpoint: str

    @property
    def options(self) -> dict[str, str]:
        return {
            "fs.s3a.endpoint": self.endpoint,
            "fs.s3a.endpoint.region": REGION,
            "fs.s3a.access.key": "someone",
            "fs.s3a.secret.key": "secret",
            "fs.s3a.path.style.access": "true",
        }

    def url(self, key: str, *, scheme: str = "s3a") -> str:
        return f"{scheme}://{BUCKET}/{key}"

    def put(self, key: str, data: bytes = b"") -> None:
        """Store an object by its raw key, as another client would."""
        _put(f"{self.endpoint}/{BUCKET}/{key}", data)

    def lose_answers(self, count: int) -> None:
        """Carry out the next `count` puts of objects, but answer each with a server error."""
        _put(f"{self.endpoint}{_CONTROL}lose/{count}")

    def deny_reads(self, count: int) -> None:
        """Answer the next `count` requests to read or list as if the user had no permission."""
        _put(f"{self.endpoint}{_CONTROL}deny/{count}")

    def requests(self) -> list[str]:
        """Return the requests since this was last asked, as `GET key`.

        A listing is `LIST`, and a put on the condition that there is no such object `CREATE key`.
        """
        with urlopen(f"{self.endpoint}{_REQUESTS}") as answer:
            return str(answer.read().decode()).splitlines()


@contextmanager
def s3_server() -> Iterator[S3Server]:
    """Start a server with one empty bucket on a free port, and stop it at the end."""
    command = [sys.executable, __file__]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        port = process.stdout.readline().strip().decode()
        if not port:
            assert process.stderr is not None
            raise RuntimeError(f"the S3 server did not start:\n{process.stderr.read().decode()}")
        server = S3Server(f"http://127.0.0.1:{port}")
        try:
            _put(f"{server.endpoint}/{BUCKET}")
            yield server
        finally:
            process.kill()


def _put(url: str, data: bytes = b"") -> None:
    with urlopen(Request(url, data=data, method="PUT")) as answer:
        answer.read()


Application = Callable[[dict[str, Any], Any], Iterable[bytes]]


class OneAtATime:
    """Runs an application on one request at a time, and misbehaves when told to."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._lock = Lock()
        self._next = {"lose": 0, "deny": 0}
        self._requests: list[str] = []

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        with self._lock:
            if path == _REQUESTS:
                answer, self._requests = "\n".join(self._requests), []
                start_response("200 OK", [])
                return [answer.encode()]
            self._note(environ)
            if path.startswith(_CONTROL):
                fault, _, count = path.removeprefix(_CONTROL).partition("/")
                self._next[fault] = int(count)
                start_response("200 OK", [])
            elif environ["REQUEST_METHOD"] in ("GET", "HEAD") and self._happens("deny"):
                start_response("403 Forbidden", [])
            elif environ["REQUEST_METHOD"] == "PUT" and self._happens("lose"):
                list(self._application(environ, lambda *_: None))
                start_response("503 Slow Down", [])
            else:
                return list(self._application(environ, start_response))
        return []

    def _note(self, environ: dict[str, Any]) -> None:
        method, key = environ["REQUEST_METHOD"], environ["PATH_INFO"].removeprefix(f"/{BUCKET}/")
        is_listing = method == "GET" and "list-type" in environ["QUERY_STRING"]
        if method == "PUT" and environ.get("HTTP_IF_NONE_MATCH") == "*":
            method = "CREATE"
        self._requests.append("LIST" if is_listing else f"{method} {key}")

    def _happens(self, fault: str) -> bool:
        self._next[fault] -= 1
        return self._next[fault] >= 0


def serve() -> None:
    """Serve until the standard input ends, which it does when the parent is gone."""
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import WSGIRequestHandler, make_server

    class Quiet(WSGIRequestHandler):
        def log_request(self, *_: object) -> None:
            pass

    application = OneAtATime(DomainDispatcherApplication(create_backend_app))
    server = make_server("127.0.0.1", 0, application, threaded=True, request_handler=Quiet)
    Thread(target=_exit_with_parent, daemon=True).start()
    sys.stdout.write(f"{server.port}\n")
    sys.stdout.flush()
    server.serve_forever()


def _exit_with_parent() -> None:
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    serve()
