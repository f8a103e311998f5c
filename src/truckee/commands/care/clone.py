"""CLONE: a new table with the rows of another one, whose files are shared or copied.

A shallow clone is one commit. A deep clone copies first and commits at the end. If it is stopped in
between, there is no table yet, and the next attempt copies only what is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import date, datetime

from msgspec.structs import replace
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from truckee.care.clone_plan import ClonedFiles, cloned_metadata, deep_files, shallow_files
from truckee.care.health.presence import absent, needed_paths
from truckee.commands.care.restore import write_checkpoint_after
from truckee.commands.schema.clustering import no_clustering
from truckee.commands.table_plan import existing_table
from truckee.errors.commands.clone import ClonePathError, NonEmptyCloneError, SelfCloneError
from truckee.errors.commands.create import CloneTargetExistsError
from truckee.errors.commands.write import NonEmptyFolderError
from truckee.errors.options import ArgumentValueError
from truckee.errors.spark import DataFileNotFoundError
from truckee.errors.transaction import ConcurrentWriteException, MaxCommitRetriesExceededError
from truckee.log.checkpoint.schema import wire_name
from truckee.log.commit.conflicts import IsolationLevel
from truckee.log.commit.transaction import Transaction
from truckee.log.files.history import version_as_of
from truckee.log.running_command import running
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.options.arguments import checked_version, class_text
from truckee.options.timestamps import timestamp_ms
from truckee.protocol.actions import DomainMetadata
from truckee.protocol.features import (
    check_writable,
    protocol_for,
    protocol_request,
    upgraded_protocol,
)
from truckee.protocol.paths import decode_path, is_absolute
from truckee.protocol.properties import validated_properties
from truckee.protocol.table_configuration import CLUSTERING_DOMAIN
from truckee.spark.local_frames import metrics_frame
from truckee.spark.session.hadoop_storage import HadoopStorage
from truckee.spark.session.job_descriptions import job_description
from truckee.spark.session.python_workers import workers_have_truckee
from truckee.spark.session.settings import session_storage, session_zone
from truckee.storage.base import Storage
from truckee.storage.copying import FileCopy, copy_file, copy_files
from truckee.storage.memory import MemoryStorage
from truckee.storage.read_bounds import without_fence
from truckee.storage.urls import scheme_of

# Storages that only this process can reach.
_HERE = (MemoryStorage, HadoopStorage)

CLONE_RESULT_COLUMNS = (
    "source_table_size",
    "source_num_of_files",
    "num_removed_files",
    "num_copied_files",
    "removed_files_size",
    "copied_files_size",
)
_THREADS = 8
_FILES_A_TASK = 4
_BY_CATALOG = frozenset({"catalogManaged", "catalogOwned", "catalogOwned-preview"})

Copy = Callable[[Storage, Storage, Sequence[FileCopy]], None]
"""Copies files from one storage to another."""


@dataclass(frozen=True, kw_only=True)
class CloneRequest:
    """What a clone should be; `source_name` is what its commit calls the source."""

    is_shallow: bool = False
    replace: bool = False
    properties: Mapping[str, str] = field(default_factory=dict)
    source_name: str | None = None


def clone(
    spark: SparkSession,
    source: Storage,
    target: str,
    request: CloneRequest,
    *,
    version: int | None = None,
    timestamp: str | date | datetime | None = None,
) -> DataFrame:
    """Clone a table, its latest version or an older one; return delta-spark's row of numbers."""
    check_clone_target(target)
    at = source_version(source, version, timestamp, time_zone=session_zone(spark))
    snapshot = load_snapshot(source, at)
    counts = clone_table(snapshot, session_storage(spark, target), request, copy=_copying(spark))
    return metrics_frame(spark, counts, CLONE_RESULT_COLUMNS)


def check_clone_target(target: str) -> None:
    """Raise unless a target is an absolute path or a URL."""
    if not isinstance(target, str):
        raise ArgumentValueError(what="target", needs="be a string", found=class_text(target))
    if not is_absolute(target):
        raise ClonePathError(path=target)


def source_version(
    source: Storage,
    version: int | None,
    timestamp: str | date | datetime | None,
    *,
    time_zone: str = "UTC",
) -> int | None:
    """Return the requested version of the source, None for the latest."""
    if timestamp is not None:
        at = timestamp_ms(timestamp, option="timestamp", time_zone=time_zone)
        return version_as_of(source, at)
    return None if version is None else checked_version(version, what="version")


def copy_in_threads(source: Storage, target: Storage, files: Sequence[FileCopy]) -> None:
    """Copy files from this process, several at a time."""
    with ThreadPoolExecutor(_THREADS) as pool:
        for _ in pool.map(lambda file: copy_file(source, target, file), files):
            pass


def clone_table(
    source: Snapshot, target: Storage, request: CloneRequest, *, copy: Copy = copy_in_threads
) -> dict[str, int]:
    """Clone a version of a table into a storage, and return the metrics.

    Raises before anything is written if the target cannot be a clone of this source.
    """
    with running("CLONE", target.root):
        return _cloned(source, target, request, copy)


def _cloned(source: Snapshot, target: Storage, request: CloneRequest, copy: Copy) -> dict[str, int]:
    existing = existing_table(target)
    if existing is not None and source.storage.root == target.root:
        raise SelfCloneError(table=target.root, files=existing.num_files)
    check_clone_existing(existing, target, request)
    files = shallow_files(source) if request.is_shallow else deep_files(source)
    transaction = _transaction(source, target, existing, request)
    _check_source(source)
    if existing is None:
        check_clone_folder(target, files)
    copied_size = 0 if request.is_shallow else _copy(source, target, files, copy)
    name = request.source_name or f"delta.`{place_text(source.storage)}`"
    parameters = {"source": name, "sourceVersion": source.version}
    return commit_clone(transaction, files, parameters, copied_size=copied_size)


def check_clone_existing(existing: Snapshot | None, target: Storage, request: CloneRequest) -> None:
    """Raise if the table at the target, if there is one, cannot become a clone."""
    if existing is None:
        return
    check_writable(existing.protocol, existing.metadata, target.root)
    if existing.num_files:
        raise NonEmptyCloneError(table=target.root, files=existing.num_files)
    if not request.replace:
        raise CloneTargetExistsError(table=target.root)


def _check_source(source: Snapshot) -> None:
    for path in absent(source.storage, needed_paths(source.files())):
        raise DataFileNotFoundError(path=path, version=source.version)


def check_clone_folder(target: Storage, files: ClonedFiles) -> None:
    """Raise NonEmptyFolderError if there are files that do not come from an earlier attempt."""
    mine = {file.target for file in files.copies}
    for found in target.list_tree(""):
        is_hidden = any(part[:1] in (".", "_") for part in found.path.split("/"))
        if not is_hidden and found.path not in mine:
            raise NonEmptyFolderError(path=target.root, found=found.path)


def _transaction(
    source: Snapshot, target: Storage, existing: Snapshot | None, request: CloneRequest
) -> Transaction:
    """Return the transaction that makes the target a table like the source."""
    properties = validated_properties(request.properties, source.metadata.configuration)
    before = None if existing is None else existing.metadata
    metadata = cloned_metadata(source.metadata, before, properties.items())
    check_writable(source.protocol, metadata, source.storage.root)
    transaction = Transaction(
        target, existing, isolation=IsolationLevel.SERIALIZABLE, max_attempts=1
    )
    transaction.read_whole_table()
    transaction.set_metadata(metadata)
    wanted = source.configuration.features - _BY_CATALOG
    asked = protocol_request(metadata.configuration)
    features = sorted({*wanted, *asked.features})
    stored = replace(metadata, configuration=dict(asked.configuration))
    if existing is None:
        transaction.set_protocol(protocol_for(stored, features))
    else:
        transaction.set_protocol(upgraded_protocol(existing.protocol, stored, features))
    transaction.stage(*_clustering(source, existing))
    return transaction


def _clustering(source: Snapshot, existing: Snapshot | None) -> Iterable[DomainMetadata]:
    found = source.domain_metadata.get(CLUSTERING_DOMAIN)
    if found is not None:
        yield found
    elif existing is not None and CLUSTERING_DOMAIN in existing.domain_metadata:
        yield no_clustering()


def _copy(source: Snapshot, target: Storage, files: ClonedFiles, copy: Copy) -> int:
    """Copy the files that are missing, and return the size of all copies in bytes."""
    sizes = {found.path: found.size for found in target.list_tree("")}
    expected = {decode_path(add.path): add.size for add in files.adds}
    missing = [
        file
        for file in files.copies
        if file.target not in sizes
        or expected.get(file.target, sizes[file.target]) != sizes[file.target]
    ]
    copy(source.storage, target, missing)
    return sum(add.size for add in files.adds)


def place_text(storage: Storage) -> str:
    """Return the root of a source as the history shows it, with a scheme."""
    return storage.root if scheme_of(storage.root) else f"file:{storage.root}"


def commit_clone(
    transaction: Transaction,
    files: ClonedFiles,
    parameters: Mapping[str, object],
    *,
    copied_size: int = 0,
) -> dict[str, int]:
    """Commit a clone with its files, and return the metrics."""
    counts = {
        "source_table_size": sum(add.size for add in files.adds),
        "source_num_of_files": len(files.adds),
        "num_removed_files": 0,
        "num_copied_files": len(files.copies),
        "removed_files_size": 0,
        "copied_files_size": copied_size,
    }
    metrics = {wire_name(name): value for name, value in counts.items()}
    transaction.stage(*files.adds)
    try:
        version = transaction.commit(
            "CLONE", parameters=parameters, metrics=metrics, is_blind_append=False
        )
    except MaxCommitRetriesExceededError as error:
        raise ConcurrentWriteException(
            version=transaction.read_version + 1, read_version=transaction.read_version
        ) from error
    write_checkpoint_after(transaction.storage, version)
    return counts


def _copying(spark: SparkSession) -> Copy:
    """Return how to copy files: with Spark's tasks, or in this process if there are none."""

    def copy(source: Storage, target: Storage, files: Sequence[FileCopy]) -> None:
        try:
            context = spark.sparkContext
        except (PySparkException, AttributeError):  # a session of Spark Connect has none
            copy_in_threads(source, target, files)
            return
        is_here = any(isinstance(without_fence(each), _HERE) for each in (source, target))
        if not files or is_here or not workers_have_truckee(spark):
            copy_in_threads(source, target, files)
            return
        parts = context.parallelize(files, max(1, -(-len(files) // _FILES_A_TASK)))
        with job_description(spark, "copying files"):
            parts.mapPartitions(lambda part: [copy_files(source, target, part)]).collect()

    return copy
