"""The layout of rows in files: deleted rows that are still stored, small files, skew."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from shlex import quote
from statistics import median

from truckee.care.health.findings import Finding, Severity, count_text, size_text
from truckee.log.snapshot import Snapshot
from truckee.scan.scan_file import num_records

MIB = 1 << 20
# As in OPTIMIZE: a file is worth rewriting if more than this fraction of its rows is deleted.
PURGE_RATIO = 0.05
SMALL_FILE = 16 * MIB
_MANY_SMALL = 10
_SKEW = 10
_SKEW_LEAST = 128 * MIB
_FEWEST_PARTITIONS = 3

_Partition = tuple[tuple[str, str | None], ...]


def layout_findings(snapshot: Snapshot, path: str) -> Iterator[Finding]:
    """Yield the problems that rewriting files would fix."""
    optimize = f"truckee optimize {quote(path)}"
    yield from _vectors(snapshot, optimize)
    partitions = _sizes(snapshot)
    yield from _small_files(partitions, optimize)
    yield from _skew(partitions)


def _vectors(snapshot: Snapshot, optimize: str) -> Iterator[Finding]:
    files = snapshot.files_table()
    vectors = files.column("deletion_vector").to_pylist()
    stats = files.column("stats").to_pylist()
    marked = [(v["cardinality"], num_records(s)) for v, s in zip(vectors, stats, strict=True) if v]
    if not marked:
        return
    dense = [deleted for deleted, rows in marked if not rows or deleted / rows > PURGE_RATIO]
    deleted_rows = sum(deleted for deleted, _ in marked)
    says = (
        f"deleted rows that are still stored: {deleted_rows:,}, in {len(marked):,} of "
        f"{count_text(snapshot.num_files, 'file')}"
    )
    if dense:
        says += f"; worth rewriting: {count_text(len(dense), 'file')} with more than 5 % deleted"
    yield Finding(
        topic="vectors",
        severity=Severity.WARNING if dense else Severity.INFO,
        says=says,
        mend=f"{optimize} --purge" if dense else None,
        facts={
            "files": len(marked),
            "deletedRows": deleted_rows,
            "filesWorthPurging": len(dense),
        },
    )


def _sizes(snapshot: Snapshot) -> dict[_Partition, list[int]]:
    files = snapshot.files_table()
    found: dict[_Partition, list[int]] = defaultdict(list)
    values = files.column("partition_values").to_pylist()
    for size, value in zip(files.column("size").to_pylist(), values, strict=True):
        found[tuple(sorted(dict(value or ()).items()))].append(size or 0)
    return found


def _small_files(partitions: dict[_Partition, list[int]], optimize: str) -> Iterator[Finding]:
    small = {
        partition: [size for size in sizes if size < SMALL_FILE]
        for partition, sizes in partitions.items()
    }
    crowded = {p: sizes for p, sizes in small.items() if len(sizes) >= _MANY_SMALL}
    if not crowded:
        return
    count = sum(map(len, crowded.values()))
    size = sum(map(sum, crowded.values()))
    where = f" in {count_text(len(crowded), 'partition')}" if len(partitions) > 1 else ""
    yield Finding(
        topic="small files",
        severity=Severity.WARNING,
        says=f"{count_text(count, 'file')}{where} are small: {size_text(size / count)} on average",
        mend=optimize,
        facts={"files": count, "bytes": size, "partitions": len(crowded)},
    )


def _skew(partitions: dict[_Partition, list[int]]) -> Iterator[Finding]:
    if len(partitions) < _FEWEST_PARTITIONS:
        return
    sizes = {partition: sum(found) for partition, found in partitions.items()}
    largest = max(sizes, key=sizes.__getitem__)
    middle = median(sizes.values())
    if sizes[largest] < _SKEW_LEAST or sizes[largest] <= _SKEW * middle:
        return
    name = "/".join(f"{column}={value}" for column, value in largest)
    yield Finding(
        topic="skew",
        severity=Severity.INFO,
        says=(
            f"the partition {name} has {size_text(sizes[largest])}, half of all partitions have "
            f"{size_text(middle)} or less"
        ),
        mend="partition by another column, or cluster the table (clusterBy) instead",
        facts={"partition": dict(largest), "bytes": sizes[largest], "medianBytes": middle},
    )
