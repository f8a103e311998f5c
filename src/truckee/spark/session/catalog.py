"""Tables by name, in Spark's own catalog: where they lie, and who reads them."""

from __future__ import annotations

from typing import Any, NamedTuple

from pyspark.errors import ParseException
from pyspark.sql import SparkSession

from truckee.errors.create import InvalidTableNameError
from truckee.spark.columns import quoted
from truckee.spark.jvm.bridge import compiled, gateway, java_array
from truckee.spark.jvm.jvm_errors import unlogged

DELTA_PROVIDERS = frozenset({"delta", "truckee"})
_SESSION_CATALOG = "spark_catalog"


class NamedTable(NamedTuple):
    """A table of the catalog; `location` is None for those that lie nowhere, such as views."""

    name: str
    provider: str
    location: str | None
    is_managed: bool


def named_table(spark: SparkSession, name: str) -> NamedTable | None:
    """Return what the catalog says of a table, None if it has none of this name."""
    catalog = _catalog(spark)
    identifier = _identifier(spark, name)
    if not catalog.tableExists(identifier):
        return None
    found = catalog.getTableMetadata(identifier)
    provider, location = found.provider(), found.storage().locationUri()
    return NamedTable(
        name=str(found.identifier().unquotedString()),
        provider=str(provider.get()).lower() if provider.isDefined() else "view",
        location=_path(spark, location.get()) if location.isDefined() else None,
        is_managed=str(found.tableType().name()) == "MANAGED",
    )


def default_location(spark: SparkSession, name: str) -> str:
    """Return where a table of this name lies if nobody says where."""
    identifier = _identifier(spark, name)
    return _path(spark, _catalog(spark).defaultTablePath(identifier))


def register_table(
    spark: SparkSession, name: str, location: str, *, is_managed: bool, comment: str | None = None
) -> None:
    """Enter a table into the catalog, as delta-spark does: a name and a place.

    Columns, partitions and properties are the log's, and nowhere else. A managed table is deleted
    when its name is dropped.
    """
    uri = gateway(spark).jvm.org.apache.hadoop.fs.Path(location).toUri().toString()
    compiled(spark, "TruckeeSessions").enter(
        spark._jsparkSession, _text_array(spark, _parts(spark, name)), uri, is_managed, comment
    )


def drop_entry(spark: SparkSession, name: str) -> None:
    """Take a table out of the catalog."""
    _catalog(spark).dropTable(_identifier(spark, name), True, False)


def _text_array(spark: SparkSession, texts: list[str]) -> Any:
    return java_array(spark, "java.lang.String", texts)


def quoted_name(spark: SparkSession, name: str) -> str:
    """Return the name of a table as SQL takes it; InvalidTableNameError if it is none."""
    return ".".join(quoted(part) for part in _parts(spark, name))


def _parts(spark: SparkSession, name: str) -> list[str]:
    try:
        with unlogged():
            parts = spark._jsparkSession.sessionState().sqlParser().parseMultipartIdentifier(name)
    except ParseException:
        raise InvalidTableNameError(table=name) from None
    found = [str(parts.apply(index)) for index in range(parts.size())]
    if len(found) == 3 and found[0] == _SESSION_CATALOG:
        found = found[1:]
    if len(found) > 2:
        raise InvalidTableNameError(table=name)
    return found


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
