"""SnapshotDiff: what to read for the rows that differ between any two versions of a table.

A snapshot is the union of the live rows of its files, so most files cannot differ:

| a file is in                        | rows                                                      |
|-------------------------------------|-----------------------------------------------------------|
| both versions, with the same vector | none: it is never opened                                  |
| both versions, vectors differ       | those in only one of the two vectors                      |
| one version only                    | all its live rows, deleted or inserted                    |

An engine compares these rows, because a rewritten file has most of its rows on both sides. Rows on
only one side need no comparison. No vector and no data file is opened here.

All rows have the columns of the newer version, found by column mapping if the table has it. Columns
that it does not have are not compared, and columns that the older version does not have are null
there. Between two tables, the columns are those of the second.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from truckee.changes.columns import DELETE, INSERT
from truckee.changes.diff.columns import SideColumns, diff_schema, side_columns
from truckee.changes.row_identity import BASE_ROW_ID, DEFAULT_ROW_VERSION
from truckee.errors.diff import UnrelatedTablesError
from truckee.log.snapshot import Snapshot
from truckee.protocol.deletion_vector import DeletionVectorDescriptor
from truckee.protocol.partition_values import counted
from truckee.protocol.paths import is_absolute
from truckee.protocol.schema import DecimalType, PrimitiveType, StructField, StructType
from truckee.scan.scan_file import Change, RowSelection, ScanFile
from truckee.scan.snapshot_scan import scan_files_of
from truckee.storage.base import Storage

_FILE_SCHEME = re.compile(r"^file:/*")
_EXACT = frozenset({"byte", "short", "integer", "long", "string", "date", "boolean"})


class DiffRead(Struct, frozen=True):
    """Files that are read in the same way: those of one table, with one set of columns."""

    storage: Storage
    version: int
    columns: SideColumns
    files: tuple[ScanFile, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class SnapshotDiff:
    """What to read for the rows that differ between `before` and `after`.

    Rows of `alone` differ for certain. Those of `compared` have to be compared first: a row that is
    both deleted and inserted is not a difference. With `has_row_ids`, they have columns for
    row ids. With `is_recorded`, they are those of the change feed, which may show a row many
    times; with `is_reversed`, the feed leads from `after` to `before`.
    """

    before: Snapshot
    after: Snapshot
    schema: StructType
    keys: tuple[str, ...] = ()
    alone: tuple[DiffRead, ...] = ()
    compared: tuple[DiffRead, ...] = ()
    has_row_ids: bool = False
    is_recorded: bool = False
    is_reversed: bool = False

    @property
    def reads(self) -> tuple[DiffRead, ...]:
        """All reads."""
        return (*self.alone, *self.compared)

    @property
    def files(self) -> tuple[ScanFile, ...]:
        """The files that are read."""
        return tuple(file for read in self.reads for file in read.files)

    @property
    def size_in_bytes(self) -> int:
        """The size of these files, each counted once."""
        return sum({file.path: file.size for file in self.files}.values())

    @property
    def is_within_one_table(self) -> bool:
        """Whether both versions are of the same table."""
        return self.before.storage.root == self.after.storage.root

    @property
    def sides(self) -> tuple[str, str]:
        """The names of the two versions' rows in errors."""
        one, other = (
            f"of version {at.version}"
            + ("" if self.is_within_one_table else f" of {at.storage.root}")
            for at in (self.before, self.after)
        )
        return one, other


def snapshot_diff(before: Snapshot, after: Snapshot, keys: Sequence[str] = ()) -> SnapshotDiff:
    """Return what to read for the rows that differ between two snapshots.

    `keys` are columns of the newer version that identify a row. Raises `DiffSchemaError` if a
    column cannot be read as its type in the newer version, and `UnrelatedTablesError` for two
    tables that share no file, unless there are keys.
    """
    newest, older = (before, after) if _is_backwards(before, after) else (after, before)
    schema = diff_schema(newest, older)
    changed = _ChangedFiles(before, after)
    if not changed.is_related and not keys:
        raise UnrelatedTablesError(
            table=before.storage.root,
            table_id=before.metadata.id,
            other=after.storage.root,
            other_id=after.metadata.id,
        )
    ids = not keys and changed.has_row_ids
    sides = [
        DiffRead(at.storage, at.version, side_columns(schema, newest, at, row_ids=ids), files)
        for at, files in ((before, changed.deleted()), (after, changed.inserted()))
    ]
    # Keys are checked to be unique, even if there is nothing to compare.
    alone, compared = ([], sides) if keys else _parted(sides, is_paired=ids)
    return SnapshotDiff(
        before=before,
        after=after,
        schema=schema,
        keys=tuple(keys),
        alone=_merged(alone),
        compared=_merged(compared),
        has_row_ids=ids,
    )


def _is_backwards(before: Snapshot, after: Snapshot) -> bool:
    """Return whether the first snapshot is the newer one of the two."""
    return before.storage.root == after.storage.root and before.version > after.version


class _ChangedFiles:
    """The files of two snapshots by location, without those that are the same in both."""

    def __init__(self, before: Snapshot, after: Snapshot) -> None:
        self._before, self._after = before, after
        is_same_table = before.metadata.id == after.metadata.id
        ours, theirs = before.files_table(), after.files_table()
        if before.storage.root == after.storage.root:
            ours, theirs = _without(ours, theirs), _without(theirs, ours)
        old, new = _by_place(before, ours), _by_place(after, theirs)
        shared = old.keys() & new.keys()
        self._pairs = [
            (old[place], new[place])
            for place in old
            if place in shared
            and _vector_place(old[place], before) != _vector_place(new[place], after)
        ]
        self._only_before = [file for place, file in old.items() if place not in shared]
        self._only_after = [file for place, file in new.items() if place not in shared]
        self.is_related = is_same_table or bool(shared) or not (old and new)

    @property
    def has_row_ids(self) -> bool:
        """Whether rows keep their ids from one version to the other."""
        one, other = self._before.properties, self._after.properties
        name = one.materialized_row_id_column_name
        return (
            self._before.storage.root == self._after.storage.root
            and one.enable_row_tracking
            and other.enable_row_tracking
            and name is not None
            # Row tracking that was dropped and enabled again uses columns of other names.
            and name == other.materialized_row_id_column_name
            and all(BASE_ROW_ID in f.partition_values for f in (*self.deleted(), *self.inserted()))
        )

    def deleted(self) -> tuple[ScanFile, ...]:
        """Return what to read of the first snapshot."""
        change = Change(DELETE, self._before.version, None)
        pairs = (_marked(old, _vector(new, self._after), change) for old, new in self._pairs)
        whole = (replace(file, change=change) for file in self._only_before)
        return (*whole, *(file for file in pairs if file is not None))

    def inserted(self) -> tuple[ScanFile, ...]:
        """Return what to read of the second snapshot."""
        change = Change(INSERT, self._after.version, None)
        pairs = (_marked(new, _vector(old, self._before), change) for old, new in self._pairs)
        whole = (replace(file, change=change) for file in self._only_after)
        return (*whole, *(file for file in pairs if file is not None))


def _without(files: pa.Table, others: pa.Table) -> pa.Table:
    """Return the files that another version does not have with the same path and vector."""
    return files.filter(pc.invert(pc.is_in(_names(files), value_set=_names(others))))


def _names(files: pa.Table) -> pa.Array:
    vectors = files.column("deletion_vector").combine_chunks()
    parts = [
        pc.fill_null(pc.cast(pc.struct_field(vectors, name), pa.string()), "")
        for name in ("storage_type", "path_or_inline_dv", "offset")
    ]
    paths = files.column("path").combine_chunks()
    return pc.binary_join_element_wise(paths, *parts, "\0")


def _by_place(snapshot: Snapshot, files: pa.Table) -> dict[str, ScanFile]:
    """Return the files by location, each with the constants of row tracking."""
    root = snapshot.storage.root
    found = {}
    bases = files.column("base_row_id").to_pylist()
    versions = files.column("default_row_commit_version").to_pylist()
    scanned = scan_files_of(files, snapshot.version)
    for file, base, version in zip(scanned, bases, versions, strict=True):
        if base is not None:
            ids = {BASE_ROW_ID: str(base), DEFAULT_ROW_VERSION: str(version or 0)}
            file = replace(file, partition_values={**file.partition_values, **ids})
        found[_place(root, file.path)] = file
    return found


def _place(root: str, path: str) -> str:
    """Return the location of a file, the same text for a table and for its clones."""
    whole = path if is_absolute(path) else f"{root}/{path}"
    return _FILE_SCHEME.sub("/", whole)


def _vector_place(file: ScanFile, snapshot: Snapshot) -> tuple[str, int | None] | None:
    vector = file.rows.without
    if vector is None or vector.is_empty:
        return None
    if vector.is_inline:
        return vector.path_or_inline_dv, None
    return _place(snapshot.storage.root, vector.file_path), vector.offset


def _vector(file: ScanFile, snapshot: Snapshot) -> DeletionVectorDescriptor | None:
    """Return the vector of a file with an absolute path, None if it marks no row."""
    vector = file.rows.without
    if vector is None or vector.is_empty:
        return None
    return vector.copy_with_absolute_path(snapshot.storage.root)


def _marked(
    file: ScanFile, within: DeletionVectorDescriptor | None, change: Change
) -> ScanFile | None:
    """Return a file of which the live rows in another version's vector are read, None if none are.

    Statistics of a file with a vector describe its live rows, which may be other rows. So only the
    number of rows is kept.
    """
    if within is None:
        return None
    count = file.num_records
    return replace(
        file,
        rows=RowSelection(within=within, without=file.rows.without),
        stats=None if count is None else f'{{"numRecords":{count}}}',
        change=change,
    )


def _parted(sides: Sequence[DiffRead], *, is_paired: bool) -> tuple[list[DiffRead], list[DiffRead]]:
    """Return files whose rows differ for certain, and files whose rows have to be compared.

    A row that is not paired with another one stays in its partition. So a partition that has files
    on only one side needs no comparison.
    """
    if not all(side.files for side in sides):
        return list(sides), []
    names = [tuple(f.name for f in side.columns.partition_fields) for side in sides]
    if is_paired or not names[0] or names[0] != names[1] or not _are_exact(sides):
        return [], list(sides)
    one, other = ({_partition(file, side) for file in side.files} for side in sides)
    both = one & other
    alone = [_kept(side, lambda partition: partition not in both) for side in sides]
    return alone, [_kept(side, lambda partition: partition in both) for side in sides]


def _are_exact(sides: Sequence[DiffRead]) -> bool:
    """Return whether equal partition values have equal texts; not so for NaN and zones."""
    return all(_is_exact(field) for side in sides for field in side.columns.partition_fields)


def _is_exact(field: StructField) -> bool:
    match field.type:
        case PrimitiveType(name):
            return name in _EXACT
        case kind:
            return isinstance(kind, DecimalType)


def _partition(file: ScanFile, side: DiffRead) -> tuple[object, ...]:
    values: Mapping[str, str | None] = file.partition_values
    fields = side.columns.partition_fields
    return tuple(counted(values.get(field.physical_name), field.type) for field in fields)


def _kept(side: DiffRead, keeps: Callable[[tuple[object, ...]], bool]) -> DiffRead:
    files = tuple(file for file in side.files if keeps(_partition(file, side)))
    return replace(side, files=files)


def _merged(sides: Iterable[DiffRead]) -> tuple[DiffRead, ...]:
    """Return the reads that have files, merged if they have the same table and columns."""
    found: list[DiffRead] = []
    for side in sides:
        if not side.files:
            continue
        last = found[-1] if found else None
        if last is not None and last.storage is side.storage and last.columns == side.columns:
            found[-1] = replace(last, files=(*last.files, *side.files))
        else:
            found.append(side)
    return tuple(found)
