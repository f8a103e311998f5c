"""Runs a command of table care again and again, until it is killed.

One process loads everything, and forks another for each line `<what> <seconds> <arguments>`, which
it kills after so many seconds.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from itertools import count

import pyarrow as pa

from truckee.care.vacuum.plan import VacuumOptions, plan_vacuum
from truckee.care.vacuum.vacuum import carry_out
from truckee.commands.care.clone import CloneRequest, clone_table
from truckee.commands.care.restore import RestoreTarget, restore_table
from truckee.errors.commands.care import RETENTION_CHECK
from truckee.log.snapshot import load_snapshot
from truckee.storage import open_storage

UNCHECKED = {RETENTION_CHECK: "false"}


def vacuum(path: str) -> None:
    """Delete all that can be deleted."""
    plan = plan_vacuum(open_storage(path), VacuumOptions(retention_hours=0), UNCHECKED)
    carry_out(plan, UNCHECKED)


def restore(path: str, *versions: str) -> None:
    """Go back and forth between versions."""
    for turn in count():
        restore_table(
            open_storage(path), RestoreTarget(version=int(versions[turn % len(versions)]))
        )


def clone(path: str, target: str) -> None:
    """Make a deep clone."""
    clone_table(load_snapshot(open_storage(path)), open_storage(target), CloneRequest())


COMMANDS: dict[str, Callable[..., None]] = {"vacuum": vacuum, "restore": restore, "clone": clone}


def main() -> None:
    pa.scalar(0)  # loads what Arrow loads late, so that it need not be loaded in each process
    for line in sys.stdin:
        what, seconds, *arguments = line.split()
        child = os.fork()
        if child == 0:
            COMMANDS[what](*arguments)
            os._exit(0)
        time.sleep(float(seconds))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        print("killed", flush=True)


if __name__ == "__main__":
    main()
