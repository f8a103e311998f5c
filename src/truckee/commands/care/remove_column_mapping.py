"""Column mapping is removed from a table: its files are written anew, with the columns' own names.

One commit replaces all files, takes ids and physical names off the schema, and switches the mode
off. No row changes, so `dataChange` is false. Whoever wrote files with physical names meanwhile
conflicts with it, and the other way round.

    before   column `name` (physical name `col-4f1c`)   file: col-4f1c
    after    column `name`                              file: name
"""

from __future__ import annotations

from msgspec.structs import replace
from pyspark.sql import SparkSession

from truckee.care.bins import packed_bins, partition_of
from truckee.commands.care.optimize_plan import partition_fields
from truckee.commands.care.rewrite import Rewritten, rewrite_bins
from truckee.commands.commit import commit_written
from truckee.commands.removed_files import file_removals
from truckee.commands.schema.clustering import clustering_paths, recorded_clustering
from truckee.commands.schema.column_mapping import MAX_ID_KEY, MODE_KEY, without_column_mapping
from truckee.commands.schema.column_rules import check_columns
from truckee.commands.table_plan import TablePlan, table_plan
from truckee.errors.columns import InvalidColumnNamesError, UnmappedColumnNamesError
from truckee.errors.commands.alter import ColumnMappingModeChangeError
from truckee.log.running_command import running
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.options.text import Options
from truckee.spark.read.row_id_columns import check_row_ids
from truckee.spark.session.settings import session_settings, session_zone
from truckee.storage.base import Storage

_OPERATION = "REMOVE COLUMN MAPPING"
_ALLOWED = "spark.databricks.delta.columnMapping.allowRemoval"
# Small files are joined up to this size, so that a table of many files needs few tasks.
_FILE_SIZE = 128 << 20


def remove_column_mapping(spark: SparkSession, storage: Storage, *, unsets: bool) -> int:
    """Rewrite a table's files with the names of its columns; return the version without mapping.

    The mode becomes `none`; with `unsets`, the property goes. Raises UnmappedColumnNamesError if
    Parquet does not allow a name, and ColumnMappingModeChangeError if the session forbids it.
    """
    snapshot = load_snapshot(storage)
    table = _unmapped_plan(snapshot, unsets=unsets)
    if not Options(session_settings(spark)).boolean(_ALLOWED, default=True):
        raise ColumnMappingModeChangeError(old=snapshot.properties.column_mapping_mode, new="none")
    table.check(_OPERATION)
    check_row_ids(snapshot, _OPERATION)
    with running(_OPERATION, storage.root):
        of = partition_of(partition_fields(snapshot), session_zone(spark))
        bins = packed_bins(snapshot.files(), of, max_size=_FILE_SIZE)
        done = rewrite_bins(spark, snapshot, bins, operation=_OPERATION, table=table.configuration)
        return _commit(table, done)


def _unmapped_plan(snapshot: Snapshot, *, unsets: bool) -> TablePlan:
    schema = without_column_mapping(snapshot.schema)
    root = snapshot.storage.root
    try:
        check_columns(schema, mapping_mode="none", table=root, may_be_empty=True)
    except InvalidColumnNamesError as error:
        raise UnmappedColumnNamesError(columns=error.columns) from None
    configuration = dict(snapshot.metadata.configuration)
    configuration.pop(MAX_ID_KEY, None)
    configuration.pop(MODE_KEY, None)
    if not unsets:
        configuration[MODE_KEY] = "none"
    metadata = replace(
        snapshot.metadata, schema_string=schema.to_json(), configuration=configuration
    )
    # Clustering columns are recorded by their physical names.
    clustered = clustering_paths(snapshot)
    domains = [] if clustered is None else [recorded_clustering(map(tuple, clustered))]
    return table_plan(snapshot.storage, snapshot, metadata, domains=domains)


def _commit(table: TablePlan, done: Rewritten) -> int:
    transaction = table.transaction()
    transaction.read_whole_table()
    removed = done.removed
    transaction.stage(*done.adds, *file_removals(removed, data_change=False))
    metrics = {
        "numRewrittenFiles": len(removed),
        "numOutputBytes": sum(add.size for add in done.adds),
        "numRemovedBytes": sum(file.size for file in removed),
        "numCopiedRows": sum(files.num_rows for files in done.written),
        "numDeletionVectorsRemoved": sum(file.deletion_vector is not None for file in removed),
    }
    return commit_written(transaction, done, _OPERATION, metrics=metrics)
