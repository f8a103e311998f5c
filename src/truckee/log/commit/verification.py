"""Whether actions may be committed to a table: pure rules, checked before anything is written.

They are about one commit by itself; `conflicts` compares it with commits of others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from truckee.errors.commit import (
    AppendOnlyTableError,
    ColumnMappingChangeWithFilesError,
    DeletionVectorsNotWritableError,
    DomainMetadataNotSupportedError,
    DuplicateActionsError,
    DuplicateDomainMetadataError,
    MissingNumRecordsError,
    PartitionValuesMismatchError,
    ReservedChangeColumnsError,
    TableContainsChangeColumnsError,
    TightBoundsError,
    UnexpectedChangeFilesError,
)
from truckee.protocol.actions import (
    Action,
    AddCDCFile,
    AddFile,
    DomainMetadata,
    RemoveFile,
)
from truckee.protocol.paths import decode_path
from truckee.protocol.schema import nested_fields
from truckee.protocol.stats import parse_stats
from truckee.protocol.table_configuration import TableConfiguration

CHANGE_COLUMNS = ("_change_type", "_commit_version", "_commit_timestamp")

# These reuse existing files: their vectors are not new, and the statistics were computed when
# the vectors were.
_CARRY_FILES_OVER = frozenset(
    {
        "RESTORE",
        "CLONE",
        "COMPUTE STATS",
        "ROW TRACKING BACKFILL",
        "ROW TRACKING UNBACKFILL",
    }
)
# These restore an earlier or another table's columns, whatever the current names are.
_REPLACE_THE_TABLE = frozenset({"RESTORE", "CLONE"})


def check_actions(
    actions: Sequence[Action],
    *,
    table: str,
    operation: str,
    before: TableConfiguration | None,
    after: TableConfiguration,
) -> None:
    """Raise for the first rule that these actions violate.

    `before` is the table as it was read, None for one that is being created; `after` is what it
    will be with this commit.
    """
    _check_change_columns(before, after, table)
    _check_column_mapping(actions, before, after, table=table, operation=operation)
    _check_partition_values(actions, after, table)
    _check_append_only(actions, before or after, table=table, operation=operation)
    _check_duplicates(actions, table)
    _check_domains(actions, after, table)
    _check_vectors(actions, after, table=table, operation=operation)
    _check_change_files(actions, table)


def _check_change_columns(
    before: TableConfiguration | None, after: TableConfiguration, table: str
) -> None:
    if _same_metadata(before, after) or not after.properties.enable_change_data_feed:
        return
    names = {column.name for column in after.schema.fields}
    reserved = tuple(name for name in CHANGE_COLUMNS if name in names)
    if not reserved:
        return
    if before is not None and before.properties.enable_change_data_feed:
        raise ReservedChangeColumnsError(table=table, columns=reserved)
    raise TableContainsChangeColumnsError(table=table, columns=reserved)


def _check_column_mapping(
    actions: Iterable[Action],
    before: TableConfiguration | None,
    after: TableConfiguration,
    *,
    table: str,
    operation: str,
) -> None:
    if before is None or _same_metadata(before, after) or operation in _REPLACE_THE_TABLE:
        return
    if not after.properties.enable_change_data_feed:
        return
    if _maps_columns_anew(before, after) and any(
        isinstance(action, AddFile | RemoveFile | AddCDCFile) for action in actions
    ):
        raise ColumnMappingChangeWithFilesError(table=table, operation=operation)


def _same_metadata(before: TableConfiguration | None, after: TableConfiguration) -> bool:
    return before is not None and before.metadata is after.metadata


def _maps_columns_anew(before: TableConfiguration, after: TableConfiguration) -> bool:
    """Whether column mapping is switched on, or a mapped column was dropped or renamed.

    Where it is removed, all files are written anew; changes that were recorded are not touched.
    """
    if after.column_mapping_mode == "none":
        return False
    if before.column_mapping_mode == "none":
        return True
    names = _names_by_physical_path(after)
    return any(names.get(path) != name for path, name in _names_by_physical_path(before).items())


def _names_by_physical_path(table: TableConfiguration) -> dict[tuple[str, ...], str]:
    chains = nested_fields(table.schema)
    return {chain.physical_path: chain.field.name for chain in chains}


def _check_partition_values(
    actions: Iterable[Action], after: TableConfiguration, table: str
) -> None:
    names = tuple(column.physical_name for column in after.partition_fields)
    expected = set(names)
    for action in actions:
        if isinstance(action, AddFile | AddCDCFile) and action.partition_values.keys() != expected:
            raise PartitionValuesMismatchError(
                table=table,
                path=action.path,
                expected=names,
                found=tuple(action.partition_values),
            )


def _check_append_only(
    actions: Iterable[Action], rules: TableConfiguration, *, table: str, operation: str
) -> None:
    if not rules.properties.append_only:
        return
    for action in actions:
        if isinstance(action, RemoveFile) and action.data_change:
            raise AppendOnlyTableError(table=table, operation=operation, path=action.path)


def _check_duplicates(actions: Iterable[Action], table: str) -> None:
    added: dict[str, AddFile] = {}
    removed: dict[str, RemoveFile] = {}
    for action in actions:
        match action:
            case AddFile(path=path):
                if added.setdefault(decode_path(path), action) is not action:
                    raise DuplicateActionsError(table=table, path=path, kind="two adds")
            case RemoveFile(path=path):
                if removed.setdefault(decode_path(path), action) is not action:
                    raise DuplicateActionsError(table=table, path=path, kind="two removes")
    for path in added.keys() & removed.keys():
        if _vector_id(added[path]) == _vector_id(removed[path]):
            kind = "an add and a remove with the same deletion vector"
            raise DuplicateActionsError(table=table, path=added[path].path, kind=kind)


def _vector_id(action: AddFile | RemoveFile) -> str | None:
    return None if action.deletion_vector is None else action.deletion_vector.unique_id


def _check_domains(actions: Iterable[Action], after: TableConfiguration, table: str) -> None:
    seen: set[str] = set()
    for action in actions:
        if not isinstance(action, DomainMetadata):
            continue
        if "domainMetadata" not in after.features:
            raise DomainMetadataNotSupportedError(table=table, domain=action.domain)
        if action.domain in seen:
            raise DuplicateDomainMetadataError(table=table, domain=action.domain)
        seen.add(action.domain)


def _check_vectors(
    actions: Iterable[Action], after: TableConfiguration, *, table: str, operation: str
) -> None:
    adds = [a for a in actions if isinstance(a, AddFile) and a.deletion_vector is not None]
    if not adds:
        return
    writable = "deletionVectors" in after.features and (
        after.properties.enable_deletion_vectors or operation in _CARRY_FILES_OVER
    )
    for add in adds:
        if not writable:
            raise DeletionVectorsNotWritableError(table=table, path=add.path)
        stats = parse_stats(add.stats)
        if stats is None or stats.num_records is None:
            raise MissingNumRecordsError(table=table, path=add.path)
        if stats.are_tight and operation not in _CARRY_FILES_OVER:
            raise TightBoundsError(table=table, path=add.path)


def _check_change_files(actions: Sequence[Action], table: str) -> None:
    changes = tuple(action.path for action in actions if isinstance(action, AddCDCFile))
    if not changes:
        return
    files = [action for action in actions if isinstance(action, AddFile | RemoveFile)]
    if files and not any(file.data_change for file in files):
        raise UnexpectedChangeFilesError(table=table, paths=changes)
