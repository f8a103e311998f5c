"""`truckee rows` and `truckee head`: the history of rows, and the first rows of a version."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from truckee.cli.changes import CHANGE_STYLES
from truckee.cli.diff import changed_places, version_or_time
from truckee.cli.engines import EngineChoice, answered_by_arrow
from truckee.cli.inspect import AsJson, TablePath, Version
from truckee.cli.render import print_json_texts, print_table, words
from truckee.cli.row_options import Keys, Where, checked_condition, column_names
from truckee.cli.table_layout import Heading

if TYPE_CHECKING:
    import pyarrow as pa

    from truckee.changes.diff.row_timelines import RowTimelines
    from truckee.log.snapshot import Snapshot

_Condition = Annotated[
    str,
    typer.Option(
        "--where",
        metavar="SQL",
        parser=checked_condition,
        help="The rows for which this condition is true.",
    ),
]
_Since = Annotated[
    str | None,
    typer.Option("--from", metavar="A", help="From this version or time on; default: the first."),
]
_Columns = Annotated[
    str | None, typer.Option("--columns", metavar="NAMES", help="Only these columns: id,name.")
]
_Number = Annotated[int, typer.Option("--limit", min=1, metavar="N", help="At most N rows.")]


def rows(
    path: TablePath,
    where: _Condition,
    keys: Keys = None,
    since: _Since = None,
    engine: EngineChoice = None,
    as_json: AsJson = False,
) -> None:
    """Show every version of some rows: when each appeared and ended, by whom, and what changed.

    The change data feed need not be on.

    Example: truckee rows /data/orders --where "id = 7"
    """
    from truckee.arrow.compare.rows import history_rows
    from truckee.arrow.texts import json_texts
    from truckee.changes.diff.history_request import requested_timelines
    from truckee.storage import open_storage

    start = None if since is None else version_or_time(since)
    timelines = requested_timelines(open_storage(path), start)
    names = column_names(keys, "--keys")
    # How much is read depends on the rows, which are not known yet.
    found = answered_by_arrow(engine, 0, lambda: history_rows(timelines, where, names).to_arrow())
    if found is None:
        found = _history_of_spark(timelines, where, names)
    if as_json:
        print_json_texts(json_texts(found))
        return
    _print_history(found, len(timelines.schema.names), names or ())


def _history_of_spark(timelines: RowTimelines, where: str, keys: list[str] | None) -> pa.Table:
    from truckee.cli.spark import spark_session
    from truckee.spark.read.history_frames import history_of_rows

    with spark_session() as (spark, status):
        status.update("looking for rows")
        return history_of_rows(spark, timelines, where, keys).toArrow()


def _print_history(found: pa.Table, count: int, keys: Sequence[str]) -> None:
    from truckee.arrow.texts import column_texts
    from truckee.cli.render import time_text

    names, kind = found.column_names[:count], found["_change_type"].to_pylist()
    values = [column_texts(found[name]) for name in names]
    times = found["_commit_timestamp"].cast("int64").to_pylist()
    told = [
        found["_commit_version"].to_pylist(),
        [time_text(None if at is None else at // 1000) for at in times],
        found["_operation"].to_pylist(),
        found["_user_name"].to_pylist(),
        kind,
    ]
    changes = [columns or () for columns in found["_changed_columns"].to_pylist()]
    changed = [", ".join(columns) for columns in changes]
    kept = {*keys}.union(*changes)
    images = list(zip(kind, *values, strict=True))
    marks = [{len(told) - 1 + at for at in places} for places in changed_places(images)]
    shown = [
        [*of, *("null" if value is None else value for value in image[1:]), names_changed]
        for of, image, names_changed in zip(zip(*told, strict=True), images, changed, strict=True)
    ]
    print_table(
        (
            Heading.number("version"),
            Heading.time("time"),
            "operation",
            "user",
            Heading.change("_change_type"),
            *names,
            "changed",
        ),
        shown,
        styles=(CHANGE_STYLES.get(of) for of in kind),
        marked=marks,
        # When, who and what stay. The images of an update are one below the other, so values that
        # are always the same, and then the names of those that change, say the least.
        spare=(
            *(len(told) + at for at in reversed(range(count)) if names[at] not in kept),
            len(told) + count,
        ),
    )


def head(
    path: TablePath,
    where: Where = None,
    columns: _Columns = None,
    version: Version = None,
    limit: _Number = 10,
    engine: EngineChoice = None,
    as_json: AsJson = False,
) -> None:
    """Show the first rows of a table, by default of its latest version.

    Example: truckee head /data/orders --where "country = 'PT'" --columns id,country
    """
    from truckee.arrow.compare.rows import snapshot_rows
    from truckee.arrow.texts import column_texts, json_texts
    from truckee.log.snapshot import load_snapshot
    from truckee.storage import open_storage

    snapshot = load_snapshot(open_storage(path), version)
    if not snapshot.schema.fields:
        print_json_texts([]) if as_json else words("the table has no columns")
        return
    names = column_names(columns, "--columns")

    def answer() -> pa.Table:
        return snapshot_rows(snapshot, columns=names, where=where).first(limit)

    # Without a condition, no more is read than what is shown.
    size = snapshot.size_in_bytes if where is not None else 0
    found = answered_by_arrow(engine, size, answer)
    if found is None:
        found = _head_of_spark(snapshot, where, names, limit)
    if as_json:
        print_json_texts(json_texts(found))
        return
    shown = zip(*(column_texts(column) for column in found.columns), strict=True)
    print_table(
        found.column_names,
        [["null" if value is None else value for value in row] for row in shown],
    )


def _head_of_spark(
    snapshot: Snapshot, where: str | None, columns: list[str] | None, limit: int
) -> pa.Table:
    from truckee.cli.spark import spark_session
    from truckee.spark.jvm.projection import column
    from truckee.spark.read.frames import snapshot_frame

    with spark_session() as (spark, status):
        frame = snapshot_frame(spark, snapshot)
        status.update("reading rows")
        frame = frame if where is None else frame.where(where)
        frame = frame if columns is None else frame.select(*map(column, columns))
        return frame.limit(limit).toArrow()
