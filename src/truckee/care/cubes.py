"""Which files of a clustered table are clustered again: pure planning.

Files that were clustered together are a *cube*. Tags of their `add` identify it:

| in the log                | meaning                                                     |
|---------------------------|-------------------------------------------------------------|
| `tags.ZCUBE_ID`           | the cube that the file belongs to                           |
| `tags.ZCUBE_ZORDER_BY`    | JSON array of the columns that it is clustered by           |
| `clusteringProvider`      | whose clustering this is; `liquid` is Delta's and ours      |

A cube grows with every OPTIMIZE that finds new files, until it reaches the size of a full cube.
Without FULL, files that are clustered by other columns or by another engine are not rewritten.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec

from truckee.care.bins import Bin, logical_size, next_fit, num_outputs
from truckee.protocol.actions import AddFile

CLUSTERING_PROVIDER = "liquid"
CUBE_ID = "ZCUBE_ID"
CUBE_COLUMNS = "ZCUBE_ZORDER_BY"


@dataclass(frozen=True, kw_only=True)
class CubeSizes:
    """The size from which a cube is full, and the target sizes of a new cube and its files."""

    sealed: int
    target: int
    max_file_size: int


def column_names(columns: Iterable[Sequence[str]]) -> str:
    """Return clustering columns as the tag of a file has them."""
    return msgspec.json.encode([".".join(path) for path in columns]).decode()


def cube_id(file: AddFile) -> str | None:
    """Return the cube of a file, None if it has none."""
    return None if file.tags is None else file.tags.get(CUBE_ID)


def is_of(file: AddFile, columns: str) -> bool:
    """Return whether a file is in a cube of these columns, given as by `column_names`."""
    tags = file.tags or {}
    return (
        tags.get(CUBE_ID) is not None
        and tags.get(CUBE_COLUMNS) == columns
        and file.clustering_provider in (None, CLUSTERING_PROVIDER)
    )


def _is_of_others(file: AddFile, columns: str) -> bool:
    is_foreign = file.clustering_provider not in (None, CLUSTERING_PROVIDER)
    return is_foreign or (cube_id(file) is not None and not is_of(file, columns))


def cube_bins(
    files: Iterable[AddFile], columns: str, sizes: CubeSizes, *, full: bool = False
) -> list[Bin]:
    """Return the bins of a clustered table, each of which becomes one cube."""
    given = list(files)
    others = [file for file in given if _is_of_others(file, columns)]
    cubes: dict[str, list[AddFile]] = {}
    loose = [f for f in given if cube_id(f) is None and not _is_of_others(f, columns)]
    loose += others if full else []
    for file in given:
        name = cube_id(file)
        if name is not None and is_of(file, columns):
            cubes.setdefault(name, []).append(file)
    growing = {
        name: members
        for name, members in cubes.items()
        if sum(map(logical_size, members)) < sizes.sealed
    }
    if not loose and len(growing) < 2:
        return []
    ordered = [*loose, *(file for name in sorted(growing) for file in growing[name])]
    limit = max(sizes.sealed, sizes.target)
    return [
        Bin((), bunch, num_outputs(bunch, sizes.max_file_size))
        for bunch in next_fit(ordered, limit)
    ]
