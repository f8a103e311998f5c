"""Tables whose files are empty, and as old as a test says: enough for all that needs no rows.

table = Folder(tmp_path / "t")
table.write("a.parquet", days=10)
table.commit(table.add("a.parquet"), days=10)
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from data_tables import DataTable
from truckee.protocol.actions import Action, AddCDCFile, AddFile, Protocol, RemoveFile
from truckee.protocol.paths import commit_path, encode_path
from truckee.storage.base import Storage
from truckee.storage.local import LocalStorage

DAY_MS = 24 * 3600 * 1000
NOW_MS = time.time_ns() // 1_000_000


def ago_ms(days: float) -> int:
    return NOW_MS - int(days * DAY_MS)


class Folder:
    """A table, and files in its folder that may or may not be part of it."""

    def __init__(
        self, path: Path, *, partition_by: tuple[str, ...] = (), days: float = 30, **properties: str
    ) -> None:
        columns = ("id long", *(f"{name} string" for name in partition_by))
        self._table = DataTable(path, *columns, partition_by=partition_by, properties=properties)
        self.path = path
        self.age(commit_path(0), days)

    @property
    def storage(self) -> Storage:
        return self._table.storage

    @property
    def version(self) -> int:
        return self._table.version

    def write(self, *names: str, days: float) -> None:
        for name in names:
            target = self.path / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(b"x" * 10)
            self.age(name, days)

    def add(self, name: str, **fields: Any) -> AddFile:
        defaults = {
            "partition_values": {},
            "size": 10,
            "modification_time": 0,
            "data_change": True,
            "stats": '{"numRecords":10,"tightBounds":false}',
        }
        return AddFile(path=encode_path(name), **{**defaults, **fields})

    def remove(self, name: str, *, days: float, **fields: Any) -> RemoveFile:
        return RemoveFile(
            path=encode_path(name),
            deletion_timestamp=ago_ms(days),
            extended_file_metadata=True,
            partition_values={},
            size=10,
            **fields,
        )

    def cdc(self, name: str) -> AddCDCFile:
        return AddCDCFile(path=encode_path(name), partition_values={}, size=10)

    def commit(self, *actions: Action, days: float) -> int:
        version = self._table.commit(*actions)
        self.age(commit_path(version), days)
        return version

    def age(self, name: str, days: float) -> None:
        os.utime(self.path / name, ns=(0, ago_ms(days) * 1_000_000))

    def left(self) -> set[str]:
        """Everything below the table that is not in its log, folders too."""
        return {
            str(path.relative_to(self.path))
            for path in self.path.rglob("*")
            if "_delta_log" not in path.parts
        }


UNKNOWN_WRITER = Protocol(
    min_reader_version=3,
    min_writer_version=7,
    reader_features=("vacuumProtocolCheck",),
    writer_features=("vacuumProtocolCheck", "somethingNew"),
)


class Interrupted(LocalStorage):
    """A table on which somebody else does something right before the first commit."""

    def __init__(self, path: Path, meanwhile: Callable[[], object]) -> None:
        super().__init__(str(path))
        self._meanwhile: list[Callable[[], object]] = [meanwhile]

    def put_if_absent(self, path: str, data: bytes) -> None:
        while self._meanwhile:
            self._meanwhile.pop()()
        super().put_if_absent(path, data)
