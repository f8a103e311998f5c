"""What follows a commit of rows: work that nobody waits for, and that cannot make the commit fail.

Commands that write rows say so here. What is done then stands further down the path of imports,
and is added by whoever opens the front door (`add_follow_up`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeAlias

from pyspark.sql import SparkSession

from truckee.protocol.actions import Metadata
from truckee.storage.base import Storage

_log = logging.getLogger(__name__)

FollowUp: TypeAlias = Callable[[SparkSession, Storage, int, Metadata], None]
"""Is given the session, the table, the version that was committed and the metadata it has."""

_follow_ups: dict[str, FollowUp] = {}


def add_follow_up(name: str, follow_up: FollowUp) -> None:
    """Let something be done after each commit of rows; adding it again changes nothing."""
    _follow_ups[name] = follow_up


def rows_committed(spark: SparkSession, storage: Storage, version: int, metadata: Metadata) -> None:
    """Do what follows a commit of rows; a failure is logged, for the commit stands."""
    for name, follow_up in _follow_ups.items():
        try:
            follow_up(spark, storage, version, metadata)
        except Exception as error:
            _log.warning("%s after version %d of %s failed: %s", name, version, storage.root, error)
