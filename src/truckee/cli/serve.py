"""`truckee serve`: a Spark Connect server that knows Delta's SQL, until it is interrupted."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import Annotated

import typer

from truckee.cli.render import words

Host = Annotated[
    str, typer.Option("--host", metavar="ADDRESS", help="The address to listen on; 0.0.0.0 is all.")
]
Port = Annotated[
    int, typer.Option("--port", min=0, max=65535, metavar="N", help="The port; 0 is a free one.")
]
Conf = Annotated[
    list[str] | None,
    typer.Option("--conf", metavar="KEY=VALUE", help="A setting of Spark; may be repeated."),
]


def serve(host: Host = "127.0.0.1", port: Port = 15002, conf: Conf = None) -> None:
    """Start a Spark Connect server whose clients have Delta's SQL and format("delta").

    It runs until it is interrupted. It prints the URL that clients connect to; they need
    PySpark with its extra "connect", and no truckee.

    Example: truckee serve --port 15002 --conf spark.sql.warehouse.dir=/data/warehouse
    """
    from truckee.doors.serve import serve as start_server
    from truckee.spark.session.session import session

    settings = dict(_setting(text) for text in conf or ())
    words("starting Spark")
    spark = session("truckee serve", **settings)
    url = start_server(spark, host=host, port=port)
    print(url, flush=True)
    words(f'clients connect with SparkSession.builder.remote("{url}"); Ctrl-C ends the server')
    with suppress(KeyboardInterrupt):
        threading.Event().wait()
    spark.stop()


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise typer.BadParameter("write it as KEY=VALUE", param_hint="--conf")
    return name, value
