"""`truckee diff`: the rows that differ between two versions, on the terminal or as a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from truckee.cli.changes import CHANGE_STYLES
from truckee.cli.engines import EngineChoice, answered_by_arrow
from truckee.cli.inspect import AsJson, TablePath
from truckee.cli.render import print_json_array, print_json_texts, print_table, write_page
from truckee.cli.row_options import ROWS_IN_A_TABLE, Keys, RowLimit, Where, column_names, say_if_cut
from truckee.cli.table_layout import Heading

if TYPE_CHECKING:
    import pyarrow as pa

    from truckee.changes.diff.snapshot_diff import SnapshotDiff
    from truckee.report.diff_page import DiffView

_Start = Annotated[str, typer.Argument(metavar="A", help="A version, or a timestamp (UTC).")]
_End = Annotated[
    str | None, typer.Argument(metavar="B", help="Another one; default: the latest version.")
]
_Other = Annotated[
    str | None,
    typer.Option("--with", metavar="PATH", help="A clone of the table, of which B is a version."),
]
_Counted = Annotated[bool, typer.Option("--summary", help="Count rows by type of change.")]
_Page = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write a page of HTML; - is stdout."),
]


def diff(
    path: TablePath,
    start: _Start,
    end: _End = None,
    keys: Keys = None,
    other: _Other = None,
    where: Where = None,
    limit: RowLimit = None,
    summary: _Counted = False,
    output: _Page = None,
    engine: EngineChoice = None,
    as_json: AsJson = False,
) -> None:
    """Show the rows that differ between two versions, in either order.

    The change data feed need not be on. Updates are shown as updates if the table tracks rows, or
    if --keys names the columns that identify a row. A number is a version, anything else a
    timestamp.

    Example: truckee diff /data/orders 3 9 --keys id
    """
    from truckee.arrow.compare.change_order import changes_in_order
    from truckee.arrow.compare.diff_view import diff_order, diff_view
    from truckee.arrow.compare.rows import arrow_rows
    from truckee.changes.diff.request import requested_diff
    from truckee.report.diff_page import diff_html
    from truckee.rows.diff import diff_rows
    from truckee.storage import open_storage

    plan = requested_diff(
        open_storage(path),
        version_or_time(start),
        None if end is None else version_or_time(end),
        column_names(keys, "--keys"),
        other=None if other is None else open_storage(other),
    )
    found = answered_by_arrow(
        engine, plan.size_in_bytes, lambda: arrow_rows(diff_rows(plan), where=where).to_arrow()
    )
    if found is None and (summary or output is not None):
        view = _view_of_spark(plan, where)
    else:
        rows = _rows_of_spark(plan, where, limit, as_json) if found is None else found
        if not (summary or output is not None):
            in_order = changes_in_order(rows, diff_order(plan))
            _print_rows(in_order, plan.keys, limit, as_json=as_json)
            return
        view = diff_view(plan, rows)
    if output is not None:
        write_page(diff_html(plan, view), output)
    else:
        _print_counts(view.counts, as_json=as_json)


def version_or_time(text: str) -> int | str:
    """Return the version or time of a text: a version if it is a number, else a timestamp."""
    return int(text) if text.isdecimal() else text


def _rows_of_spark(
    plan: SnapshotDiff, where: str | None, limit: int | None, as_json: bool
) -> pa.Table:
    from truckee.arrow.columns import arrow_schema
    from truckee.changes.columns import CHANGE_TYPE_FIELD
    from truckee.cli.spark import spark_session
    from truckee.protocol.schema import StructType
    from truckee.spark.read.diff_frames import in_diff_order, snapshot_diff_frame

    with spark_session() as (spark, status):
        rows = snapshot_diff_frame(spark, plan)
        status.update("comparing rows")
        rows = in_diff_order(rows if where is None else rows.where(where), plan)
        most = limit if as_json else (limit or ROWS_IN_A_TABLE) + 1
        found = (rows if most is None else rows.limit(most)).toArrow()
    return found.cast(arrow_schema(StructType((*plan.schema.fields, CHANGE_TYPE_FIELD))))


def _view_of_spark(plan: SnapshotDiff, where: str | None) -> DiffView:
    from truckee.cli.spark import spark_session
    from truckee.spark.read.diff_frames import diff_frame_view, snapshot_diff_frame

    with spark_session() as (spark, status):
        rows = snapshot_diff_frame(spark, plan)
        status.update("comparing rows")
        return diff_frame_view(rows if where is None else rows.where(where), plan)


def _print_counts(counts: Mapping[str, int], *, as_json: bool) -> None:
    known = [(kind, counts[kind]) for kind in CHANGE_STYLES if kind in counts]
    if as_json:
        print_json_array({"changeType": kind, "rows": rows} for kind, rows in known)
        return
    styles = (CHANGE_STYLES[kind] for kind, _ in known)
    print_table((Heading.word("change type"), Heading.number("rows")), known, styles=styles)


def _print_rows(rows: pa.Table, keys: Sequence[str], limit: int | None, *, as_json: bool) -> None:
    from truckee.arrow.texts import column_texts, json_texts

    if as_json:
        print_json_texts(json_texts(rows if limit is None else rows.slice(0, limit)))
        return
    most = limit or ROWS_IN_A_TABLE
    shown = rows.slice(0, most)
    names = [name for name in rows.column_names if name != "_change_type"]
    columns = [shown["_change_type"].to_pylist(), *(column_texts(shown[name]) for name in names)]
    print_images(names, list(zip(*columns, strict=True)), keys)
    say_if_cut(rows.num_rows, most, limit)


def print_images(
    names: Sequence[str], rows: Sequence[Sequence[str | None]], keys: Sequence[str] = ()
) -> None:
    """Print rows that have their change type first; changed cells are coloured and listed.

    If there are updates, columns that they leave alone go first where the terminal lacks room.
    """
    changed = list(changed_places(rows))
    has_updates = any(changed)
    kept = {0, *(1 + names.index(key) for key in keys if key in names)}.union(*changed)
    table = []
    for row, places in zip(rows, changed, strict=True):
        values: list[Any] = ["null" if value is None else value for value in row]
        told = ", ".join(names[place - 1] for place in sorted(places))
        table.append([*values, told] if has_updates else values)
    print_table(
        (Heading.change("_change_type"), *names, *(["changed"] if has_updates else [])),
        table,
        styles=(CHANGE_STYLES.get(row[0] or "") for row in rows),
        marked=changed,
        spare=[at for at in range(len(names), 0, -1) if at not in kept] if has_updates else (),
    )


def changed_places(rows: Sequence[Sequence[str | None]]) -> Iterator[set[int]]:
    """Yield for each row the positions where it differs from the other image of its update."""
    for place, row in enumerate(rows):
        step = {"update_preimage": 1, "update_postimage": -1}.get(row[0] or "", 0)
        if not step or not 0 <= place + step < len(rows):
            yield set()
            continue
        other = rows[place + step]
        yield {at for at in range(1, len(row)) if row[at] != other[at]}
