"""The commands that maintain a table: vacuum, restore, clone, doctor. No JVM.

Data goes to stdout, messages to stderr. Before files are deleted, the user is asked; where there is
no terminal to ask on, only `--yes` deletes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from truckee.cli.inspect import AsJson, TablePath
from truckee.cli.render import cell, print_fact, print_json, words
from truckee.errors.base import printable

if TYPE_CHECKING:
    from truckee.care.vacuum.plan import VacuumPlan
    from truckee.care.vacuum.vacuum import Progress

_DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show what would be done, and change nothing.")
]
_Yes = Annotated[
    bool, typer.Option("--yes", "-y", help="Delete without asking; needed outside a terminal.")
]
AtVersion = Annotated[
    int | None, typer.Option("--version", min=0, metavar="N", help="The version to use.")
]
AtTimestamp = Annotated[
    str | None,
    typer.Option("--timestamp", metavar="TIME", help="The last version until this time, in UTC."),
]


def vacuum(
    path: TablePath,
    retention: Annotated[
        float | None,
        typer.Option(
            "--retention",
            metavar="HOURS",
            help="Keep what was removed in the last HOURS; default: the retention of the table.",
        ),
    ] = None,
    dry_run: _DryRun = False,
    lite: Annotated[
        bool, typer.Option("--lite", help="Take candidates from the log, without listing files.")
    ] = False,
    protect: Annotated[
        list[str] | None,
        typer.Option(
            "--protect",
            metavar="WHO",
            help="Keep what a stream (its checkpoint folder) or a version needs; repeatable.",
        ),
    ] = None,
    no_check: Annotated[
        bool,
        typer.Option("--no-retention-check", help="Allow less than the table's own retention."),
    ] = False,
    yes: _Yes = False,
    as_json: AsJson = False,
) -> None:
    """Delete the files that no version within the retention needs.

    Example: truckee vacuum /data/orders --dry-run
    """
    from truckee.care.health.findings import count_text
    from truckee.care.vacuum.plan import VacuumMode, VacuumOptions, plan_vacuum
    from truckee.care.vacuum.vacuum import LOGGING, carry_out
    from truckee.errors.commands.care import RETENTION_CHECK
    from truckee.storage import open_storage

    options = VacuumOptions(
        retention_hours=retention,
        mode=VacuumMode.LITE if lite else VacuumMode.FULL,
        protect=tuple(int(who) if who.isdigit() else who for who in protect or ()),
    )
    settings = {RETENTION_CHECK: "false" if no_check else "true"}
    plan = plan_vacuum(open_storage(path), options, settings)
    _tell(plan)
    if dry_run:
        _print_vacuum(plan, as_json)
        return
    if plan.paths and not yes:
        _confirm()
    if not plan.paths:
        settings[LOGGING] = "false"
    with _progress() as progress:
        outcome = carry_out(plan, settings, progress=progress)
    if as_json:
        failures = [{"path": failed, "reason": reason} for failed, reason in outcome.failures]
        record = {"files": outcome.files, "folders": outcome.folders, "failures": failures}
        print_json(_vacuum_record(plan) | record)
    words(
        f"deleted {count_text(outcome.files, 'file')} and "
        f"{count_text(outcome.folders, 'empty folder')}"
    )
    for failed, reason in outcome.failures:
        words(f"warning: {failed} could not be deleted: {reason}")
    if outcome.failures:
        raise typer.Exit(1)


def _confirm() -> None:
    if sys.stdin is None or not sys.stdin.isatty():
        raise typer.BadParameter(
            "nothing was deleted: there is no terminal to ask on; give --yes to delete the files"
        )
    typer.confirm("delete them?", abort=True, err=True)


def _tell(plan: VacuumPlan) -> None:
    from truckee.care.health.findings import count_text, size_text

    dead = plan.dead
    words(
        f"{count_text(len(dead.files), 'file')} ({size_text(dead.size)}) and "
        f"{count_text(len(dead.folders), 'empty folder')} can be deleted"
    )
    if plan.breaks is not None:
        words(plan.breaks)


def _print_vacuum(plan: VacuumPlan, as_json: bool) -> None:
    if as_json:
        print_json(_vacuum_record(plan) | {"paths": plan.paths})
        return
    for path in plan.paths:
        print(cell(path))


def _vacuum_record(plan: VacuumPlan) -> dict[str, Any]:
    return {
        "table": plan.snapshot.storage.root,
        "version": plan.snapshot.version,
        "mode": plan.mode.value,
        "bytes": plan.dead.size,
        "tableReadableFrom": plan.after.table,
        "feedReadableFrom": plan.after.feed,
    }


@contextmanager
def _progress() -> Iterator[Progress | None]:
    """Yield a function that shows the progress of a deletion, on a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("deleting", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def restore(
    path: TablePath,
    version: AtVersion = None,
    timestamp: AtTimestamp = None,
    dry_run: _DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Restore a table to a version or a time, in a new version.

    Example: truckee restore /data/orders --version 12
    """
    if (version is None) == (timestamp is None):
        raise typer.BadParameter("give either --version or --timestamp")
    from truckee.care.health.findings import count_text
    from truckee.commands.care.restore import restore_table, restore_target
    from truckee.storage import open_storage

    storage = open_storage(path)
    target = restore_target(storage, version, timestamp)
    plan = restore_table(storage, target, dry_run=dry_run)
    counts = {} if plan is None else plan.counts()
    if as_json:
        print_json({"version": target.version, "dryRun": dry_run, **counts})
    if plan is None:
        words(f"the table is at version {target.version} already")
        return
    words(
        f"{'would restore' if dry_run else 'restored'} version {target.version}: "
        f"{count_text(len(plan.restored), 'file')} added back, "
        f"{count_text(len(plan.removed), 'file')} removed"
    )


def clone(
    path: TablePath,
    target: Annotated[str, typer.Argument(metavar="TARGET", help="The folder of the new table.")],
    shallow: Annotated[
        bool, typer.Option("--shallow", help="Share files with the source, do not copy them.")
    ] = False,
    version: AtVersion = None,
    timestamp: AtTimestamp = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace a table that has no files.")
    ] = False,
    properties: Annotated[
        list[str] | None,
        typer.Option("--property", metavar="KEY=VALUE", help="Set a table property; repeatable."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a new table with the rows of another one.

    A copy that was interrupted continues where it stopped when it is started again.

    Example: truckee clone /data/orders /data/orders-copy --shallow
    """
    if version is not None and timestamp is not None:
        raise typer.BadParameter("give either --version or --timestamp")
    from truckee.commands.care.clone import CloneRequest, clone_table, source_version
    from truckee.log.snapshot import load_snapshot
    from truckee.storage import open_storage

    pairs = [text.partition("=") for text in properties or ()]
    if not all(separator for _, separator, _ in pairs):
        raise typer.BadParameter("a property is KEY=VALUE")
    request = CloneRequest(
        is_shallow=shallow, replace=replace, properties={key: value for key, _, value in pairs}
    )
    source, place = open_storage(path), open_storage(target)
    snapshot = load_snapshot(source, source_version(source, version, timestamp))
    counts = clone_table(snapshot, place, request)
    if as_json:
        print_json({"target": place.root, "sourceVersion": snapshot.version, **counts})
    what = "shared" if shallow else "copied"
    words(f"{place.root} has version {snapshot.version} of {source.root}; its files are {what}")


def doctor(path: TablePath, as_json: AsJson = False) -> None:
    """Report what a table needs: missing or leftover files, small files, its log, its features.

    Exits with 1 if rows cannot be read.

    Example: truckee doctor /data/orders
    """
    from truckee.care.health.doctor import diagnosis
    from truckee.log.snapshot import load_snapshot
    from truckee.storage import open_storage

    found = diagnosis(load_snapshot(open_storage(path)))
    if as_json:
        print_json(found)
    else:
        print(found.title)
        for finding in found.findings:
            print_fact(finding.lead, printable(finding.says))
            if finding.mend is not None:
                # This is to be copied, so no line of it is broken.
                print(finding.mend_line)
    if not found.is_healthy:
        raise typer.Exit(1)
