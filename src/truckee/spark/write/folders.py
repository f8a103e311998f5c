"""Folders of a table as Hadoop sees them: moved and deleted whole, on disks and object stores."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from truckee.errors.storage import StorageError, StoragePermissionError
from truckee.spark.jvm.bridge import java_class

_WAIT_SECONDS = 30.0


def move_folder(spark: SparkSession, source: str, target: str) -> None:
    """Move a folder to another place of the same store; nothing happens if there is none."""
    files, path = _open(spark, source)
    if not files.exists(path):
        return
    _, target_path = _open(spark, target)
    files.mkdirs(target_path.getParent())
    if not files.rename(path, target_path):
        raise OSError(f"the folder {source} could not be moved to {target}")


def check_folder_writable(root: str) -> None:
    """Raise StorageError if a local folder cannot be made or written to.

    A store is asked by the write itself.
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


def delete_folder(spark: SparkSession, url: str) -> None:
    """Delete a folder and all that is in it; it is no error if there is none."""
    files, path = _open(spark, url)
    files.delete(path, True)


def _open(spark: SparkSession, url: str) -> tuple[Any, Any]:
    # Also where the session was stopped meanwhile, and leaves files behind.
    path = java_class(spark, "org.apache.hadoop.fs.Path")(url)
    configuration = spark._jsparkSession.sessionState().newHadoopConf()
    return path.getFileSystem(configuration), path


def end_tasks(spark: SparkSession, tag: str) -> None:
    """Cancel the jobs with a tag, and wait until their last task has ended.

    A job fails as soon as one of its tasks does, while others still write. What they write after
    the job's folder was deleted would stay there for good.
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
