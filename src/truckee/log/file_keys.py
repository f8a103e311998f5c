"""The key of a file when a log is replayed: (path as a URI, id of its deletion vector).

Keys are looked up in whole columns. The path alone decides almost every row; ids of deletion
vectors are compared only if the path was found.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from typing import TypeAlias
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc

from truckee.log.columns import flags, typed_child
from truckee.protocol.actions import FileAction
from truckee.protocol.deletion_vector import DeletionVectorDescriptor
from truckee.protocol.paths import decode_path

FileKey: TypeAlias = tuple[str, str | None]


def file_key(action: FileAction) -> FileKey:
    """Return the key of a file (protocol: Action Reconciliation)."""
    vector = action.deletion_vector
    return path_key(action.path), None if vector is None else vector.unique_id


def path_key(path: str) -> str:
    """Return the same key for two spellings of one URI: `a%20b` is `a b`.

    A path with a scheme and one without are different URIs, even if a store would find the same
    file.
    """
    if path[:5].lower() == "file:":
        return f"file:{decode_path(path)}"
    return decode_path(path)


def paths_of(keys: Iterable[FileKey]) -> pa.StringArray:
    """Return the paths of keys, for `rows_without`."""
    return typed_child(list({path for path, _ in keys}), pa.string())


def rows_without(
    batch: pa.RecordBatch, keys: Container[FileKey], paths: pa.StringArray
) -> pa.BooleanArray | None:
    """Return the rows that have none of the keys, None if that is all of them.

    `paths` are those of the keys. The batch has the columns `path` and `deletion_vector`.
    """
    found = path_keys(batch.column("path"))
    suspects = pc.indices_nonzero(pc.is_in(found, paths))
    gone = [
        row
        for row, path, vector in zip(
            suspects.to_pylist(),
            found.take(suspects).to_pylist(),
            batch.column("deletion_vector").take(suspects).to_pylist(),
            strict=True,
        )
        if (path, vector and DeletionVectorDescriptor(**vector).unique_id) in keys
    ]
    if not gone:
        return None
    keep = [True] * len(batch)
    for row in gone:
        keep[row] = False
    return flags(keep)


_ESCAPE = re.compile(rb"%[0-9A-Fa-f]{2}")


def path_keys(paths: pa.StringArray) -> pa.StringArray:
    """Return `path_key` of each path, at almost no cost if nothing is escaped.

    Whole columns are unescaped by one replacement for each escape that occurs. The order does not
    matter, except that `%25` comes last, because only it produces new percent signs.
    """
    has_scheme = pc.any(pc.match_substring(paths, ":/")).as_py()
    if has_scheme and pc.any(pc.starts_with(paths, "file:", ignore_case=True)).as_py():
        return typed_child([path_key(path) for path in paths.to_pylist()], pa.string())
    if not pc.any(pc.match_substring(paths, "%")).as_py():
        return paths
    escapes = set(_ESCAPE.findall(paths.buffers()[2])) - {b"%25"}
    if any(escape[1:2] >= b"8" for escape in escapes):
        return typed_child([unquote(path) for path in paths.to_pylist()], pa.string())
    for escape in (*escapes, b"%25"):
        text = escape.decode()
        paths = pc.replace_substring(paths, text, unquote(text))
    return paths
