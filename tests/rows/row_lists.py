"""The engine of plans that is easy to check: rows are plain Python tuples in lists.

Rows of files come from the test that knows them, by path. Everything else is worked out in the
plainest way, row by row. It knows flat columns of the types that Python compares as Spark does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from truckee.changes.columns import CHANGE_TYPE, COMMIT_TIMESTAMP, COMMIT_VERSION, DELETE, INSERT
from truckee.changes.row_identity import ROW_ID, ROW_VERSION
from truckee.rows.plan import (
    UPDATES,
    Cancelled,
    Changes,
    Net,
    Noted,
    Paired,
    Read,
    Recast,
    Recorded,
    Retyped,
    RowPlan,
    Union,
    compared_columns,
)
from truckee.scan.scan_file import ScanFile

Row = dict[str, Any]
RowsOf = Callable[[ScanFile], Sequence[Mapping[str, Any]]]
"""The rows that are read of a file, by the names of its columns; of a change file with their type.

A row has `ROW_ID` and `ROW_VERSION` too, where the test knows them.
"""


def rows_of(plan: RowPlan, data: RowsOf) -> list[Row]:
    """Return the rows of a plan."""
    match plan:
        case Read():
            return [row for file in plan.files for row in _read(plan, file, data)]
        case Recorded():
            return rows_of(plan.settled(), data)
        case Union():
            names = plan.schema.names
            return [
                {n: row[n] for n in names} for part in plan.parts for row in rows_of(part, data)
            ]
        case Recast():
            return [_recast(row, plan) for row in rows_of(plan.rows, data)]
        case Retyped():
            return [_typed(row, plan.types) for row in rows_of(plan.rows, data)]
        case Noted():
            return [_noted(row, plan) for row in rows_of(plan.rows, data)]
        case Cancelled() | Paired() | Net():
            chosen, rest = _parted(rows_of(plan.rows, data), plan.only)
            moved = rows_of(plan.moved, data) if isinstance(plan, Net) else []
            names = plan.schema.names
            found = [*rest, *_compared(plan, chosen, moved)]
            return [{name: row[name] for name in names} for row in found]
    raise NotImplementedError(plan)


def _read(read: Read, file: ScanFile, data: RowsOf) -> Iterator[Row]:
    for row in data(file):
        known: Row = {name: row.get(name) for name in read.table.schema.names}
        if file.change is not None:
            known[CHANGE_TYPE] = file.change.type or row[CHANGE_TYPE]
            known[COMMIT_VERSION] = file.change.version
            known[COMMIT_TIMESTAMP] = file.change.timestamp_ms
        if read.ids is not None:
            known |= {name: row[name] for name in (ROW_ID, ROW_VERSION)}
        yield known


def _recast(row: Row, plan: Recast) -> Row:
    cast = {c.field.name: None if c.source is None else row[c.source.name] for c in plan.columns}
    return cast | {name: row[name] for name in plan.schema.names if name not in cast}


def _typed(row: Row, types: Mapping[str, str]) -> Row:
    return row | {CHANGE_TYPE: types.get(row[CHANGE_TYPE], row[CHANGE_TYPE])}


def _noted(row: Row, plan: Noted) -> Row:
    extra = {}
    if plan.schema_versions is not None:
        last = row[COMMIT_VERSION] - (not _is_after(row))
        known = plan.schema_versions
        extra["_schema_version"] = max((v for v in known if v <= last), default=min(known))
    if plan.sources is not None:
        extra["_change_source"] = plan.sources.get(row[COMMIT_VERSION])
    return row | extra


def _is_after(row: Row) -> bool:
    return row[CHANGE_TYPE] in (INSERT, UPDATES[1])


def _parted(rows: list[Row], only: Changes | None) -> tuple[list[Row], list[Row]]:
    def is_chosen(row: Row) -> bool:
        return only is None or (
            row[CHANGE_TYPE] in only.types
            and (only.versions is None or row[COMMIT_VERSION] in only.versions)
        )

    return [r for r in rows if is_chosen(r)], [r for r in rows if not is_chosen(r)]


def _compared(
    plan: Cancelled | Paired | Net, rows: Sequence[Row], moved: Sequence[Row]
) -> Iterator[Row]:
    columns = compared_columns(plan)
    match plan:
        case Cancelled():
            for before, after in _groups(rows, (*columns, *plan.within)):
                left = min(len(before), len(after))
                yield from _shown(before[left:], plan.shown_as[0])
                yield from _shown(after[left:], plan.shown_as[1])
        case Paired():
            names = (*(key.path[0] for key in plan.identity), *plan.within)
            for before, after in _groups(rows, names):
                assert max(len(before), len(after)) <= 1, "not unique"
                if before and after:
                    if not _is_same(before[0], after[0], columns, plan):
                        yield from (*_shown(before, UPDATES[0]), *_shown(after, UPDATES[1]))
                else:
                    yield from (*_shown(before, plan.shown_as[0]), *_shown(after, plan.shown_as[1]))
        case Net(identity=()):
            for before, after in _groups([*rows, *moved], columns):
                yield from _net_copies(before, after)
        case Net():
            yield from _net_images(plan, rows, moved, columns)


def _is_same(before: Row, after: Row, columns: Sequence[str], plan: Paired) -> bool:
    version = before.get(ROW_VERSION)
    if version is not None and version == after[ROW_VERSION]:
        return True
    return plan.drop_unchanged and all(before[name] == after[name] for name in columns)


def _net_copies(before: list[Row], after: list[Row]) -> list[Row]:
    """Return the net of equal rows: what one version deleted and inserted cancels first."""
    for version in {row[COMMIT_VERSION] for row in before}:
        gone = [row for row in before if row[COMMIT_VERSION] == version]
        come = [row for row in after if row[COMMIT_VERSION] == version]
        for one, other in zip(gone, come, strict=False):
            before, after = _without(before, one), _without(after, other)
    net = len(after) - len(before)
    by_version = lambda row: row[COMMIT_VERSION]  # noqa: E731
    if net > 0:
        return _shown(sorted(after, key=by_version)[-net:], INSERT)
    return _shown(sorted(before, key=by_version)[: abs(net)], DELETE)


def _without(rows: list[Row], gone: Row) -> list[Row]:
    return [row for row in rows if row is not gone]


def _net_images(
    plan: Net, rows: Sequence[Row], moved: Sequence[Row], columns: Sequence[str]
) -> Iterator[Row]:
    may_be_moved = {id(row) for row in moved}
    names = tuple(key.path[0] for key in plan.identity)
    for images in _by([*rows, *moved], names):
        pres, posts = [], []
        for of_version in _by(images, (COMMIT_VERSION,)):
            pre = [row for row in of_version if not _is_after(row)]
            post = [row for row in of_version if _is_after(row)]
            assert max(len(pre), len(post)) <= 1, "not unique"
            if pre and post and {id(pre[0]), id(post[0])} <= may_be_moved:
                if ROW_VERSION in pre[0]:
                    known = pre[0][ROW_VERSION]
                    is_carried = known is not None and known == post[0][ROW_VERSION]
                else:
                    is_carried = all(pre[0][name] == post[0][name] for name in columns)
                if is_carried:
                    continue
            pres.append((of_version[0][COMMIT_VERSION], pre))
            posts.append((of_version[0][COMMIT_VERSION], post))
        if not pres:
            continue
        first, last = min(pres, key=lambda p: p[0])[1], max(posts, key=lambda p: p[0])[1]
        if first and last:
            if plan.drop_unchanged and all(first[0][n] == last[0][n] for n in columns):
                continue
            kinds = UPDATES if plan.as_updates else (DELETE, INSERT)
            yield from (*_shown(first, kinds[0]), *_shown(last, kinds[1]))
        else:
            yield from (*_shown(first, DELETE), *_shown(last, INSERT))


def _by(rows: Sequence[Row], names: Sequence[str]) -> list[list[Row]]:
    groups: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        groups[tuple(row[name] for name in names)].append(row)
    return list(groups.values())


def _groups(rows: Sequence[Row], names: Sequence[str]) -> Iterator[tuple[list[Row], list[Row]]]:
    for group in _by(rows, names):
        yield [r for r in group if not _is_after(r)], [r for r in group if _is_after(r)]


def _shown(rows: Sequence[Row], kind: str) -> list[Row]:
    return [row | {CHANGE_TYPE: kind} for row in rows]
