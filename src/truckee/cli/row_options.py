"""Options that commands which show rows have in common."""

from __future__ import annotations

from typing import Annotated

import typer

from truckee.cli.render import words

ROWS_IN_A_TABLE = 1000
"""How many rows are shown in a table if the user does not say."""

Where = Annotated[
    str | None,
    typer.Option("--where", metavar="SQL", help="Only rows for which this condition is true."),
]
RowLimit = Annotated[
    int | None,
    typer.Option(
        "--limit", min=1, metavar="N", help=f"At most N rows; {ROWS_IN_A_TABLE} in a table."
    ),
]
Keys = Annotated[
    str | None,
    typer.Option("--keys", metavar="COLUMNS", help="The columns that identify a row: id,day."),
]


def say_if_cut(count: int, most: int, limit: int | None, *, what: str = "rows") -> None:
    """Tell the user that there are more rows than a table shows, unless a limit was given."""
    if count > most and limit is None:
        words(f"the first {most} {what} are shown: --limit N shows more, --json shows all")
