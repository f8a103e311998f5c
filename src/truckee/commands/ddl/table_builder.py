"""DeltaTable.create and its like: delta-spark's builder, method by method."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from msgspec.structs import replace as replace_struct
from pyspark.errors import ParseException
from pyspark.sql import SparkSession
from pyspark.sql.types import DataType as SparkType
from pyspark.sql.types import LongType
from pyspark.sql.types import StructField as SparkField
from pyspark.sql.types import StructType as SparkStruct

from truckee.commands.ddl.create import Creation, TableDefinition, create_table
from truckee.errors.columns import InvalidIdentityColumnError
from truckee.errors.commands.create import TypeTextError
from truckee.errors.options import ArgumentTypeError, ArgumentValueError
from truckee.options.arguments import checked_argument, type_name
from truckee.protocol.column_metadata import (
    COMMENT_KEY,
    GENERATION_EXPRESSION_KEY,
    IDENTITY_ALLOWS_EXPLICIT_KEY,
    IDENTITY_START_KEY,
    IDENTITY_STEP_KEY,
)
from truckee.protocol.property_kinds import parse_column_names
from truckee.protocol.schema import StructField, StructType
from truckee.spark.jvm.jvm_errors import quiet_errors
from truckee.spark.schema_conversion import from_spark
from truckee.spark.session.arguments import PathLike, checked_path
from truckee.spark.write.char_columns import declared_field
from truckee.storage.base import Storage

Table = TypeVar("Table")


@dataclass(frozen=True)
class IdentityGenerator:
    """The numbers of an identity column: the first one, and the step between them."""

    start: int = 1
    step: int = 1


@dataclass
class DeltaTableBuilder(Generic[Table]):
    """Collects the definition of a table, and creates or replaces it when `execute` is called."""

    spark: SparkSession
    creation: Creation
    opened: Callable[[SparkSession, Storage], Table]
    _definition: TableDefinition = field(default_factory=TableDefinition)

    def __repr__(self) -> str:
        definition = self._definition
        place = definition.name or definition.location
        return f"DeltaTableBuilder({place!r}, {len(definition.schema.fields)} columns)"

    def tableName(self, identifier: str) -> DeltaTableBuilder[Table]:
        """Enter the table into Spark's catalog under a name, `table` or `database.table`."""
        return self._with(name=checked_argument(identifier, str, what="identifier"))

    def location(self, location: PathLike) -> DeltaTableBuilder[Table]:
        """Set the location of the table."""
        return self._with(location=checked_path(location, what="location"))

    def comment(self, comment: str) -> DeltaTableBuilder[Table]:
        """Describe the table."""
        return self._with(comment=checked_argument(comment, str, what="comment"))

    def addColumn(
        self,
        colName: str,
        dataType: str | SparkType | None = None,
        nullable: bool = True,
        generatedAlwaysAs: str | IdentityGenerator | None = None,
        generatedByDefaultAs: IdentityGenerator | None = None,
        comment: str | None = None,
    ) -> DeltaTableBuilder[Table]:
        """Add a column, of a type as in SQL or one of PySpark's.

        A generated column has an expression or, to number rows, an IdentityGenerator. With
        `generatedByDefaultAs`, rows may have their own numbers.
        """
        checked_argument(colName, str, what="colName")
        checked_argument(nullable, bool, what="nullable")
        given = SparkField(colName, spark_type_of(dataType), nullable)
        metadata = _generation(generatedAlwaysAs, generatedByDefaultAs)
        if IDENTITY_STEP_KEY in metadata and not isinstance(given.dataType, LongType):
            reason = f"it is of type {given.dataType.simpleString()}"
            raise InvalidIdentityColumnError(column=colName, reason=reason)
        if comment is not None:
            metadata[COMMENT_KEY] = checked_argument(comment, str, what="comment")
        return self._with_fields([_field(given, metadata)])

    def addColumns(self, cols: SparkStruct | Sequence[SparkField]) -> DeltaTableBuilder[Table]:
        """Add the columns of a PySpark schema, with their comments."""
        fields = cols.fields if isinstance(cols, SparkStruct) else cols
        if not isinstance(fields, list | tuple) or not all(
            isinstance(field, SparkField) for field in fields
        ):
            raise ArgumentTypeError(
                what="cols", needs="be a StructType or a list of StructFields", found=repr(cols)
            )
        return self._with_fields([_field(each, dict(each.metadata or {})) for each in fields])

    def partitionedBy(self, *cols: str | list[str] | tuple[str, ...]) -> DeltaTableBuilder[Table]:
        """Partition the table by columns, given one by one or as a list."""
        return self._with(partition_columns=_flat(cols, "a partition column"))

    def clusterBy(self, *cols: str | list[str] | tuple[str, ...]) -> DeltaTableBuilder[Table]:
        """Record that the table is clustered by columns, given one by one or as a list."""
        paths = tuple(parse_column_names(name)[0] for name in _flat(cols, "a clustering column"))
        return self._with(cluster_by=paths)

    def property(self, key: str, value: str) -> DeltaTableBuilder[Table]:
        """Set a table property."""
        checked_argument(key, str, what="the key of a property")
        checked_argument(value, str, what=f"the value of property {key}")
        return self._with(properties={**self._definition.properties, key: value})

    def execute(self) -> Table:
        """Create or replace the table, and return it."""
        storage = create_table(self.spark, self._definition, self.creation)
        return self.opened(self.spark, storage)

    def _with(self, **changes: Any) -> DeltaTableBuilder[Table]:
        self._definition = replace(self._definition, **changes)
        return self

    def _with_fields(self, fields: list[StructField]) -> DeltaTableBuilder[Table]:
        return self._with(schema=StructType((*self._definition.schema.fields, *fields)))


def spark_type_of(given: str | SparkType | None) -> SparkType:
    """Return a type that was given as in SQL, or as one of PySpark's."""
    if isinstance(given, SparkType):
        return given
    if not isinstance(given, str):
        raise ArgumentTypeError(
            what="dataType", needs="be a string or a DataType", found=type_name(given)
        )
    try:
        with quiet_errors():
            return SparkType.fromDDL(given)
    except ParseException:
        raise TypeTextError(argument="dataType", value=given) from None


def _field(given: SparkField, metadata: dict[str, Any]) -> StructField:
    declared = declared_field(given)
    column = from_spark(SparkStruct([declared])).fields[0]
    return replace_struct(column, metadata={**column.metadata, **metadata})


def _generation(
    always: str | IdentityGenerator | None, by_default: IdentityGenerator | None
) -> dict[str, Any]:
    if always is not None and by_default is not None:
        raise ArgumentValueError(
            what="a column",
            needs="have one of generatedAlwaysAs and generatedByDefaultAs",
            found="both",
        )
    if isinstance(always, str):
        return {GENERATION_EXPRESSION_KEY: always}
    identity = always if always is not None else by_default
    if identity is None:
        return {}
    if not isinstance(identity, IdentityGenerator):
        raise ArgumentTypeError(
            what="generatedByDefaultAs" if always is None else "generatedAlwaysAs",
            needs="be an IdentityGenerator" + ("" if always is None else " or a string"),
            found=type_name(identity),
        )
    if identity.step == 0:
        raise ArgumentValueError(
            what="the step of an identity column", needs="be another number", found="0"
        )
    return {
        IDENTITY_START_KEY: identity.start,
        IDENTITY_STEP_KEY: identity.step,
        IDENTITY_ALLOWS_EXPLICIT_KEY: always is None,
    }


def _flat(names: Iterable[str | list[str] | tuple[str, ...]], what: str) -> tuple[str, ...]:
    flat: list[str] = []
    for name in names:
        flat += name if isinstance(name, list | tuple) else [name]
    return tuple(checked_argument(name, str, what=what) for name in flat)
