"""The distribution of a table's files, by size and by the share of deleted rows."""

from __future__ import annotations

from collections import Counter

import pyarrow.compute as pc
from msgspec import Struct

from truckee.log.snapshot import Snapshot
from truckee.scan.scan_file import num_records

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


class SizeBucket(Struct, frozen=True):
    """How many files fall between two bounds; `label` names the lower one."""

    label: str
    files: int
    until: str = ""


class Vectors(Struct, frozen=True, kw_only=True):
    """The deletion vectors of a snapshot.

    `density` counts files by their share of deleted rows, in tenths, if their statistics have the
    number of rows.
    """

    files: int
    deleted_rows: int
    density: tuple[SizeBucket, ...]


def file_sizes(snapshot: Snapshot) -> tuple[SizeBucket, ...]:
    """Return the number of files by size, in powers of two, without gaps."""
    exponents = Counter(
        max(0, size.bit_length() - 1)
        for size in snapshot.files_table().column("size").to_pylist()
        if size is not None
    )
    if not exponents:
        return ()
    return tuple(
        SizeBucket(byte_text(2**exponent), exponents[exponent], byte_text(2 ** (exponent + 1)))
        for exponent in range(min(exponents), max(exponents) + 1)
    )


def num_live_rows(snapshot: Snapshot) -> int | None:
    """Return how many rows a snapshot has, None if a file has no statistics."""
    total = 0
    for stats in snapshot.files_table().column("stats").to_pylist():
        count = num_records(stats)
        if count is None:
            return None
        total += count
    return total - vectors(snapshot).deleted_rows


def vectors(snapshot: Snapshot) -> Vectors:
    """Return how many rows are deleted by vectors, and how densely."""
    files = snapshot.files_table()
    files = files.filter(pc.is_valid(files.column("deletion_vector")))
    cardinalities = [
        vector["cardinality"] for vector in files.column("deletion_vector").to_pylist()
    ]
    counts = [num_records(stats) for stats in files.column("stats").to_pylist()]
    tenths = Counter(
        min(9, 10 * deleted // count)
        for deleted, count in zip(cardinalities, counts, strict=True)
        if count
    )
    return Vectors(
        files=files.num_rows,
        deleted_rows=sum(cardinalities),
        density=tuple(
            SizeBucket(f"{10 * tenth} %", tenths[tenth], f"{10 * tenth + 10} %")
            for tenth in range(10)
        ),
    )


def byte_text(size: float) -> str:
    """Return a size in a readable form: 1536 is 1.5 KiB."""
    unit = 0
    while size >= 1024 and unit < len(_UNITS) - 1:
        size /= 1024
        unit += 1
    return (
        f"{size:.0f} {_UNITS[unit]}"
        if size >= 10 or size == int(size)
        else (f"{size:.1f} {_UNITS[unit]}")
    )
