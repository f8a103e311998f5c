"""Files of a feed that cannot matter to a query, told from what is the same for all their rows.

Spark leaves out such files exactly, after it was told of them all. Here it is done before, and only
as far as Python understands a filter, so that no vector is read for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta, timezone

from truckee.changes.columns import CHANGE_TYPE, COMMIT_TIMESTAMP, COMMIT_VERSION
from truckee.errors.protocol import InvalidPartitionValueError
from truckee.protocol.partition_values import parse
from truckee.protocol.predicates import Predicate, may_be_true
from truckee.protocol.schema import StructField
from truckee.protocol.table_configuration import TableConfiguration
from truckee.scan.scan_file import ScanFile

MayMatch = Callable[[ScanFile], bool]

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def may_match_by_constants(
    predicate: Predicate, table: TableConfiguration, session_zone: str
) -> MayMatch:
    """Return whether a file of a feed may have rows that a predicate is true of.

    Files of a snapshot always may: there, statistics and partition values have been asked before.
    """
    fields = {table.stored_name(field): field for field in table.partition_fields}

    def may_match(file: ScanFile) -> bool:
        if file.change is None:
            return True
        try:
            return may_be_true(predicate, _constants(file, fields, session_zone))
        except InvalidPartitionValueError:
            return True  # reading the file will say what is wrong with it

    return may_match


def _constants(
    file: ScanFile, fields: Mapping[str, StructField], session_zone: str
) -> Mapping[str, object]:
    assert file.change is not None
    values: dict[str, object] = {
        field.name: parse(file.partition_values.get(name), field.type, session_zone)
        for name, field in fields.items()
    }
    if file.change.type is not None:
        values[CHANGE_TYPE] = file.change.type
    values[COMMIT_VERSION] = file.change.version
    if file.change.timestamp_ms is not None:
        values[COMMIT_TIMESTAMP] = _EPOCH + timedelta(milliseconds=file.change.timestamp_ms)
    return values
