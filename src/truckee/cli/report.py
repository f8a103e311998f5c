"""`truckee report`: a table on one page of HTML. No JVM."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from truckee.cli.inspect import TablePath
from truckee.cli.render import write_page

Output = Annotated[
    Path,
    typer.Option("--output", "-o", metavar="FILE", help="The file to write; - is stdout."),
]
Commits = Annotated[
    int, typer.Option("--commits", min=1, metavar="N", help="Draw the last N commits.")
]


def report(path: TablePath, output: Output = Path("report.html"), commits: Commits = 500) -> None:
    """Write a page of HTML that shows a table: its commits, files, vectors and feed.

    The page is self-contained: no script, nothing from the network.

    Example: truckee report /data/orders -o orders.html
    """
    from truckee.log.snapshot import load_snapshot
    from truckee.report import report_html
    from truckee.storage import open_storage

    page = report_html(load_snapshot(open_storage(path)), commits=commits)
    write_page(page, output)
