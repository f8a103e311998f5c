"""VACUUM on Spark: settings of the session, an inventory as a DataFrame, deletion by its tasks.

Settings begin with `spark.databricks.delta.`:

| setting                                | default | meaning                                      |
|----------------------------------------|---------|----------------------------------------------|
| `retentionDurationCheck.enabled`       | true    | less than the table's retention is refused   |
| `vacuum.lite.enabled`                  | false   | LITE by default                              |
| `vacuum.logging.enabled`               | not set | commits before and after; unset: not on S3   |
| `vacuum.retentionWindowIgnore.enabled` | false   | the table's own retention counts             |
| `vacuum.parallelDelete.enabled`        | false   | Spark's tasks delete, however few files      |
| `vacuum.parallelDelete.parallelism`    | not set | the number of these tasks                    |
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pyspark import RDD
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import BooleanType, LongType, StringType, StructType

from truckee.care.vacuum.consumers import Consumer
from truckee.care.vacuum.dead_files import InventoryRow
from truckee.care.vacuum.plan import VacuumMode, VacuumOptions, plan_vacuum
from truckee.care.vacuum.vacuum import Delete, carry_out, delete_in_threads
from truckee.errors.commands.care import InventoryError
from truckee.errors.options import IllegalOptionError
from truckee.log.running_command import running
from truckee.options.delta_settings import warn_of_unused_settings
from truckee.options.text import Options
from truckee.spark.local_frames import local_frame, result_frame
from truckee.spark.session.hadoop_storage import HadoopStorage
from truckee.spark.session.job_descriptions import job_description
from truckee.spark.session.python_workers import workers_have_truckee
from truckee.spark.session.settings import session_settings
from truckee.storage.base import Storage
from truckee.storage.memory import MemoryStorage
from truckee.storage.read_bounds import without_fence
from truckee.storage.tree import DeletionOutcome, delete_files
from truckee.storage.urls import scheme_of

_logger = logging.getLogger(__name__)
_PARALLEL = "spark.databricks.delta.vacuum.parallelDelete."
_HERE = (MemoryStorage, HadoopStorage)  # storages that only this process can reach
_MANY_FILES = 100_000
_FILES_A_TASK = 5_000
_INVENTORY = (
    ("path", StringType()),
    ("length", LongType()),
    ("isDir", BooleanType()),
    ("modificationTime", LongType()),
)


def vacuum(
    spark: SparkSession,
    storage: Storage,
    *,
    retention_hours: float | None = None,
    dry_run: bool = False,
    mode: VacuumMode | str | None = None,
    inventory: DataFrame | None = None,
    protect: Iterable[Consumer] = (),
) -> DataFrame:
    """Delete the files that no version within the retention needs; return paths.

    A dry run returns the files that would be deleted, one path for each row, and changes nothing.
    Otherwise there is one row with the table's root.
    """
    settings = session_settings(spark)
    warn_of_unused_settings(settings)
    options = VacuumOptions(
        retention_hours=retention_hours,
        mode=mode,
        inventory=None if inventory is None else _rows(inventory),
        protect=tuple(protect),
    )
    if inventory is not None and mode is not None and VacuumMode.LITE in (mode, _word(mode)):
        raise IllegalOptionError(option="mode", value="LITE", needs="FULL with an inventory")
    with running("VACUUM", storage.root):
        plan = plan_vacuum(storage, options, settings)
        if dry_run:
            return _paths(spark, [_qualified(storage, path) for path in plan.paths])
        if plan.breaks is not None:
            _logger.warning("vacuum of %s: %s", storage.root, plan.breaks)
        carry_out(plan, settings, delete=_deletion(spark, settings))
    return _paths(spark, [_qualified(storage)])


def _word(mode: VacuumMode | str) -> VacuumMode | None:
    return VacuumMode.LITE if isinstance(mode, str) and mode.upper() == "LITE" else None


def _paths(spark: SparkSession, paths: Sequence[str]) -> DataFrame:
    return result_frame(local_frame(spark, [(path,) for path in paths], "path string"))


def _qualified(storage: Storage, path: str = "") -> str:
    root = storage.root if scheme_of(storage.root) else f"file:{storage.root}"
    return f"{root}/{path}" if path else root


def _rows(inventory: DataFrame) -> Iterator[InventoryRow]:
    """Yield the rows of an inventory; InventoryError if it has the wrong columns."""
    _check_columns(inventory.schema)
    return _read_rows(inventory.select(*(name for name, _ in _INVENTORY)))


def _read_rows(inventory: DataFrame) -> Iterator[InventoryRow]:
    with job_description(inventory.sparkSession, "reading the inventory"):
        for row in inventory.toLocalIterator():
            yield InventoryRow(row[0], row[1] or 0, bool(row[2]), row[3] or 0)


def _check_columns(schema: StructType) -> None:
    wanted = [(name, kind.simpleString()) for name, kind in _INVENTORY]
    names = {name for name, _ in wanted}
    found = [(f.name, f.dataType.simpleString()) for f in schema.fields if f.name in names]
    if found != wanted:
        raise InventoryError(
            found=", ".join(f"{f.name} {f.dataType.simpleString()}" for f in schema.fields),
            expected=", ".join(f"{name} {kind}" for name, kind in wanted),
        )


def _deletion(spark: SparkSession, settings: Mapping[str, str]) -> Delete:
    """Return how files are deleted: by this process, or by Spark's tasks if they are many."""
    given = Options(settings)
    is_wanted = given.boolean(f"{_PARALLEL}enabled")
    tasks = given.get(f"{_PARALLEL}parallelism")

    def delete(storage: Storage, paths: Sequence[str]) -> Iterable[DeletionOutcome]:
        is_remote = scheme_of(storage.root) not in (None, "file")
        is_large = is_remote and len(paths) >= _MANY_FILES
        if not (is_wanted or is_large) or isinstance(without_fence(storage), _HERE) or not paths:
            return delete_in_threads(storage, paths)
        number = int(tasks) if tasks else max(1, -(-len(paths) // _FILES_A_TASK))
        return _delete_on_spark(spark, storage, paths, number)

    return delete


def _delete_on_spark(
    spark: SparkSession, storage: Storage, paths: Sequence[str], tasks: int
) -> Iterable[DeletionOutcome]:
    try:
        context = spark.sparkContext
    except (PySparkException, AttributeError):  # a session of Spark Connect has none
        return delete_in_threads(storage, paths)
    if not workers_have_truckee(spark):
        return delete_in_threads(storage, paths)
    parts = context.parallelize(paths, max(1, tasks))
    return _each_described(spark, parts.mapPartitions(lambda part: [delete_files(storage, part)]))


def _each_described(spark: SparkSession, parts: RDD[DeletionOutcome]) -> Iterator[DeletionOutcome]:
    with job_description(spark, "deleting files"):
        yield from parts.toLocalIterator()
