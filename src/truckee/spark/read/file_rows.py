"""Which rows of a file to read, as a text that is sent with the file to the task that reads it.

`TruckeeWanted.java` parses the text, and loads, checks and applies the vectors that it names. So no
vector passes through the driver, and the size of a task does not grow with the table.

A file whose vector changed in many commits of a feed is read once for all of them: its text has an
*event* for each change, and a row belongs to every event that has it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from truckee.deletion_vectors.store import VectorOf, vector_source
from truckee.protocol.deletion_vector import DeletionVectorDescriptor
from truckee.protocol.paths import is_absolute
from truckee.scan.scan_file import ScanFile

_ESCAPES = {"%": "%25", "\t": "%09", "\n": "%0A"}


class FileRead(NamedTuple):
    """A file that Spark reads once, and the text about its rows; empty for all rows."""

    file: ScanFile
    rows: str


def file_reads(files: Iterable[ScanFile], root: str) -> list[FileRead]:
    """Return the files as they are read, with all changes of a file's vector combined."""
    return [FileRead(events[0], _text(events, root)) for events in _together(files)]


def file_url(root: str, path: str) -> str:
    """Return where a file is, as Hadoop spells it: with a scheme, and nothing percent-encoded."""
    full = path if is_absolute(path) else f"{root}/{path}"
    return f"file://{full}" if full.startswith("/") else full


def _together(files: Iterable[ScanFile]) -> Iterator[Sequence[ScanFile]]:
    # In a derived feed, changes of one file may have different constants.
    changed: dict[tuple[str, frozenset[object]], list[ScanFile]] = defaultdict(list)
    for file in files:
        if file.rows.within is None:
            yield (file,)
        else:
            changed[file.path, frozenset(file.partition_values.items())].append(file)
    yield from changed.values()


def _text(events: Sequence[ScanFile], root: str) -> str:
    first = events[0]
    if first.change is None and first.rows.is_all:
        return ""
    numbers: dict[DeletionVectorDescriptor, int] = {}
    vectors: list[str] = []

    def number(file: ScanFile, vector: DeletionVectorDescriptor | None) -> int:
        if vector is None:
            return -1
        if vector not in numbers:
            numbers[vector] = len(vectors)
            of = VectorOf(descriptor=vector, data_file=file.path, version=file.version)
            vectors.append(_vector(of, root))
        return numbers[vector]

    told = []
    for file in events:
        pair = f"{number(file, file.rows.within)}\t{number(file, file.rows.without)}"
        told.append(f"{pair}\t{_change(file)}")
    rows = -1 if first.num_records is None else first.num_records
    return "\n".join([f"{rows}\t{len(vectors)}\t{len(told)}", *vectors, *told])


def _vector(of: VectorOf, root: str) -> str:
    source, vector = vector_source(of), of.descriptor
    where = f"={source.hex()}" if isinstance(source, bytes) else _escaped(file_url(root, source))
    return f"{where}\t{vector.offset or 0}\t{vector.size_in_bytes}\t{vector.cardinality}"


def _change(file: ScanFile) -> str:
    change = file.change
    if change is None:
        return "\t0\t"
    time = "" if change.timestamp_ms is None else str(1000 * change.timestamp_ms)
    return f"{change.type or ''}\t{change.version}\t{time}"


def _escaped(path: str) -> str:
    return "".join(_ESCAPES.get(letter, letter) for letter in path)
