"""The settings of a session that concern tables, the stores that hold them, and commits.

Two settings are about all commits of a session, by delta-spark's names: the session sets a text
that each of them has, and finds the version that was committed last.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from pyspark.sql import SparkSession

from truckee.log.running_command import commit_as
from truckee.spark.jvm.bridge import java_half
from truckee.spark.session.arguments import PathLike, checked_path, checked_session
from truckee.spark.session.hadoop_storage import ATOMIC_RENAME, HadoopStorage
from truckee.spark.session.jvm_sessions import active_session
from truckee.storage import open_storage
from truckee.storage.base import Storage
from truckee.storage.fence import with_fence
from truckee.storage.urls import hadoop_url, is_object_url, scheme_of

LAST_COMMIT = "spark.databricks.delta.lastCommitVersionInSession"
USER_METADATA = "spark.databricks.delta.commitInfo.userMetadata"
_TXN_VERSION = "spark.databricks.delta.write.txnVersion"

_session: ContextVar[SparkSession | None] = ContextVar("truckee_session", default=None)


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


def reset_transaction_version(spark: SparkSession) -> None:
    """Forget the version that makes a command run once: it has run, or it had run before."""
    spark.conf.unset(_TXN_VERSION)


@contextmanager
def working_for(spark: SparkSession) -> Iterator[None]:
    """Mark that what this thread commits, it commits for a session.

    Spark may call back into this thread for another session before the commit, such as the copy
    that a write runs in, so the mark ends with the block.
    """
    token = _session.set(spark)
    try:
        yield
    finally:
        _session.reset(token)


class _Session:
    """The session for which this thread works, or else the active one."""

    def user_metadata(self) -> str | None:
        spark = _found()
        return None if spark is None else spark.conf.get(USER_METADATA, None)

    def committed(self, root: str, version: int) -> None:
        spark = _found()
        if spark is not None:
            spark.conf.set(LAST_COMMIT, str(version))
            _refresh_cached(spark, root)


def _refresh_cached(spark: SparkSession, root: str) -> None:
    """Let Spark read rows of the table at `root` again that it keeps in memory."""
    cached = spark._jsparkSession.sharedState().cacheManager()
    if not cached.isEmpty():
        cached.recacheByPath(spark._jsparkSession, hadoop_url(root))


def _found() -> SparkSession | None:
    return _session.get() or active_session()


commit_as(_Session())
