"""What a commit changed: its change files, or its adds and removes paired by path.

| the commit has                       | rows of the feed                                      |
|--------------------------------------|-------------------------------------------------------|
| change files                         | the rows of the change files, and no others           |
| a MERGE that changed no row          | none                                                  |
| an add of a path                     | every live row of the file, inserted                  |
| a remove of a path                   | every live row of the file, deleted                   |
| a remove and an add of the same path | rows that only one of the two vectors marks           |

Adds and removes with `dataChange` false move rows without changing them, and are ignored.
"""

from __future__ import annotations

from msgspec import Struct

from truckee.errors.changes import ContradictingActionsError, MissingExtendedMetadataError
from truckee.log.files.commits import Commit
from truckee.protocol.actions import AddCDCFile, AddFile, CommitInfo, RemoveFile
from truckee.protocol.deletion_vector import DeletionVectorDescriptor

_MERGE_METRICS = ("numTargetRowsInserted", "numTargetRowsUpdated", "numTargetRowsDeleted")


class VectorChange(Struct, frozen=True):
    """A data file that stays, while the vector of `add` replaces the vector `before`."""

    add: AddFile
    before: DeletionVectorDescriptor | None

    @property
    def after(self) -> DeletionVectorDescriptor | None:
        """The rows that are deleted from this version on."""
        return self.add.deletion_vector


class VersionDiff(Struct, frozen=True, kw_only=True):
    """What one version changed. If it has change files, it has nothing else."""

    version: int
    timestamp_ms: int | None
    change_files: tuple[AddCDCFile, ...] = ()
    added: tuple[AddFile, ...] = ()
    removed: tuple[RemoveFile, ...] = ()
    vector_changes: tuple[VectorChange, ...] = ()


def version_diff(commit: Commit) -> VersionDiff:
    """Return what a commit changed.

    Paths are compared as the actions spell them. Raises `ContradictingActionsError` if a path is
    added and removed with no vector on either side, and `MissingExtendedMetadataError` if a removed
    file has neither size nor partition values.
    """
    version, timestamp_ms = commit.version, commit.timestamp_ms
    # Change files already have every change of this commit. Its adds and removes only say where
    # the rows are now, and reading both would show each change twice.
    if commit.cdc_files:
        return VersionDiff(
            version=version, timestamp_ms=timestamp_ms, change_files=commit.cdc_files
        )
    if is_merge_without_effect(commit.commit_info):
        return VersionDiff(version=version, timestamp_ms=timestamp_ms)
    adds = {add.path: add for add in commit.adds if add.data_change}
    removes = {remove.path: remove for remove in commit.removes if remove.data_change}
    return VersionDiff(
        version=version,
        timestamp_ms=timestamp_ms,
        added=tuple(add for path, add in adds.items() if path not in removes),
        removed=tuple(
            _extended(remove, version) for path, remove in removes.items() if path not in adds
        ),
        vector_changes=tuple(
            _vector_change(adds[path], remove, version)
            for path, remove in removes.items()
            if path in adds and not _is_same_file(adds[path], remove)
        ),
    )


def is_merge_without_effect(info: CommitInfo | None) -> bool:
    """Whether the metrics of a MERGE prove that no row changed. A missing metric proves nothing."""
    if info is None or info.operation != "MERGE":
        return False
    metrics = info.operation_metrics or {}
    return all(metrics.get(name) == "0" for name in _MERGE_METRICS)


def _extended(remove: RemoveFile, version: int) -> RemoveFile:
    if not remove.extended_file_metadata:
        raise MissingExtendedMetadataError(version=version, path=remove.path)
    return remove


def _is_same_file(add: AddFile, remove: RemoveFile) -> bool:
    before, after = remove.deletion_vector, add.deletion_vector
    return before is not None and after is not None and before.unique_id == after.unique_id


def _vector_change(add: AddFile, remove: RemoveFile, version: int) -> VectorChange:
    if add.deletion_vector is None and remove.deletion_vector is None:
        raise ContradictingActionsError(version=version, path=add.path)
    return VectorChange(add, remove.deletion_vector)
