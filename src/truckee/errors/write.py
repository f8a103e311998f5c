"""Writes that are refused before a row is looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from truckee.errors.base import DeltaError


@dataclass(eq=False, kw_only=True)
class IdentityValueGivenError(DeltaError):
    """Values were given for a column that is GENERATED ALWAYS AS IDENTITY."""

    code: ClassVar[str] = "DELTA_IDENTITY_COLUMNS_EXPLICIT_INSERT_NOT_SUPPORTED"
    column: str

    def __str__(self) -> str:
        return (
            f"column {self.column} is GENERATED ALWAYS AS IDENTITY, but the data has values for "
            f"it\nhint: leave column {self.column} out of the data"
        )
