"""Which files are rewritten together: pure planning, from their entries in the log.

A bin is a set of files of one partition that become one new file, or several of a target size.

    files of the selected partitions  ->  candidates  ->  by partition  ->  bins

Bins are filled next-fit, smallest files first: with a limit of 10, files of 1, 3, 4, 5 and 9
become the bins (1, 3, 4), (5) and (9); compaction rewrites only the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from truckee.errors.protocol import InvalidPartitionValueError
from truckee.protocol import partition_values
from truckee.protocol.actions import AddFile
from truckee.protocol.schema import StructField
from truckee.scan.scan_file import num_records

PartitionKey: TypeAlias = tuple[object, ...]
PartitionOf: TypeAlias = Callable[[AddFile], PartitionKey]
"""The typed values of a file's partition: two spellings of one timestamp are one partition."""


@dataclass(frozen=True)
class Bin:
    """Files of one partition whose rows are written to `num_outputs` new files."""

    partition: PartitionKey
    files: tuple[AddFile, ...]
    num_outputs: int = 1

    @cached_property
    def size(self) -> int:
        """The bytes of all files together."""
        return sum(file.size for file in self.files)


def partition_of(columns: Sequence[StructField], session_zone: str = "UTC") -> PartitionOf:
    """Return a function that gives the partition of a file as a key."""

    def key(file: AddFile) -> PartitionKey:
        return tuple(_typed(file, column, session_zone) for column in columns)

    return key


def _typed(file: AddFile, column: StructField, session_zone: str) -> object:
    text = file.partition_values.get(column.physical_name)
    try:
        return partition_values.parse(text, column.type, session_zone)
    except InvalidPartitionValueError:
        return text


def deleted_ratio(file: AddFile) -> float | None:
    """Return the fraction of a file's rows that is deleted, 0 without a vector; None if unknown."""
    if file.deletion_vector is None:
        return 0.0
    total = num_records(file.stats)
    return None if not total else file.deletion_vector.cardinality / total


def logical_size(file: AddFile) -> int:
    """Return the bytes of a file that belong to live rows, by proportion."""
    return int(file.size * (1 - (deleted_ratio(file) or 0)))


def is_candidate(file: AddFile, *, min_size: int, max_deleted: float) -> bool:
    """Return whether a file is small enough, or has enough deleted rows, to be compacted."""
    ratio = deleted_ratio(file)
    return file.size < min_size or ratio is None or ratio > max_deleted


def compaction_bins(
    files: Iterable[AddFile],
    of: PartitionOf,
    *,
    min_size: int,
    max_size: int,
    max_deleted: float,
) -> list[Bin]:
    """Return the bins of a compaction; a file that is alone in its bin is not rewritten."""
    chosen = (f for f in files if is_candidate(f, min_size=min_size, max_deleted=max_deleted))
    return [bunch for bunch in packed_bins(chosen, of, max_size=max_size) if len(bunch.files) > 1]


def packed_bins(files: Iterable[AddFile], of: PartitionOf, *, max_size: int) -> list[Bin]:
    """Return all files in bins of one partition each, of at most `max_size` if possible."""
    return [
        Bin(partition, bunch)
        for partition, members in by_partition(files, of).items()
        for bunch in next_fit(sorted(members, key=lambda f: (f.size, f.path)), max_size)
    ]


def whole_partitions(files: Iterable[AddFile], of: PartitionOf, *, max_size: int) -> list[Bin]:
    """Return one bin for each partition, with as many outputs as files of `max_size` need."""
    return [
        Bin(partition, tuple(members), num_outputs(members, max_size))
        for partition, members in by_partition(files, of).items()
    ]


def num_outputs(files: Iterable[AddFile], max_size: int) -> int:
    """Return how many files of about `max_size` can hold the content of these files."""
    return max(1, sum(file.size for file in files) // max_size)


def by_partition(files: Iterable[AddFile], of: PartitionOf) -> dict[PartitionKey, list[AddFile]]:
    """Return files by their partition, in the order in which partitions first appear."""
    found: dict[PartitionKey, list[AddFile]] = {}
    for file in files:
        found.setdefault(of(file), []).append(file)
    return found


def next_fit(files: Iterable[AddFile], max_size: int) -> Iterator[tuple[AddFile, ...]]:
    """Yield files in bins, in order: a file that no longer fits opens the next bin."""
    bunch: list[AddFile] = []
    size = 0
    for file in files:
        if bunch and size + file.size > max_size:
            yield tuple(bunch)
            bunch, size = [], 0
        bunch.append(file)
        size += file.size
    if bunch:
        yield tuple(bunch)


def batches(bins: Sequence[Bin], max_size: int | None) -> Iterator[list[Bin]]:
    """Yield bins that are committed together; without a limit, all of them."""
    if max_size is None:
        if bins:
            yield list(bins)
        return
    batch: list[Bin] = []
    size = 0
    for bunch in bins:
        if batch and size + bunch.size > max_size:
            yield batch
            batch, size = [], 0
        batch.append(bunch)
        size += bunch.size
    if batch:
        yield batch
