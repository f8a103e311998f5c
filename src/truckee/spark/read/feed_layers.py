"""Files whose vectors changed at many versions of a range, read once.

A table that loses a few rows in each of two hundred commits has one data file with two hundred
vectors. Read commit by commit, as each commit's own rows of that file, it would be read two
hundred times. Here it is read once, and each row finds the commit that it changed in: the number
of the commit is kept in binary, as one bitmap of rows for each digit. A row that changed more than
once (deleted, restored, deleted again) is in several *layers*, and the file is read once for each.

The ordinal of a change is twice its version, counted from the start of the feed, plus one if rows
were restored: digit 0 tells the change type, the others the version.
"""

from __future__ import annotations

import struct
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence
from functools import reduce
from threading import Lock

from msgspec.structs import replace
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from truckee.changes.row_diff import Layer, RowEvent, layers
from truckee.deletion_vectors.bitmap import NO_ROWS
from truckee.scan.file_registry import FileRegistry, selected_rows
from truckee.scan.scan_file import ALL_ROWS, Change, ScanFile
from truckee.spark.jvm.bridge import java_half
from truckee.spark.read.vector_filter import Slot, Sparse

OFTEN = 3
"""Vectors of a file that change at this many versions of a range are read in layers."""

MOST_DIGITS = 16
"""Feeds of more versions than these digits can tell apart are not read in layers."""

_QUERIES_KEPT = 4
_ROOM_TO_GROW = 2


def layered_paths(
    files: Sequence[ScanFile], *, first_version: int, digits: int = MOST_DIGITS
) -> frozenset[str]:
    """Return the paths of those files that are worth reading in layers.

    There are none if the ordinals of their changes need more digits than there are.
    """
    selected = [file for file in files if file.rows.within is not None]
    if not selected or _digits_of(selected, first_version) > digits:
        return frozenset()
    if any(file.change is None or file.change.timestamp_ms is None for file in selected):
        return frozenset()
    versions = Counter(path for path, _ in {(file.path, file.version) for file in selected})
    often = {path for path, count in versions.items() if count >= OFTEN}
    # A file that is also read for all rows but those of a vector stays with the other branch.
    others = {f.path for f in files if f.rows.without is not None and f.rows.within is None}
    return frozenset(often - others)


def layer_digits(files: Sequence[ScanFile], *, first_version: int, may_grow: bool) -> int:
    """Return how many digits a feed should have room for; 0 if it has nothing to read in layers.

    Each digit makes the plan larger, and most feeds need few. A feed that may grow gets some more;
    once it needs more than that, its files are read commit by commit.
    """
    paths = layered_paths(files, first_version=first_version)
    if not paths:
        return 0
    needed = _digits_of([file for file in files if file.path in paths], first_version)
    return min(MOST_DIGITS, needed + (_ROOM_TO_GROW if may_grow else 0))


class LayeredRows:
    """The rows of a feed that are read in layers, and what the feed says of them.

    A feed with an open end has other layers in each query that sees more commits. Those of earlier
    queries stay beside them for a while, since such a query may still run, or run again.
    """

    def __init__(
        self, spark: SparkSession, registry: FileRegistry, *, first_version: int, digits: int
    ) -> None:
        self._spark = spark
        self._registry = registry
        self._first_version = first_version
        self._rows = Sparse(spark, "changed rows")
        self._digits = [Sparse(spark, f"digit {digit}") for digit in range(digits)]
        self._timestamps = Slot(spark, "timestamps", "java.util.ArrayList")
        self._lock = Lock()
        self._recent: deque[dict[int, Layer]] = deque(maxlen=_QUERIES_KEPT)
        self._moments: dict[int, int] = {}

    def paths(self, files: Sequence[ScanFile]) -> frozenset[str]:
        """Return the paths of the files that are read here."""
        return layered_paths(files, first_version=self._first_version, digits=len(self._digits))

    def select(self, files: Sequence[ScanFile]) -> Sequence[ScanFile]:
        """Return one file a layer, and fill in the rows of each layer."""
        paths = self.paths(files)
        chosen = [file for file in files if file.path in paths and file.rows.within is not None]
        with self._lock:
            found = dict(self._numbered_layers(chosen))
            self._recent.append({number: layer for number, (_, layer) in found.items()})
            self._fill({n: layer for layers_ in self._recent for n, layer in layers_.items()})
            self._fill_timestamps(chosen)
        return [file for file, _ in found.values()]

    def contains_row(self) -> Column:
        """Return whether a row belongs to the layer that it was read for."""
        return self._rows.contains_row()

    def feed_columns(self) -> dict[str, Column]:
        """Return the three columns of the feed."""
        digits = [digit.contains_row() for digit in self._digits]
        age = reduce(
            Column.__add__,
            (F.when(digit, 1 << place).otherwise(0) for place, digit in enumerate(digits[1:])),
        )
        moment = self._timestamps.call("get", "long", age)
        return {
            "_change_type": F.when(digits[0], "insert").otherwise("delete"),
            "_commit_version": F.lit(self._first_version).cast("bigint") + age,
            "_commit_timestamp": F.timestamp_millis(moment),
        }

    def _numbered_layers(
        self, files: Sequence[ScanFile]
    ) -> Iterator[tuple[int, tuple[ScanFile, Layer]]]:
        events: dict[str, list[RowEvent]] = defaultdict(list)
        first: dict[str, ScanFile] = {}
        for file, rows in zip(files, selected_rows(self._registry.storage, files), strict=True):
            assert file.change is not None
            age = file.change.version - self._first_version
            restored = file.change.type == "insert"
            events[file.path].append(RowEvent(2 * age + restored, rows))
            first.setdefault(file.path, file)
        last = {file.path: file.version for file in sorted(files, key=lambda f: f.version)}
        for path, changes in events.items():
            for depth, layer in enumerate(layers(changes)):
                # Together with the path, this says which rows the layer has.
                change = Change(f"layer {depth}", last[path], None)
                read = replace(first[path], rows=ALL_ROWS, change=change)
                yield self._registry.file_id(read), (read, layer)

    def _fill(self, found: dict[int, Layer]) -> None:
        self._rows.fill({number: layer.union for number, layer in found.items()}, ())
        for place, digit in enumerate(self._digits):
            rows = {
                number: layer.slices[place] if place < len(layer.slices) else NO_ROWS
                for number, layer in found.items()
            }
            digit.fill(rows, ())

    def _fill_timestamps(self, files: Sequence[ScanFile]) -> None:
        for file in files:
            assert file.change is not None
            assert file.change.timestamp_ms is not None
            self._moments[file.change.version] = file.change.timestamp_ms
        last = max(self._moments, default=self._first_version)
        moments = [self._moments.get(v, 0) for v in range(self._first_version, last + 1)]
        packed = struct.pack(f">{len(moments)}q", *moments)
        self._timestamps.fill(java_half(self._spark).longs(packed))


def _digits_of(files: Sequence[ScanFile], first_version: int) -> int:
    """Return how many digits the largest ordinal of a change of these files has."""
    age = max(file.version for file in files) - first_version
    return (2 * age + 1).bit_length()
