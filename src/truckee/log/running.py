"""The running command: its name, its table, and its start.

Logs and Spark's web UI show it. The start of a command is marked once, with `running`; any module
that works for it finds it with `running_command`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

_SHOWN_FOLDERS = 2


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


def short_name(root: str) -> str:
    """Return the last two folders of a table's root, a short name for it.

    `s3://bucket/lake/orders` is `lake/orders`.
    """
    path = root.rpartition("://")[2].strip("/")
    return "/".join(path.split("/")[-_SHOWN_FOLDERS:])
