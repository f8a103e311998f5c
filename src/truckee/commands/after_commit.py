"""Work that follows a commit of rows, and that cannot make the commit fail.

Commands that write rows call `after_commit`. The work itself is defined in modules that import
this one, and is registered with `add_follow_up` when the public modules are imported.
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
"""Gets the session, the table, the committed version and its metadata."""

_follow_ups: dict[str, FollowUp] = {}


def add_follow_up(name: str, follow_up: FollowUp) -> None:
    """Register work to do after each commit of rows; registering it again changes nothing."""
    _follow_ups[name] = follow_up


def rows_committed(spark: SparkSession, storage: Storage, version: int, metadata: Metadata) -> None:
    """Do the work that follows a commit of rows; a failure is only logged."""
    for name, follow_up in _follow_ups.items():
        try:
            follow_up(spark, storage, version, metadata)
        except Exception as error:
            _log.warning("%s after version %d of %s failed: %s", name, version, storage.root, error)
