"""Expressions that are refused with an error class of Spark's own, as by delta-spark.

InvalidExpressionError
├── RefusedBySparkError           Spark's analysis refuses it
│   ├── UnparsedExpressionError     Spark's parser does
│   └── AggregateRefusedError       it is about many rows at once
├── PredicateSyntaxError          Spark's parser does, where Delta has a class of its own
├── NonDeterministicError
│   └── NonDeterministicRowError    in a command that is no MERGE
├── UnresolvedColumnError
│   └── SourceColumnMissingError    * needs a column that the source of a MERGE does not have
└── MissingColumnError
    └── MissingFieldError           a field of a struct

AssignmentTypeError
├── CastRefusedError              no cast leads to the type of the column
├── UnmergeableTypeError          nor does a change of the schema
└── CastNeedsFunctionError        only a function does

DeltaError
└── UpCastRefusedError            the session allows only casts that lose nothing

MissingTargetColumnError
└── MissingTargetFieldError       a field of a struct
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from truckee.errors.base import DeltaError
from truckee.errors.commands.dml import (
    AssignmentTypeError,
    InvalidExpressionError,
    MissingColumnError,
    MissingTargetColumnError,
    NonDeterministicError,
    UnresolvedColumnError,
)


@dataclass(eq=False, kw_only=True)
class RefusedBySparkError(InvalidExpressionError):
    """Spark refuses an expression; `code` is Spark's error class, and `state` its SQLSTATE."""

    spark_class: str
    state: str | None

    def __post_init__(self) -> None:
        # Spark has too many classes of its own for one of ours each.
        vars(self)["code"] = self.spark_class


@dataclass(eq=False, kw_only=True)
class UnparsedExpressionError(RefusedBySparkError):
    """Spark cannot parse an expression; `code` is Spark's error class."""

    code: ClassVar[str] = "PARSE_SYNTAX_ERROR"


@dataclass(eq=False, kw_only=True)
class AggregateRefusedError(RefusedBySparkError):
    """An expression on one row has an aggregate or window function."""

    code: ClassVar[str] = "INVALID_WHERE_CONDITION"

    def __str__(self) -> str:
        return (
            f"{self.what} ({self.expression}) has an aggregate or window function, but it is about "
            "one row at a time\n"
            "hint: compute the value first, and compare with that"
        )


@dataclass(eq=False, kw_only=True)
class PredicateSyntaxError(InvalidExpressionError):
    """The condition of replaceWhere or OPTIMIZE cannot be parsed."""

    code: ClassVar[str] = "DELTA_FAILED_RECOGNIZE_PREDICATE"


@dataclass(eq=False, kw_only=True)
class NonDeterministicRowError(NonDeterministicError):
    """A condition of DELETE or UPDATE is not deterministic."""

    code: ClassVar[str] = "INVALID_NON_DETERMINISTIC_EXPRESSIONS"


@dataclass(eq=False, kw_only=True)
class SourceColumnMissingError(UnresolvedColumnError):
    """A clause of MERGE with `*` needs a column that the source does not have."""

    def __str__(self) -> str:
        return (
            f"{self.what} ({self.expression}) needs {self.column}, which the source does not have; "
            f"it has [{', '.join(self.columns)}]\n"
            "hint: add the column to the source, or name the columns to write rather than all"
        )


@dataclass(eq=False, kw_only=True)
class MissingFieldError(MissingColumnError):
    """An expression names a field that a struct does not have."""

    code: ClassVar[str] = "FIELD_NOT_FOUND"


@dataclass(eq=False, kw_only=True)
class CastRefusedError(AssignmentTypeError):
    """Values of one type cannot be cast to the other."""

    code: ClassVar[str] = "DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION"


@dataclass(eq=False, kw_only=True)
class UnmergeableTypeError(AssignmentTypeError):
    """A MERGE that may change the schema has values that no type shares with their column."""

    code: ClassVar[str] = "DELTA_FAILED_TO_MERGE_FIELDS"


@dataclass(eq=False, kw_only=True)
class CastNeedsFunctionError(AssignmentTypeError):
    """Values of one type become values of the other only by a function."""

    code: ClassVar[str] = "DATATYPE_MISMATCH.CAST_WITH_FUNC_SUGGESTION"


@dataclass(eq=False, kw_only=True)
class UpCastRefusedError(DeltaError):
    """A value has a type that the column may not hold, and the session is strict about it."""

    code: ClassVar[str] = "CANNOT_UP_CAST_DATATYPE"
    what: str
    found: str
    expected: str

    def __str__(self) -> str:
        return (
            f"{self.what} has the type {self.found}, and the column is {self.expected}, which "
            "spark.sql.storeAssignmentPolicy = STRICT does not cast\n"
            "hint: cast the value, or set the policy to ANSI"
        )


@dataclass(eq=False, kw_only=True)
class MissingTargetFieldError(MissingTargetColumnError):
    """An assignment to a field that a struct does not have."""

    code: ClassVar[str] = "FIELD_NOT_FOUND"
