"""Finding: one result of the doctor, and the command that fixes it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from html import escape
from typing import Any

from msgspec import Struct

from truckee.errors.base import printable

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


class Severity(Enum):
    """How bad it is: rows cannot be read; it will get worse; or for information."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Finding(Struct, frozen=True, kw_only=True):
    """What was found; `mend` is a command line or a line of Python, None if there is none."""

    topic: str
    severity: Severity
    says: str
    mend: str | None = None
    facts: Mapping[str, Any] = {}

    @property
    def lead(self) -> str:
        """What a line starts with that says what was found."""
        return f"{self.severity.value:<8}{self.topic:<13}"

    @property
    def mend_line(self) -> str:
        """The line below, with the command that fixes it."""
        return f"{'':<21}-> {printable(self.mend or '')}"


class Diagnosis(Struct, frozen=True, kw_only=True):
    """All findings of the doctor, the worst first."""

    table: str
    version: int
    findings: tuple[Finding, ...]

    def __str__(self) -> str:
        lines = [self.title]
        for finding in self.findings:
            lines.append(finding.lead + printable(finding.says))
            if finding.mend is not None:
                lines.append(finding.mend_line)
        return "\n".join(lines)

    @property
    def title(self) -> str:
        """The table and its version."""
        return printable(f"{self.table}, version {self.version}")

    def _repr_html_(self) -> str:
        """Return the findings as HTML for a notebook."""
        css = "text-align:left;vertical-align:top;padding:2px 12px 2px 0"
        cell, wide = f'style="{css}"', f'style="{css};overflow-wrap:anywhere"'
        lines = "".join(
            f"<tr><td {cell}>{escape(finding.severity.value)}</td>"
            f"<td {cell}>{escape(finding.topic)}</td>"
            f"<td {wide}>{escape(printable(finding.says))}{_code(finding.mend)}</td></tr>"
            for finding in self.findings
        )
        names = ("severity", "topic", "finding, and what to run")
        head = "".join(f"<th {cell}>{name}</th>" for name in names)
        return (
            f'<div><b>{escape(self.title)}</b><table style="margin:4px 0">'
            f"<thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table></div>"
        )

    @property
    def is_healthy(self) -> bool:
        """Whether nothing was found that prevents rows from being read."""
        return all(finding.severity is not Severity.ERROR for finding in self.findings)


def _code(text: str | None) -> str:
    return "" if text is None else f"<br><code>{escape(printable(text))}</code>"


def size_text(size: float) -> str:
    """Return a size in a readable form, with one digit after the point."""
    unit = 0
    while size >= 1024 and unit < len(_UNITS) - 1:
        size /= 1024
        unit += 1
    return f"{size:.0f} {_UNITS[unit]}" if size == int(size) else f"{size:.1f} {_UNITS[unit]}"


def count_text(count: int, noun: str) -> str:
    """Return a number with its noun: 1 file, 2 files."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
