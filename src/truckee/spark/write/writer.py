"""DataFrame -> data files and change files of a table, with their actions and statistics.

Spark's own Parquet writer moves the rows, in one job for data and change rows. Files are written
to their final place, since nobody sees them before the log names them. The tasks that wrote the
files send back their paths, sizes and statistics, so nothing is listed or read again.

    <root>/part-00000-<token>-<attempt>.c000.snappy.parquet                  data
    <root>/day=2024-01-02/part-00000-….parquet                               data, partitioned
    <root>/_change_data/cdc-00000-….parquet, <root>/_change_data/day=…/…     change rows

Every file of a job has the job's token in its name, so all of them can be found if the job fails.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import uuid4

from pyspark.sql import DataFrame, SparkSession

from truckee.changes.columns import CHANGE_TYPE
from truckee.errors.base import DeltaError
from truckee.errors.spark import SessionStoppedError
from truckee.protocol.actions import AddCDCFile, AddFile
from truckee.protocol.paths import CHANGE_DATA_DIRECTORY, decode_path, encode_path
from truckee.protocol.schema import StructType
from truckee.protocol.stats import encode_stats
from truckee.protocol.table_configuration import TableConfiguration
from truckee.scan.footer_statistics import (
    Footer,
    FooterColumn,
    file_stats,
    footer_columns,
    indexed_columns,
)
from truckee.spark.jvm.bridge import compiled
from truckee.spark.jvm.jvm_errors import translate_with
from truckee.spark.jvm.projection import column
from truckee.spark.session.job_descriptions import job_description
from truckee.spark.session.settings import session_settings
from truckee.spark.write.char_columns import text_length_rules, with_declared_lengths
from truckee.spark.write.constraints import Rule, guarded, table_rules, violation
from truckee.spark.write.file_layout import LaidOut, laid_out, partition_values, without_void
from truckee.spark.write.identity import Identity
from truckee.spark.write.job_files import (
    TRUCKEE_COMMIT,
    TRUCKEE_FORMAT,
    TaskFile,
    check_folder_writable,
    delete_by_token,
    delete_job_files,
    end_tasks,
    is_stopped,
    job_message,
    task_files,
    wanted_leaves,
)
from truckee.spark.write.optimize_write import is_optimized, rebalanced, rebalancing_settings
from truckee.spark.write.session_copy import FILE_SETTINGS, on_session
from truckee.storage.base import FileInfo, Storage

# Parquet's own committer would leave a file beside the data.
_NO_MARKERS = {"parquet.summary.metadata.level": "NONE"}
_COMMIT_PROTOCOL = "spark.sql.sources.commitProtocolClass"


@dataclass(frozen=True, kw_only=True)
class FileOptions:
    """How data files are split and encoded; None leaves it to Spark's own settings.

    `parquet` holds options of the Parquet writer itself, such as `parquet.block.size`.
    `optimize_write` says whether rows are shuffled first, to get fewer and larger files; None
    leaves it to the session, and then to the table. `one_partition_a_task` says that each task has
    rows of one partition only, so that they need not be sorted by partition.
    """

    compression: str | None = None
    max_records_per_file: int | None = None
    parquet: Mapping[str, str] = field(default_factory=dict)
    optimize_write: bool | None = None
    one_partition_a_task: bool = False

    def as_spark(self) -> dict[str, str]:
        """Return them as options of Spark's Parquet writer."""
        options = dict(self.parquet)
        if self.compression is not None:
            options["compression"] = self.compression
        if self.max_records_per_file is not None:
            options["maxRecordsPerFile"] = str(self.max_records_per_file)
        return options


@dataclass(frozen=True, kw_only=True)
class WrittenFiles:
    """The files that one write has made, none of them part of the table yet.

    `identity_marks` are the last numbers of the identity columns, by physical name.
    """

    spark: SparkSession
    root: str
    adds: tuple[AddFile, ...] = ()
    changes: tuple[AddCDCFile, ...] = ()
    num_rows: int = 0
    identity_marks: Mapping[str, int] = field(default_factory=dict)

    @property
    def num_bytes(self) -> int:
        """The size of the data files."""
        return sum(add.size for add in self.adds)

    def discard(self) -> None:
        """Delete the files, because the commit that would have named them did not happen."""
        paths = [add.path for add in self.adds] + [change.path for change in self.changes]
        delete_job_files(self.spark, self.root, [decode_path(path) for path in paths])


def write_files(
    df: DataFrame,
    *,
    storage: Storage,
    table: TableConfiguration,
    options: FileOptions | None = None,
    data_change: bool = True,
    rules: Iterable[Rule] = (),
    computed: Iterable[str] = (),
    identities: Mapping[str, Identity] | None = None,
) -> WrittenFiles:
    """Write rows of a table to files, in one pass, and return the actions that name them.

    `df` has the table's columns by their logical names and types, in any order. If it also has
    `_change_type`, rows where that is not null are change rows: they go to change files if the
    change data feed is on, and are left out otherwise. All other rows must satisfy the table's
    rules and `rules`, or an error of `truckee.errors.commands.write_rows` is raised; `computed` are
    generated columns that need no check. If anything fails, no file is left behind.
    """
    translate_with(violation)
    every_rule = [
        *table_rules(
            table.schema,
            table.properties,
            partition_columns=table.partition_columns,
            computed=computed,
        ),
        *text_length_rules(table.schema),
        *rules,
    ]
    options = options or FileOptions()
    stored = table.stored
    checked = without_void(_checked(df, table, stored, every_rule), table.schema)
    rows = _laid_out(checked, stored, options)
    check_folder_writable(storage.root)
    wanted = _WantedColumns(
        indexed_columns(stored),
        _identity_columns(stored, identities or {}),
    )
    with _no_leftovers(df.sparkSession, storage, table) as token:
        _write(rows, f"{storage.root}/{token}", wanted.all, options)
        files = list(task_files(job_message(df.sparkSession, token), wanted.all))
        return _written(
            df.sparkSession, storage, table, rows, files, wanted, data_change, identities or {}
        )


class _WantedColumns(NamedTuple):
    """The columns to read from footers: those with statistics, and identity columns."""

    indexed: list[FooterColumn]
    identities: list[FooterColumn]

    @property
    def all(self) -> list[FooterColumn]:
        return [*self.indexed, *self.identities]


def _checked(
    df: DataFrame, table: TableConfiguration, stored: TableConfiguration, rules: list[Rule]
) -> DataFrame:
    has_changes = CHANGE_TYPE in df.columns and CHANGE_TYPE not in table.schema.names
    if has_changes and not table.properties.enable_change_data_feed:
        df, has_changes = df.where(column(CHANGE_TYPE).isNull()).drop(CHANGE_TYPE), False
    partitions = {name.casefold() for name in table.partition_columns}
    # The rules guard a column that is written, or nothing would check them.
    data = [f.name for f in stored.schema.fields if f.name.casefold() not in partitions]
    is_change = column(CHANGE_TYPE).isNotNull() if has_changes else None
    checked = guarded(df, rules, through=data[0], unless=is_change)
    return with_declared_lengths(checked, table.schema)


def _laid_out(df: DataFrame, table: TableConfiguration, options: FileOptions) -> LaidOut:
    settings = {**FILE_SETTINGS, _COMMIT_PROTOCOL: TRUCKEE_COMMIT}
    if options.one_partition_a_task:
        settings["spark.sql.maxConcurrentOutputFileWriters"] = "1"
    users = session_settings(df.sparkSession)
    is_shuffled = is_optimized(options.optimize_write, users, table.properties.optimize_write)
    if is_shuffled:
        settings |= rebalancing_settings(users)
    rows = laid_out(
        on_session(df, settings),
        table.schema,
        table.partition_columns,
        table.column_mapping_mode,
    )
    return rows._replace(df=rebalanced(rows.df, rows.folders)) if is_shuffled else rows


@contextmanager
def _no_leftovers(
    spark: SparkSession, storage: Storage, table: TableConfiguration
) -> Iterator[str]:
    """Yield a token for a write job; if the body fails, cancel its tasks and delete their files."""
    token = str(uuid4())
    try:
        yield token
    except BaseException as error:
        end_tasks(spark, token)
        has_folders = bool(table.partition_columns)
        delete_by_token(spark, storage, token, has_folders=has_folders)
        if is_stopped(spark) and not isinstance(error, DeltaError | KeyboardInterrupt):
            raise SessionStoppedError from None
        raise


def _write(
    rows: LaidOut, folder: str, wanted: Sequence[FooterColumn], options: FileOptions
) -> None:
    context = rows.df.sparkSession.sparkContext
    tag = folder.rpartition("/")[2]
    jobs = compiled(rows.df.sparkSession, "TruckeeCommit")
    jobs.start(tag)
    context.addJobTag(tag)
    asked = {
        "truckee.write.columns": ",".join(map(str, wanted_leaves(wanted))),
        "truckee.write.changes": str(len(rows.folders) if rows.has_changes else -1),
    }
    try:
        writer = rows.df.write.options(**{**options.as_spark(), **_NO_MARKERS, **asked})
        with job_description(rows.df.sparkSession, "writing files"):
            writer.partitionBy(*rows.folders).mode("error").format(TRUCKEE_FORMAT).save(folder)
    finally:
        if not is_stopped(rows.df.sparkSession):
            context.removeJobTag(tag)
            jobs.end(tag)


def _written(
    spark: SparkSession,
    storage: Storage,
    table: TableConfiguration,
    rows: LaidOut,
    files: Iterable[TaskFile],
    wanted: _WantedColumns,
    data_change: bool,
    identities: Mapping[str, Identity],
) -> WrittenFiles:
    adds, changes, footers = [], [], []
    for file, footer in sorted(files, key=lambda found: found.file.path):
        values = partition_values(file.path, rows.folders)
        if file.path.startswith(f"{CHANGE_DATA_DIRECTORY}/"):
            changes.append(_change(file, values))
        else:
            footers.append(footer)
            adds.append(_add(table, file, footer, wanted.indexed, values, data_change))
    return WrittenFiles(
        spark=spark,
        root=storage.root,
        adds=tuple(adds),
        changes=tuple(changes),
        num_rows=sum(footer.num_rows for footer in footers),
        identity_marks=_identity_marks(footers, identities),
    )


def _add(
    table: TableConfiguration,
    file: FileInfo,
    footer: Footer,
    indexed: list[FooterColumn],
    values: dict[str, str | None],
    data_change: bool,
) -> AddFile:
    stats = file_stats(
        footer,
        indexed,
        prefix_length=table.properties.data_skipping_string_prefix_length,
        tight_bounds=table.tight_bounds,
    )
    return AddFile(
        path=encode_path(file.path),
        partition_values=values,
        size=file.size,
        modification_time=file.modified_ms,
        data_change=data_change,
        stats=encode_stats(stats),
    )


def _change(file: FileInfo, values: dict[str, str | None]) -> AddCDCFile:
    return AddCDCFile(path=encode_path(file.path), partition_values=values, size=file.size)


def _identity_columns(
    table: TableConfiguration, identities: Mapping[str, Identity]
) -> list[FooterColumn]:
    partitions = set(table.partition_columns)
    data = StructType(tuple(f for f in table.schema.fields if f.name not in partitions))
    positions = footer_columns(data)
    return [positions[(name,)] for name in identities]


def _identity_marks(footers: list[Footer], identities: Mapping[str, Identity]) -> dict[str, int]:
    marks: dict[str, int] = {}
    for name, identity in identities.items():
        bounds = [footer.bounds[(name,)] for footer in footers if footer.num_rows]
        if bounds and identity.step > 0:
            marks[name] = max(bound.greatest for bound in bounds)
        elif bounds:
            marks[name] = min(bound.least for bound in bounds)
    return marks
