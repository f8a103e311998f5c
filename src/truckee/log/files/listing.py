"""A log for display: its files by name, and a commit line by line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from truckee.errors.log import CorruptLogFileError, VersionNotFoundError
from truckee.log.files.commits import commit_files
from truckee.log.files.history import earliest_version, latest_version
from truckee.log.files.log_files import read_log_file
from truckee.protocol.json_text import NOT_JSON
from truckee.protocol.paths import LOG_DIRECTORY, SIDECAR_DIRECTORY, parse_log_name
from truckee.storage.base import Storage


class LogEntry(NamedTuple):
    """One file of a log; `version` is None for files that belong to no version."""

    version: int | None
    kind: str
    name: str
    size: int
    modified_ms: int


def log_entries(storage: Storage) -> list[LogEntry]:
    """Return the known files of a log in order of name, then its sidecars."""
    latest_version(storage)
    entries: list[LogEntry] = []
    for folder in (LOG_DIRECTORY, SIDECAR_DIRECTORY):
        for file in storage.list_from(f"{folder}/"):
            name = parse_log_name(file.path)
            if name is not None:
                version = name.version if name.version >= 0 else None
                entries.append(
                    LogEntry(version, name.kind.value, name.name, file.size, file.modified_ms)
                )
    return entries


def commit_lines(storage: Storage, version: int) -> Iterator[dict[str, Any]]:
    """Yield the lines of a commit as they were written, including unknown actions and fields."""
    found = commit_files(storage, version, version)
    if not found:
        raise VersionNotFoundError(
            table=storage.root,
            version=version,
            earliest=earliest_version(storage),
            latest=latest_version(storage),
        )
    path = found[version].path
    try:
        yield from msgspec.json.Decoder(dict[str, Any]).decode_lines(read_log_file(storage, path))
    except NOT_JSON as error:
        raise CorruptLogFileError(table=storage.root, path=path, reason=str(error)) from error
