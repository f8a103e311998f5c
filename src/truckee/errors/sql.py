"""Delta's SQL statements that cannot be parsed, or that are refused.

SQL in a table's metadata that is not run.
"""

from __future__ import annotations

from truckee.errors.base import DeltaError


class StatementSyntaxError(
    DeltaError, code="PARSE_SYNTAX_ERROR", state="42601", spark="ParseException"
):
    """A syntax error in one of Delta's statements.

    `position` counts characters from the start of `statement`.
    """

    statement: str
    position: int
    near: str
    expected: str

    def sentence(self) -> str:
        before = self.statement[: self.position]
        line, column = before.count("\n"), self.position - (before.rfind("\n") + 1)
        lines = self.statement.split("\n")
        lines.insert(line + 1, "-" * column + "^^^")
        return (
            f"Syntax error at or near {self.near}: {self.expected} is expected. "
            f"(line {line + 1}, pos {column})\n\n== SQL ==\n" + "\n".join(lines)
        )


class IllegalTableNameError(
    DeltaError, code="DELTA_PARSING_ILLEGAL_TABLE_NAME", state="KD009", spark="ParseException"
):
    """The name of a table has more than three parts."""

    table: str
    text = "{table} has more parts than a catalog, a schema and a table"
    hint = "write table, schema.table, catalog.schema.table or delta.`/path`"


class ConvertedTypeError(
    DeltaError, code="DELTA_PARSING_UNSUPPORTED_DATA_TYPE", state="KD009", spark="ParseException"
):
    """CONVERT names a type that a partition column cannot have."""

    column: str
    type: str
    text = "the partition column {column} cannot have the type {type}"
    hint = "use a type such as string, int, bigint, date or decimal(p, s)"


class StatementNotAllowedError(
    DeltaError, code="DELTA_OPERATION_NOT_ALLOWED", state="0AKDC", spark="AnalysisException"
):
    """A statement of Delta's grammar that is not supported."""

    operation: str
    hint: str
    text = "Operation not allowed: `{operation}` is not supported"


class TransformNotAllowedError(StatementNotAllowedError, code="DELTA_OPERATION_NOT_ALLOWED_DETAIL"):
    """A layout of a table that Delta does not have."""


class TableOperationError(
    StatementNotAllowedError, code="UNSUPPORTED_FEATURE.TABLE_OPERATION", state="0A000"
):
    """What Spark's grammar takes, and Delta tables do not."""


class NotAPartitionColumnError(
    StatementNotAllowedError, code="NON_PARTITION_COLUMN", state="42000"
):
    """PARTITION (...) names a column that the table is not partitioned by."""


class IfNotExistsError(
    StatementNotAllowedError,
    code="UNSUPPORTED_FEATURE.INSERT_PARTITION_SPEC_IF_NOT_EXISTS",
    state="0A000",
):
    """INSERT writes a partition only if it does not exist."""


class NoPartitionsError(
    StatementNotAllowedError, code="DELTA_SHOW_PARTITION_IN_NON_PARTITIONED_TABLE", state="42809"
):
    """The partitions of a table without partitions were to be shown."""


class ViewNotAllowedError(
    StatementNotAllowedError, code="DELTA_UNEXPECTED_PARTIAL_SCAN", state="KD00A"
):
    """Rows were to be changed through a view that is not all of a table."""


class AddedDefaultError(
    StatementNotAllowedError,
    code="WRONG_COLUMN_DEFAULTS_FOR_DELTA_ALTER_TABLE_ADD_COLUMN_NOT_SUPPORTED",
):
    """A column was to be added together with its default."""


class TruncatedPartitionError(
    StatementNotAllowedError, code="DELTA_TRUNCATE_TABLE_PARTITION_NOT_SUPPORTED"
):
    """TRUNCATE TABLE with a PARTITION."""


class BarePathError(
    DeltaError,
    code="UNSUPPORTED_DATASOURCE_FOR_DIRECT_QUERY",
    state="0A000",
    spark="AnalysisException",
):
    """A query names a table as a path, but the path has no slash."""

    name: str
    text = "delta.`{name}` is no table: there is no schema delta, and a path has a slash"
    hint = (
        "write delta.`./{name}` for a folder in the working directory, or delta.`/the/whole/path`"
    )


class FunctionArgumentError(
    DeltaError, code="DELTA_UNSUPPORTED_EXPRESSION", state="0A000", spark="AnalysisException"
):
    """A table function was called with a wrong argument."""

    function: str
    argument: str
    needs: str
    text = "{function} was given {argument}, but takes {needs}"
    hint = "write {function}('table', start) or {function}('table', start, end)"


class ArgumentNotConstantError(
    FunctionArgumentError, code="DELTA_CDC_NON_CONSTANT_ARGUMENT", state="42K0H"
):
    """An end of the range of `table_changes` is not a constant: a subquery, for example."""

    hint = "compute the version or the time first, and write it into the statement"


class PathArgumentError(
    FunctionArgumentError, code="PARSE_SYNTAX_ERROR", state="42601", spark="ParseException"
):
    """`table_changes` was called with a path."""

    hint = "write table_changes_by_path({argument}, start)"


_HINT = (
    "if you trust whoever wrote this table, set spark.truckee.tableSql.allowAnyFunction to "
    "true for the session"
)


class GeneratedColumnFunctionError(
    DeltaError,
    code="DELTA_UNSUPPORTED_EXPRESSION_GENERATED_COLUMN",
    state="42621",
    spark="AnalysisException",
):
    """A generated column calls a function that is not one of Spark's safe built-ins."""

    column: str
    expression: str
    function: str
    text = (
        "the generated column {column} ({expression}) uses {function}, which the SQL of a table "
        "may not use"
    )
    hint = _HINT


class ConstraintFunctionError(
    DeltaError,
    code="DELTA_UNSUPPORTED_EXPRESSION_CHECK_CONSTRAINT",
    state="42621",
    spark="AnalysisException",
):
    """A constraint calls a function that is not one of Spark's safe built-ins."""

    name: str
    expression: str
    function: str
    text = (
        "the constraint {name} ({expression}) uses {function}, which the SQL of a table may not use"
    )
    hint = _HINT


class DefaultNotConstantError(
    DeltaError, code="INVALID_DEFAULT_VALUE.NOT_CONSTANT", state="42623", spark="AnalysisException"
):
    """The default of a column is not a constant."""

    column: str
    expression: str
    text = "the default of the column {column} ({expression}) is not a constant"
    hint = "give the column a value in each write, or set another default"
