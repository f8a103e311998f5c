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

MissingTargetColumnError
├── MissingTargetFieldError       a field of a struct
└── FieldOfCollectionError        a field of the structs in a list or a map
"""

from __future__ import annotations

from truckee.errors.base import DeltaError
from truckee.errors.commands.dml import (
    AssignmentTypeError,
    InvalidExpressionError,
    MissingColumnError,
    MissingTargetColumnError,
    NonDeterministicError,
    UnresolvedColumnError,
)


class RefusedBySparkError(InvalidExpressionError):
    """Spark refuses an expression; `code` is Spark's error class, and `state` its SQLSTATE."""

    spark_class: str
    state: str | None  # type: ignore[assignment]  # some classes of Spark have none

    def __post_init__(self) -> None:
        # Spark has too many classes of its own for one of ours each.
        vars(self)["code"] = self.spark_class


class UnparsedExpressionError(
    RefusedBySparkError, code="PARSE_SYNTAX_ERROR", state="42601", spark="ParseException"
):
    """Spark cannot parse an expression; `code` is Spark's error class."""


class AggregateRefusedError(RefusedBySparkError, code="INVALID_WHERE_CONDITION", state="42903"):
    """An expression on one row has an aggregate or window function."""

    text = (
        "{what} ({expression}) has an aggregate or window function, but it is about one row at a "
        "time"
    )
    hint = "compute the value first, and compare with that"


class PredicateSyntaxError(
    InvalidExpressionError, code="DELTA_FAILED_RECOGNIZE_PREDICATE", state="42601"
):
    """The condition of replaceWhere or OPTIMIZE cannot be parsed."""


class NonDeterministicRowError(
    NonDeterministicError, code="INVALID_NON_DETERMINISTIC_EXPRESSIONS", state="42K0E"
):
    """A condition of DELETE or UPDATE is not deterministic."""


class SourceColumnMissingError(UnresolvedColumnError):
    """A clause of MERGE with `*` needs a column that the source does not have."""

    text = (
        "{what} ({expression}) needs {column}, which the source does not have; it has [{columns}]"
    )
    hint = "add the column to the source, or name the columns to write rather than all"


class MissingFieldError(MissingColumnError, code="FIELD_NOT_FOUND", state="42704"):
    """An expression names a field that a struct does not have."""


class CastRefusedError(
    AssignmentTypeError, code="DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION", state="42K09"
):
    """Values of one type cannot be cast to the other."""


class UnmergeableTypeError(AssignmentTypeError, code="DELTA_FAILED_TO_MERGE_FIELDS", state="22005"):
    """A MERGE that may change the schema has values that no type shares with their column."""


class CastNeedsFunctionError(
    AssignmentTypeError, code="DATATYPE_MISMATCH.CAST_WITH_FUNC_SUGGESTION", state="42K09"
):
    """Values of one type become values of the other only by a function."""


class UpCastRefusedError(
    DeltaError, code="CANNOT_UP_CAST_DATATYPE", state="42846", spark="AnalysisException"
):
    """A value has a type that the column may not hold, and the session is strict about it."""

    what: str
    found: str
    expected: str
    text = (
        "{what} has the type {found}, and the column is {expected}, which "
        "spark.sql.storeAssignmentPolicy = STRICT does not cast"
    )
    hint = "cast the value, or set the policy to ANSI"


class MissingTargetFieldError(MissingTargetColumnError, code="FIELD_NOT_FOUND", state="42704"):
    """An assignment to a field that a struct does not have."""


class FieldOfCollectionError(
    MissingTargetColumnError, code="DELTA_UNSUPPORTED_NESTED_FIELD_IN_UPDATE", state="0AKDC"
):
    """An assignment to a field of what is in a list or a map."""

    collection: str
    text = (
        "{what} assigns to {column}. Updating nested fields is only supported for StructType, "
        "and {collection} is a list or a map"
    )
    hint = "assign to {collection} as a whole"
