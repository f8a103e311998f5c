"""CLONE: the files of a table as another table names them.

| in the source          | in a shallow clone             | in a deep clone                      |
|------------------------|--------------------------------|--------------------------------------|
| `a/x.parquet`          | its absolute URI               | `a/x.parquet`, copied                |
| an absolute URI        | the same                       | a new name, copied                   |
| a vector below root    | its absolute URI               | the same descriptor, its file copied |
| a vector elsewhere     | the same                       | a new file, copied                   |
| a vector in the log    | the same                       | the same                             |

A relative path that leaves the source's root, or names a file of its log, counts as one from
elsewhere: the log of a source is not trusted to say where files are written.

A shallow clone of a shallow clone names the files of the original table, so the clone in the middle
may be deleted. The names of copies depend only on the names in the source, so a clone that was
interrupted finds the files that it has already copied.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from uuid import NAMESPACE_URL, uuid4, uuid5

from msgspec.structs import replace

from truckee.errors.commands.clone import CloneColumnMappingError
from truckee.log.snapshot import Snapshot
from truckee.protocol.actions import AddFile, Metadata
from truckee.protocol.deletion_vector import DeletionVectorDescriptor
from truckee.protocol.paths import LOG_DIRECTORY, decode_path, encode_path, is_absolute
from truckee.protocol.properties import TableProperties
from truckee.storage.copying import FileCopy

_NOT_COPIED = (
    TableProperties.in_commit_timestamp_enablement_version.key,
    TableProperties.in_commit_timestamp_enablement_timestamp.key,
    TableProperties.require_checkpoint_protection_before_version.key,
    TableProperties.commit_coordinator.key,
    TableProperties.commit_coordinator_conf.key,
    TableProperties.coordinated_table_conf.key,
)


@dataclass(frozen=True, kw_only=True)
class ClonedFiles:
    """The files of a clone, and the files that have to be copied for it."""

    adds: tuple[AddFile, ...]
    copies: tuple[FileCopy, ...] = ()


def shallow_files(source: Snapshot) -> ClonedFiles:
    """Return the files of a clone that shares them with its source."""
    return shared_files(source.files(), source.storage.root)


def shared_files(files: Iterable[AddFile], root: str) -> ClonedFiles:
    """Return files below a root as files of a table elsewhere."""
    return ClonedFiles(adds=tuple(_shallow(file, root) for file in files))


def _shallow(file: AddFile, root: str) -> AddFile:
    vector = file.deletion_vector
    return replace(
        _as_new(file),
        path=file.path
        if is_absolute(file.path)
        else encode_path(f"{root}/{decode_path(file.path)}"),
        deletion_vector=None if vector is None else vector.copy_with_absolute_path(root),
    )


def deep_files(source: Snapshot) -> ClonedFiles:
    """Return the files of a clone that has its own copies."""
    adds: list[AddFile] = []
    copies: dict[str, FileCopy] = {}
    for file in source.files():
        path = decode_path(file.path)
        name = path if _stays_inside(path) else _own_name(path)
        copies[name] = FileCopy(path, name)
        vector = file.deletion_vector
        if vector is not None and vector.is_on_disk:
            vector = _own_vector(vector)
            assert file.deletion_vector is not None
            copies[vector.file_path] = FileCopy(file.deletion_vector.file_path, vector.file_path)
        adds.append(replace(_as_new(file), path=encode_path(name), deletion_vector=vector))
    return ClonedFiles(adds=tuple(adds), copies=tuple(copies.values()))


def _as_new(file: AddFile) -> AddFile:
    """Return a file as a new one in its table: its rows get new ids."""
    return replace(file, data_change=True, base_row_id=None, default_row_commit_version=None)


def _stays_inside(path: str) -> bool:
    """Return whether a path of the source is also one for a file of the clone."""
    first = posixpath.normpath(path).partition("/")[0]
    return not is_absolute(path) and first not in ("..", LOG_DIRECTORY)


def _own_name(path: str) -> str:
    """Return a name below the root for a file from elsewhere, the same each time."""
    digest = sha256(path.encode()).hexdigest()[:16]
    return f"{digest}-{path.rpartition('/')[2]}"


def _own_vector(vector: DeletionVectorDescriptor) -> DeletionVectorDescriptor:
    if vector.is_relative and _stays_inside(vector.file_path):
        return vector
    return vector.copy_with_new_relative_path(uuid5(NAMESPACE_URL, vector.file_path))


def cloned_metadata(
    source: Metadata, target: Metadata | None, properties: Iterable[tuple[str, str]]
) -> Metadata:
    """Return the metadata of a clone: the source's, with the target's own name and id.

    Properties about the source's own history do not apply to the clone, and are left out.
    """
    kept = {key: text for key, text in source.configuration.items() if key not in _NOT_COPIED}
    metadata = replace(
        source,
        id=str(uuid4()) if target is None else target.id,
        name=None if target is None else target.name,
        description=None if target is None else target.description,
        configuration={**kept, **dict(properties)},
    )
    for other in (source, *(() if target is None else (target,))):
        if _mode(other) != _mode(metadata):
            raise CloneColumnMappingError(source=_mode(other), target=_mode(metadata))
    return metadata


def _mode(metadata: Metadata) -> str:
    return TableProperties.from_configuration(metadata.configuration).column_mapping_mode
