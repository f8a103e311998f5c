"""Old rows and new values -> rows of the table and, with the feed on, pre- and postimages.

All of it is one pass over the old rows. With the feed on, a row that is updated becomes three:

| `_change_type`     | values | goes to      |
|--------------------|--------|--------------|
| `update_preimage`  | old    | change files |
| `update_postimage` | new    | change files |
| null               | new    | data files   |

and a row that is only copied stays one, with null for its type.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import BooleanType, StructField, StructType

from truckee.protocol.schema import StructField as TableField
from truckee.protocol.schema import StructType as TableSchema
from truckee.spark.constraints import GENERATION_EXPRESSION_KEY
from truckee.spark.types import to_spark
from truckee.spark.writer_columns import bare_schema, column, spark_type
from truckee.spark.writer_layout import CHANGE_TYPE

_OLD = "__truckee_old_"
_UPDATED = "__truckee_updated"


def updated_rows(
    rows: DataFrame,
    schema: TableSchema,
    values: Mapping[str, Column],
    *,
    is_updated: Column,
    has_feed: bool,
) -> DataFrame:
    """Return rows of a table with new values where `is_updated` is true, null being false.

    `values` are columns of `rows`, by the name of the table's column that they are for. Generated
    columns that get no value are computed from the new values of the others.
    """
    computed = [
        field
        for field in schema.fields
        if GENERATION_EXPRESSION_KEY in field.metadata and field.name not in values
    ]
    changing = {*values, *(field.name for field in computed)}
    both = rows.select(
        *(column(name).alias(f"{_OLD}{name}") for name in schema.names if name in changing),
        *(_new(name, values, is_updated).alias(name) for name in schema.names),
        is_updated.alias(_UPDATED),
    ).to(_both(schema, changing))
    both = both.withColumns(
        {field.name: F.when(column(_UPDATED), generated_value(field)) for field in computed}
    )
    if not has_feed:
        return both.select(*_chosen(schema, changing, column(_UPDATED)))
    images = F.array(F.lit("update_preimage"), F.lit("update_postimage"), F.lit(None))
    copies = F.array(F.lit(None).cast("string"))
    kind = F.explode(F.when(column(_UPDATED), images).otherwise(copies)).alias(CHANGE_TYPE)
    changes = both.select("*", kind)
    is_new = column(_UPDATED) & ~column(CHANGE_TYPE).eqNullSafe("update_preimage")
    return changes.select(*_chosen(schema, changing, is_new), CHANGE_TYPE)


def generated_value(field: TableField) -> Column:
    """Return the value of a generated column, computed from the other columns of its row."""
    return F.expr(field.metadata[GENERATION_EXPRESSION_KEY]).cast(spark_type(field.type))


def _new(name: str, values: Mapping[str, Column], is_updated: Column) -> Column:
    # Of rows that are not updated, new values are not computed: doing so might fail.
    return F.when(is_updated, values[name]) if name in values else column(name)


def _both(schema: TableSchema, changing: Collection[str]) -> StructType:
    """Return the old columns that change, under names of their own, then all of the new row."""
    fields = to_spark(bare_schema(schema)).fields
    old = [StructField(f"{_OLD}{f.name}", f.dataType) for f in fields if f.name in changing]
    return StructType([*old, *fields, StructField(_UPDATED, BooleanType())])


def _chosen(schema: TableSchema, changing: Collection[str], is_new: Column) -> Iterable[Column]:
    for name in schema.names:
        if name in changing:
            yield F.when(is_new, column(name)).otherwise(column(f"{_OLD}{name}")).alias(name)
        else:
            yield column(name)
