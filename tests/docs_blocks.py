"""Code blocks of the documentation, and how each kind is run.

| block                   | how it is run                                                       |
|-------------------------|---------------------------------------------------------------------|
| `python`                | in one namespace a page, in the order of the page                   |
| `sh`                    | each line that begins with `truckee` goes through the command line  |
| `text` after one of them| is what it must have printed; `...` stands for anything             |
| without such a `text`   | it must print nothing                                               |

Lines of `sh` that call something else (pip, make) are not run, and neither are blocks of other
kinds, such as `toml` or `text` on its own. `python title="..."` blocks are run like others, but one
titled "In a process of its own" is run alone, by a new interpreter: for sessions of another kind.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from step_scripts import script_environment
from truckee.cli.main import main

_FENCE = re.compile(
    r"^(?P<indent> *)```(?P<kind>\w*)(?P<info>[^\n]*)\n(?P<code>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
_RUN = ("python", "sh")
_ALONE = 'title="In a process of its own"'


@dataclass(frozen=True)
class Block:
    """One block of code, where it is, and what it prints if the page says so."""

    page: Path
    line: int
    kind: str
    code: str
    expected: str | None = None
    is_alone: bool = False

    @property
    def commands(self) -> list[str]:
        """The calls of `truckee` in a shell block."""
        lines = self.code.replace("\\\n", " ").splitlines() if self.kind == "sh" else []
        return [line for line in lines if line.startswith("truckee ")]

    @property
    def needs_spark(self) -> bool:
        if self.kind == "python":
            return re.search(r"\bspark\b|DeltaTable", self.code) is not None
        return any(command.startswith(_NEED_SPARK) for command in self.commands)


_NEED_SPARK = ("truckee changes", "truckee demo", "truckee sql")


def blocks(page: Path) -> list[Block]:
    """Return the blocks of a page that are run."""
    text = page.read_text()
    found = [
        Block(
            page,
            text[: m.start()].count("\n") + 1,
            m["kind"],
            _dedented(m),
            is_alone=_ALONE in m["info"],
        )
        for m in _FENCE.finditer(text)
    ]
    return list(_with_output(found, text))


def _dedented(match: re.Match[str]) -> str:
    return re.sub(f"^{match['indent']}", "", match["code"], flags=re.MULTILINE)


def _with_output(found: list[Block], text: str) -> Iterator[Block]:
    lines = text.splitlines()
    for block, after in zip_longest(found, found[1:]):
        if block.kind not in _RUN:
            continue
        expected = None
        if after is not None and after.kind == "text":
            end = block.line + block.code.count("\n") + 1
            if not any(line.strip() for line in lines[end : after.line - 1]):
                expected = after.code
        yield replace(block, expected=expected)


def run(block: Block, namespace: dict[str, Any]) -> None:
    """Run a block, and compare what it prints."""
    printed = io.StringIO()
    place = f"{block.page.name}:{block.line}"
    with contextlib.redirect_stdout(printed):
        if block.is_alone:
            print(_printed_alone(block.code))
        elif block.kind == "python":
            # Spark resolves a relative checkpoint path from the folder where its JVM started.
            # That is not the test's folder, so the checkpoint would still exist in the next run.
            code = block.code.replace('"lake/checkpoint', f'"{Path.cwd()}/lake/checkpoint')
            exec(compile(code, place, "exec"), namespace)
        for command in block.commands:
            assert main(shlex.split(command, comments=True)[1:]) == 0, f"{place}: {command}"
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    expected = block.expected or ""
    is_same = doctest.OutputChecker().check_output(expected, printed.getvalue(), flags)
    assert is_same, f"{place} printed\n{printed.getvalue()}instead of\n{expected}"


def _printed_alone(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=script_environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout
