"""Histories of tables, with a plain model of their rows.

Files are written by pyarrow and committed by transactions, without Spark, so a history of a dozen
commits takes some milliseconds. The model knows the rows of every version and the feed of every
commit from what was done, not from the log.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st
from msgspec.structs import replace

from data_tables import removed
from truckee.deletion_vectors.bitmap import RowBitmap
from truckee.deletion_vectors.store import write_deletion_vectors
from truckee.log.commit.transaction import Transaction
from truckee.log.snapshot import load_snapshot
from truckee.protocol.actions import Action, AddCDCFile, AddFile, Metadata
from truckee.protocol.paths import encode_path, partition_directory
from truckee.protocol.schema import StructField, StructType, parse_type
from truckee.storage.local import LocalStorage

COLUMNS = ("id", "part", "extra")
PARTS = ("x", "a b/ü%=", None)


class Row(NamedTuple):
    """A row of any of these tables; `extra` is None if the table had no such column yet."""

    id: int
    part: str | None
    extra: int | None


class Change(NamedTuple):
    """A row of the feed."""

    version: int
    type: str
    row: Row


Files = Mapping[str, frozenset[int]]
"""The live files of a version: path -> rows that are deleted."""


class Shape(NamedTuple):
    """What stays the same in a history."""

    mapping: str
    partitioned: bool

    def __str__(self) -> str:
        return f"{self.mapping}-{'partitioned' if self.partitioned else 'flat'}"


@dataclass
class History:
    """A table, with its expected rows and feed."""

    path: Path
    shape: Shape
    versions: list[Files] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    has_extra: bool = False
    _data: dict[str, tuple[Row, ...]] = field(default_factory=dict)
    _adds: dict[str, AddFile] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.path.mkdir(parents=True)
        self.storage = LocalStorage(str(self.path))
        transaction = Transaction(self.storage, None)
        transaction.set_metadata(self._metadata())
        transaction.commit("CREATE TABLE")
        self.versions.append({})

    @property
    def live(self) -> Files:
        return self.versions[-1]

    @property
    def last(self) -> int:
        return len(self.versions) - 1

    def rows(self, version: int) -> Counter[Row]:
        """The rows of a version."""
        return Counter(self._rows(self.versions[version]))

    def feed(self, start: int, end: int) -> Counter[Change]:
        """The feed of a range."""
        return Counter(c for c in self.changes if start <= c.version <= end)

    # What can be done to a table.

    def append(self, rows: Sequence[Row]) -> None:
        self._commit("WRITE", {**self.live, **self._written(rows)}, inserted=rows)

    def overwrite(self, rows: Sequence[Row]) -> None:
        gone = self._rows(self.live)
        self._commit("WRITE", self._written(rows), deleted=gone, inserted=rows)

    def delete_by_vector(self, doomed: Callable[[Row], bool]) -> None:
        files = {
            path: gone | {n for n, row in enumerate(self._data[path]) if doomed(row)}
            for path, gone in self.live.items()
        }
        left = {path: gone for path, gone in files.items() if len(gone) < len(self._data[path])}
        deleted = [row for row in self._rows(self.live) if doomed(row)]
        self._commit("DELETE", left, deleted=deleted)

    def delete_by_rewrite(self, doomed: Callable[[Row], bool]) -> None:
        touched = self._touched(doomed)
        deleted = [row for row in self._rows(touched) if doomed(row)]
        kept = [row for row in self._rows(touched) if not doomed(row)]
        files = {path: gone for path, gone in self.live.items() if path not in touched}
        change_files = self._change_files([("delete", row) for row in deleted])
        self._commit("DELETE", {**files, **self._written(kept)}, *change_files, deleted=deleted)

    def update(self, chosen: Callable[[Row], bool], *, by_vector: bool) -> None:
        touched = self._touched(chosen)
        before = [row for row in self._rows(touched) if chosen(row)]
        after = [row._replace(id=row.id + 100) for row in before]
        kept = [] if by_vector else [row for row in self._rows(touched) if not chosen(row)]
        files = {path: gone for path, gone in self.live.items() if path not in touched}
        if by_vector:
            marked = {
                path: gone | {n for n, row in enumerate(self._data[path]) if chosen(row)}
                for path, gone in touched.items()
            }
            files |= {p: gone for p, gone in marked.items() if len(gone) < len(self._data[p])}
        pairs = [("update_preimage", row) for row in before]
        pairs += [("update_postimage", row) for row in after]
        written = self._written([*kept, *after])
        self._commit("UPDATE", {**files, **written}, *self._change_files(pairs))
        self.changes += [Change(self.last, kind, row) for kind, row in pairs]

    def optimize(self) -> None:
        rows = self._rows(self.live)
        self._commit("OPTIMIZE", self._written(rows), data_change=False)

    def restore(self, version: int) -> None:
        then, now = self.versions[version], self.live
        both = {path for path in then if path in now and then[path] != now[path]}
        inserted = self._rows({p: gone for p, gone in then.items() if p not in now})
        deleted = self._rows({p: gone for p, gone in now.items() if p not in then})
        for path in both:
            inserted += [self._data[path][n] for n in now[path] - then[path]]
            deleted += [self._data[path][n] for n in then[path] - now[path]]
        self._commit("RESTORE", then, deleted=deleted, inserted=inserted)

    def add_column(self) -> None:
        self.has_extra = True
        self._commit("ADD COLUMNS", self.live, self._metadata())

    # How it is done.

    def _rows(self, files: Files) -> list[Row]:
        return [
            row
            for path, gone in files.items()
            for number, row in enumerate(self._data[path])
            if number not in gone
        ]

    def _touched(self, chosen: Callable[[Row], bool]) -> dict[str, frozenset[int]]:
        return {
            path: gone
            for path, gone in self.live.items()
            if any(chosen(row) for row in self._rows({path: gone}))
        }

    def _commit(
        self,
        operation: str,
        files: Files,
        *extra: Action,
        deleted: Iterable[Row] = (),
        inserted: Iterable[Row] = (),
        data_change: bool = True,
    ) -> None:
        """Commit the difference between the live files and these, even if there is none."""
        before = {p: self._add(p, gone) for p, gone in self.live.items() if files.get(p) != gone}
        after = {p: gone for p, gone in files.items() if self.live.get(p) != gone}
        vectors = iter(write_deletion_vectors(self.storage, [*map(RowBitmap, after.values())]))
        transaction = Transaction(self.storage, load_snapshot(self.storage))
        for add in before.values():
            transaction.stage(removed(add, data_change=data_change))
        for path, gone in after.items():
            vector = next(vectors)
            self._adds[_key(path, gone)] = add = replace(
                self._adds[path],
                deletion_vector=vector if gone else None,
                stats=_stats(self._data[path], is_wide=bool(gone)),
            )
            transaction.stage(replace(add, data_change=data_change))
        transaction.stage(*extra)
        transaction.commit(operation, allow_empty=True)
        self.versions.append(dict(files))
        self.changes += [Change(self.last, "delete", row) for row in deleted]
        self.changes += [Change(self.last, "insert", row) for row in inserted]

    def _add(self, path: str, gone: frozenset[int]) -> AddFile:
        return self._adds[_key(path, gone)]

    def _written(self, rows: Sequence[Row]) -> dict[str, frozenset[int]]:
        """Write rows into one file, or one for each partition."""
        found: dict[str, frozenset[int]] = {}
        for part, members in self._by_part(rows).items():
            path = f"{self._folder(part)}f{len(self._data)}.parquet"
            self._data[path] = members
            size = self._write(path, members)
            self._adds[path] = AddFile(
                path=encode_path(path),
                partition_values=self._partition_values(part),
                size=size,
                modification_time=1_700_000_000_000,
                data_change=True,
                stats=_stats(members, is_wide=False),
            )
            found[path] = frozenset()
        return found

    def _change_files(self, changes: Sequence[tuple[str, Row]]) -> list[AddCDCFile]:
        files = []
        for part, rows in self._by_part([row for _, row in changes]).items():
            types = [kind for kind, row in changes if row.part == part or not self._is_parted]
            path = f"_change_data/{self._folder(part)}c{self.last}.parquet"
            size = self._write(path, rows, types)
            values = self._partition_values(part)
            files.append(AddCDCFile(path=encode_path(path), partition_values=values, size=size))
        return files

    @property
    def _is_parted(self) -> bool:
        return self.shape.partitioned

    def _by_part(self, rows: Sequence[Row]) -> dict[str | None, tuple[Row, ...]]:
        if not self._is_parted:
            return {None: tuple(rows)} if rows else {}
        parts = dict.fromkeys(row.part for row in rows)
        return {part: tuple(row for row in rows if row.part == part) for part in parts}

    def _folder(self, part: str | None) -> str:
        if not self._is_parted:
            return ""
        name = self._physical("part")
        return partition_directory([name], {name: part}) + "/"

    def _partition_values(self, part: str | None) -> dict[str, str | None]:
        return {self._physical("part"): part} if self._is_parted else {}

    def _write(self, path: str, rows: Sequence[Row], types: Sequence[str] = ()) -> int:
        names = [n for n in COLUMNS if n != "part" or not self._is_parted]
        if not self.has_extra:
            names.remove("extra")
        fields = [self._arrow_field(name) for name in names]
        values: list[Sequence[object]] = [[getattr(row, name) for row in rows] for name in names]
        if types:
            fields.append(pa.field("_change_type", pa.string()))
            values.append(types)
        target = self.path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table(values, schema=pa.schema(fields)), target, row_group_size=4)
        return target.stat().st_size

    def _physical(self, name: str) -> str:
        return name if self.shape.mapping == "none" else f"col-{COLUMNS.index(name) + 1}"

    def _arrow_field(self, name: str) -> pa.Field:
        kind = pa.string() if name == "part" else pa.int64()
        numbers = {"PARQUET:field_id": str(COLUMNS.index(name) + 1)}
        return pa.field(self._physical(name), kind, metadata=numbers)

    def _metadata(self) -> Metadata:
        properties = {
            "delta.enableChangeDataFeed": "true",
            "delta.enableDeletionVectors": "true",
            "delta.checkpointInterval": "5",
        }
        if self.shape.mapping != "none":
            properties["delta.columnMapping.mode"] = self.shape.mapping
            properties["delta.columnMapping.maxColumnId"] = "3"
        columns = COLUMNS if self.has_extra else COLUMNS[:2]
        return Metadata(
            id="11111111-2222-3333-4444-555555555555",
            schema_string=StructType(tuple(map(self._field, columns))).to_json(),
            partition_columns=["part"] if self._is_parted else [],
            configuration=properties,
        )

    def _field(self, name: str) -> StructField:
        kind = parse_type("string" if name == "part" else "long")
        if self.shape.mapping == "none":
            return StructField(name, kind)
        numbers = {
            "delta.columnMapping.id": COLUMNS.index(name) + 1,
            "delta.columnMapping.physicalName": self._physical(name),
        }
        return StructField(name, kind, True, numbers)


def _key(path: str, gone: frozenset[int]) -> str:
    return f"{path} without {sorted(gone)}" if gone else path


def _stats(rows: Sequence[Row], *, is_wide: bool) -> str:
    found = {"numRecords": len(rows), "tightBounds": not is_wide}
    return msgspec.json.encode(found).decode()


@st.composite
def histories(
    draw: st.DrawFn, folder: Callable[[], Path], shape: Shape, *, commits: tuple[int, int]
) -> History:
    """Histories of about this many commits, the first of them an append.

    Hypothesis only seeds the generator that makes the choices. Hypothesis itself prefers small
    values, and with these hardly any vector would change twice.
    """
    random = Random(f"{shape} {draw(st.integers(0, 2**32))}")
    history = History(folder(), shape)
    history.append(made_up_rows(history, random))
    end = random.randint(*commits)
    while history.last < end:
        random.choice(STEPS)(history, random)
    return history


def made_up_rows(history: History, random: Random) -> list[Row]:
    def row() -> Row:
        extra = random.choice((None, 0, 1)) if history.has_extra else None
        return Row(random.randrange(20), random.choice(PARTS), extra)

    return [row() for _ in range(random.randint(1, 20))]


def _some(random: Random) -> Callable[[Row], bool]:
    """Return a choice of rows: those with one of a few ids."""
    ids = random.sample(range(20), random.randint(1, 4))
    return lambda row: row.id % 100 in ids


def _append(history: History, random: Random) -> None:
    history.append(made_up_rows(history, random))


def _overwrite(history: History, random: Random) -> None:
    history.overwrite(made_up_rows(history, random))


def _delete_by_vector(history: History, random: Random) -> None:
    history.delete_by_vector(_some(random))


def _delete_and_restore(history: History, random: Random) -> None:
    """Give files several vectors in turn, and restore some of the rows."""
    for _ in range(2):
        history.delete_by_vector(_some(random))
        history.delete_by_vector(_some(random))
        history.restore(history.last - random.randint(0, 2))


def _delete_by_rewrite(history: History, random: Random) -> None:
    history.delete_by_rewrite(_some(random))


def _update(history: History, random: Random) -> None:
    history.update(_some(random), by_vector=random.random() < 0.5)


def _optimize(history: History, random: Random) -> None:
    history.optimize()


def _restore(history: History, random: Random) -> None:
    history.restore(random.randint(0, history.last))


def _add_column(history: History, random: Random) -> None:
    if history.has_extra:
        history.append(made_up_rows(history, random))
    else:
        history.add_column()


STEPS: list[Callable[[History, Random], None]] = [
    _append,
    _append,
    _overwrite,
    _delete_by_vector,
    _delete_by_vector,
    _delete_and_restore,
    _delete_and_restore,
    _delete_by_rewrite,
    _update,
    _update,
    _optimize,
    _restore,
    _add_column,
]
