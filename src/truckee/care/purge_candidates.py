"""Files that still contain deleted rows or dropped columns.

The log says which rows are deleted. The footer of a file says which columns it has, so the footers
of these files are read, many at a time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pyarrow.parquet as pq

from truckee.log.snapshot import Snapshot
from truckee.protocol.actions import AddFile
from truckee.protocol.column_metadata import COLUMN_ID_KEY
from truckee.protocol.paths import decode_path
from truckee.protocol.schema import ArrayType, DataType, MapType, StructField, StructType
from truckee.storage.base import Storage

_READERS = 16
_FIELD_ID = b"PARQUET:field_id"


def files_to_purge(snapshot: Snapshot, files: Sequence[AddFile]) -> list[AddFile]:
    """Return the files with deleted rows, or with columns that the table does not have."""
    marked = {file.path for file in files if has_deleted_rows(file)}
    others = [file for file in files if file.path not in marked]
    wanted = marked | _with_dropped_columns(snapshot, others)
    return [file for file in files if file.path in wanted]


def has_deleted_rows(file: AddFile) -> bool:
    """Return whether a vector marks rows of a file."""
    return file.deletion_vector is not None and file.deletion_vector.cardinality > 0


def _with_dropped_columns(snapshot: Snapshot, files: Sequence[AddFile]) -> set[str]:
    storage, properties = snapshot.storage, snapshot.properties
    ids = (
        properties.materialized_row_id_column_name,
        properties.materialized_row_commit_version_column_name,
    )
    beside = {name for name in ids if name is not None}
    return {
        file.path
        for file, stored in stored_schemas(storage, files)
        if has_other_columns(stored, snapshot.schema, beside)
    }


def stored_schemas(
    storage: Storage, files: Sequence[AddFile]
) -> Iterator[tuple[AddFile, pa.Schema]]:
    """Yield files with the columns that their footers name."""
    with ThreadPoolExecutor(min(_READERS, max(1, len(files)))) as readers:
        schemas = readers.map(lambda file: _stored_schema(storage, decode_path(file.path)), files)
        yield from zip(files, schemas, strict=True)


def _stored_schema(storage: Storage, path: str) -> pa.Schema:
    with storage.open_input(path) as file:
        return pq.read_schema(file)


def has_other_columns(
    stored: Iterable[pa.Field], schema: StructType, beside: Collection[str] = ()
) -> bool:
    """Return whether a file has a column, at any depth, that is neither in the table nor `beside`.

    Columns are identified by their physical names, ignoring case, or by their ids.
    """
    return any(
        known is None or _holds_other_columns(column.type, known.type)
        for column, known in known_columns(stored, schema)
        if column.name not in beside
    )


def known_columns(
    stored: Iterable[pa.Field], schema: StructType
) -> Iterator[tuple[pa.Field, StructField | None]]:
    """Yield the columns of a file, each with the table's own; None if the table has none."""
    by_name = {field.physical_name.lower(): field for field in schema.fields}
    by_id = {str(field.metadata.get(COLUMN_ID_KEY)): field for field in schema.fields}
    for column in stored:
        number = (column.metadata or {}).get(_FIELD_ID, b"").decode()
        yield column, by_name.get(column.name.lower()) or by_id.get(number)


def _holds_other_columns(stored: pa.DataType, known: DataType) -> bool:
    match known:
        case StructType() if pa.types.is_struct(stored):
            return has_other_columns(list(stored), known)
        case ArrayType(element_type) if pa.types.is_list(stored):
            return _holds_other_columns(stored.value_type, element_type)
        case MapType(key_type, value_type) if pa.types.is_map(stored):
            return _holds_other_columns(stored.key_type, key_type) or _holds_other_columns(
                stored.item_type, value_type
            )
        case _:
            return False
