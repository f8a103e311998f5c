"""`_symlink_format_manifest`: lists of a table's files, for readers that do not read the log.

    _symlink_format_manifest/day=1/manifest    one absolute path a line, not encoded
    _symlink_format_manifest/day=2/manifest

A table without partitions has one manifest, which is empty if the table is. A partition without
files has none.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator

import pyarrow.compute as pc

from truckee.errors.commands.clone import ManifestColumnMappingError, ManifestVectorsError
from truckee.log.snapshot import Snapshot
from truckee.protocol.actions import Action, AddFile, RemoveFile
from truckee.protocol.paths import decode_path, is_absolute, partition_directory

MANIFEST_DIRECTORY = "_symlink_format_manifest"
_MANIFEST = "manifest"


def write_manifest(snapshot: Snapshot) -> None:
    """Write the manifests of a version, and delete those of partitions that no longer exist.

    Raises before anything is written if readers of a manifest would see wrong rows.
    """
    check_manifest(snapshot)
    written = _write(snapshot, None)
    stale = [
        file.path
        for file in snapshot.storage.list_tree(MANIFEST_DIRECTORY)
        if posixpath.basename(file.path) == _MANIFEST and file.path not in written
    ]
    for path in stale:
        snapshot.storage.delete(path)


def renew_manifest(snapshot: Snapshot, actions: Iterable[Action]) -> None:
    """Update the manifests of the partitions that a commit changed."""
    if next(iter(snapshot.storage.list_tree(MANIFEST_DIRECTORY)), None) is None:
        write_manifest(snapshot)
        return
    folders: set[str] = set()
    for action in actions:
        if isinstance(action, AddFile | RemoveFile):
            if action.partition_values is None:
                write_manifest(snapshot)
                return
            folders.add(partition_folder(snapshot, action.partition_values))
    if not folders:
        return
    check_manifest(snapshot)
    written = _write(snapshot, folders)
    for folder in folders:
        if (path := _manifest_path(folder)) not in written:
            snapshot.storage.delete(path)


def check_manifest(snapshot: Snapshot) -> None:
    """Raise if readers of a manifest would see wrong rows or columns."""
    if snapshot.properties.column_mapping_mode != "none":
        raise ManifestColumnMappingError(table=snapshot.storage.root)
    vectors = vector_count(snapshot)
    if vectors:
        raise ManifestVectorsError(table=snapshot.storage.root, files=vectors)


def vector_count(snapshot: Snapshot) -> int:
    """Return how many files have a deletion vector."""
    return int(pc.sum(pc.is_valid(snapshot.files_table().column("deletion_vector"))).as_py() or 0)


def partition_folder(snapshot: Snapshot, values: dict[str, str | None]) -> str:
    """Return the folder of a partition, empty for a table without partitions."""
    return partition_directory(snapshot.partition_columns, values)


def _write(snapshot: Snapshot, wanted: set[str] | None) -> set[str]:
    """Write the manifests of some partitions, None for all, and return their paths."""
    lines: dict[str, list[str]] = {} if snapshot.partition_columns else {"": []}
    for folder, path in _files(snapshot):
        if wanted is None or folder in wanted:
            lines.setdefault(folder, []).append(path)
    for folder, paths in lines.items():
        text = "".join(f"{path}\n" for path in sorted(paths))
        snapshot.storage.write(_manifest_path(folder), text.encode())
    return {_manifest_path(folder) for folder in lines}


def _manifest_path(folder: str) -> str:
    return "/".join(part for part in (MANIFEST_DIRECTORY, folder, _MANIFEST) if part)


def _files(snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    files = snapshot.files_table()
    root = snapshot.storage.root
    columns = zip(
        files.column("path").to_pylist(), files.column("partition_values").to_pylist(), strict=True
    )
    for encoded, values in columns:
        path = decode_path(encoded)
        place = path if is_absolute(path) else f"{root}/{path}"
        # Readers of a manifest need a scheme; this is the one for a local disk.
        where = f"file:{place}" if place.startswith("/") else place
        yield partition_folder(snapshot, dict(values or ())), where
