"""truckee.serve: a Spark Connect server whose clients have Delta's SQL and the format `delta`."""

from __future__ import annotations

from pyspark.sql import SparkSession

from truckee.doors.enable import enable, session
from truckee.spark.session.connect_service import start_connect_service

LOOPBACK = "127.0.0.1"
PORT = 15002
"""The port of Spark's own Connect server."""


def serve(spark: SparkSession | None = None, *, host: str = LOOPBACK, port: int = PORT) -> str:
    """Start a Spark Connect server in this process, and return the URL for its clients.

    Sessions of clients know Delta's SQL and `format("delta")`, as after `truckee.enable`: the work
    is done here, so clients need no truckee. The server ends with this process. Without a session
    the running one is used, or one is started.

    Only this machine can connect, unless `host` is another address of it; `0.0.0.0` means all.
    Anyone who connects can run code as this process. Spark asks clients for a token if
    `spark.connect.authenticate.token` or `SPARK_CONNECT_AUTHENTICATE_TOKEN` has one.

    Raises `ConnectServerError` if the port is in use or a server runs here already, and
    `DeltaJarPresentError` if Delta's own JAR is on the class path.
    """
    enabled = enable(session() if spark is None else spark)
    # Clients that give a token use TLS, which this server lacks, unless they name localhost.
    name = "localhost" if host == LOOPBACK else host
    return f"sc://{name}:{start_connect_service(enabled, host, port)}"
