"""CREATE and REPLACE TABLE ... AS SELECT: a table and its rows in one commit."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import DataFrame

from truckee.commands.catalog import enter_table
from truckee.commands.ddl.create import Creation, TableDefinition, check_creation
from truckee.commands.write.options import WriteOptions
from truckee.commands.write.plan import Write
from truckee.commands.write.write import write_table
from truckee.protocol.properties import validated_properties


def create_with_rows(
    rows: DataFrame, definition: TableDefinition, creation: Creation, options: WriteOptions
) -> None:
    """Create or replace a table with rows; its columns are those of the rows.

    A table that has a name is entered into Spark's catalog.
    """
    spark = rows.sparkSession
    place = check_creation(spark, definition, creation)
    properties = {**options.properties, **validated_properties(definition.properties)}
    write = Write(
        storage=place.storage,
        mode="Overwrite" if place.exists else "ErrorIfExists",
        partition_by=definition.partition_columns,
        cluster_by=definition.cluster_by,
        options=replace(
            options, properties=properties, dynamic_overwrite=False, overwrite_schema=False
        ),
        operation=f"{creation.operation} AS SELECT",
        is_managed=place.is_managed,
        replaces=True,
        description=definition.comment,
    )
    write_table(rows, write)
    if place.is_new_name and definition.name is not None:
        enter_table(
            spark,
            definition.name,
            place.storage.root,
            is_managed=place.is_managed,
            comment=definition.comment,
        )
