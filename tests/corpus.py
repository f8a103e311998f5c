"""The conformance corpus: Delta tables that other systems wrote, and what to expect of them.

It is next to the repository (`../shared/corpus`), or where TRUCKEE_CORPUS points. The last lines of
a test run say how many `CorpusTable`s were read.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

_REPOSITORY = Path(__file__).resolve().parent.parent


def corpus_root() -> Path:
    """Return where the corpus is expected, whether or not it exists."""
    default = _REPOSITORY.parent / "shared" / "corpus"
    return Path(os.environ.get("TRUCKEE_CORPUS", default))


@dataclass(frozen=True)
class CorpusTable:
    """One table of the corpus."""

    group: str
    name: str

    def __str__(self) -> str:
        return f"{self.group}/{self.name}"

    @property
    def path(self) -> Path:
        return corpus_root() / self.group / self.name

    @cached_property
    def expected(self) -> dict[str, Any]:
        text = self.path.with_name(f"{self.name}.expected.json").read_text()
        found: dict[str, Any] = json.loads(text)
        return found

    def ready(self, workdir: Path) -> Path:
        """Return the table's path, or that of a copy below `workdir` where it needs a setup.

        Tables that name absolute paths in their log have placeholders there (`setup`).
        """
        if not self.expected.get("setup"):
            return self.path
        copy = workdir / self.name
        shutil.copytree(self.path, copy)
        _replace_in_log(copy, self.expected["setup"])
        return copy


def corpus_tables(*groups: str) -> list[CorpusTable]:
    """Return the tables of these groups, or of all; an empty list where there is no corpus."""
    found = (
        CorpusTable(path.parent.name, path.name.removesuffix(".expected.json"))
        for path in sorted(corpus_root().glob("*/*.expected.json"))
    )
    return [table for table in found if not groups or table.group in groups]


def _replace_in_log(table: Path, setup: list[dict[str, str]]) -> None:
    for commit in table.glob("_delta_log/*.json"):
        text = commit.read_text()
        for rule in setup:
            value = rule["with"].replace("<absolute path of the table directory>", str(table))
            text = text.replace(rule["replace_in_log"], value)
        commit.write_text(text)
