"""The files of a write job: what its tasks report, and how to delete those of a failed job."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from truckee.errors.base import DeltaError
from truckee.errors.storage import StorageError, StoragePermissionError
from truckee.protocol.paths import CHANGE_DATA_DIRECTORY
from truckee.spark.jvm.bridge import compiled
from truckee.spark.jvm.classes import maker
from truckee.storage.base import FileInfo, Storage

_log = logging.getLogger(__name__)

_WAIT_SECONDS = 30.0

TRUCKEE_COMMIT = "truckee.TruckeeCommit"
"""The class that decides where files of a job are written; Spark finds it by name."""


def job_message(spark: SparkSession, token: str) -> str:
    """Return what the tasks of a finished job sent back; it can be asked for only once."""
    message = compiled(spark, "TruckeeCommit").take(token)
    assert message is not None, "a write job has ended without a message"
    return str(message)


def check_folder_writable(root: str) -> None:
    """Raise StorageError if a local folder cannot be made or written to.

    For an object store, the write itself finds out.
    """
    if not root.startswith("/"):
        return
    place = next(path for path in (Path(root), *Path(root).parents) if path.exists())
    if not place.is_dir():
        reason = f"{place} is a file, and no folder"
        raise StorageError(action="write to", path=root, reason=reason)
    if not os.access(place, os.W_OK | os.X_OK):
        reason = f"{place} is read-only"
        raise StoragePermissionError(action="write to", path=root, reason=reason)


def is_stopped(spark: SparkSession) -> bool:
    """Return whether the session was stopped, or is being stopped."""
    context = spark.sparkContext._jsc
    return context is None or bool(context.sc().isStopped())


def delete_job_files(spark: SparkSession, root: str, paths: Sequence[str]) -> None:
    """Delete files below a table's root; it is no error if there are none.

    Hadoop also deletes what it keeps beside a file, such as its checksum.
    """
    if not paths:
        return
    # This also works if the session was stopped meanwhile and left files behind.
    settings = spark._jsparkSession.sessionState().newHadoopConf()
    maker(spark.sparkContext, "TruckeeCommit").delete(settings, root, "\n".join(paths))


def delete_by_token(
    spark: SparkSession, storage: Storage, token: str, *, has_folders: bool
) -> None:
    """Delete the files of a failed job, which are recognised by the token in their names.

    Tasks that fail delete what they wrote, but a task whose process died cannot. So the folders
    that may hold files are listed: all folders of the table if it has partitions. Errors here are
    only logged, since the error of the job is the one to raise.
    """
    try:
        found = [file.path for file in _listed(storage, has_folders) if token in file.path]
        delete_job_files(spark, storage.root, found)
    except (DeltaError, OSError, Py4JError):
        _log.warning(
            "files with %s in their names could not be deleted from %s; a VACUUM will delete them",
            token,
            storage.root,
            exc_info=True,
        )


def _listed(storage: Storage, has_folders: bool) -> Iterable[FileInfo]:
    if has_folders:
        return storage.list_tree("")
    return chain(storage.list_from("part-"), storage.list_from(f"{CHANGE_DATA_DIRECTORY}/cdc-"))


def end_tasks(spark: SparkSession, tag: str) -> None:
    """Cancel the jobs with a tag, and wait until their last task has ended.

    A job fails as soon as one of its tasks does, while others still write. Files that they write
    after the job's files were deleted would stay forever.
    """
    if is_stopped(spark):
        return
    spark.sparkContext.cancelJobsWithTag(tag)
    deadline = time.monotonic() + _WAIT_SECONDS
    while time.monotonic() < deadline and _active_tasks(spark, tag):
        time.sleep(0.05)


def _active_tasks(spark: SparkSession, tag: str) -> int:
    tracker = spark.sparkContext.statusTracker()
    tagged = spark.sparkContext._jsc.sc().statusTracker().getJobIdsForTag(tag)
    jobs = [tracker.getJobInfo(job) for job in tagged]
    stages = [tracker.getStageInfo(stage) for job in jobs if job for stage in job.stageIds]
    return sum(stage.numActiveTasks for stage in stages if stage)
