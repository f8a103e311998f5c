"""Errors of a diff of two versions, and of a row's history."""

from __future__ import annotations

from truckee.errors.base import DeltaError


class KeysNotUniqueError(
    DeltaError, code="DELTA_KEYS_NOT_UNIQUE", state="21506", spark="IllegalArgumentException"
):
    """Several rows have the same keys where one was expected.

    `where` says which rows were compared: those of a version, or those that a version changed.
    """

    keys: tuple[str, ...]
    where: str
    example: str
    count: int

    def sentence(self) -> str:
        do = "does" if len(self.keys) == 1 else "do"
        return (
            f"{', '.join(self.keys)} {do} not identify a row: {self.count} rows {self.where} have "
            f"{self.example}\n"
            "hint: name more columns as keys, or none; with row tracking, row ids identify rows by "
            "themselves"
        )


class RowIdsNotUniqueError(KeysNotUniqueError, code="DELTA_ROW_IDS_NOT_UNIQUE", state="XXKDS"):
    """Several rows have the same row id, which row tracking rules out: the table is broken."""

    text = (
        "row ids do not identify a row, although row tracking is on: {count} rows {where} have "
        "{example}"
    )
    hint = "name the columns that identify a row as keys, so that row ids are not used"


class NoKeysError(
    DeltaError, code="DELTA_NO_KEYS", state="22023", spark="IllegalArgumentException"
):
    """An empty list of keys."""

    text = "keys has no column"
    hint = "name at least one column, or leave keys out"


class UnrelatedTablesError(
    DeltaError, code="DELTA_TABLES_NOT_RELATED", state="42000", spark="AnalysisException"
):
    """Two tables share no data file, so neither is a clone of the other."""

    table: str
    table_id: str
    other: str
    other_id: str
    text = (
        "{table} (id {table_id}) and {other} (id {other_id}) share no data file, so neither is a "
        "clone of the other"
    )
    hint = "to compare all their rows anyway, give the keys that identify a row"


class DiffSchemaError(
    DeltaError, code="DELTA_DIFF_INCOMPATIBLE_SCHEMA", state="42KD7", spark="AnalysisException"
):
    """A column whose type at one version cannot be read as its type at the other."""

    column: str
    type: str
    version: int
    wanted: str
    wanted_version: int
    text = (
        "column {column} is {type} at version {version} and {wanted} at version {wanted_version}, "
        "so their rows cannot be compared"
    )
    hint = "compare versions on the same side of the change"


class DiffFileNotFoundError(DeltaError, code="DELTA_DIFF_FILE_NOT_FOUND", state="42K03"):
    """Files that a diff needs are gone; most likely VACUUM deleted them.

    `readable_from` is the first version that no longer needs them, None if the latest
    version needs them.
    """

    table: str
    start: int
    end: int
    path: str
    count: int
    readable_from: int | None

    def sentence(self) -> str:
        files = "file that is" if self.count == 1 else "files that are"
        gone = (
            f"the diff of versions {self.start} and {self.end} of {self.table} needs "
            f"{self.count} {files} gone; the first is '{self.path}'"
        )
        if self.readable_from is None:
            return f"{gone}\nhint: the latest version needs it too; restore it from a copy"
        return f"{gone}\nhint: versions from {self.readable_from} on can still be compared"


class HistoryFileNotFoundError(DeltaError, code="DELTA_ROW_HISTORY_FILE_NOT_FOUND", state="42K03"):
    """Files that may have held the rows are gone; most likely VACUUM deleted them.

    `readable_from` is the first version that no longer needs them, None if the latest
    version needs them.
    """

    table: str
    first: int
    path: str
    count: int
    readable_from: int | None

    def sentence(self) -> str:
        files = "file is" if self.count == 1 else "files are"
        gone = (
            f"{self.count} {files} gone that may have contained such rows of {self.table} since "
            f"version {self.first}; the first is '{self.path}'"
        )
        if self.readable_from is None:
            return f"{gone}\nhint: the latest version needs it too; restore it from a copy"
        return f"{gone}\nhint: ask for the history since version {self.readable_from}"


class TooManyRowsError(
    DeltaError,
    code="DELTA_ROW_HISTORY_TOO_MANY_ROWS",
    state="42000",
    spark="IllegalArgumentException",
):
    """A condition matches too many rows to show the history of each."""

    condition: str
    count: int
    most: int
    text = (
        "{condition} matches {count:,} rows or copies of rows in the files of the table, but a row "
        "history takes at most {most:,}"
    )
    hint = "ask for fewer rows, or read the changes of a range of versions"
