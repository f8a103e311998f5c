"""The result of a write: rows as another engine reads them, lines of the log, files on disk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable as RustTable
from deltalake import QueryBuilder


def rust_rows(path: Path | str, version: int | None = None) -> list[dict[str, Any]]:
    """Return the rows of a table as deltalake reads them, in a fixed order."""
    table = RustTable(str(path), version=version)
    found = QueryBuilder().register("t", table).execute("select * from t").read_all()
    return sorted(pa.table(found).to_pylist(), key=lambda row: repr(sorted(row.items())))


def commit_lines(path: Path | str, version: int) -> list[dict[str, Any]]:
    """Return the actions of a commit as plain JSON."""
    text = (Path(path) / "_delta_log" / f"{version:020d}.json").read_text()
    return [json.loads(line) for line in text.splitlines()]


def actions(path: Path | str, version: int, kind: str) -> list[dict[str, Any]]:
    """Return the actions of one kind in a commit, without the key that names the kind."""
    return [line[kind] for line in commit_lines(path, version) if kind in line]


def commit_info(path: Path | str, version: int) -> dict[str, Any]:
    """Return the commitInfo of a commit."""
    return actions(path, version, "commitInfo")[0]


def stats(path: Path | str, version: int) -> list[dict[str, Any]]:
    """Return the statistics of the files that a commit added."""
    return [json.loads(add["stats"]) for add in actions(path, version, "add")]


def last_version(path: Path | str) -> int:
    """Return the last version of a table, -1 if there is none."""
    commits = (Path(path) / "_delta_log").glob("*.json")
    return max((int(file.stem) for file in commits if file.stem.isdigit()), default=-1)


def data_files(path: Path | str) -> set[str]:
    """Return every file of a table except its log, including hidden ones."""
    root = Path(path)
    return {
        str(file.relative_to(root))
        for file in root.rglob("*")
        if file.is_file() and file.relative_to(root).parts[0] != "_delta_log"
    }
