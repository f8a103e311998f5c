"""The command line: arguments -> one call, data on stdout, messages on stderr.

Each family of commands has its own module. A command imports what it needs when it runs, so
commands that only read the log start fast and need no JVM.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from inspect import getdoc
from typing import Annotated, Any, cast

import typer
from typer.core import TyperCommand, TyperGroup

from truckee.cli import (
    care,
    changes,
    demo,
    diff,
    inspect,
    optimize,
    report,
    rows,
    serve,
    sql,
)
from truckee.cli.render import accept_any_text, in_lines, in_utc, words
from truckee.errors.base import DeltaError, on_command_line

_COMMANDS: Mapping[str, Callable[..., None]] = {
    "history": inspect.history,
    "detail": inspect.detail,
    "log": inspect.log,
    "files": inspect.files,
    "changes": changes.changes,
    "diff": diff.diff,
    "rows": rows.rows,
    "head": rows.head,
    "optimize": optimize.optimize,
    "report": report.report,
    "doctor": care.doctor,
    "vacuum": care.vacuum,
    "restore": care.restore,
    "clone": care.clone,
    "sql": sql.sql,
    "serve": serve.serve,
    "warm": serve.warm,
    "cache": serve.cache,
    "demo": demo.demo,
}


class _Commands(Mapping[str, Any]):
    """The commands as Typer wants them; the options of one are parsed when it is asked for."""

    def __getitem__(self, name: str) -> Any:
        return _command(name)

    def __iter__(self) -> Iterator[str]:
        return iter(_COMMANDS)

    def __len__(self) -> int:
        return len(_COMMANDS)


class _Command(TyperCommand):
    def get_params(self, ctx: Any) -> list[Any]:
        return _without_flag_types(super().get_params(ctx))


@cache
def _command(name: str) -> Any:
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    function = _COMMANDS[name]
    alone.command(name, cls=_Command, help=_paragraphs(function))(function)
    return typer.main.get_command(alone)


def _without_flag_types(params: list[Any]) -> list[Any]:
    """Return options of which flags name no value in the help, since they take none."""
    for param in params:
        if getattr(param, "is_flag", False):
            param.metavar = ""
    return params


def _paragraphs(function: Callable[..., None]) -> str:
    """Return a docstring with each paragraph on one line, since Typer keeps its line breaks."""
    found = getdoc(function)
    assert found is not None, function
    return "\n\n".join(" ".join(part.split()) for part in found.split("\n\n"))


class _Group(TyperGroup):
    def get_params(self, ctx: Any) -> list[Any]:
        return _without_flag_types(super().get_params(ctx))

    def invoke(self, ctx: Any) -> Any:
        try:
            found = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            # Whoever reads our output has seen enough, which is no failure. Python would complain
            # at exit, when it flushes what is left.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit from None
        return found

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = cast("Any", _Commands())


app = typer.Typer(
    cls=_Group,
    help="Look at Delta tables, their history and their changes, and keep them in order.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

# What Spark says of a statement that names a table in a way that it does not know.
_HINTS = {"TABLE_OR_VIEW_NOT_FOUND": "name the table by its path, as in delta.`/data/orders`"}
_DEBUG = "--debug"
_UTC = "--utc"
_VERTICAL = "--vertical"
_ANYWHERE = (_DEBUG, _UTC, _VERTICAL)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, and return the exit code of the process.

    0 is success, 1 a `DeltaError` (shown in one sentence), 2 invalid arguments, 3 an error of Spark
    or an unexpected error. `--debug` shows the traceback. The options that all commands have may be
    anywhere.
    """
    if sys.stdout is None:
        # The caller has closed it, and wants to know the exit code only.
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115
    accept_any_text(sys.stdout)
    accept_any_text(sys.stderr)
    given = list(sys.argv[1:] if arguments is None else arguments)
    in_utc.set(_UTC in given)
    in_lines.set(_VERTICAL in given)
    is_here = on_command_line.set(True)
    try:
        app([argument for argument in given if argument not in _ANYWHERE], prog_name="truckee")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except DeltaError as error:
        if _DEBUG in given:
            raise
        words(f"error: {error}")
        return 1
    except Exception as error:
        if _DEBUG in given:
            raise
        words(f"error: {_first_sentence(error)}\nhint: {_hint(error)}")
        return 3
    finally:
        on_command_line.reset(is_here)
    return 0


def _first_sentence(error: Exception) -> str:
    """Return what an error says, without the query plan or the stack that Spark adds."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].removesuffix(" SQLSTATE:")


def _hint(error: Exception) -> str:
    condition = getattr(error, "getCondition", str)()
    return _HINTS.get(condition or "", "--debug shows where it came from")


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        from importlib.metadata import version

        typer.echo(f"truckee {version('truckee')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
    debug: Annotated[bool, typer.Option(_DEBUG, help="Show where an error came from.")] = False,
    utc: Annotated[bool, typer.Option(_UTC, help="Show times in UTC, not local ones.")] = False,
    vertical: Annotated[
        bool,
        typer.Option(_VERTICAL, help="Print each value of a table on a line of its own, whole."),
    ] = False,
) -> None:
    """Look at Delta tables, their history and their changes, and keep them in order."""
