"""Errors of a diff of two versions, and of a row's history.

DeltaError
  KeysNotUniqueError        several rows of one version have the same keys
    RowIdsNotUniqueError    several rows of one version have the same row id
  NoKeysError               the list of keys is empty
  UnrelatedTablesError      two tables that share no file
  DiffSchemaError           the types of a column have no common type
  DiffFileNotFoundError     a file that the diff needs was deleted
  HistoryFileNotFoundError  a file that a row's history needs was deleted
  TooManyRowsError          too many rows for a row history
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from truckee.errors.base import DeltaError


@dataclass(eq=False, kw_only=True)
class KeysNotUniqueError(DeltaError):
    """Several rows have the same keys where one was expected.

    `where` says which rows were compared: those of a version, or those that a version changed.
    """

    code: ClassVar[str] = "DELTA_KEYS_NOT_UNIQUE"
    keys: tuple[str, ...]
    where: str
    example: str
    count: int

    def __str__(self) -> str:
        do = "does" if len(self.keys) == 1 else "do"
        return (
            f"{', '.join(self.keys)} {do} not identify a row: {self.count} rows {self.where} have "
            f"{self.example}\n"
            "hint: name more columns as keys, or none; with row tracking, row ids identify rows by "
            "themselves"
        )


@dataclass(eq=False, kw_only=True)
class RowIdsNotUniqueError(KeysNotUniqueError):
    """Several rows have the same row id, which row tracking rules out: the table is broken."""

    code: ClassVar[str] = "DELTA_ROW_IDS_NOT_UNIQUE"

    def __str__(self) -> str:
        return (
            f"row ids do not identify a row, although row tracking is on: {self.count} rows "
            f"{self.where} have {self.example}\n"
            "hint: name the columns that identify a row as keys, so that row ids are not used"
        )


@dataclass(eq=False, kw_only=True)
class NoKeysError(DeltaError):
    """An empty list of keys."""

    code: ClassVar[str] = "DELTA_NO_KEYS"

    def __str__(self) -> str:
        return "keys has no column\nhint: name at least one column, or leave keys out"


@dataclass(eq=False, kw_only=True)
class UnrelatedTablesError(DeltaError):
    """Two tables share no data file, so neither is a clone of the other."""

    code: ClassVar[str] = "DELTA_TABLES_NOT_RELATED"
    table: str
    table_id: str
    other: str
    other_id: str

    def __str__(self) -> str:
        return (
            f"{self.table} (id {self.table_id}) and {self.other} (id {self.other_id}) share no "
            "data file, so neither is a clone of the other\n"
            "hint: to compare all their rows anyway, give the keys that identify a row"
        )


@dataclass(eq=False, kw_only=True)
class DiffSchemaError(DeltaError):
    """A column whose type at one version cannot be read as its type at the other."""

    code: ClassVar[str] = "DELTA_DIFF_INCOMPATIBLE_SCHEMA"
    column: str
    type: str
    version: int
    wanted: str
    wanted_version: int

    def __str__(self) -> str:
        return (
            f"column {self.column} is {self.type} at version {self.version} and {self.wanted} at "
            f"version {self.wanted_version}, so their rows cannot be compared\n"
            "hint: compare versions on the same side of the change"
        )


@dataclass(eq=False, kw_only=True)
class DiffFileNotFoundError(DeltaError):
    """Files that a diff needs are gone; most likely VACUUM deleted them.

    `readable_from` is the first version that no longer needs them, None if the latest
    version needs them.
    """

    code: ClassVar[str] = "DELTA_DIFF_FILE_NOT_FOUND"
    table: str
    start: int
    end: int
    path: str
    count: int
    readable_from: int | None

    def __str__(self) -> str:
        files = "file that is" if self.count == 1 else "files that are"
        gone = (
            f"the diff of versions {self.start} and {self.end} of {self.table} needs "
            f"{self.count} {files} gone; the first is '{self.path}'"
        )
        if self.readable_from is None:
            return f"{gone}\nhint: the latest version needs it too; restore it from a copy"
        return f"{gone}\nhint: versions from {self.readable_from} on can still be compared"


@dataclass(eq=False, kw_only=True)
class HistoryFileNotFoundError(DeltaError):
    """Files that may have held the rows are gone; most likely VACUUM deleted them.

    `readable_from` is the first version that no longer needs them, None if the latest
    version needs them.
    """

    code: ClassVar[str] = "DELTA_ROW_HISTORY_FILE_NOT_FOUND"
    table: str
    first: int
    path: str
    count: int
    readable_from: int | None

    def __str__(self) -> str:
        files = "file is" if self.count == 1 else "files are"
        gone = (
            f"{self.count} {files} gone that may have contained such rows of {self.table} since "
            f"version {self.first}; the first is '{self.path}'"
        )
        if self.readable_from is None:
            return f"{gone}\nhint: the latest version needs it too; restore it from a copy"
        return f"{gone}\nhint: ask for the history since version {self.readable_from}"


@dataclass(eq=False, kw_only=True)
class TooManyRowsError(DeltaError):
    """A condition matches too many rows to show the history of each."""

    code: ClassVar[str] = "DELTA_ROW_HISTORY_TOO_MANY_ROWS"
    condition: str
    count: int
    most: int

    def __str__(self) -> str:
        return (
            f"{self.condition} matches {self.count:,} rows or copies of rows in the files of the "
            f"table, but a row history takes at most {self.most:,}\n"
            "hint: ask for fewer rows, or read the changes of a range of versions"
        )
