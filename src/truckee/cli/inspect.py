"""The commands that only look at a table: history, detail, log, files. No JVM."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any

import typer

from truckee.cli.render import (
    cell,
    moment,
    print_fact,
    print_json,
    print_json_array,
    print_table,
    time_text,
    words,
)
from truckee.cli.table_layout import Heading
from truckee.errors.base import printable_json
from truckee.protocol.json_text import NOT_JSON

if TYPE_CHECKING:
    from truckee.log.files.history import HistoryEntry
    from truckee.log.snapshot import Snapshot

TablePath = Annotated[
    str, typer.Argument(metavar="PATH", help="The table's folder, as a path or URL.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON rather than text.")]
Version = Annotated[
    int | None, typer.Option("--version", min=0, metavar="N", help="The version to look at.")
]
_Limit = Annotated[
    int | None, typer.Option("--limit", min=1, metavar="N", help="Only the last N commits.")
]
Long = Annotated[bool, typer.Option("--long", help="Show all that each commit records.")]
Verify = Annotated[bool, typer.Option("--verify", help="Fail if the version's checksum disagrees.")]


def history(
    path: TablePath, limit: _Limit = None, long: Long = False, as_json: AsJson = False
) -> None:
    """Show who did what to a table, newest first, one line for each commit.

    Example: truckee history /data/orders --limit 10
    """
    from truckee.log.files import history as log_history
    from truckee.log.files.commit_summary import commit_summary
    from truckee.storage import open_storage

    entries = log_history.history(open_storage(path), limit)
    for newer, older in pairwise(entries):
        if newer.version != older.version + 1:
            words(f"warning: version {older.version + 1} is missing in the log")
    if as_json:
        print_json_array(map(_history_record, entries))
        return
    if long:
        for entry in entries:
            _print_commit(entry)
        return
    print_table(
        (
            Heading.number("version"),
            Heading.time("timestamp"),
            "operation",
            "what it did",
        ),
        (
            (
                entry.version,
                time_text(entry.timestamp_ms),
                entry.operation,
                commit_summary(entry),
            )
            for entry in entries
        ),
    )


def _print_commit(entry: HistoryEntry) -> None:
    """Print a commit as a block of lines, without empty fields."""
    record = _history_record(entry)
    print(f"version {record.pop('version')}")
    record["timestamp"] = time_text(entry.timestamp_ms)
    for name, value in record.items():
        if value is not None:
            print_fact(f"  {name:<20} ", cell(value))


def _history_record(entry: HistoryEntry) -> dict[str, Any]:
    return {
        "version": entry.version,
        "timestamp": moment(entry.timestamp_ms),
        "userId": entry.user_id,
        "userName": entry.user_name,
        "operation": entry.operation,
        "operationParameters": entry.operation_parameters,
        "job": entry.job,
        "notebook": entry.notebook,
        "clusterId": entry.cluster_id,
        "readVersion": entry.read_version,
        "isolationLevel": entry.isolation_level,
        "isBlindAppend": entry.is_blind_append,
        "operationMetrics": entry.operation_metrics,
        "userMetadata": entry.user_metadata,
        "engineInfo": entry.engine_info,
    }


def detail(
    path: TablePath, version: Version = None, verify: Verify = False, as_json: AsJson = False
) -> None:
    """Show what a table is: its rows and size, its columns, its properties and its protocol.

    Example: truckee detail /data/orders --json
    """
    from truckee.log.detail import table_detail
    from truckee.log.snapshot import load_snapshot
    from truckee.report.distributions import num_live_rows
    from truckee.storage import open_storage

    snapshot = load_snapshot(open_storage(path), version)
    _check(snapshot, must_agree=verify)
    found = table_detail(snapshot)
    record: dict[str, Any] = {
        "format": found.format,
        "id": found.id,
        "name": found.name,
        "description": found.description,
        "location": found.location,
        "version": found.version,
        "createdAt": moment(found.created_at_ms),
        "lastModified": moment(found.last_modified_ms),
        "partitionColumns": found.partition_columns,
        "clusteringColumns": found.clustering_columns,
        "numRows": num_live_rows(snapshot),
        "numFiles": found.num_files,
        "sizeInBytes": found.size_in_bytes,
        "properties": found.properties,
        "minReaderVersion": found.min_reader_version,
        "minWriterVersion": found.min_writer_version,
        "tableFeatures": found.table_features,
        "columns": _columns(snapshot),
    }
    if as_json:
        print_json(record)
        return
    record["createdAt"] = time_text(found.created_at_ms)
    record["lastModified"] = time_text(found.last_modified_ms)
    columns = record.pop("columns")
    for name, value in record.items():
        print_fact(f"{name:<18} ", cell(value))
    print("columns")
    for column in columns:
        rule = "" if column["nullable"] else " not null"
        print_fact(f"  {cell(column['name']):<16} ", f"{cell(column['type'])}{rule}")


def _columns(snapshot: Snapshot) -> list[dict[str, Any]]:
    """Return the columns of a table, none if its schema is not set yet."""
    from truckee.protocol.schema import type_text

    if snapshot.metadata.schema_string is None:
        return []
    return [
        {"name": field.name, "type": type_text(field.type), "nullable": field.nullable}
        for field in snapshot.schema.fields
    ]


def _check(snapshot: Snapshot, *, must_agree: bool) -> None:
    """Compare a snapshot with its checksum; a difference is an error only with `--verify`."""
    from truckee.errors.log import ChecksumMismatchError, CorruptLogFileError
    from truckee.log.upkeep.checksum import verify_checksum

    try:
        is_there = verify_checksum(snapshot)
    except (ChecksumMismatchError, CorruptLogFileError) as error:
        if must_agree:
            raise
        words(f"warning: {error}")
        return
    if must_agree:
        state = "agrees with its checksum" if is_there else "has no checksum"
        words(f"version {snapshot.version} {state}")


def log(path: TablePath, version: Version = None, as_json: AsJson = False) -> None:
    """Show the files of a table's log, or every action of one commit.

    Example: truckee log /data/orders --version 3
    """
    from truckee.log.files.listing import commit_lines, log_entries
    from truckee.storage import open_storage

    storage = open_storage(path)
    if version is not None:
        lines = commit_lines(storage, version)
        if as_json:
            print_json_array(lines)
        else:
            _print_actions(lines)
        return
    entries = list(log_entries(storage))
    records = [
        {
            "version": entry.version,
            "kind": entry.kind,
            "name": entry.name,
            "size": entry.size,
            "modified": moment(entry.modified_ms),
        }
        for entry in entries
    ]
    if as_json:
        print_json_array(records)
    else:
        times = (time_text(entry.modified_ms) for entry in entries)
        print_table(
            (
                Heading.number("version"),
                Heading.word("kind"),
                Heading.file("name"),
                Heading.number("size"),
                Heading.time("modified"),
            ),
            (
                (*list(record.values())[:-1], time)
                for record, time in zip(records, times, strict=True)
            ),
        )


def _print_actions(lines: Iterator[dict[str, Any]]) -> None:
    import msgspec

    for line in lines:
        for kind, action in line.items():
            text = printable_json(msgspec.json.encode(action).decode())
            print(f"{cell(kind):<16} {text}")


def files(path: TablePath, version: Version = None, as_json: AsJson = False) -> None:
    """Show the data files that make up a table.

    Example: truckee files /data/orders --version 3
    """
    from truckee.log.snapshot import load_snapshot
    from truckee.storage import open_storage

    snapshot = load_snapshot(open_storage(path), version)
    if as_json:
        print_json_array(_file_records(snapshot))
        return
    print_table(
        (
            Heading.file("path"),
            Heading.number("size"),
            Heading.time("modified"),
            "partition",
            Heading.number("rows"),
            Heading.number("deleted"),
        ),
        (
            (
                record["path"],
                record["size"],
                time_text(record["modificationTime"]),
                record["partitionValues"],
                (record["stats"] or {}).get("numRecords"),
                (record.get("deletionVector") or {}).get("cardinality"),
            )
            for record in _file_records(snapshot)
        ),
    )
    files_word = "file" if snapshot.num_files == 1 else "files"
    words(f"{snapshot.num_files} {files_word}, {snapshot.size_in_bytes} bytes")


def _file_records(snapshot: Snapshot) -> Iterator[dict[str, Any]]:
    """Yield files as in the log, with statistics as an object rather than as text."""
    import msgspec

    for add in snapshot.files():
        record: dict[str, Any] = msgspec.to_builtins(add)
        del record["dataChange"]
        record["stats"] = _object(record.get("stats"))
        yield record


def _object(text: str | None) -> dict[str, Any] | None:
    import msgspec

    try:
        value = msgspec.json.decode(text or "null")
    except NOT_JSON:
        return None
    return value if isinstance(value, dict) else None
