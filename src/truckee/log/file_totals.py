"""Files of a table, counted: how many, how many with a deletion vector, and how many bytes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from truckee.log.checkpoint_schema import FILES

COUNTED = pa.schema([FILES.field(name) for name in ("path", "size", "deletion_vector")])
"""The columns that files are counted by, and known by when a log is replayed."""


class FileTotals(NamedTuple):
    """What is known of all live files together."""

    files: int = 0
    vectors: int = 0
    size_in_bytes: int = 0

    @classmethod
    def of(cls, batches: Iterable[pa.RecordBatch]) -> FileTotals:
        """Return the totals of rows that have at least the columns `COUNTED`."""
        files = vectors = size = 0
        for batch in batches:
            files += len(batch)
            vectors += len(batch) - batch.column("deletion_vector").null_count
            size += pc.sum(batch.column("size")).as_py() or 0
        return cls(files, vectors, size)
