"""The settings of a session that concern tables and the stores that hold them."""

from __future__ import annotations

import json
from collections.abc import Mapping

from pyspark.sql import SparkSession

from truckee.options.delta_settings import warn_of_unused_settings
from truckee.spark.jvm.bridge import java_half
from truckee.spark.session.arguments import PathLike, checked_path, checked_session
from truckee.spark.session.hadoop_storage import ATOMIC_RENAME, HadoopStorage
from truckee.storage import open_storage
from truckee.storage.base import Storage
from truckee.storage.fence import with_fence
from truckee.storage.urls import is_object_url, scheme_of


def session_settings(spark: SparkSession) -> dict[str, str]:
    """Return all settings of the session.

    PySpark would fetch them one by one, which takes longer than opening a table. Warns of those
    of Delta that have no effect.
    """
    packed = java_half(spark).settings(spark._jsparkSession.conf())
    texts = packed.split("\0")
    settings = dict(zip(texts[::2], texts[1::2], strict=False))
    warn_of_unused_settings(settings)
    return settings


def packed_settings(settings: Mapping[str, str]) -> str:
    """Return settings in the form that our Java code takes."""
    return json.dumps(list(settings.items()))


def session_zone(spark: SparkSession) -> str:
    """Return the zone in which the session reads and shows timestamps."""
    return str(spark.conf.get("spark.sql.session.timeZone"))


def session_storage(
    spark: SparkSession, path: PathLike, options: Mapping[str, str] | None = None
) -> Storage:
    """Return the storage of the table at a path, reached as the session reaches its files.

    Credentials, endpoints and the settings that keep reads below the table's root (see
    `truckee.storage.fence`) come from the session's Hadoop settings, then from `options`. If we
    have no client for the store, Hadoop's is used (see `hadoop_storage`). Raises TypeError unless
    the arguments are a session and a path.
    """
    checked_session(spark)
    place = checked_path(path)
    hadoop = {
        key.removeprefix("spark.hadoop."): value
        for key, value in session_settings(spark).items()
        if key.startswith(("spark.hadoop.fs.", "fs.", "spark.truckee.read.", ATOMIC_RENAME))
    }
    given = {**hadoop, **(options or {})}
    if is_object_url(place) or scheme_of(place) in (None, "file", "memory"):
        return open_storage(place, given)
    return with_fence(HadoopStorage(spark, place, given), given)
