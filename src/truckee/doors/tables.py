"""The table that a question is about, and what the catalog gets to know of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from pyspark.sql import DataFrame, SparkSession

from truckee.commands.catalog import delta_location
from truckee.commands.schema.clustering import clustering_paths
from truckee.errors.log import NotADeltaTableError
from truckee.errors.options import TwoTimeTravelsError
from truckee.errors.sql import BarePathError
from truckee.log.files.absent_table import unreadable_path
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.log.time_travel import has_log, path_and_time, snapshot_at
from truckee.options.feed import Bound, is_feed_read
from truckee.options.text import Options
from truckee.protocol.features import supported_features
from truckee.readwriter import load_path
from truckee.spark.jvm.projection import quoted
from truckee.spark.read.frames import table_frame
from truckee.spark.schema_conversion import public_schema
from truckee.spark.session.catalog_tables import (
    catalog_table,
    entry_location,
    entry_properties,
)
from truckee.spark.session.doors import Question
from truckee.spark.session.settings import session_storage, session_zone
from truckee.storage.base import Storage

_CATALOG = "spark_catalog."


def table_name(about: Mapping[str, Any]) -> str | None:
    """Return the name of a table for SQL; None for a table that is given by path."""
    if "path" in about:
        return None
    return ".".join(quoted(part) for part in about["parts"])


def table_storage_of(question: Question) -> Storage:
    """Return the location of a question's table; raises TableNotFoundError for an unknown name."""
    about = question.about
    name = table_name(about)
    path = about["path"] if name is None else delta_location(question.spark, name)
    return session_storage(question.spark, path, about.get("options"))


def exists(question: Question) -> bool:
    """Answer whether there is a table at a path."""
    storage, _ = _at_path(question)
    return has_log(storage)


def check_path(question: Question) -> None:
    """Raise NotADeltaTableError, as for reads, if there is no table at a path."""
    storage, _ = _at_path(question)
    if has_log(storage):
        return
    try:
        load_snapshot(storage)
    except NotADeltaTableError as error:
        raise unreadable_path(error) from None


def refuse_bare_path(question: Question) -> None:
    """Raise: a name such as ``delta.`orders` `` is neither a table nor a path."""
    raise BarePathError(name=question.about["name"])


def load(question: Question) -> Any:
    """Answer with a table: its columns, partitions and properties are those of the log."""
    about, entry = question.about, question.objects[0]
    at = _asked_version(about)
    if entry is None:
        storage, in_path = _at_path(question)
        if at is not None and in_path is not None:
            raise TwoTimeTravelsError(path=about["path"])
        at = at or in_path
        path = storage.root
    else:
        path = entry_location(entry)
        storage = session_storage(question.spark, path)
    snapshot = snapshot_at(storage, at)
    name = table_name(about) or f"delta.{quoted(path)}"
    return catalog_table(
        question.spark,
        name=f"{_CATALOG}{name.replace('`', '').removeprefix(_CATALOG)}",
        path=storage.root,
        schema=public_schema(snapshot.schema),
        partitions=snapshot.partition_columns,
        properties={
            **property_texts(snapshot),
            **entry_properties(entry),
            "provider": "delta",
            # Spark spells local paths as URLs.
            "location": f"file:{path}" if path.startswith("/") else path,
        },
        entry=entry,
        rows=_rows(snapshot, is_named=entry is not None, follows=at is None),
    )


def property_texts(snapshot: Snapshot) -> dict[str, str]:
    """Return the properties of a table as SHOW TBLPROPERTIES lists them."""
    protocol = snapshot.protocol
    features = {}
    if protocol.writer_features is not None:
        features = {f"delta.feature.{name}": "supported" for name in supported_features(protocol)}
    comment = snapshot.metadata.description
    clustering = clustering_paths(snapshot)
    columns = "" if clustering is None else msgspec.json.encode(clustering).decode()
    return {
        **snapshot.metadata.configuration,
        **({} if clustering is None else {"clusteringColumns": columns}),
        **features,
        "delta.minReaderVersion": str(protocol.min_reader_version),
        "delta.minWriterVersion": str(protocol.min_writer_version),
        **({} if comment is None else {"comment": comment}),
    }


def _rows(snapshot: Snapshot, *, is_named: bool, follows: bool) -> Any:
    def rows(spark: SparkSession, options: Mapping[str, str]) -> DataFrame:
        if is_feed_read(Options(options)):
            root = snapshot.storage.root
            return load_path(spark, root, dict(options), is_catalog_table=is_named)
        return table_frame(spark, snapshot, follows=follows)

    return rows


def _at_path(question: Question) -> tuple[Storage, Bound | None]:
    """Return the storage of a path, and the version in its suffix, as in `t@v3`."""
    path, spark = question.about["path"], question.spark
    path, at = path_and_time(
        Options({}),
        path,
        time_zone=session_zone(spark),
        open_storage=lambda url: session_storage(spark, url),
    )
    return session_storage(spark, path), at


def _asked_version(about: Mapping[str, Any]) -> Bound | None:
    if "timestamp_us" in about:
        return Bound(timestamp_ms=about["timestamp_us"] // 1000)
    if "version" in about:
        return Bound(version=Options({"versionAsOf": about["version"]}).version_as_of())
    return None
