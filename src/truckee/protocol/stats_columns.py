"""The columns that a table lists in `delta.dataSkippingStatsColumns`, and their changes.

Other engines check the list whenever the metadata of a table changes, and refuse the change if a
listed column is missing. So the list must be right when it is set, and follow renamed and dropped
columns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TypeAlias

from truckee.errors.commands.alter import ColumnNotFoundError
from truckee.errors.protocol import (
    DuplicateStatsColumnsError,
    StatsOfPartitionColumnError,
    StatsTypeError,
)
from truckee.protocol.properties import TableProperties
from truckee.protocol.property_kinds import column_names_text
from truckee.protocol.schema import FieldChain, leaf_columns, type_text
from truckee.protocol.stats import has_bounds
from truckee.protocol.table_configuration import TableConfiguration

_Path: TypeAlias = tuple[str, ...]

_KEY = TableProperties.data_skipping_stats_columns.key


def check_stats_columns(table: TableConfiguration) -> None:
    """Raise if a column that the table lists for statistics is missing, or cannot have them."""
    listed = table.properties.data_skipping_stats_columns or ()
    partitions = {name.casefold() for name in table.metadata.partition_columns}
    leaves = list(leaf_columns(table.schema))
    found: Counter[_Path] = Counter()
    for path in listed:
        if len(path) == 1 and path[0].casefold() in partitions:
            raise StatsOfPartitionColumnError(column=path[0])
        below = [leaf for leaf in leaves if _starts_with(leaf.path, path)]
        if not below:
            raise ColumnNotFoundError(column=".".join(path), columns=table.schema.names)
        for leaf in below:
            _check_type(leaf)
            found[leaf.path] += 1
    twice = tuple(".".join(path) for path, count in found.items() if count > 1)
    if twice:
        raise DuplicateStatsColumnsError(columns=twice)


def _check_type(leaf: FieldChain) -> None:
    if not has_bounds(leaf.field.type):
        raise StatsTypeError(column=".".join(leaf.path), type=type_text(leaf.field.type))


def with_renamed_stats(table: TableConfiguration, old: _Path, new: _Path) -> dict[str, str]:
    """Return the configuration with the new name of a column in the list."""
    return _with_list(
        table, lambda path: (*new, *path[len(old) :]) if _starts_with(path, old) else path
    )


def with_dropped_stats(table: TableConfiguration, dropped: Iterable[_Path]) -> dict[str, str]:
    """Return the configuration without dropped columns in the list, which may become empty."""
    gone = list(dropped)
    return _with_list(
        table, lambda path: None if any(_starts_with(path, column) for column in gone) else path
    )


def _with_list(
    table: TableConfiguration, changed: Callable[[_Path], _Path | None]
) -> dict[str, str]:
    configuration = dict(table.metadata.configuration)
    listed = table.properties.data_skipping_stats_columns
    if listed is None:
        return configuration
    paths = [path for path in map(changed, listed) if path is not None]
    # An empty list is not the same as none: no column has statistics then.
    configuration[_KEY] = column_names_text(paths)
    return configuration


def _starts_with(path: _Path, start: _Path) -> bool:
    return [name.casefold() for name in path[: len(start)]] == [name.casefold() for name in start]
