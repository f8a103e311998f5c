"""The examples as tables of the documentation."""

from __future__ import annotations

from scripts.sql_examples.altering import ALTERING
from scripts.sql_examples.care import CARE
from scripts.sql_examples.changing import CHANGING
from scripts.sql_examples.example import Example
from scripts.sql_examples.inserting import INSERTING
from scripts.sql_examples.reading import READING
from scripts.sql_examples.tables import TABLES

EXAMPLES: tuple[Example, ...] = (*READING, *INSERTING, *CHANGING, *TABLES, *ALTERING, *CARE)
"""Every example, in the order of the documentation."""


def statements_markdown() -> str:
    """Return the examples as tables: in each group those that work, then those that are refused."""
    lines: list[str] = []
    for group in dict.fromkeys(example.group for example in EXAMPLES):
        lines += [f"### {group}", ""]
        in_group = [example for example in EXAMPLES if example.group == group]
        lines += _table("statement | what it does", [each for each in in_group if not each.error])
        refused = [each for each in in_group if each.error]
        if refused:
            lines += ["Refused:", "", *_table("statement | why", refused)]
    return "\n".join(lines)


def _table(heading: str, examples: list[Example]) -> list[str]:
    rows = [f"| {_shown(each.statement)} | {_told(each)} |" for each in examples]
    return [f"| {heading} |", "|---|---|", *rows, ""]


def _shown(statement: str) -> str:
    places = {"t": "t", "o": "other", "f": "/folder", "c": "/other/folder"}
    for key, value in places.items():
        statement = statement.replace(f"{{{key}}}", value)
    statement = statement.replace("another_example", "other")
    # In Markdown, a text with backquotes stands between two of them.
    return f"`` {statement} ``" if "`" in statement else f"`{statement}`"


def _told(example: Example) -> str:
    told = example.says
    if example.error is not None:
        told += f" (`{example.error}`)"
    elif example.operation is not None:
        told += f"; in the history: `{example.operation}`"
    if example.differs is not None:
        told += f"; {example.differs}"
    return told
