"""`truckee changes`: rows inserted, updated and deleted, or how many of each.

Counting reads no data file if the log has the counts. Rows are read without a JVM if there is
little to read, else by Spark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from truckee.cli.engines import Answer, EngineChoice, RowEngine, answered_by_arrow
from truckee.cli.inspect import AsJson, TablePath
from truckee.cli.render import (
    moment,
    print_json_array,
    print_json_texts,
    print_table,
    quoted_column,
    time_text,
)
from truckee.cli.row_options import (
    ROWS_IN_A_TABLE,
    Keys,
    RowLimit,
    Where,
    completed_from,
    one_of,
    say_if_cut,
)
from truckee.cli.table_layout import Heading

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from truckee.changes.summary import ChangeCount
    from truckee.options.feed import Bound
    from truckee.rows.plan import RowPlan

CHANGE_STYLES = {
    "insert": "green",
    "delete": "red",
    "update_preimage": "yellow dim",
    "update_postimage": "yellow",
}
_TYPES_IN_ORDER = "'delete', 'update_preimage', 'update_postimage', 'insert'"
_NESTED = ("struct", "array", "map", "variant")
# The small engine nets one row after the other, so it is given less to net than to read.
_TIMES_FOR_NET = 8
_SOURCES = ("recorded", "derived", "auto")
_SCHEMA_MODES = ("follow", "superset", "legacy", "latest", "endVersion")

From = Annotated[
    str,
    typer.Option("--from", metavar="A", help="The first version, or a timestamp (UTC)."),
]
To = Annotated[
    str | None,
    typer.Option("--to", metavar="B", help="The last version or timestamp; default: the latest."),
]
Summary = Annotated[
    bool, typer.Option("--summary", help="Count rows by version and type of change.")
]


_Feed = Annotated[
    str | None,
    typer.Option(
        "--feed",
        metavar="SOURCE",
        parser=one_of(*_SOURCES),
        autocompletion=completed_from(*_SOURCES),
        help="recorded, derived from data files where the feed was off, or auto for both.",
    ),
]
_Net = Annotated[
    bool, typer.Option("--net", help="Show only the overall change of each row in the range.")
]
_DropCarryovers = Annotated[
    bool,
    typer.Option(
        "--drop-carryovers",
        help="Leave out rows that a commit only moved to other files, as RESTORE does; --net too "
        "leaves them out.",
    ),
]
_Updates = Annotated[
    bool | None,
    typer.Option("--updates/--no-updates", help="Show updates, or deletes and inserts for them."),
]
_DropUnchanged = Annotated[
    bool, typer.Option("--drop-unchanged", help="Leave out updates that changed nothing.")
]
_Columns = Annotated[
    str | None,
    typer.Option(
        "--schema",
        metavar="MODE",
        parser=one_of(*_SCHEMA_MODES),
        autocompletion=completed_from(*_SCHEMA_MODES),
        help="follow renamed columns, or superset for dropped ones too.",
    ),
]


class _Count(NamedTuple):
    """How many rows of one type a version changed."""

    version: int
    timestamp_ms: int | None
    change_type: str
    rows: int


def changes(
    path: TablePath,
    start: From,
    end: To = None,
    where: Where = None,
    limit: RowLimit = None,
    summary: Summary = False,
    source: _Feed = None,
    net: _Net = False,
    drop_carryovers: _DropCarryovers = False,
    updates: _Updates = None,
    keys: Keys = None,
    drop_unchanged: _DropUnchanged = False,
    schema: _Columns = None,
    engine: EngineChoice = None,
    as_json: AsJson = False,
) -> None:
    """Show the rows that were inserted, updated and deleted, oldest first.

    Both ends are included. A number is a version, anything else a timestamp. If the feed was off,
    --feed auto derives the changes from the table's files. --net combines the changes of each row.

    Example: truckee changes /data/orders --from 3 --to 5 --where "country = 'PT'"
    """
    moved = "dropCarryovers" if drop_carryovers else None
    given = {
        "changeFeed": source,
        "deduplicationMode": "netChanges" if net else moved,
        "computeUpdates": updates,
        "keys": keys,
        "dropUnchanged": drop_unchanged or None,
        "schemaMode": schema,
    }
    plan = _plan(path, start, end, given)
    if summary:
        _print_counts(_counts(plan, where, engine), limit, as_json=as_json)
    else:
        _print_rows(plan, where, limit, engine, as_json=as_json)


def _plan(path: str, start: str, end: str | None, shape: Mapping[str, object]) -> RowPlan:
    from msgspec.structs import replace

    from truckee.options.feed import feed_options
    from truckee.options.feed_shape import given_options
    from truckee.rows.feed import feed_plan
    from truckee.rows.plan import settled
    from truckee.storage import open_storage

    options = replace(
        feed_options(given_options(shape), needs_start=False),
        start=_bound(start, "--from"),
        end=None if end is None else _bound(end, "--to"),
    )
    return settled(feed_plan(open_storage(path), options))


def _bound(text: str, name: str) -> Bound:
    from truckee.options.feed import bound

    return bound(int(text) if text.isdecimal() else text, name=name)


def _print_counts(counts: list[_Count], limit: int | None, *, as_json: bool) -> None:
    shown = counts[:limit]
    if as_json:
        print_json_array(
            {"version": v, "timestamp": moment(at), "changeType": kind, "rows": rows}
            for v, at, kind, rows in shown
        )
        return
    print_table(
        (
            Heading.number("version"),
            Heading.time("timestamp"),
            Heading.word("change type"),
            Heading.number("rows"),
        ),
        ((v, time_text(at), kind, rows) for v, at, kind, rows in shown),
        styles=(CHANGE_STYLES.get(count.change_type) for count in shown),
    )


def _counts(plan: RowPlan, where: str | None, engine: RowEngine | None) -> list[_Count]:
    """Return the counts in order of version; rows are read only if the log lacks the counts."""
    from truckee.arrow.compare.change_order import counted_changes
    from truckee.changes.summary import summary
    from truckee.rows.plan import Read

    known: list[_Count] = []
    still_open: set[int] | None = None
    if isinstance(plan, Read):
        found = summary(plan.files, plan.storage)
        still_open = {c.version for c in found if where is not None or _leaves_open(c)}
        known = [
            _Count(count.version, count.timestamp_ms, count.change_type or "", count.rows or 0)
            for count in found
            if count.version not in still_open
        ]
    if still_open is None or still_open:
        by_arrow = _answered(engine, plan, lambda: counted_changes(plan, where, still_open))
        if by_arrow is None:
            known += _counted_by_spark(plan, where, still_open)
        else:
            known += [_Count(*count) for count in by_arrow]
    return _in_order(known)


def _answered(
    engine: RowEngine | None, plan: RowPlan, answer: Callable[[], Answer]
) -> Answer | None:
    from truckee.rows.plan import is_netted, size_in_bytes

    times = _TIMES_FOR_NET if is_netted(plan) else 1
    return answered_by_arrow(engine, size_in_bytes(plan), answer, times=times)


def _in_order(counts: Iterable[_Count]) -> list[_Count]:
    order = list(CHANGE_STYLES)
    return sorted(counts, key=lambda count: (count.version, order.index(count.change_type)))


def _leaves_open(count: ChangeCount) -> bool:
    return count.change_type is None or count.rows is None


def _counted_by_spark(
    plan: RowPlan, where: str | None, versions: set[int] | None
) -> Iterator[_Count]:
    """Yield the counts of some versions; None means all."""
    from truckee.cli.spark import spark_session

    with spark_session() as (spark, status):
        rows = _frame(spark, plan, where)
        if versions is not None:
            rows = rows.where(f"_commit_version IN ({', '.join(map(str, sorted(versions)))})")
        status.update("counting changes")
        counts = rows.groupBy("_commit_version", "_commit_timestamp", "_change_type").count()
        found = counts.selectExpr(
            "_commit_version", "unix_millis(_commit_timestamp)", "_change_type", "count"
        ).collect()
    for version, time_ms, change_type, number in found:
        yield _Count(version, time_ms, change_type, number)


def _print_rows(
    plan: RowPlan,
    where: str | None,
    limit: int | None,
    engine: RowEngine | None,
    *,
    as_json: bool,
) -> None:
    from truckee.arrow.compare.change_order import changed_rows_in_order

    found = _answered(engine, plan, lambda: changed_rows_in_order(plan, where))
    if found is None:
        _print_rows_of_spark(plan, where, limit, as_json=as_json)
    else:
        _print_rows_of_arrow(found, limit, as_json=as_json)


def _print_rows_of_arrow(rows: pa.Table, limit: int | None, *, as_json: bool) -> None:
    from truckee.arrow.compare.change_order import feed_texts
    from truckee.arrow.texts import json_texts

    if as_json:
        print_json_texts(json_texts(rows if limit is None else rows.slice(0, limit)))
        return
    most = limit or ROWS_IN_A_TABLE
    print_changes(rows.column_names, feed_texts(rows.slice(0, most)))
    say_if_cut(rows.num_rows, most, limit, what="changes")


def _print_rows_of_spark(
    plan: RowPlan, where: str | None, limit: int | None, *, as_json: bool
) -> None:
    from truckee.cli.spark import spark_session

    with spark_session() as (spark, status):
        rows = in_order(_frame(spark, plan, where))
        status.update("reading changes")
        if as_json:
            print_json_texts(_lines(rows if limit is None else rows.limit(limit)))
            return
        most = limit or ROWS_IN_A_TABLE
        found = as_texts(rows.limit(most + 1)).collect()
    print_changes(rows.columns, found[:most])
    say_if_cut(len(found), most, limit, what="changes")


def print_changes(columns: list[str], rows: list[Any]) -> None:
    """Print rows of a feed, coloured by type; version and type come first."""
    *names, _, _, timestamp = columns
    print_table(
        (
            Heading.number("_commit_version"),
            Heading.change("_change_type"),
            *names,
            Heading.time(timestamp),
        ),
        (_shown(row) for row in rows),
        styles=(CHANGE_STYLES.get(row[-3]) for row in rows),
    )


def _shown(row: Any) -> list[Any]:
    *values, change_type, version, time_ms = row
    shown = ("null" if value is None else value for value in values)
    return [version, change_type, *shown, time_text(time_ms) or "null"]


def _frame(spark: Any, plan: RowPlan, where: str | None) -> DataFrame:
    from truckee.spark.read.engine import plan_frame

    frame = plan_frame(spark, plan)
    return frame if where is None else frame.where(where)


def in_order(rows: DataFrame) -> DataFrame:
    """Return changes by version, then by the first column, which often is the key.

    So the two images of an updated row are together, the preimage first.
    """
    first = rows.schema[0]
    keys = [] if first.dataType.typeName() in _NESTED else [quoted_column(first.name)]
    ranked = rows.selectExpr(
        "*", f"array_position(array({_TYPES_IN_ORDER}), _change_type) AS __rank"
    )
    return ranked.orderBy("_commit_version", *keys, "__rank").drop("__rank")


def _lines(rows: DataFrame) -> Iterator[str]:
    for (line,) in rows.selectExpr(_json("struct(*)")).toLocalIterator():
        yield line


def as_texts(rows: DataFrame) -> DataFrame:
    """Return the table's columns as text, and the timestamp in milliseconds."""
    *table, _, _, _ = rows.schema.fields
    return rows.selectExpr(
        *(_text(quoted_column(field.name), field.dataType.typeName()) for field in table),
        "_change_type",
        "_commit_version",
        "unix_millis(_commit_timestamp)",
    )


def _text(column: str, type_name: str) -> str:
    if type_name in _NESTED:
        return _json(column)
    return f"hex({column})" if type_name == "binary" else f"cast({column} AS string)"


def _json(expression: str) -> str:
    return f"to_json({expression}, map('ignoreNullFields', 'false'))"
