"""Options that commands which show rows have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from truckee.cli.render import words

ROWS_IN_A_TABLE = 1000
"""How many rows are shown in a table if the user does not say."""


def checked_condition(condition: str) -> str:
    """Return a condition, or raise if it surely is none, before Spark is started for it."""
    from truckee.sql.certain_errors import check_condition_text

    check_condition_text(condition)
    return condition


Where = Annotated[
    str | None,
    typer.Option(
        "--where",
        metavar="SQL",
        parser=checked_condition,
        help="Only rows for which this condition is true.",
    ),
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


def one_of(*choices: str) -> Callable[[str], str]:
    """Return a check of an option that it is one of some words."""

    def check(value: str) -> str:
        if value not in choices:
            raise typer.BadParameter(f"{value!r} is not one of {', '.join(choices)}")
        return value

    return check


def completed_from(*choices: str) -> Callable[[str], list[str]]:
    """Return what shells ask for the words that may follow an option."""

    def matching(incomplete: str) -> list[str]:
        return [choice for choice in choices if choice.startswith(incomplete)]

    return matching


def column_names(text: str | None, option: str) -> list[str] | None:
    """Return the names of columns in an option, with commas between them."""
    if text is None:
        return None
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        problem = f"{text!r} is not a list of column names"
        raise typer.BadParameter(problem, param_hint=option)
    return names


def say_if_cut(count: int, most: int, limit: int | None, *, what: str = "rows") -> None:
    """Tell the user that there are more rows than a table shows, unless a limit was given."""
    if count > most and limit is None:
        words(f"the first {most} {what} are shown: --limit N shows more, --json shows all")
