"""truckee.serve: a Spark Connect server whose clients have SQL, `delta` and `DeltaTable`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from truckee.connect.wire import ERROR, VALUE, Call, error_text, from_wire, request_in
from truckee.doors.enable import enable, session
from truckee.errors.base import DeltaError
from truckee.errors.sql import StatementNotAllowedError
from truckee.spark.local_frames import local_frame
from truckee.spark.session.connect_service import ConnectPlanner, start_connect_service
from truckee.table import DeltaTable

LOOPBACK = "127.0.0.1"
PORT = 15002
"""The port of Spark's own Connect server."""


def serve(spark: SparkSession | None = None, *, host: str = LOOPBACK, port: int = PORT) -> str:
    """Start a Spark Connect server in this process, and return the URL for its clients.

    Sessions of clients know Delta's SQL and `format("delta")`, as after `truckee.enable`: the work
    is done here, so clients need truckee only for `DeltaTable`. The server ends with this process.
    Without a session the running one is used, or one is started.

    Only this machine can connect, unless `host` is another address of it; `0.0.0.0` means all.
    Anyone who connects can run code as this process. Spark asks clients for a token if
    `spark.connect.authenticate.token` or `SPARK_CONNECT_AUTHENTICATE_TOKEN` has one.

    Raises `ConnectServerError` if the port is in use or a server runs here already, and
    `DeltaJarPresentError` if Delta's own JAR is on the class path.
    """
    enabled = enable(session() if spark is None else spark)
    # Clients that give a token use TLS, which this server lacks, unless they name localhost.
    name = "localhost" if host == LOOPBACK else host
    return f"sc://{name}:{start_connect_service(enabled, host, port, _answer)}"


def _answer(message: bytes, planner: ConnectPlanner) -> DataFrame | None:
    """Make the calls of a client, and return the rows that it gets."""
    request = request_in(message)
    if request is None:
        return None
    try:
        found = _made(request.calls, planner)
    except DeltaError as error:
        text = error_text(error) if request.once else None
        if text is None:
            raise
        return local_frame(planner.spark, pa.table({ERROR: [text]}))
    if isinstance(found, DataFrame):
        return found
    value = found._storage.root if isinstance(found, DeltaTable) else found
    kind = pa.bool_() if isinstance(value, bool) else pa.string()
    return local_frame(planner.spark, pa.table({VALUE: pa.array([value], kind)}))


def _made(calls: Iterable[Call], planner: ConnectPlanner) -> Any:
    own = {
        "column": planner.column,
        "frame": planner.frame,
        "calls": lambda others: _made(others, planner),
    }
    found: Any = DeltaTable
    for name, arguments, named in calls:
        method = None if name.startswith("_") else getattr(found, name, None)
        if not callable(method):
            raise StatementNotAllowedError(
                operation=f"the method {name} on this server",
                hint="use the same version of truckee on the server and its clients",
            )
        given = from_wire(arguments, own)
        if found is DeltaTable:
            given.insert(0, planner.spark)
        found = method(*given, **{key: from_wire(each, own) for key, each in named.items()})
    return found
