"""The files of a feed that may match a filter, by the columns that are constant in each file.

Spark skips such files exactly, once it has the list of all of them. This module shortens the list
before, by the filters that Python can evaluate, so that no vectors of skipped files are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta, timezone

from truckee.changes.columns import CHANGE_TYPE, COMMIT_TIMESTAMP, COMMIT_VERSION
from truckee.errors.protocol import InvalidPartitionValueError
from truckee.protocol.partition_values import parse
from truckee.protocol.predicates import Predicate, may_be_true
from truckee.protocol.schema import StructField
from truckee.protocol.table_configuration import TableConfiguration
from truckee.scan.scan_file import Change, ScanFile

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def matching_files(
    files: Iterable[ScanFile], predicate: Predicate, table: TableConfiguration, session_zone: str
) -> list[ScanFile]:
    """Return the files that may have rows for which a predicate is true.

    The constants of a file are its partition values, and the type, version and timestamp of its
    change. Files without a change are kept: those of a snapshot are pruned by `scan`.
    """
    fields = {table.stored_name(field): field for field in table.partition_fields}
    return [
        file
        for file in files
        if file.change is None or _may_match(file, file.change, predicate, fields, session_zone)
    ]


def _may_match(
    file: ScanFile,
    change: Change,
    predicate: Predicate,
    fields: Mapping[str, StructField],
    session_zone: str,
) -> bool:
    try:
        values: dict[str, object] = {
            field.name: parse(file.partition_values.get(name), field.type, session_zone)
            for name, field in fields.items()
        }
    except InvalidPartitionValueError:
        return True  # the read of the file will report the bad value
    return may_be_true(predicate, values | _change_values(change))


def _change_values(change: Change) -> dict[str, object]:
    values: dict[str, object] = {COMMIT_VERSION: change.version}
    if change.type is not None:
        values[CHANGE_TYPE] = change.type
    if change.timestamp_ms is not None:
        values[COMMIT_TIMESTAMP] = _EPOCH + timedelta(milliseconds=change.timestamp_ms)
    return values
