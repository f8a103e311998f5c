"""CREATE TABLE and related statements, from the definition that Spark's catalog gets."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from msgspec.structs import replace as replace_struct
from pyspark.sql.types import StructField as SparkField
from pyspark.sql.types import StructType as SparkStruct

from truckee.commands.ddl.create import (
    Creation,
    TableDefinition,
    check_creation,
    checked_partitions,
    create_table,
)
from truckee.commands.ddl.create_like import LikeRequest
from truckee.commands.ddl.create_like import create_like as create_table_like
from truckee.commands.ddl.create_with_rows import create_with_rows
from truckee.commands.ddl.named_write import save_as_table
from truckee.commands.write.options import matching_option, write_options
from truckee.commands.write.plan import Write
from truckee.doors.tables import exists, table_name, table_storage_of
from truckee.errors.commands.create import AmbiguousTablePathError
from truckee.errors.commands.write_rows import ReplaceWhileCreatingError
from truckee.errors.sql import StatementNotAllowedError, TransformNotAllowedError
from truckee.log.snapshot import load_snapshot
from truckee.options.text import Options
from truckee.protocol.column_metadata import (
    CURRENT_DEFAULT_KEY,
    GENERATION_EXPRESSION_KEY,
    IDENTITY_ALLOWS_EXPLICIT_KEY,
    IDENTITY_START_KEY,
    IDENTITY_STEP_KEY,
)
from truckee.protocol.schema import StructField, StructType
from truckee.spark.dml.statements import like_spec, write_options_of
from truckee.spark.schema_conversion import from_spark
from truckee.spark.session.catalog import named_table
from truckee.spark.session.doors import Question
from truckee.spark.session.settings import session_settings, session_storage
from truckee.spark.write.char_columns import declared_field

_RESERVED = frozenset(
    {"location", "provider", "comment", "owner", "external", "is_managed_location", "path"}
)
_OPTION = "option."
_CLUSTER_BY = "cluster_by"
# Metadata that Spark keeps on columns for itself; we get the same in other ways.
_SPARKS_OWN = ("EXISTS_DEFAULT", "GENERATION_EXPRESSION", "identity.", "__")


def create(question: Question) -> None:
    """Create or replace a table without rows."""
    definition, creation = definition_of(question), Creation(question.about["creation"])
    if creation in (Creation.CREATE, Creation.CREATE_IF_NOT_EXISTS):
        # As in delta-spark, options of this statement become properties, under two names each.
        options = _options(question.about["properties"])
        definition = replace(definition, properties={**definition.properties, **options})
    create_table(question.spark, definition, creation)


def create_like_another(question: Question) -> None:
    """Create a table with the columns, partitions and properties of another, and no rows."""
    about, spark = question.about, question.spark
    spec = like_spec(question.objects[0])
    if spec.if_not_exists and _is_there(question):
        return
    if about["source"] is None:
        raise StatementNotAllowedError(
            operation="CREATE TABLE LIKE a table that is not a Delta table",
            hint="use CREATE TABLE ... USING delta AS SELECT ... LIMIT 0",
        )
    source = load_snapshot(table_storage_of(question._replace(about=about["source"])))
    request = LikeRequest(
        name=table_name(about),
        location=about.get("path", spec.location),
        properties=spec.properties,
    )
    create_table_like(spark, source, request)


def _is_there(question: Question) -> bool:
    name = table_name(question.about)
    return exists(question) if name is None else named_table(question.spark, name) is not None


def check(question: Question) -> None:
    """Raise if a table cannot be created or replaced with rows."""
    definition, creation = definition_of(question), Creation(question.about["creation"])
    check_creation(question.spark, definition, creation)


def create_from_rows(question: Question) -> None:
    """Create or replace a table with its rows, in one commit."""
    spark, rows = question.spark, question.frame(1)
    definition, creation = definition_of(question), Creation(question.about["creation"])
    options = write_options_of(question.objects[0])
    if question.about.get("is_saved_by_v1"):
        _save(question, definition, creation, options)
        return
    parsed = write_options(Options(options), session_settings(spark))
    matching = matching_option(parsed)
    if matching is not None:
        raise ReplaceWhileCreatingError(option=matching)
    create_with_rows(rows, definition, creation, parsed)


def _save(
    question: Question,
    definition: TableDefinition,
    creation: Creation,
    options: Mapping[str, str],
) -> None:
    """Run DataFrameWriter.saveAsTable, which keeps the schema of a table that it overwrites."""
    spark = question.spark
    parsed = write_options(Options(options), session_settings(spark))
    mode = "ErrorIfExists" if creation is Creation.CREATE else "Overwrite"

    def write_to(place: str) -> Write:
        return Write(
            storage=session_storage(spark, place, parsed.store),
            mode=mode,
            partition_by=definition.partition_columns or None,
            cluster_by=definition.cluster_by,
            options=parsed,
        )

    assert definition.name is not None
    save_as_table(question.frame(1), definition.name, write_to, path=definition.location)


def definition_of(question: Question) -> TableDefinition:
    """Return the definition of the requested table."""
    about = question.about
    given: dict[str, str] = about["properties"]
    # Spark has put a scheme before a path, and encoded nothing in it.
    location = None if "location" not in given else re.sub("^file:/+", "/", given["location"])
    path = about.get("path")
    if path is not None:
        if location is not None and _bare(location) != _bare(path):
            raise AmbiguousTablePathError(path=path, location=location)
        location = path
    elif given.get("is_managed_location") == "true":
        location = None
    partitions, clusters = _layout(about["layout"])
    schema = StructType(tuple(_field(column) for column in about["columns"]))
    checked_partitions(schema, partitions)
    return TableDefinition(
        name=table_name(about),
        location=location,
        schema=schema,
        partition_columns=partitions,
        cluster_by=clusters,
        properties=_properties(given),
        comment=given.get("comment"),
    )


def _properties(given: Mapping[str, str]) -> dict[str, str]:
    """Return the properties for the log; options of the statement are not table properties."""
    options = {key.removeprefix(_OPTION) for key in given if key.startswith(_OPTION)}
    return {
        key: value
        for key, value in given.items()
        if key not in _RESERVED
        and not key.startswith(_OPTION)
        and (key not in options or key.lower().startswith("delta."))
    }


def _options(given: Mapping[str, str]) -> dict[str, str]:
    named = {key: value for key, value in given.items() if key.startswith(_OPTION)}
    return {**{key.removeprefix(_OPTION): value for key, value in named.items()}, **named}


def _bare(place: str) -> str:
    return place.removeprefix("file:").replace("//", "/").rstrip("/")


def _layout(
    transforms: list[dict[str, Any]],
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    partitions: list[str] = []
    clusters: tuple[tuple[str, ...], ...] = ()
    for transform in transforms:
        columns = [tuple(path) for path in transform["columns"]]
        if transform["name"] == _CLUSTER_BY:
            clusters = tuple(columns)
        elif transform["name"] != "identity" or len(columns[0]) > 1:
            what = "Bucketing" if "bucket" in transform["name"] else "Partitioning by expressions"
            raise TransformNotAllowedError(
                operation=what, hint="partition the table by columns, or cluster it"
            )
        else:
            partitions.append(columns[0][0])
    return tuple(partitions), clusters


def _field(column: dict[str, Any]) -> StructField:
    noted = json.loads(column["metadata"]) if column.get("metadata") else {}
    metadata = {
        key: value
        for key, value in noted.items()
        if not key.startswith(_SPARKS_OWN) or "CHAR" in key
    }
    if column.get("comment") is not None:
        metadata["comment"] = column["comment"]
    if column.get("default") is not None:
        metadata[CURRENT_DEFAULT_KEY] = column["default"]
    if column.get("generation") is not None:
        metadata[GENERATION_EXPRESSION_KEY] = column["generation"]
    if "step" in column:
        metadata |= {
            IDENTITY_START_KEY: column["start"],
            IDENTITY_STEP_KEY: column["step"],
            IDENTITY_ALLOWS_EXPLICIT_KEY: column["takes_values"],
        }
    given = spark_field(column["field"], column["type"], nullable=column["nullable"])
    found = from_spark(SparkStruct([declared_field(given)])).fields[0]
    return replace_struct(found, metadata={**found.metadata, **metadata})


def spark_field(name: str, type_json: str, *, nullable: bool) -> SparkField:
    """Return a column whose type is given as Spark's JSON."""
    field = {"name": name, "type": json.loads(type_json), "nullable": nullable, "metadata": {}}
    return SparkField.fromJson(field)
