"""Rows that violate a rule of the table: each error names the rule and shows one such row.

Nothing of the write is in the table when one of these is raised.

Writes that replace the rows which match those of the data, and are refused.
"""

from __future__ import annotations

from truckee.errors.base import DeltaError


class RowViolationError(DeltaError, code="DELTA_VIOLATE_CONSTRAINT_WITH_VALUES", state="23001"):
    """A row violates a rule of the table; `row` shows its values."""

    row: str


class NotNullViolationError(
    RowViolationError, code="DELTA_NOT_NULL_CONSTRAINT_VIOLATED", state="23502"
):
    """Null in a NOT NULL column, or in a NOT NULL field of one."""

    column: str
    text = (
        "NOT NULL constraint violated for column: {column}, for which the row ({row}) has no value"
    )
    hint = "leave such rows out, give them a value, or drop the column's NOT NULL"


class InvariantViolationError(RowViolationError):
    """The invariant of a column is not true of a row."""

    column: str
    expression: str
    text = "the invariant ({expression}) of column {column} does not hold for the row ({row})"
    hint = "leave such rows out; null does not satisfy an invariant either"


class CheckConstraintViolationError(RowViolationError):
    """A CHECK constraint is not true of a row."""

    name: str
    expression: str
    text = "CHECK constraint {name} ({expression}) violated by row with values: ({row})"
    hint = "leave such rows out, or drop the constraint; null does not satisfy it either"


class GeneratedColumnViolationError(RowViolationError):
    """The given value of a generated column differs from the generated one."""

    column: str
    expression: str
    text = (
        "column {column} is generated as ({expression}), but the row ({row}) gives it another value"
    )
    hint = "leave column {column} out of the data, so that it is computed"


class ReplaceWhereViolationError(
    RowViolationError, code="DELTA_REPLACE_WHERE_MISMATCH", state="44000", spark="AnalysisException"
):
    """A row does not satisfy the replaceWhere condition."""

    condition: str
    text = (
        "Written data does not conform to partial table overwrite condition or constraint "
        "'{condition}': it has the row ({row})"
    )
    hint = "filter the data with the same condition, or widen the condition"


class TextTooLongError(RowViolationError, code="DELTA_EXCEED_CHAR_VARCHAR_LIMIT", state="22001"):
    """Text that does not fit into a column of type char(n) or varchar(n)."""

    column: str
    type: str
    text = "column {column} is {type}, but the row ({row}) has a longer text"
    hint = "shorten the text; only spaces at its end are cut off"


class ReplaceOptionsError(DeltaError, code="DELTA_INCOMPATIBLE_DATAFRAME_OPTIONS", state="42613"):
    """Two options of a write that do not go together."""

    first: str
    second: str
    text = "options {first} and {second} exclude each other"
    hint = "leave one out"


class ReplaceWithFilterError(
    DeltaError, code="DELTA_OVERWRITE_BY_FILTER_INCOMPATIBLE_REPLACE_ON_OR_USING", state="42613"
):
    """Two ways of saying which rows to replace."""

    option: str
    text = "option {option} is set beside a condition on the rows of the table"
    hint = "{option} takes the rows from the data, a condition names them; choose one"


class ReplaceWithDynamicError(
    DeltaError,
    code="DELTA_DYNAMIC_PARTITION_OVERWRITE_INCOMPATIBLE_REPLACE_ON_OR_USING",
    state="42613",
):
    """Two ways of taking from the data which rows to replace."""

    option: str
    text = "option {option} is set beside partitionOverwriteMode"
    hint = "{option} replaces rows, the other replaces partitions; choose one"


class ReplaceWhileCreatingError(
    DeltaError, code="DELTA_DFV2_CREATE_REPLACE_INCOMPATIBLE_REPLACE_ON_OR_USING", state="42000"
):
    """Rows were to be replaced in a table that is made anew."""

    option: str
    text = "option {option} is set for a table that is created or replaced as a whole"
    hint = 'use df.write.mode("overwrite") for a table that is there'


class ReplaceOnAmbiguousError(
    DeltaError, code="DELTA_INSERT_REPLACE_ON_AMBIGUOUS_COLUMNS_IN_CONDITION", state="42702"
):
    """A name in replaceOn that may be a column of the table or of the data."""

    column: str
    condition: str
    text = "{column} in replaceOn, {condition}, may be of the table or of the data"
    hint = 'set targetAlias for the table, and use df.alias("s") for the data'


class ReplaceOnUnresolvedError(
    DeltaError, code="DELTA_INSERT_REPLACE_ON_UNRESOLVED_COLUMNS_IN_CONDITION", state="42703"
):
    """A name in replaceOn that is a column of neither."""

    column: str
    condition: str
    text = "{column} in replaceOn, {condition}, is a column of neither the table nor the data"
    hint = "set targetAlias if the condition calls the table by an alias"


class ReplaceUsingColumnError(
    DeltaError, code="UNRESOLVED_INSERT_REPLACE_USING_COLUMN", state="42703"
):
    """A column of replaceUsing that the table or the data lacks."""

    column: str
    side: str
    columns: tuple[str, ...]
    text = "{column} in replaceUsing is not a column of the {side}"
    hint = "it has [{columns}]"


class ReplaceUsingPositionError(
    DeltaError, code="INSERT_REPLACE_USING_DISALLOW_MISALIGNED_COLUMNS", state="42802"
):
    """A column of replaceUsing that is at another place in the data, which goes by places."""

    columns: tuple[str, ...]
    text = "[{columns}] in replaceUsing are at other places in the data than in the table"
    hint = "select the columns of the data in the order of the table"
