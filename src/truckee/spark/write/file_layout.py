"""How rows of a table are stored in its data files: physical names, field ids, partition folders.

Spark puts the values of partition columns into folder names only, as in `day=2024-01-02`. So the
text of each value is made here as the log needs it, and read back from the folder name:

| value                                 | folder                             | in the log          |
|---------------------------------------|------------------------------------|---------------------|
| null, empty text                      | `c=__HIVE_DEFAULT_PARTITION__`     | null                |
| `a/b`                                 | `c=a%2Fb`                          | `a/b`               |
| 2024-01-02 03:04:05 in UTC            | `c=2024-01-02T03%3A04%3A05.000000Z`| the same, unescaped |
| the text `__HIVE_DEFAULT_PARTITION__` | `c=__HIVE_DEFAULT_PARTITION__%01`  | as given            |
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import unquote

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from truckee.changes.columns import CHANGE_TYPE
from truckee.protocol.paths import HIVE_DEFAULT_PARTITION
from truckee.protocol.schema import (
    DataType,
    DecimalType,
    PrimitiveType,
    StructField,
    StructType,
    physical_schema,
    void_columns,
)
from truckee.spark.jvm.projection import Given, Item, Named, column, quoted, selected
from truckee.spark.schema_conversion import from_spark, spark_type, with_nulls

# Appended to a text that could be mistaken for the folder of nulls.
_NOT_NULL = "\x01"

# For these types, Spark's folder names already have the log's text.
_SPELLED_ALIKE = frozenset({"byte", "short", "integer", "long", "boolean", "date"})


class LaidOut(NamedTuple):
    """Rows as data files hold them, with the columns that become folders, outermost first.

    If it `has_changes`, the last column that is no folder is `_change_type`.
    """

    df: DataFrame
    folders: tuple[str, ...]
    has_changes: bool


def laid_out(
    df: DataFrame, schema: StructType, partition_columns: Iterable[str], mode: str
) -> LaidOut:
    """Return rows with a table's logical columns as its data files hold them.

    A column `_change_type` beyond the schema marks change rows: those where it is not null.
    """
    partitions = {name.casefold() for name in partition_columns}
    physical = physical_schema(schema, mode)
    held = {field.name: field.type for field in from_spark(df.schema).fields}
    columns = [
        Given(_partition_text(column(logical.name), logical.type), stored.name, {})
        if logical.name.casefold() in partitions
        else _stored(logical.name, held[logical.name], stored)
        for logical, stored in zip(schema.fields, physical.fields, strict=True)
    ]
    folders = tuple(
        stored.name
        for name in partition_columns
        for logical, stored in zip(schema.fields, physical.fields, strict=True)
        if logical.name.casefold() == name.casefold()
    )
    if CHANGE_TYPE not in df.columns or CHANGE_TYPE in schema.names:
        return LaidOut(selected(df, columns), folders, has_changes=False)
    return LaidOut(selected(df, [*columns, Named(CHANGE_TYPE)]), folders, has_changes=True)


def without_void(df: DataFrame, schema: StructType) -> DataFrame:
    """Return rows with a table's columns without those of type `void`, which no file has."""
    inner: dict[str, list[str]] = {}
    for chain in void_columns(schema):
        inner.setdefault(chain.path[0], []).append(".".join(map(quoted, chain.path[1:])))
    if not inner:
        return df
    columns = [
        Given(column(name).dropFields(*inner[name]), name) if name in inner else Named(name)
        for name in df.columns
        if inner.get(name) != [""]
    ]
    return selected(df, columns)


def _stored(name: str, held: DataType, stored: StructField) -> Item:
    wanted = with_nulls(stored.type)
    # A cast copies every struct, so it is skipped if names and ids are already right.
    cast = None if with_nulls(held) == wanted else spark_type(wanted)
    return Named(name, stored.name, cast, stored.metadata)


def _partition_text(value: Column, data_type: DataType) -> Column:
    """Return a partition value as a column whose folder name is the log's text.

    Casts are those of a session in UTC and in ANSI mode, which writes decimals in full.
    """
    name = data_type.name if isinstance(data_type, PrimitiveType | DecimalType) else ""
    if name in _SPELLED_ALIKE:
        return value
    if name == "timestamp":
        return sf.date_format(value, "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'")
    if name == "binary":
        value = sf.validate_utf8(value.cast("string"))
    text = value.cast("string")
    if name not in ("string", "binary"):
        return text
    return sf.when(
        text.startswith(HIVE_DEFAULT_PARTITION), sf.concat(text, sf.lit(_NOT_NULL))
    ).otherwise(text)


def partition_values(path: str, folders: tuple[str, ...]) -> dict[str, str | None]:
    """Return the partition values of a file by the folders in its path, innermost last.

    `folders` are the names of the columns that became folders; the path has as many before the
    file's name.
    """
    parts = path.split("/")[-1 - len(folders) : -1]
    values: dict[str, str | None] = {}
    for name, part in zip(folders, parts, strict=True):
        escaped_name, _, escaped = part.partition("=")
        assert unquote(escaped_name) == name, f"folder {part} is not one of column {name}"
        values[name] = _value_of_folder(unquote(escaped))
    return values


def _value_of_folder(text: str) -> str | None:
    if text == HIVE_DEFAULT_PARTITION:
        return None
    if text.startswith(HIVE_DEFAULT_PARTITION) and text.endswith(_NOT_NULL):
        return text[: -len(_NOT_NULL)]
    return text
