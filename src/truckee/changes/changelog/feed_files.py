"""Which files of commits a feed reads that is derived, netted or follows column renames, and how.

Only commits that may have both deleted and inserted rows are compared. No vector and no data file
is read here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from msgspec import Struct

from truckee.changes.changelog.derived_diff import LiveFiles, is_two_sided
from truckee.changes.changelog.row_id_read import held_ids, with_row_ids_of
from truckee.changes.columns import DELETE
from truckee.changes.file_index import version_files
from truckee.changes.read_schema import ReadSchema
from truckee.changes.row_identity import HeldIds
from truckee.changes.version_diff import VersionDiff, version_diff
from truckee.errors.changes import UpdatesNeedIdentityError
from truckee.log.files.commits import Commit
from truckee.log.snapshot import Snapshot
from truckee.options.feed_shape import Deduplication, FeedShape, FeedSource
from truckee.protocol.table_configuration import PRESERVED_ROW_IDS_TAG, TableConfiguration
from truckee.scan.scan_file import ScanFile
from truckee.storage.base import Storage

_RECORDED = "recorded"


class RowIdentity(Enum):
    """What identifies a deleted and an inserted row as the same one, as in `_change_source`."""

    ROW_IDS = "row_ids"
    KEYS = "keys"
    ROWS = "rows"


class CommitRange(Struct, frozen=True, kw_only=True):
    """Consecutive commits, with the table just before them.

    `before` is None for the first commits of a table, and if the log no longer has that version;
    `table` is the configuration before the first commit, or else with it. `initial` are files that
    are read before them, as by a stream that begins with a snapshot.
    """

    storage: Storage
    commits: tuple[Commit, ...]
    table: TableConfiguration
    before: Snapshot | None = None
    initial: VersionDiff | None = None

    @property
    def start(self) -> int:
        """The first version; 0 if there is none."""
        if self.commits:
            return self.commits[0].version
        return 0 if self.initial is None else self.initial.version

    def eras(self) -> list[ReadSchema]:
        """Return the schemas of the commits, in order."""
        table = self.table
        first = self.commits[0] if self.commits else None
        if self.initial is None and first and first.metadata and not first.removes:
            # No row of these commits has an earlier schema.
            table = table.after(first.metadata, first.protocol)
        eras = [ReadSchema(max(0, self.start - 1), table)]
        for commit in self.commits:
            table = table.after(commit.metadata, commit.protocol)
            if not is_same_schema(table, eras[-1]):
                eras.append(ReadSchema(commit.version, table))
        return eras


def is_same_schema(table: TableConfiguration, era: ReadSchema) -> bool:
    """Return whether files of a version are read in the same way as those of an era."""
    known = era.configuration
    return (
        table.metadata.schema_string == known.metadata.schema_string
        and table.partition_columns == known.partition_columns
        and table.column_mapping_mode == known.column_mapping_mode
    )


@dataclass(frozen=True, kw_only=True)
class FeedFiles:
    """The files of commits, by the index of the era that they are read with.

    `direct` are rows that are changes as they are. Those of `compared` cancel or pair within their
    version, by keys if there are any, and else as whole rows; those of `identified` by their ids.
    `net_by` says how the range is netted, None if it is not; rows of only one side need no netting.
    `distrusted` are versions whose writer may have assigned new ids to rows that it moved.
    `sources` say for each version where its changes come from.
    """

    direct: Mapping[int, list[ScanFile]]
    compared: Mapping[int, list[ScanFile]]
    identified: Mapping[tuple[int, HeldIds], list[ScanFile]]
    net_by: RowIdentity | None
    distrusted: frozenset[int]
    sources: Mapping[int, str]

    @property
    def all(self) -> Iterator[ScanFile]:
        """All files."""
        for groups in (self.direct, self.compared, self.identified):
            for files in groups.values():
                yield from files


def feed_files_of(commits: CommitRange, shape: FeedShape, eras: Sequence[ReadSchema]) -> FeedFiles:
    """Return the files that a feed of commits reads, with the schemas of these eras.

    A single era reads all. Raises `UpdatesNeedIdentityError` if updates are requested but nothing
    identifies rows, and the errors of `version_diff`.
    """
    return _Planner(commits, shape, eras).files()


@dataclass
class _Planner:
    """The files of the commits, grouped by how their rows are processed."""

    commits: CommitRange
    shape: FeedShape
    eras: Sequence[ReadSchema]
    direct: dict[int, list[ScanFile]] = field(default_factory=lambda: defaultdict(list))
    compared: dict[int, list[ScanFile]] = field(default_factory=lambda: defaultdict(list))
    identified: dict[tuple[int, HeldIds], list[ScanFile]] = field(
        default_factory=lambda: defaultdict(list)
    )
    sources: dict[int, str] = field(default_factory=dict)
    distrusted: set[int] = field(default_factory=set)

    def files(self) -> FeedFiles:
        net_by = self._net_identity()
        is_new = self.commits.start == 0
        live = LiveFiles(self.commits.before, self.commits.commits, is_new=is_new)
        if self.commits.initial is not None:
            self._begin(self.commits.initial, net_by)
        for commit, before, after in self._with_table():
            self._plan(commit, before, after, live, net_by)
            live.forward(commit)
        found = FeedFiles(
            direct=self.direct,
            compared=self.compared,
            identified=self.identified,
            net_by=net_by,
            distrusted=frozenset(self.distrusted),
            sources=self.sources,
        )
        return replace(found, net_by=None) if _nets_to_itself(found) else found

    def _begin(self, initial: VersionDiff, net_by: RowIdentity | None) -> None:
        place = self._place(self.commits.table)
        held = held_ids(self.commits.table, self.commits.table)
        if net_by is RowIdentity.ROW_IDS and held is not None:
            self.identified[place, held] += version_files(with_row_ids_of(initial))
        else:
            self.direct[place] += version_files(initial)
        self._note(initial, _RECORDED)

    def _with_table(self) -> Iterator[tuple[Commit, TableConfiguration, TableConfiguration]]:
        """Yield each commit with the table's configuration before and after it."""
        before = self.commits.table
        for commit in self.commits.commits:
            after = before.after(commit.metadata, commit.protocol)
            yield commit, before, after
            before = after

    def _net_identity(self) -> RowIdentity | None:
        """Return how the range is netted, None if it is not."""
        shape = self.shape
        if not shape.is_net:
            return None
        if shape.keys:
            return RowIdentity.KEYS
        reason, version = "it has a recorded feed, whose rows have no ids", None
        if shape.source is not FeedSource.RECORDED:
            gap = self._without_ids()
            if gap is None and (shape.source is FeedSource.DERIVED or shape.compute_updates):
                return RowIdentity.ROW_IDS
            reason, version = "row tracking was not on", gap
        if shape.compute_updates:
            table = self.commits.storage.root
            raise UpdatesNeedIdentityError(table=table, version=version, reason=reason)
        return RowIdentity.ROWS

    def _without_ids(self) -> int | None:
        """Return the first version whose rows have no reliable ids, None if all have."""
        first = held_ids(self.commits.table, self.commits.table)
        if self.commits.initial is not None and first is None:
            return self.commits.initial.version
        names = set() if self.commits.initial is None else {first}
        for commit, before, after in self._with_table():
            held = held_ids(before, after)
            if held is None:
                return commit.version
            names.add(held)
            if len(names) > 1:
                return commit.version
        return None

    def _plan(
        self,
        commit: Commit,
        before: TableConfiguration,
        after: TableConfiguration,
        live: LiveFiles,
        net_by: RowIdentity | None,
    ) -> None:
        places = self._place(before), self._place(after)
        if net_by is not RowIdentity.ROW_IDS and self._is_recorded(commit, before, after, live):
            diff = version_diff(commit)
            is_asked = self.shape.deduplication not in (None, Deduplication.NONE)
            is_paired = bool(self.shape.keys and self.shape.compute_updates)
            is_compared = (is_asked or is_paired) and is_two_sided(diff)
            # Some writers record an update as a deleted and an inserted row of a change file.
            is_compared |= is_paired and net_by is None and bool(diff.change_files)
            self._add(self.compared if is_compared else self.direct, diff, places)
            self._note(diff, _RECORDED)
            return
        diff = live.diff(commit)
        is_compared = self.shape.drops_carryovers and is_two_sided(diff)
        held = held_ids(before, after)
        if net_by is RowIdentity.ROW_IDS or (is_compared and held and not self.shape.keys):
            assert held is not None
            self._identify(commit, diff, held, places)
            return
        if is_compared and self.shape.compute_updates and not self.shape.keys:
            raise UpdatesNeedIdentityError(
                table=self.commits.storage.root,
                version=commit.version,
                reason="row tracking was not on",
            )
        self._add(self.compared if is_compared else self.direct, diff, places)
        identity = RowIdentity.KEYS if self.shape.keys else RowIdentity.ROWS
        self._note(diff, identity.value)

    def _identify(
        self, commit: Commit, diff: VersionDiff, held: HeldIds, places: tuple[int, int]
    ) -> None:
        for file in version_files(with_row_ids_of(diff)):
            self.identified[places[not _is_deleted(file)], held].append(file)
        info = commit.commit_info
        tags = {} if info is None or info.tags is None else info.tags
        if str(tags.get(PRESERVED_ROW_IDS_TAG)).lower() != "true":
            self.distrusted.add(commit.version)
        self._note(diff, RowIdentity.ROW_IDS.value)

    def _add(
        self, files: dict[int, list[ScanFile]], diff: VersionDiff, places: tuple[int, int]
    ) -> None:
        for file in version_files(diff):
            files[places[not _is_deleted(file)]].append(file)

    def _note(self, diff: VersionDiff, source: str) -> None:
        self.sources[diff.version] = source

    def _place(self, table: TableConfiguration) -> int:
        """Return the index of the era whose schema reads a version of the table."""
        if len(self.eras) == 1:
            return 0
        found = [p for p, era in enumerate(self.eras) if is_same_schema(table, era)]
        return found[-1] if found else 0

    def _is_recorded(
        self, commit: Commit, before: TableConfiguration, after: TableConfiguration, live: LiveFiles
    ) -> bool:
        if self.shape.source is not FeedSource.AUTO:
            return self.shape.source is FeedSource.RECORDED
        if not _is_on(after):
            return False
        # If the commit itself enables the feed, a rewrite may not be in the feed.
        return _is_on(before) or bool(commit.cdc_files) or not is_two_sided(live.diff(commit))


def _nets_to_itself(found: FeedFiles) -> bool:
    """Return whether there is nothing to net: all rows are inserted, or all are deleted."""
    if found.net_by in (None, RowIdentity.KEYS):
        return False
    types = {file.change.type for file in found.all if file.change is not None}
    return len(types) <= 1 and None not in types


def _is_deleted(file: ScanFile) -> bool:
    return file.change is not None and file.change.type == DELETE


def _is_on(table: TableConfiguration) -> bool:
    return table.properties.enable_change_data_feed
