"""Files of a feed that cannot matter to a query, told from what is the same for all their rows.

Spark filters the rows exactly. Here files are left out before they are read, as far as Python
understands a filter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta, timezone

from truckee.changes.columns import CHANGE_TYPE, COMMIT_TIMESTAMP, COMMIT_VERSION
from truckee.errors.protocol import InvalidPartitionValueError
from truckee.protocol.partition_values import parse
from truckee.protocol.predicates import Predicate, may_be_true
from truckee.protocol.schema import StructField, StructType
from truckee.scan.scan_file import ScanFile

MayMatch = Callable[[ScanFile], bool]

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def constant_fields(
    schema: StructType, partition_columns: Iterable[str], mapping_mode: str
) -> dict[str, StructField]:
    """Return the partition columns, by the names that they have in the log."""
    found = (schema.field(name) for name in partition_columns)
    physical = mapping_mode != "none"
    return {(f.physical_name if physical else f.name): f for f in found if f is not None}


def may_match_by_constants(
    predicate: Predicate, partition_fields: Mapping[str, StructField], session_zone: str
) -> MayMatch:
    """Return whether a file of a feed may have rows that a predicate is true of.

    `partition_fields` are those of `constant_fields`. Files of a snapshot always may: there,
    statistics and partition values have been asked before.
    """

    def may_match(file: ScanFile) -> bool:
        if file.change is None:
            return True
        try:
            return may_be_true(predicate, _constants(file, partition_fields, session_zone))
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
