"""The session for which a thread commits: its text for each commit, and the last version of it.

Both are settings by delta-spark's names. A session sets the text; the version is set here.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from pyspark.sql import SparkSession

from truckee.log.commit.committer import commit_as

LAST_COMMIT = "spark.databricks.delta.lastCommitVersionInSession"
USER_METADATA = "spark.databricks.delta.commitInfo.userMetadata"

_session: ContextVar[SparkSession | None] = ContextVar("truckee_session", default=None)


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

    def committed(self, version: int) -> None:
        spark = _found()
        if spark is not None:
            spark.conf.set(LAST_COMMIT, str(version))


def _found() -> SparkSession | None:
    return _session.get() or SparkSession.getActiveSession()


commit_as(_Session())
