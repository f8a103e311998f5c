"""The rules of a table, checked for every row in the one pass that writes it.

A rule is a condition on the row. All rules together guard one column of the DataFrame:

    CASE WHEN rule1 AND rule2 AND ... THEN column ELSE raise_error(which rule, which row) END

so checking a good row costs a comparison, and a bad row stops the job. `violation` parses the
message of that error and turns it into an error of ours, wherever it surfaces.

| rule             | where it is stored                     | when it holds                       |
|------------------|----------------------------------------|-------------------------------------|
| NOT NULL         | `nullable: false`, at any depth        | not null, unless a parent is        |
| invariant        | `delta.invariants` of a column         | true                                |
| CHECK            | `delta.constraints.<name>` property    | true; null breaks it                |
| generated column | `delta.generationExpression`           | `column <=> expression`             |
| text length      | `char(n)` or `varchar(n)` of a column  | not longer, ignoring trailing spaces|
| replaceWhere     | option of one write                    | true                                |
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from enum import Enum
from typing import Any, NamedTuple, TypeAlias

import msgspec
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.classic.column import Column as ClassicColumn

from truckee.errors.base import DeltaError
from truckee.errors.commands.write_rows import (
    CheckConstraintViolationError,
    GeneratedColumnViolationError,
    InvariantViolationError,
    NotNullViolationError,
    ReplaceWhereViolationError,
    TextTooLongError,
)
from truckee.protocol.column_metadata import GENERATION_EXPRESSION_KEY, INVARIANTS_KEY
from truckee.protocol.properties import TableProperties
from truckee.protocol.schema import (
    ArrayType,
    DataType,
    MapType,
    PrimitiveType,
    StructField,
    StructType,
    nested_fields,
)
from truckee.spark.jvm.bridge import java_array, java_half
from truckee.spark.jvm.projection import Given, Named, column, quoted, selected
from truckee.spark.write.table_sql import generated_value, rule_condition

_MARK = "truckee-violation:"
_MESSAGE = re.compile(rf"{_MARK}([0-9A-F]*),([0-9A-F]*);")
_MAX_ROW_CHARACTERS = 4000

Holds: TypeAlias = Callable[[Column], Column]


class RuleKind(Enum):
    """The kind of rule that a row has broken."""

    NOT_NULL = "not null"
    INVARIANT = "invariant"
    CHECK = "check"
    GENERATED = "generated"
    REPLACE_WHERE = "replaceWhere"
    TEXT_LENGTH = "text length"


class Rule(NamedTuple):
    """One condition on every row; `name` is that of the column or of the constraint."""

    kind: RuleKind
    name: str
    expression: str
    holds: Column


def table_rules(
    schema: StructType,
    properties: TableProperties,
    *,
    partition_columns: Iterable[str] = (),
    computed: Iterable[str] = (),
) -> list[Rule]:
    """Return the rules of a table, for rows with its logical column names.

    The generated columns named in `computed` were just computed from their expressions, and need no
    check.
    """
    return [
        *_not_null_rules(schema, {name.casefold() for name in partition_columns}),
        *_invariants(schema),
        *_generated_columns(schema, frozenset(computed)),
        *(
            Rule(RuleKind.CHECK, name, sql, rule_condition(name, sql))
            for name, sql in sorted(properties.constraints.items())
        ),
    ]


def replace_where_rule(condition: str) -> Rule:
    """Return the rule that rows written with `replaceWhere` satisfy its condition."""
    return Rule(RuleKind.REPLACE_WHERE, "replaceWhere", condition, sf.expr(condition))


def guarded(
    df: DataFrame, rules: Sequence[Rule], *, through: str, unless: Column | None = None
) -> DataFrame:
    """Return the same rows; running it raises for the first row that breaks one of the rules.

    The check is made where the column `through` is computed, so it must be one that is written.
    Rows for which `unless` is true are not checked.
    """
    if not rules:
        return df
    value = _checked(df, rules, through, unless)
    columns = (
        Given(value, field.name, field.metadata) if field.name == through else Named(field.name)
        for field in df.schema.fields
    )
    return selected(df, columns)


def _checked(df: DataFrame, rules: Sequence[Rule], through: str, unless: Column | None) -> Column:
    """Return the column `through`; computing it raises for a row that breaks a rule."""
    spark = df.sparkSession
    columns = ", ".join(quoted(name) for name in df.columns)
    row = f"to_json(struct({columns}), map('ignoreNullFields', 'false'))"
    checked = java_half(spark).checked(
        quoted(through),
        None if unless is None else unless._jc,
        java_array(spark, "org.apache.spark.sql.Column", [rule.holds._jc for rule in rules]),
        json.dumps([f"{_MARK}{_rule_hex(rule)}," for rule in rules]),
        f"hex(substring({row}, 1, {_MAX_ROW_CHARACTERS}))",
    )
    return ClassicColumn(checked)


def _rule_hex(rule: Rule) -> str:
    """Return a rule as text for `violation`, in characters that need no escaping."""
    return msgspec.json.encode([rule.kind.value, rule.name, rule.expression]).hex().upper()


def violation(messages: Sequence[str]) -> DeltaError | None:
    """Return the error behind the messages of a failed Spark job, None if it is not about a rule.

    It is registered as a translator of Spark's errors, so that users see the typed error.
    """
    found = next(filter(None, map(_MESSAGE.search, messages)), None)
    if found is None:
        return None
    kind, name, expression = msgspec.json.decode(bytes.fromhex(found[1]))
    row = _shown_row(bytes.fromhex(found[2]))
    match RuleKind(kind):
        case RuleKind.NOT_NULL:
            return NotNullViolationError(column=name, row=row)
        case RuleKind.INVARIANT:
            return InvariantViolationError(column=name, expression=expression, row=row)
        case RuleKind.CHECK:
            return CheckConstraintViolationError(name=name, expression=expression, row=row)
        case RuleKind.GENERATED:
            return GeneratedColumnViolationError(column=name, expression=expression, row=row)
        case RuleKind.REPLACE_WHERE:
            return ReplaceWhereViolationError(condition=expression, row=row)
        case RuleKind.TEXT_LENGTH:
            return TextTooLongError(column=name, type=expression, row=row)


def _shown_row(text: bytes) -> str:
    try:
        values: dict[str, Any] = msgspec.json.decode(text)
    except msgspec.DecodeError:  # cut off, because the row is long
        return text.decode(errors="replace") + "..."
    return ", ".join(f"{name}: {_shown_value(value)}" for name, value in values.items())


def _shown_value(value: Any) -> str:
    return "NULL" if value is None else msgspec.json.encode(value).decode()


def _not_null_rules(schema: StructType, partitions: Container[str]) -> Iterator[Rule]:
    for field in schema.fields:
        if not field.nullable:
            condition = f"{quoted(field.name)} IS NOT NULL"
            # The log stores an empty string in a partition column as null.
            if field.type == PrimitiveType("string") and field.name.casefold() in partitions:
                condition = f"({condition} AND {quoted(field.name)} != '')"
            yield Rule(RuleKind.NOT_NULL, field.name, "", sf.expr(condition))
        for path, holds in _inner_not_nulls(field.type, field.name):
            yield Rule(RuleKind.NOT_NULL, path, "", holds(column(field.name)))


def _inner_not_nulls(data_type: DataType, path: str) -> Iterator[tuple[str, Holds]]:
    """Yield where inside a value null is not allowed, each with its condition on that value.

    Each condition holds of a value that is null itself.
    """
    match data_type:
        case StructType(fields):
            for field in fields:
                yield from _struct_field_not_nulls(field, f"{path}.{field.name}")
        case ArrayType(element_type, contains_null):
            inner = f"{path}.element"
            yield from _collection_not_nulls(element_type, inner, contains_null, lambda v: v)
        case MapType(key_type, value_type, value_contains_null):
            yield from _collection_not_nulls(key_type, f"{path}.key", True, sf.map_keys)
            yield from _collection_not_nulls(
                value_type, f"{path}.value", value_contains_null, sf.map_values
            )


def _struct_field_not_nulls(field: StructField, path: str) -> Iterator[tuple[str, Holds]]:
    if not field.nullable:
        yield path, lambda value: value.isNull() | value.getField(field.name).isNotNull()
    for inner, holds in _inner_not_nulls(field.type, path):
        yield inner, lambda value, holds=holds: holds(value.getField(field.name))  # type: ignore[misc]


def _collection_not_nulls(
    data_type: DataType, path: str, may_be_null: bool, elements: Holds
) -> Iterator[tuple[str, Holds]]:
    if not may_be_null:
        yield (
            path,
            lambda value: (
                value.isNull() | sf.forall(elements(value), lambda element: element.isNotNull())
            ),
        )
    for inner, holds in _inner_not_nulls(data_type, path):
        yield (
            inner,
            lambda value, holds=holds: (  # type: ignore[misc]
                value.isNull() | sf.forall(elements(value), holds)
            ),
        )


def _invariants(schema: StructType) -> Iterator[Rule]:
    for chain in nested_fields(schema):
        text = chain.field.metadata.get(INVARIANTS_KEY)
        if text is not None:
            sql = msgspec.json.decode(text)["expression"]["expression"]
            name = ".".join(chain.path)
            yield Rule(RuleKind.INVARIANT, name, sql, rule_condition(name, sql))


def _generated_columns(schema: StructType, computed: frozenset[str]) -> Iterator[Rule]:
    for field in schema.fields:
        sql = field.metadata.get(GENERATION_EXPRESSION_KEY)
        if sql is not None and field.name not in computed:
            holds = column(field.name).eqNullSafe(generated_value(field))
            yield Rule(RuleKind.GENERATED, field.name, sql, holds)
