"""The command that is running: its name, its table, and since when.

Logs and Spark's web UI show it. Whoever starts a command says so once, with `running`, and what is
done on its behalf, by whichever module, finds it with `running_command`.
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
        """The command and its table as people are shown them: `UPDATE lake/orders`."""
        return f"{self.operation} {short_name(self.root)}"

    @property
    def seconds(self) -> float:
        """How long it has been running."""
        return time.monotonic() - self.started


_current: ContextVar[RunningCommand | None] = ContextVar("truckee_command", default=None)


@contextmanager
def running(operation: str, root: str) -> Iterator[RunningCommand]:
    """Say that a command runs on the table at `root`; one within another is shown by itself."""
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
    """Return the last two folders of a table's root, which tell it from others.

    `s3://bucket/lake/orders` is `lake/orders`.
    """
    path = root.rpartition("://")[2].strip("/")
    return "/".join(path.split("/")[-_SHOWN_FOLDERS:])
