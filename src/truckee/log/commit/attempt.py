r"""The exact lines of one attempt to commit one version; pure functions.

Parts of a commit depend on its version: the in-commit timestamp, the ids of new rows, and the
version at which in-commit timestamps were enabled. After a lost race these are computed again from
the winner's state, while the staged actions stay the same.

The `commitInfo` of a commit says who wrote it, how, and what it counted. Its parameters are JSON
values, but lists and objects among them are *strings that contain JSON*:
`"predicate":"[\"(id = 1)\"]"`. All metrics are strings. Spark writes both in this way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import msgspec
from msgspec.structs import replace

from truckee.errors.commit import (
    InvalidStateError,
    RowIdsWithoutStatisticsError,
    UnreadableCommitError,
)
from truckee.log.commit.conflicts import ROW_TRACKING_BACKFILL, IsolationLevel
from truckee.log.files.commits import Commit
from truckee.protocol.actions import (
    Action,
    AddCDCFile,
    AddFile,
    CommitInfo,
    DomainMetadata,
    Metadata,
    Protocol,
    RemoveFile,
    decode_actions,
    encode_actions,
)
from truckee.protocol.json_text import LARGEST_INT64, NOT_JSON, json_object, shown, whole_number
from truckee.protocol.paths import decode_path
from truckee.protocol.properties import TableProperties
from truckee.protocol.stats import parse_stats
from truckee.protocol.table_configuration import (
    PRESERVED_ROW_IDS_TAG,
    ROW_TRACKING_DOMAIN,
    TableConfiguration,
)


@dataclass(frozen=True, kw_only=True)
class Base:
    """The state that the next commit builds on: the table as of `version`, -1 if there is none.

    `timestamp_ms` is the time of that version; None if it does not matter, because in-commit
    timestamps are off and stay off. `backfilled` are files by their decoded paths: those to whose
    rows others gave ids since the table was read.
    """

    version: int = -1
    configuration: TableConfiguration | None = None
    timestamp_ms: int | None = None
    row_id_high_water_mark: int = -1
    backfilled: Mapping[str, AddFile] = field(default_factory=dict)

    def after(self, commit: Commit) -> Base:
        """Return the base after a winning commit, the next version."""
        assert commit.version == self.version + 1
        known = self.configuration
        if known is not None:
            known = known.after(commit.metadata, commit.protocol)
        elif commit.metadata is not None and commit.protocol is not None:
            known = TableConfiguration(commit.metadata, commit.protocol)
        marks = (row_id_high_water_mark(action) for action in commit.domain_metadata)
        return Base(
            version=commit.version,
            configuration=known,
            timestamp_ms=commit.timestamp_ms,
            row_id_high_water_mark=max(self.row_id_high_water_mark, *marks, -1),
            backfilled={**self.backfilled, **_backfilled(commit)},
        )


@dataclass(frozen=True, kw_only=True)
class StagedCommit:
    """What a transaction commits; `metadata` and `protocol` only if they change."""

    table: str
    operation: str
    txn_id: str
    isolation: IsolationLevel
    is_blind_append: bool
    actions: tuple[Action, ...]
    metadata: Metadata | None = None
    protocol: Protocol | None = None
    read_version: int | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    metrics: Mapping[str, object] = field(default_factory=dict)
    user_metadata: str | None = None

    @property
    def all_actions(self) -> tuple[Action, ...]:
        """The changes of metadata and protocol, if any, then everything else."""
        changes = (self.metadata, self.protocol)
        return (*(change for change in changes if change is not None), *self.actions)

    def table_after(self, before: TableConfiguration | None) -> TableConfiguration:
        """Return the table's configuration after this commit; `before` is None for a new table."""
        if before is not None:
            return before.after(self.metadata, self.protocol)
        assert self.metadata is not None
        assert self.protocol is not None
        return TableConfiguration(self.metadata, self.protocol)


def commit_actions(staged: StagedCommit, base: Base, now_ms: int) -> tuple[Action, ...]:
    """Return the lines of the commit that follows `base`, commitInfo first.

    Raises an InvalidStateError or UnreadableCommitError where the table's state, which any writer
    may have written, leads to lines that nobody could read.
    """
    table = staged.table_after(base.configuration)
    changed, actions = staged.metadata, staged.actions
    timestamp_ms = None
    if table.properties.enable_in_commit_timestamps:
        timestamp_ms = max(now_ms, -1 if base.timestamp_ms is None else base.timestamp_ms + 1)
        changed = _with_enablement(changed, base, timestamp_ms)
    if "rowTracking" in table.features and not table.properties.row_tracking_suspended:
        actions = tuple(_with_row_ids(staged, base))
    info = commit_info(
        staged.operation,
        timestamp_ms=now_ms,
        txn_id=staged.txn_id,
        isolation_level=staged.isolation.value,
        is_blind_append=staged.is_blind_append,
        read_version=staged.read_version,
        parameters=staged.parameters,
        metrics=staged.metrics,
        user_metadata=staged.user_metadata,
        in_commit_timestamp_ms=timestamp_ms,
        tags=_tags(base.configuration),
    )
    changes = (action for action in (changed, staged.protocol) if action is not None)
    lines = (info, *changes, *actions)
    _check_readable(lines, staged.table)
    return lines


def _check_readable(lines: Iterable[Action], table: str) -> None:
    """Raise if a line about the table as a whole is one that our own reader refuses."""
    files = AddFile | RemoveFile | AddCDCFile
    try:
        decode_actions(encode_actions(line for line in lines if not isinstance(line, files)))
    except (*NOT_JSON, OverflowError) as error:
        raise UnreadableCommitError(table=table, reason=str(error)) from error


def _tags(before: TableConfiguration | None) -> dict[str, Any] | None:
    """Return the tags of a commit to a table that was `before`; None if it has none.

    The feed of a table that recorded none pairs rows by their ids only where the writer says that
    it kept them. All our commands do if row tracking is on: a transaction that moves rows conflicts
    with a commit that switches it on.
    """
    if before is None or before.row_id_columns is None:
        return None
    return {PRESERVED_ROW_IDS_TAG: "true"}


def _backfilled(commit: Commit) -> dict[str, AddFile]:
    if commit.commit_info is None or commit.commit_info.operation != ROW_TRACKING_BACKFILL:
        return {}
    return {decode_path(add.path): add for add in commit.adds}


def _with_enablement(changed: Metadata | None, base: Base, timestamp_ms: int) -> Metadata | None:
    """Return the metadata, with the version and time of this commit if it enables timestamps.

    A table that has in-commit timestamps from its first version on does not record this.
    """
    if changed is None or base.configuration is None:
        return changed
    if base.configuration.properties.enable_in_commit_timestamps:
        return changed
    since = {
        TableProperties.in_commit_timestamp_enablement_version.key: str(base.version + 1),
        TableProperties.in_commit_timestamp_enablement_timestamp.key: str(timestamp_ms),
    }
    return replace(changed, configuration={**changed.configuration, **since})


def _with_row_ids(staged: StagedCommit, base: Base) -> Iterator[Action]:
    """Yield the actions with ids for the rows of new files (protocol: Row Tracking).

    A file's rows have the ids `base_row_id`, `base_row_id + 1` and so on. With a high-water mark
    of 9, new files of 5 and 3 rows start at 10 and 15, and the mark becomes 17. A file that already
    has a first id is an old one, and keeps it; so does one to which others gave ids meanwhile.
    """
    mark = start = base.row_id_high_water_mark
    for action in staged.actions:
        if isinstance(action, DomainMetadata) and action.domain == ROW_TRACKING_DOMAIN:
            mark = max(mark, row_id_high_water_mark(action))
    for action in staged.actions:
        if isinstance(action, AddFile) and action.base_row_id is None:
            known = base.backfilled.get(decode_path(action.path)) if base.backfilled else None
            if known is not None:
                first, last = known.base_row_id, known.default_row_commit_version
                yield replace(action, base_row_id=first, default_row_commit_version=last)
                continue
            stats = parse_stats(action.stats)
            if stats is None or stats.num_records is None:
                raise RowIdsWithoutStatisticsError(table=staged.table, path=action.path)
            first, mark = mark + 1, _advanced(mark, stats.num_records, action.path)
            yield replace(action, base_row_id=first, default_row_commit_version=base.version + 1)
        elif not isinstance(action, DomainMetadata) or action.domain != ROW_TRACKING_DOMAIN:
            yield action
    if mark > start:
        text = msgspec.json.encode({"rowIdHighWaterMark": mark}).decode()
        yield DomainMetadata(domain=ROW_TRACKING_DOMAIN, configuration=text)


_MARK = "rowIdHighWaterMark"


def row_id_high_water_mark(action: DomainMetadata) -> int:
    """Return the largest row id that was assigned, -1 if this domain does not record one.

    Raises InvalidStateError for a mark that is not a number, or that no writer can have reached:
    ids that continue from a wrong one would not be unique.
    """
    if action.domain != ROW_TRACKING_DOMAIN or action.removed:
        return -1
    found = json_object(f"the domain {ROW_TRACKING_DOMAIN}", action.configuration)
    return whole_number(_MARK, found.get(_MARK), least=-1)


def _advanced(mark: int, num_records: int, path: str) -> int:
    """Return the mark after the ids of a file's rows."""
    if num_records < 0:
        key = f"numRecords of the file '{path}'"
        raise InvalidStateError(key=key, found=shown(num_records), needs="a number from 0 on")
    if num_records > LARGEST_INT64 - mark:
        needs = f"at most {LARGEST_INT64 - num_records}, to leave ids for {num_records} rows"
        raise InvalidStateError(key=_MARK, found=shown(mark), needs=needs)
    return mark + num_records


_NULL = msgspec.Raw(b"null")
"""A parameter that is written as null; None would leave it out."""


@cache
def engine_info() -> str:
    """Return the name of this engine, as `truckee/<version>`."""
    try:
        return f"truckee/{version('truckee')}"
    except PackageNotFoundError:
        return "truckee/unknown"


def commit_info(
    operation: str,
    *,
    timestamp_ms: int,
    txn_id: str,
    isolation_level: str,
    is_blind_append: bool,
    read_version: int | None = None,
    parameters: Mapping[str, Any] | None = None,
    metrics: Mapping[str, object] | None = None,
    user_metadata: str | None = None,
    in_commit_timestamp_ms: int | None = None,
    tags: dict[str, Any] | None = None,
) -> CommitInfo:
    """Return the commitInfo action; parameters and metrics that are None are left out."""
    return CommitInfo(
        in_commit_timestamp=in_commit_timestamp_ms,
        timestamp=timestamp_ms,
        operation=operation,
        operation_parameters=_parameters(parameters or {}),
        read_version=read_version,
        isolation_level=isolation_level,
        is_blind_append=is_blind_append,
        operation_metrics=_metrics(metrics or {}),
        user_metadata=user_metadata,
        tags=tags,
        engine_info=engine_info(),
        txn_id=txn_id,
    )


def _parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _parameter(value) for name, value in parameters.items() if value is not None}


def _parameter(value: Any) -> Any:
    if isinstance(value, str | bool | int | float | msgspec.Raw):
        return value
    return msgspec.json.encode(value).decode()


def _metrics(metrics: Mapping[str, object]) -> dict[str, str]:
    return {name: str(value) for name, value in metrics.items() if value is not None}
