"""Ten million rows of which a tenth is deleted by vector: written anew without them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.care import purge_delta_spark, purge_truckee, reset

__all__ = ["reset"]

TITLE = "purge of 10 M rows in 10 files, 10 % of them deleted"
SPARK = True
WARMUP = 1
REPETITIONS = 4
ROWS = {"small": 200_000, "full": 10_000_000}
NOTES = {"deltalake": "has no such command"}
ENGINES = {"truckee": purge_truckee, "delta-spark": purge_delta_spark}


def prepare(scale: str, workdir: Path) -> dict[str, Any]:
    from benchmarks.dml import COLUMNS, FILES, prepare_table

    rows = ROWS[scale]
    table = Path(prepare_table(workdir, rows, FILES, COLUMNS)["table"])
    _delete_a_tenth(table, rows, FILES)
    return {"table": str(table)}


def _delete_a_tenth(table: Path, rows: int, files: int) -> None:
    """Commit vectors that mark every tenth row of every file."""
    from msgspec.structs import replace

    from truckee.commands.removed_files import file_removals
    from truckee.deletion_vectors.bitmap import RowBitmap
    from truckee.deletion_vectors.store import write_deletion_vectors
    from truckee.log.commit.transaction import Transaction
    from truckee.log.snapshot import load_snapshot
    from truckee.protocol.stats import encode_stats, parse_stats, with_wide_bounds
    from truckee.storage import open_storage

    storage = open_storage(str(table))
    snapshot = load_snapshot(storage)
    adds = list(snapshot.files())
    each = rows // files
    vectors = write_deletion_vectors(storage, [RowBitmap(range(0, each, 10)) for _ in adds])
    marked = [
        replace(
            add,
            deletion_vector=vector,
            data_change=True,
            stats=encode_stats(
                with_wide_bounds(parse_stats(add.stats), num_records=each, deleted_before=0)
            ),
        )
        for add, vector in zip(adds, vectors, strict=True)
    ]
    transaction = Transaction(storage, snapshot)
    transaction.stage(*marked, *file_removals(adds))
    transaction.commit("DELETE")
