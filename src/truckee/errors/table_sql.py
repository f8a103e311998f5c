"""SQL in a table's metadata that is not run.

DeltaError
├── GeneratedColumnFunctionError  a generated column calls a function that is not allowed
├── ConstraintFunctionError       a constraint or an invariant does so
└── DefaultNotConstantError       a column default that is not constant
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from truckee.errors.base import DeltaError

_HINT = (
    "hint: if you trust whoever wrote this table, set spark.truckee.tableSql.allowAnyFunction to "
    "true for the session"
)


@dataclass(eq=False, kw_only=True)
class GeneratedColumnFunctionError(DeltaError):
    """A generated column calls a function that is not one of Spark's safe built-ins."""

    code: ClassVar[str] = "DELTA_UNSUPPORTED_EXPRESSION_GENERATED_COLUMN"
    column: str
    expression: str
    function: str

    def __str__(self) -> str:
        return (
            f"the generated column {self.column} ({self.expression}) uses {self.function}, which "
            f"the SQL of a table may not use\n{_HINT}"
        )


@dataclass(eq=False, kw_only=True)
class ConstraintFunctionError(DeltaError):
    """A constraint calls a function that is not one of Spark's safe built-ins."""

    code: ClassVar[str] = "DELTA_UNSUPPORTED_EXPRESSION_CHECK_CONSTRAINT"
    name: str
    expression: str
    function: str

    def __str__(self) -> str:
        return (
            f"the constraint {self.name} ({self.expression}) uses {self.function}, which the SQL "
            f"of a table may not use\n{_HINT}"
        )


@dataclass(eq=False, kw_only=True)
class DefaultNotConstantError(DeltaError):
    """The default of a column is not a constant."""

    code: ClassVar[str] = "INVALID_DEFAULT_VALUE.NOT_CONSTANT"
    column: str
    expression: str

    def __str__(self) -> str:
        return (
            f"the default of the column {self.column} ({self.expression}) is not a constant\n"
            "hint: give the column a value in each write, or set another default"
        )
