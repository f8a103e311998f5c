"""The running command: its name, its table and its start.

Logs and Spark's web UI show it, and its commit is logged: `UPDATE lake/orders: version 7, 2 files
added, ...`. The start of a command is marked once, with `running`; any module
that works for it finds it with `running_command`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from truckee.protocol.actions import Action, AddCDCFile, AddFile, Metadata, RemoveFile
from truckee.protocol.paths import short_name

_log = logging.getLogger(__name__)

# Metrics that count rows, by delta-spark's names, and what happened to those rows.
_ROWS = {
    "numOutputRows": "written",
    "numTargetRowsInserted": "inserted",
    "numUpdatedRows": "updated",
    "numTargetRowsUpdated": "updated",
    "numDeletedRows": "deleted",
    "numTargetRowsDeleted": "deleted",
    "numCopiedRows": "copied",
    "numTargetRowsCopied": "copied",
}


@dataclass(frozen=True)
class RunningCommand:
    """A command on one table, from the moment it was started."""

    operation: str
    root: str
    started: float = field(default_factory=time.monotonic)

    @property
    def title(self) -> str:
        """The command and its table, for display: `UPDATE lake/orders`."""
        return f"{self.operation} {short_name(self.root)}"

    @property
    def seconds(self) -> float:
        """How long it has been running."""
        return time.monotonic() - self.started


_current: ContextVar[RunningCommand | None] = ContextVar("truckee_command", default=None)


@contextmanager
def running(operation: str, root: str) -> Iterator[RunningCommand]:
    """Mark that a command runs on the table at `root`; a nested command replaces the outer one."""
    command = RunningCommand(operation, root)
    token = _current.set(command)
    try:
        yield command
    finally:
        _current.reset(token)


def running_command() -> RunningCommand | None:
    """Return the command that runs in this thread, None if there is none."""
    return _current.get()


def record_commit(
    root: str,
    operation: str,
    version: int,
    actions: Sequence[Action],
    metrics: Mapping[str, object],
) -> None:
    """Log at INFO which command committed a version, its files and rows, and its duration."""
    if not _log.isEnabledFor(logging.INFO):
        return
    command = running_command()
    title = RunningCommand(operation, root).title
    seconds = "" if command is None else f", {command.seconds:.2f} s"
    done = ", ".join((*_files(actions), *_row_counts(metrics))) or "no file changed"
    _log.info("%s: version %d, %s%s", title, version, done, seconds)


def _files(actions: Sequence[Action]) -> Iterator[str]:
    adds = [action for action in actions if isinstance(action, AddFile)]
    kept = {action.path for action in adds}
    removes = [action for action in actions if isinstance(action, RemoveFile)]
    marked = {action.path for action in removes} & kept
    counts = {
        "added": len(adds) - len(marked),
        "removed": len(removes) - len(marked),
        "given another deletion vector": len(marked),
        "of changes": sum(isinstance(action, AddCDCFile) for action in actions),
    }
    yield from (f"{_counted(n, 'file')} {what}" for what, n in counts.items() if n)
    if any(isinstance(action, Metadata) for action in actions):
        yield "metadata set"


def _row_counts(metrics: Mapping[str, object]) -> Iterator[str]:
    for name, what in _ROWS.items():
        count = metrics.get(name)
        if isinstance(count, int) and count:
            yield f"{_counted(count, 'row')} {what}"


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
