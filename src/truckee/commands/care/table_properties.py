"""SET and UNSET TBLPROPERTIES of a table whose files may have to be rewritten for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pyspark.sql import SparkSession

from truckee.commands.care.remove_column_mapping import remove_column_mapping
from truckee.commands.ddl.alter_properties import (
    check_properties,
    refuse_constraints,
    set_properties,
    unset_properties,
)
from truckee.commands.schema.column_mapping import MODE_KEY
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.protocol.properties import canonical_key
from truckee.storage.base import Storage


def set_table_properties(
    spark: SparkSession, storage: Storage, properties: Mapping[str, str]
) -> None:
    """Set properties of a table; see `set_properties`.

    If column mapping is to be removed, its files are rewritten first, in a commit of their own.
    """
    others = {key: value for key, value in properties.items() if not _is_no_mode(key, value)}
    if len(others) < len(properties) and _is_mapped(snapshot := load_snapshot(storage)):
        check_properties(snapshot, others)
        remove_column_mapping(spark, storage, unsets=False)
        if not others:
            return
    set_properties(storage, properties)


def _is_no_mode(key: str, value: str) -> bool:
    return canonical_key(key) == MODE_KEY and str(value).lower() == "none"


def unset_table_properties(spark: SparkSession, storage: Storage, keys: Iterable[str]) -> None:
    """Reset properties of a table to their defaults, after removing column mapping if asked to."""
    names = [canonical_key(key) for key in keys]
    refuse_constraints(names)
    if MODE_KEY in names and _is_mapped(load_snapshot(storage)):
        remove_column_mapping(spark, storage, unsets=True)
        if set(names) == {MODE_KEY}:
            return
    unset_properties(storage, names)


def _is_mapped(snapshot: Snapshot) -> bool:
    return snapshot.properties.column_mapping_mode != "none"
