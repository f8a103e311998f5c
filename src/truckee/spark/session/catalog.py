"""Tables by name, in Spark's own catalog: their locations and their formats."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NamedTuple

from pyspark.errors import ParseException
from pyspark.sql import SparkSession

from truckee.errors.commands.create import InvalidTableNameError, NotATruckeeTableError
from truckee.protocol.paths import is_absolute
from truckee.spark.jvm.bridge import compiled, gateway, java_array
from truckee.spark.jvm.jvm_errors import quiet_errors
from truckee.spark.jvm.projection import quoted

DELTA_PROVIDERS = frozenset({"delta", "truckee"})
_SESSION_CATALOG = "spark_catalog"


class NamedTable(NamedTuple):
    """A table of the catalog; `location` is None for those without one, such as views.

    Both names begin with the catalog and the database; the quoted one is safe in SQL.
    """

    name: str
    quoted_name: str
    provider: str
    location: str | None
    is_managed: bool
    is_view: bool


def named_table(spark: SparkSession, name: str) -> NamedTable | None:
    """Return what the catalog says of a table, None if there is none of this name."""
    catalog = _catalog(spark)
    identifier = _identifier(spark, name)
    if not catalog.tableExists(identifier):
        return None
    found = catalog.getTableMetadata(identifier)
    provider, location = found.provider(), found.storage().locationUri()
    return NamedTable(
        name=str(found.identifier().unquotedString()),
        quoted_name=str(found.identifier().quotedString()),
        provider=str(provider.get()).lower() if provider.isDefined() else "view",
        location=_path(spark, location.get()) if location.isDefined() else None,
        is_managed=str(found.tableType().name()) == "MANAGED",
        is_view=str(found.tableType().name()) == "VIEW",
    )


def full_name(spark: SparkSession, name: str | None) -> str | None:
    """Return a name with its catalog and schema; None for a table that was opened by its path."""
    found = None if name is None else named_table(spark, name)
    return None if found is None else found.name


def is_temporary_view(spark: SparkSession, name: str) -> bool:
    """Return whether a name is that of a temporary view of the session."""
    return bool(_catalog(spark).isTempView(_identifier(spark, name)))


def foreign_table(spark: SparkSession, name: str) -> dict[str, Any]:
    """Return what DESCRIBE DETAIL says of a table that is not a Delta table."""
    found = _catalog(spark).getTableMetadata(_identifier(spark, name))
    provider, location = found.provider(), found.storage().locationUri()
    comment, columns = found.comment(), found.partitionColumnNames()
    properties = found.properties().toSeq()
    pairs = [properties.apply(index) for index in range(properties.size())]
    return {
        "format": str(provider.get()) if provider.isDefined() else None,
        "name": str(found.identifier().unquotedString()),
        "description": str(comment.get()) if comment.isDefined() else None,
        "location": str(location.get().toString()) if location.isDefined() else None,
        "createdAt": datetime.fromtimestamp(found.createTime() / 1000, tz=timezone.utc),
        "partitionColumns": [str(columns.apply(index)) for index in range(columns.size())],
        "properties": {str(pair._1()): str(pair._2()) for pair in pairs},
    }


def path_in_name(spark: SparkSession, name: str) -> str | None:
    """Return the path in a name such as ``delta.`/data/t` ``, None if it is not such a name.

    A relative path is below the working directory. A table of the catalog with exactly this name
    takes precedence.
    """
    parts = table_name_parts(spark, name)
    if not _is_path(parts):
        return None
    if named_table(spark, name) is not None:
        return None
    return parts[1] if is_absolute(parts[1]) else str(Path(parts[1]).absolute())


def default_location(spark: SparkSession, name: str) -> str:
    """Return the default location of a table of this name."""
    identifier = _identifier(spark, name)
    return _path(spark, _catalog(spark).defaultTablePath(identifier))


def register_table(
    spark: SparkSession, name: str, location: str, *, is_managed: bool, comment: str | None = None
) -> None:
    """Enter a table into the catalog, as delta-spark does: its name and location.

    Columns, partitions and properties are only in the log. The files of a managed table are deleted
    when its name is dropped.
    """
    uri = gateway(spark).jvm.org.apache.hadoop.fs.Path(location).toUri().toString()
    compiled(spark, "TruckeeSessions").enter(
        spark._jsparkSession,
        _text_array(spark, table_name_parts(spark, name)),
        uri,
        is_managed,
        comment,
    )


def move_entry(spark: SparkSession, name: str, location: str) -> None:
    """Let a table of the catalog lie somewhere else; nothing else of its entry changes."""
    uri = gateway(spark).jvm.org.apache.hadoop.fs.Path(location).toUri().toString()
    parts = _text_array(spark, table_name_parts(spark, name))
    compiled(spark, "TruckeeSessions").move(spark._jsparkSession, parts, uri)


def drop_entry(spark: SparkSession, name: str) -> None:
    """Take a table out of the catalog, and leave its files alone, whoever manages them."""
    parts = _text_array(spark, table_name_parts(spark, name))
    compiled(spark, "TruckeeSessions").release(spark._jsparkSession, parts)
    _catalog(spark).dropTable(_identifier(spark, name), True, False)


def _text_array(spark: SparkSession, texts: list[str]) -> Any:
    return java_array(spark, "java.lang.String", texts)


def quoted_name(spark: SparkSession, name: str) -> str:
    """Return a table name quoted for SQL; InvalidTableNameError if it is not valid."""
    return ".".join(quoted(part) for part in table_name_parts(spark, name))


def table_name_parts(spark: SparkSession, name: str) -> list[str]:
    """Return the parts of a name in the session catalog, without the name of the catalog.

    Raises InvalidTableNameError if the text is not a name, and NotATruckeeTableError if Spark would
    look for the table in another catalog: the first part names it, or USE has chosen it.
    """
    session = spark._jsparkSession.sessionState()
    try:
        with quiet_errors():
            parts = session.sqlParser().parseMultipartIdentifier(name)
    except ParseException:
        raise InvalidTableNameError(table=name) from None
    found = [str(parts.apply(index)) for index in range(parts.size())]
    catalogs = session.catalogManager()
    if len(found) > 1 and catalogs.isCatalogRegistered(found[0]):
        catalog = found.pop(0)
    elif _is_path(found):
        catalog = _SESSION_CATALOG
    else:
        catalog = str(catalogs.currentCatalog().name())
    if catalog.lower() != _SESSION_CATALOG:
        raise NotATruckeeTableError(table=name, provider=f"{catalog} catalog")
    if len(found) > 2:
        raise InvalidTableNameError(table=name)
    return found


def _is_path(parts: list[str]) -> bool:
    return len(parts) == 2 and parts[0].lower() in DELTA_PROVIDERS and "/" in parts[1]


def _identifier(spark: SparkSession, name: str) -> Any:
    parser = spark._jsparkSession.sessionState().sqlParser()
    return parser.parseTableIdentifier(quoted_name(spark, name))


def _catalog(spark: SparkSession) -> Any:
    return spark._jsparkSession.sessionState().catalog()


def _path(spark: SparkSession, uri: Any) -> str:
    """Return a location as people write it: a plain path if it is a local one, else its URL."""
    path = gateway(spark).jvm.org.apache.hadoop.fs.Path(uri)
    local = str(uri.getScheme()) in ("None", "file")
    return str(path.toUri().getPath()) if local else str(path.toString())
