"""Small tables for tests of diffs and of histories: data files by pyarrow, the log by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from builders import History, history
from truckee.storage.local import LocalStorage


class WatchedStorage(LocalStorage):
    """A local disk that remembers which data files were opened."""

    def __init__(self, root: str) -> None:
        super().__init__(root)
        self.opened: list[str] = []

    def open_input(self, path: str) -> BinaryIO:
        self.opened.append(path)
        return super().open_input(path)


class Table:
    """A table below a folder; files get statistics of their column `id`, if they have one."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.history: History = history(LocalStorage(str(root)))

    def write(self, path: str, columns: Mapping[str, Sequence[Any] | pa.Array]) -> int:
        """Write a data file, and return its size."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table(dict(columns)), target)
        return target.stat().st_size

    def add(self, path: str, columns: Mapping[str, Sequence[Any]], **fields: Any) -> Table:
        """Write a data file, and stage it."""
        rows = len(next(iter(columns.values())))
        stats = f'{{"numRecords":{rows}}}'
        if columns.get("id"):
            low, high = min(columns["id"]), max(columns["id"])
            stats = (
                f'{{"numRecords":{rows},"minValues":{{"id":{low}}},"maxValues":{{"id":{high}}},'
                '"nullCount":{"id":0}}'
            )
        fields = {"size": self.write(path, columns), "stats": stats, **fields}
        self.history.add(path, **fields)
        return self

    def then(self) -> Table:
        self.history.then()
        return self


def shown(rows: pa.Table) -> list[tuple[Any, ...]]:
    """Return rows as tuples, in a fixed order."""
    return sorted((tuple(row.values()) for row in rows.to_pylist()), key=repr)
