"""The settings of a session that concern tables, the stores that hold them, and commits.

Two settings are about all commits of a session, by delta-spark's names: the session sets a text
that each of them has, and finds the version that was committed last.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping

from pyspark.sql import SparkSession

from truckee.spark.jvm.bridge import java_half
from truckee.spark.session.arguments import PathLike, checked_path, checked_session
from truckee.spark.session.hadoop_storage import ATOMIC_RENAME, HadoopStorage
from truckee.storage import open_storage
from truckee.storage.base import Storage
from truckee.storage.read_bounds import with_fence
from truckee.storage.urls import hadoop_url, is_object_url, scheme_of

LAST_COMMIT = "spark.databricks.delta.lastCommitVersionInSession"
USER_METADATA = "spark.databricks.delta.commitInfo.userMetadata"
_TXN_VERSION = "spark.databricks.delta.write.txnVersion"

_log = logging.getLogger(__name__)


def session_settings(spark: SparkSession) -> dict[str, str]:
    """Return all settings of the session.

    PySpark would fetch them one by one, which takes longer than opening a table.
    """
    packed = java_half(spark).settings(spark._jsparkSession.conf())
    texts = packed.split("\0")
    return dict(zip(texts[::2], texts[1::2], strict=False))


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

    Credentials, endpoints and the bounds of reads (see `truckee.storage.read_bounds`) come from the
    session's Hadoop settings, then from `options`. If we have no client for the store, Hadoop's is
    used (see `hadoop_storage`). Raises TypeError unless
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
        storage = open_storage(place, given)
    else:
        storage = with_fence(HadoopStorage(spark, place, given), given)
    storage.owner = _Session(spark)
    return storage


def reset_transaction_version(spark: SparkSession) -> None:
    """Forget the version that makes a command run once: it has run, or it had run before."""
    spark.conf.unset(_TXN_VERSION)


class _Session:
    """A session for which a storage was opened. Workers, to which it pickles as None, have none."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        return type(None), ()

    def user_metadata(self) -> str | None:
        return self._spark.conf.get(USER_METADATA, None)

    def committed(self, root: str, version: int) -> None:
        try:
            self._spark.conf.set(LAST_COMMIT, str(version))
            _refresh_cached(self._spark, root)
        except Exception as error:
            # The commit is made; the session may have been stopped meanwhile.
            _log.warning("the session does not know of version %d of %s: %s", version, root, error)


def _refresh_cached(spark: SparkSession, root: str) -> None:
    """Let Spark read rows of the table at `root` again that it keeps in memory."""
    cached = spark._jsparkSession.sharedState().cacheManager()
    if not cached.isEmpty():
        cached.recacheByPath(spark._jsparkSession, hadoop_url(root))
