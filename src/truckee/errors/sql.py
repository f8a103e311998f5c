"""Delta's SQL statements that cannot be parsed, or that are refused.

DeltaError
├── StatementSyntaxError       a syntax error, with its position
├── IllegalTableNameError      a name of more than three parts
├── ConvertedTypeError         a type that a partition column of CONVERT cannot have
├── StatementNotAllowedError   a statement that is not supported
│   ├── TransformNotAllowedError     partitions by expressions, buckets
│   ├── TableOperationError          of Spark's grammar, and not of Delta tables
│   ├── NotAPartitionColumnError     PARTITION (...) of another column
│   ├── IfNotExistsError             INSERT with IF NOT EXISTS
│   ├── NoPartitionsError            SHOW PARTITIONS of a table without partitions
│   ├── ViewNotAllowedError          through a view that is not all of a table
│   ├── AddedDefaultError            a new column with a default
│   └── TruncatedPartitionError      TRUNCATE of a partition
└── FunctionArgumentError      an argument that a table function does not take

SQL in a table's metadata that is not run.

DeltaError
├── GeneratedColumnFunctionError  a generated column calls a function that is not allowed
├── ConstraintFunctionError       a constraint or an invariant does so
└── DefaultNotConstantError       a column default that is not constant
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from truckee.errors.base import DeltaError


@dataclass(eq=False, kw_only=True)
class StatementSyntaxError(DeltaError):
    """A syntax error in one of Delta's statements.

    `position` counts characters from the start of `statement`.
    """

    code: ClassVar[str] = "PARSE_SYNTAX_ERROR"
    statement: str
    position: int
    near: str
    expected: str

    def __str__(self) -> str:
        before = self.statement[: self.position]
        line, column = before.count("\n"), self.position - (before.rfind("\n") + 1)
        lines = self.statement.split("\n")
        lines.insert(line + 1, "-" * column + "^^^")
        return (
            f"Syntax error at or near {self.near}: {self.expected} is expected. "
            f"(line {line + 1}, pos {column})\n\n== SQL ==\n" + "\n".join(lines)
        )


@dataclass(eq=False, kw_only=True)
class IllegalTableNameError(DeltaError):
    """The name of a table has more than three parts."""

    code: ClassVar[str] = "DELTA_PARSING_ILLEGAL_TABLE_NAME"
    table: str

    def __str__(self) -> str:
        return (
            f"{self.table} has more parts than a catalog, a schema and a table\n"
            "hint: write table, schema.table, catalog.schema.table or delta.`/path`"
        )


@dataclass(eq=False, kw_only=True)
class ConvertedTypeError(DeltaError):
    """CONVERT names a type that a partition column cannot have."""

    code: ClassVar[str] = "DELTA_PARSING_UNSUPPORTED_DATA_TYPE"
    column: str
    type: str

    def __str__(self) -> str:
        return (
            f"the partition column {self.column} cannot have the type {self.type}\n"
            "hint: use a type such as string, int, bigint, date or decimal(p, s)"
        )


@dataclass(eq=False, kw_only=True)
class StatementNotAllowedError(DeltaError):
    """A statement of Delta's grammar that is not supported."""

    code: ClassVar[str] = "DELTA_OPERATION_NOT_ALLOWED"
    operation: str
    hint: str

    def __str__(self) -> str:
        return f"Operation not allowed: `{self.operation}` is not supported\nhint: {self.hint}"


@dataclass(eq=False, kw_only=True)
class TransformNotAllowedError(StatementNotAllowedError):
    """A layout of a table that Delta does not have."""

    code: ClassVar[str] = "DELTA_OPERATION_NOT_ALLOWED_DETAIL"


@dataclass(eq=False, kw_only=True)
class TableOperationError(StatementNotAllowedError):
    """What Spark's grammar takes, and Delta tables do not."""

    code: ClassVar[str] = "UNSUPPORTED_FEATURE.TABLE_OPERATION"


@dataclass(eq=False, kw_only=True)
class NotAPartitionColumnError(StatementNotAllowedError):
    """PARTITION (...) names a column that the table is not partitioned by."""

    code: ClassVar[str] = "NON_PARTITION_COLUMN"


@dataclass(eq=False, kw_only=True)
class IfNotExistsError(StatementNotAllowedError):
    """INSERT writes a partition only if it does not exist."""

    code: ClassVar[str] = "UNSUPPORTED_FEATURE.INSERT_PARTITION_SPEC_IF_NOT_EXISTS"


@dataclass(eq=False, kw_only=True)
class NoPartitionsError(StatementNotAllowedError):
    """The partitions of a table without partitions were to be shown."""

    code: ClassVar[str] = "DELTA_SHOW_PARTITION_IN_NON_PARTITIONED_TABLE"


@dataclass(eq=False, kw_only=True)
class ViewNotAllowedError(StatementNotAllowedError):
    """Rows were to be changed through a view that is not all of a table."""

    code: ClassVar[str] = "DELTA_UNEXPECTED_PARTIAL_SCAN"


@dataclass(eq=False, kw_only=True)
class AddedDefaultError(StatementNotAllowedError):
    """A column was to be added together with its default."""

    code: ClassVar[str] = "WRONG_COLUMN_DEFAULTS_FOR_DELTA_ALTER_TABLE_ADD_COLUMN_NOT_SUPPORTED"


@dataclass(eq=False, kw_only=True)
class TruncatedPartitionError(StatementNotAllowedError):
    """TRUNCATE TABLE with a PARTITION."""

    code: ClassVar[str] = "DELTA_TRUNCATE_TABLE_PARTITION_NOT_SUPPORTED"


@dataclass(eq=False, kw_only=True)
class FunctionArgumentError(DeltaError):
    """A table function was called with a wrong argument."""

    code: ClassVar[str] = "DELTA_UNSUPPORTED_EXPRESSION"
    function: str
    argument: str
    needs: str

    def __str__(self) -> str:
        return (
            f"{self.function} was given {self.argument}, but takes {self.needs}\n"
            f"hint: write {self.function}('table', start) or {self.function}('table', start, end)"
        )


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
