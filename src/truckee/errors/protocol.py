"""Errors about what a table demands, declares or stores: its protocol taken as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from truckee.errors.base import DeltaError


@dataclass(eq=False, kw_only=True)
class InvalidSchemaError(DeltaError):
    """The text of a schema is not the JSON of a struct."""

    code: ClassVar[str] = "INVALID_JSON_DATA_TYPE"
    text: str
    why: str

    def __str__(self) -> str:
        shown = self.text if len(self.text) <= 80 else self.text[:77] + "..."
        return (
            f"the table's schema cannot be read from {shown!r}: {self.why}\n"
            "hint: restore the commit or checkpoint that holds this metaData action"
        )


@dataclass(eq=False, kw_only=True)
class DuplicateColumnsError(DeltaError):
    """Two columns of one struct have names that differ in case at most."""

    code: ClassVar[str] = "DELTA_DUPLICATE_COLUMNS_FOUND"
    column: str

    def __str__(self) -> str:
        return (
            f"column {self.column} is found more than once in the schema, upper and lower case"
            " being the same\nhint: rename one of the columns"
        )
