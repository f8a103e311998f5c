"""A table read at every door that needs no JVM, in a process whose death can be told apart.

Each round breaks one table of the corpus, and reads what is left. What comes of it has to be rows
or a DeltaError: no other error, no abort of the process, in bounded time and memory.
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from corpus import corpus_tables
from hostile.mutations import mutate
from staging import plan_changes
from streaming.streams import batches, stream
from truckee.arrow.file_columns import TableRead
from truckee.arrow.parts import tasks
from truckee.arrow.read import read_parts
from truckee.care.clone_plan import deep_files, shallow_files
from truckee.care.health.doctor import diagnosis
from truckee.care.restore_plan import plan_restore
from truckee.care.vacuum.plan import VacuumOptions, plan_vacuum
from truckee.changes.summary import summary
from truckee.errors.base import DeltaError
from truckee.errors.commands.care import RETENTION_CHECK
from truckee.log.detail import table_detail
from truckee.log.files.history import history, version_as_of
from truckee.log.files.listing import log_entries
from truckee.log.snapshot import load_snapshot
from truckee.options.feed import feed_options
from truckee.protocol.predicates import IsNull, column_named
from truckee.report.page import report_html
from truckee.scan.snapshot_scan import scan_files
from truckee.storage.base import Storage
from truckee.storage.local import LocalStorage
from values import compare

LARGEST_TABLE = 200_000
# Of the processor, since a loaded machine is no fault of the table; and of a clock, for what waits.
PROCESSOR_SECONDS = 20
SECONDS = 120
# On top of what the process has mapped when the child is forked, which depends on the tests before.
MEMORY = 2 << 30


_EVERYTHING = VacuumOptions(retention_hours=0)
_LITE = VacuumOptions(retention_hours=0, mode="LITE")
_LONG = VacuumOptions(retention_hours=1_000_000)
_UNCHECKED = {RETENTION_CHECK: "false"}
_LATER_MS = 4_000_000_000_000


def small_tables() -> list[Path]:
    """Return the tables of the corpus that are copied in no time, in order of name."""
    paths = (table.path for table in corpus_tables())
    return [path for path in paths if _size(path) <= LARGEST_TABLE]


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def rows_of_snapshot(storage: Storage) -> None:
    snapshot = load_snapshot(storage)
    read = TableRead(
        url=storage.root,
        store_options={},
        table=snapshot.configuration,
    )
    for task in tasks(scan_files(snapshot)):
        for _ in read_parts(read, task):
            pass


def rows_of_feed(storage: Storage) -> None:
    plan = plan_changes(storage, feed_options({"startingVersion": "0"}))
    summary(plan.files, storage)
    read = TableRead(
        url=storage.root,
        store_options={},
        table=plan.configuration,
        is_feed=True,
    )
    for task in tasks(plan.files):
        for _ in read_parts(read, task):
            pass


def pruned_files(storage: Storage) -> None:
    snapshot = load_snapshot(storage)
    for field in snapshot.schema.fields:
        scan_files(snapshot, IsNull(column_named(field.name)))
        value = {"string": "x", "long": 1, "integer": 1}.get(getattr(field.type, "name", ""))
        if value is not None:
            scan_files(snapshot, compare(field.name, "<", value))


DOORS: dict[str, Callable[[Storage], object]] = {
    "files": lambda storage: list(load_snapshot(storage).files()),
    "tombstones": lambda storage: list(load_snapshot(storage).tombstones()),
    "detail": lambda storage: table_detail(load_snapshot(storage)),
    "history": history,
    "log": log_entries,
    "time travel": lambda storage: version_as_of(storage, 1_600_000_000_000),
    "rows": rows_of_snapshot,
    "pruned": pruned_files,
    "feed": rows_of_feed,
    "stream": lambda storage: [
        b for b, _ in zip(batches(stream(storage)), range(20), strict=False)
    ],
    "report": lambda storage: report_html(load_snapshot(storage)),
    "vacuum": lambda storage: plan_vacuum(storage, _EVERYTHING, _UNCHECKED, now_ms=_LATER_MS),
    "lite": lambda storage: plan_vacuum(storage, _LITE, _UNCHECKED, now_ms=_LATER_MS),
    "longer retention": lambda storage: plan_vacuum(storage, _LONG),
    "doctor": lambda storage: diagnosis(load_snapshot(storage)),
    "restore": lambda storage: plan_restore(load_snapshot(storage), load_snapshot(storage, 0)),
    "shallow clone": lambda storage: shallow_files(load_snapshot(storage)),
    "deep clone": lambda storage: deep_files(load_snapshot(storage)),
}


def untyped_errors(table: Path) -> Iterator[str]:
    """Yield what a table raised at each door that is no DeltaError."""
    for door, read in DOORS.items():
        try:
            read(LocalStorage(str(table)))
        except DeltaError as error:
            str(error)
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            own = [f for f in traceback.extract_tb(error.__traceback__) if "truckee" in f.filename]
            at = " ".join(f"{Path(f.filename).name}:{f.lineno}" for f in (*own[-3:], where))
            yield f"{door}: {type(error).__name__}: {str(error)[:200]!r} at {at}"


def failed_rounds(rounds: Sequence[int], tables: Sequence[Path]) -> list[str]:
    """Return what went wrong in rounds of mutation; a process that dies ends only its round."""
    failures: list[str] = []
    left = list(rounds)
    with TemporaryDirectory() as folder:
        while left:
            done, found, end = _in_a_process(left, lambda n: _round(n, tables, Path(folder)))
            failures += found
            if end:
                failures.append(f"round {left[done]}: the process ended with signal {end}")
                done += 1
            left = left[done:]
    return failures


def limited(read: Callable[[], Iterator[str]]) -> list[str]:
    """Return what a read tells, in a process with little memory and time; how it ended if not."""
    _, found, end = _in_a_process([0], lambda _number: list(_timed(read)))
    return found if not end else [*found, f"the process ended with signal {end}"]


def _timed(read: Callable[[], Iterator[str]]) -> Iterator[str]:
    signal.alarm(SECONDS)
    signal.setitimer(signal.ITIMER_PROF, PROCESSOR_SECONDS)
    yield from read()
    signal.alarm(0)
    signal.setitimer(signal.ITIMER_PROF, 0)


def _in_a_process(
    rounds: Sequence[int], run: Callable[[int], list[str]]
) -> tuple[int, list[str], int]:
    """Return how many rounds a process made, what they found, and the signal that ended it."""
    receiving, sending = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(receiving)
        _limit()
        with os.fdopen(sending, "w") as told:
            for number in rounds:
                for line in run(number):
                    print(line, file=told, flush=True)
                print("done", file=told, flush=True)
        os._exit(0)
    os.close(sending)
    with os.fdopen(receiving) as told:
        lines = told.read().splitlines()
    _, status = os.waitpid(child, 0)
    found = [line for line in lines if line != "done"]
    return len(lines) - len(found), found, status & 0x7F


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    most = _mapped() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stderr.fileno())


def _mapped() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()


def _round(number: int, tables: Sequence[Path], folder: Path) -> list[str]:
    random = Random(number)
    source = tables[random.randrange(len(tables))]
    table = folder / "table"
    shutil.rmtree(table, ignore_errors=True)
    shutil.copytree(source, table)
    how = mutate(table, random)
    errors = _timed(lambda: untyped_errors(table))
    return [f"round {number}: {source.name}: {how}: {error}" for error in errors]
