"""DataFrame -> data files and change files of a table, with their actions and statistics.

Spark's own Parquet writer moves the rows. Each write has a folder of its own below the table's
root, in which its data files stay: `add.path` may be any path, and nobody sees a file before the
log names it. Change rows are written by the same job, into a folder beside the data, which is then
moved as a whole below `_change_data`.

    <root>/<unique>/part-00000-….parquet                          data
    <root>/<unique>/day=2024-01-02/part-00000-….parquet           data, partitioned
    <root>/<unique>/change=false/…, <root>/_change_data/<unique>/… data and change rows of one job
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from uuid import uuid4

from pyspark.sql import DataFrame, SparkSession

from truckee.errors.base import DeltaError
from truckee.errors.spark import SessionStoppedError
from truckee.protocol.actions import AddCDCFile, AddFile
from truckee.protocol.paths import CHANGE_DATA_DIRECTORY, encode_path
from truckee.protocol.schema import StructType
from truckee.protocol.stats import encode_stats
from truckee.protocol.table_configuration import TableConfiguration
from truckee.scan.footer_statistics import (
    Footer,
    FooterColumn,
    file_stats,
    footer_columns,
    indexed_columns,
    read_footers,
)
from truckee.spark.columns import column
from truckee.spark.jvm.jvm_errors import translate_with
from truckee.spark.session.job_descriptions import described_jobs
from truckee.spark.session.settings import session_settings
from truckee.spark.write.char_columns import text_length_rules, with_declared_lengths
from truckee.spark.write.constraints import Rule, guarded, table_rules, violation
from truckee.spark.write.folders import (
    check_folder_writable,
    delete_folder,
    end_tasks,
    is_stopped,
    move_folder,
)
from truckee.spark.write.identity import Identity
from truckee.spark.write.layout import CHANGE_TYPE, LaidOut, laid_out, partition_values
from truckee.spark.write.optimized import is_optimized, rebalanced, rebalancing_settings
from truckee.spark.write.plain_session import FILE_SETTINGS, on_session
from truckee.storage.base import FileInfo, Storage

# Hadoop's committer and Parquet's would leave files of their own beside the data.
_NO_MARKERS = {
    "mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
    "parquet.summary.metadata.level": "NONE",
}


@dataclass(frozen=True, kw_only=True)
class FileOptions:
    """How data files are cut and encoded; None leaves it to Spark's own settings.

    `parquet` holds options of the Parquet writer itself, such as `parquet.block.size`.
    `optimize_write` says whether rows are shuffled first, so that there are fewer and larger files;
    None leaves it to the session, and then to the table. `one_partition_a_task` says that no task
    has rows of more than one partition, so that they need not be sorted by it.
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
    folders: tuple[str, ...]
    adds: tuple[AddFile, ...] = ()
    changes: tuple[AddCDCFile, ...] = ()
    num_rows: int = 0
    identity_marks: Mapping[str, int] = field(default_factory=dict)

    @property
    def num_bytes(self) -> int:
        """The size of the data files."""
        return sum(add.size for add in self.adds)

    def discard(self) -> None:
        """Delete the files, for the commit that was to name them did not happen."""
        for folder in self.folders:
            delete_folder(self.spark, folder)


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

    `df` has the table's columns by their logical names and types, in any order. Where it also has
    `_change_type`, rows for which that is not null are change rows: with the change data feed on
    they go to change files, with it off they are left out. All other rows must keep the table's
    rules and `rules`, or an error of `truckee.errors.write_rows` is raised; `computed` are
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
    rows = _laid_out(_checked(df, table, every_rule), table, options)
    name = uuid4().hex[:16]
    folder = f"{storage.root}/{name}"
    change_folder = f"{storage.root}/{CHANGE_DATA_DIRECTORY}/{name}"
    check_folder_writable(storage.root)
    with _no_leftovers(df.sparkSession, (folder, change_folder)) as tag:
        _write(rows, folder, options, tag)
        if rows.change_column is not None:
            marked = f"{folder}/{rows.change_column}=true"
            move_folder(df.sparkSession, marked, change_folder)
        return _written(df.sparkSession, storage, table, rows, name, data_change, identities or {})


def _checked(df: DataFrame, table: TableConfiguration, rules: list[Rule]) -> DataFrame:
    has_changes = CHANGE_TYPE in df.columns and CHANGE_TYPE not in table.schema.names
    if has_changes and not table.properties.enable_change_data_feed:
        df, has_changes = df.where(column(CHANGE_TYPE).isNull()).drop(CHANGE_TYPE), False
    partitions = {name.casefold() for name in table.partition_columns}
    data = [f.name for f in table.schema.fields if f.name.casefold() not in partitions]
    is_change = column(CHANGE_TYPE).isNotNull() if has_changes else None
    checked = guarded(df, rules, through=data[0], unless=is_change)
    return with_declared_lengths(checked, table.schema)


def _laid_out(df: DataFrame, table: TableConfiguration, options: FileOptions) -> LaidOut:
    settings = dict(FILE_SETTINGS)
    if not table.partition_columns or options.one_partition_a_task:
        # Data and change rows go to two files at once, rather than being sorted apart first.
        settings["spark.sql.maxConcurrentOutputFileWriters"] = "2"
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
def _no_leftovers(spark: SparkSession, folders: tuple[str, ...]) -> Iterator[str]:
    """Yield a tag for Spark jobs; if the body fails, end them and delete the folders."""
    tag = f"truckee-write-{uuid4().hex}"
    try:
        yield tag
    except BaseException as error:
        end_tasks(spark, tag)
        for folder in folders:
            delete_folder(spark, folder)
        if is_stopped(spark) and not isinstance(error, DeltaError | KeyboardInterrupt):
            raise SessionStoppedError from None
        raise


def _write(rows: LaidOut, folder: str, options: FileOptions, tag: str) -> None:
    context = rows.df.sparkSession.sparkContext
    context.addJobTag(tag)
    try:
        writer = rows.df.write.options(**{**options.as_spark(), **_NO_MARKERS})
        with described_jobs(rows.df.sparkSession, "writing files"):
            writer.partitionBy(*rows.folders).mode("error").parquet(folder)
    finally:
        if not is_stopped(rows.df.sparkSession):
            context.removeJobTag(tag)


def _written(
    spark: SparkSession,
    storage: Storage,
    table: TableConfiguration,
    rows: LaidOut,
    name: str,
    data_change: bool,
    identities: Mapping[str, Identity],
) -> WrittenFiles:
    partitions = rows.folders
    if rows.change_column is not None:
        partitions = rows.folders[1:]
    indexed = indexed_columns(table)
    extra = _identity_columns(table, identities)
    files = _data_files(storage, name)
    footers = read_footers(storage, [file.path for file in files], [*indexed, *extra])
    adds = []
    for file, footer in zip(files, footers, strict=True):
        if footer.num_rows == 0:
            storage.delete(file.path)
        else:
            values = partition_values(file.path, partitions)
            adds.append(_add(table, file, footer, indexed, values, data_change))
    folders: tuple[str, ...] = (f"{storage.root}/{name}",)
    changes: tuple[AddCDCFile, ...] = ()
    if rows.change_column is not None:
        change_name = f"{CHANGE_DATA_DIRECTORY}/{name}"
        folders = (*folders, f"{storage.root}/{change_name}")
        found = _data_files(storage, change_name)
        changes = tuple(_change(file, partition_values(file.path, partitions)) for file in found)
    return WrittenFiles(
        spark=spark,
        folders=folders,
        adds=tuple(adds),
        changes=changes,
        num_rows=sum(footer.num_rows for footer in footers),
        identity_marks=_identity_marks(footers, identities),
    )


def _data_files(storage: Storage, folder: str) -> list[FileInfo]:
    files = storage.list_tree(folder)
    return sorted(file for file in files if file.path.rpartition("/")[2][:1] not in (".", "_"))


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
