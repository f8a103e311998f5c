"""A stream that follows its table's schema: stop before a change, record it, restart.

... version 4   | (5, METADATA_CHANGE)   | (5, POST_METADATA_CHANGE)   | rest of version 5 ...
the last batch    an empty batch, which    the log gets an entry, the    read with the new
with the old      ends the old schema      query ends with an error      schema, after a
schema                                     that says so                  restart
"""

from __future__ import annotations

from collections.abc import Iterator

from truckee.changes.read_schema import ReadSchema, mapped_schema
from truckee.errors.stream_schema import MetadataEvolvedError, SchemaChangeNotAllowedError
from truckee.log.files.commits import Commit
from truckee.log.snapshot import Snapshot
from truckee.options.stream import AllowedChanges
from truckee.protocol.schema import type_text
from truckee.protocol.schema_compatibility import ColumnMappingChange, column_mapping_changes
from truckee.streaming.offset import POST_METADATA_CHANGE, StreamOffset
from truckee.streaming.schema_guard import widened_column
from truckee.streaming.schema_log import LoggedMetadata, SchemaLog, schema_log_entry

_OPTIONS = {
    ColumnMappingChange.RENAMED: "allowSourceColumnRename",
    ColumnMappingChange.DROPPED: "allowSourceColumnDrop",
}


class FollowedSchema:
    """The schema log of a running stream, and the stream's position in it."""

    def __init__(self, log: SchemaLog, table: str) -> None:
        self._log = log
        self._table = table
        self.current: LoggedMetadata | None = log.latest()

    def check_loaded(self, read: ReadSchema) -> None:
        """Raise `MetadataEvolvedError` if a stream was loaded before the last entry was written."""
        if self.current is not None and not self.current.is_same(read.metadata, None):
            raise self._evolved(self.current)

    def is_barrier(self, commit: Commit) -> bool:
        """Whether a commit changes something that the stream has to record."""
        if self.current is None or commit.version <= self.current.delta_commit_version:
            return False
        return not self.current.is_same(commit.metadata, commit.protocol)

    def is_change_due(self, start: StreamOffset) -> bool:
        """Whether a stream has reached a change that is not in the log yet."""
        return (
            start.index == POST_METADATA_CHANGE
            and self.current is not None
            and self.current.delta_commit_version < start.version
        )

    def begin(self, snapshot: Snapshot, analyzed: ReadSchema) -> None:
        """Write the first entry, if there is none.

        Raises `MetadataEvolvedError` if the columns at the version where the stream starts are not
        those that it was loaded with.
        """
        if self.current is not None:
            return
        entry = schema_log_entry(snapshot.configuration, snapshot.version)
        self._log.append(entry)
        self.current = self._log.latest()
        if not entry.is_same(analyzed.metadata, None):
            raise self._evolved(entry)

    def evolve(self, snapshot: Snapshot) -> MetadataEvolvedError:
        """Write the entry of a change, and return the error that ends the query."""
        entry = schema_log_entry(snapshot.configuration, snapshot.version)
        self._log.append(entry)
        return self._evolved(entry)

    def check_allowed(self, allowed: AllowedChanges) -> None:
        """Raise `SchemaChangeNotAllowedError` unless options allow the change of the last entry.

        Every run needs them until there is a next entry, also if the stream is past the change: the
        first question of a run is about its last batch, so where it goes on is not known yet. Added
        columns are always allowed.
        """
        after = self.current
        before = None if after is None else self._log.before(after)
        if after is None or before is None:
            return
        version = after.delta_commit_version
        agreed = {
            "allowSourceColumnRename": allowed.rename,
            "allowSourceColumnDrop": allowed.drop,
            "allowSourceColumnTypeChange": allowed.type,
        }
        open_changes = [
            (change, option)
            for change, option in _non_additive(before, after)
            if not {"always", str(version)} & set(agreed[option])
        ]
        if open_changes:
            raise SchemaChangeNotAllowedError(
                table=self._table,
                version=version,
                change=", ".join(change for change, _ in open_changes),
                options=tuple(dict.fromkeys(option for _, option in open_changes)),
            )

    def _evolved(self, entry: LoggedMetadata) -> MetadataEvolvedError:
        return MetadataEvolvedError(
            table=self._table,
            version=entry.delta_commit_version,
            schema=type_text(entry.read.schema),
        )


def _non_additive(before: LoggedMetadata, after: LoggedMetadata) -> Iterator[tuple[str, str]]:
    """Yield the changes of columns, each with the option that allows it."""
    old, new = mapped_schema(before.read.configuration), mapped_schema(after.read.configuration)
    for kind, name in column_mapping_changes(old, new):
        if kind in _OPTIONS:
            yield f"column {name} was {kind.value}", _OPTIONS[kind]
    widened = widened_column(old.schema, new.schema)
    if widened is not None:
        yield f"{widened} has another type", "allowSourceColumnTypeChange"
