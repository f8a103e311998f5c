"""Spark as such: a server for clients of Spark Connect, and what lets Spark start faster."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import Annotated

import typer

from truckee.cli.inspect import AsJson
from truckee.cli.render import print_json, print_table, words
from truckee.errors.base import utc_text

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
Clear = Annotated[bool, typer.Option("--clear", help="Delete these files.")]


def serve(host: Host = "127.0.0.1", port: Port = 15002, conf: Conf = None) -> None:
    """Start a Spark Connect server whose clients have Delta's SQL and format("delta").

    It runs until it is interrupted. It prints the URL that clients connect to; they need
    PySpark with its extra "connect", and no truckee.

    Example: truckee serve --port 15002 --conf spark.sql.warehouse.dir=/data/warehouse
    """
    from truckee.connect.server import serve as start_server
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


def warm() -> None:
    """Make an archive of Spark's classes, from which Spark starts in about half the time.

    It takes half a minute and 200 MB in the cache folder. truckee does the same by itself after the
    first program that starts Spark; this is for images of containers, or where
    spark.truckee.classArchive is use.

    Example: truckee warm
    """
    from truckee.spark.session.class_archive import archive_path, make_archive
    from truckee.spark.session.java import ensure_java

    ensure_java()
    archive = archive_path()
    if archive is None:
        words("there is no folder for an archive that only this user can write to")
        raise typer.Exit(1)
    words("making an archive of Spark's classes")
    if not make_archive(archive):
        words("this call made no archive; without one, Spark starts as it did before")
        raise typer.Exit(1)
    print(archive)


def cache(clear: Clear = False, as_json: AsJson = False) -> None:
    """Show the files that truckee keeps for later sessions: compiled classes, archives of classes.

    They are made again when they are missing.

    Example: truckee cache --clear
    """
    from truckee.spark.session.cache_folder import kept_files

    files = [
        {
            "path": str(path),
            "size": path.stat().st_size,
            "modified": utc_text(path.stat().st_mtime_ns // 1_000_000),
        }
        for path in kept_files()
    ]
    if clear:
        for path in kept_files():
            path.unlink(missing_ok=True)
    if as_json:
        print_json(files)
    else:
        print_table(("path", "size", "modified"), [list(file.values()) for file in files])
    if clear:
        words(f"{len(files)} files deleted")
