"""Files of a checkpoint that is too large to be read for one filter."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date, datetime, timezone

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from builders import History, history
from staging import metadata
from truckee.errors.log import CorruptLogFileError
from truckee.log.snapshot import FileTotals, Snapshot, load_snapshot
from truckee.log.upkeep.checkpoint_writer import write_classic_checkpoint, write_v2_checkpoint
from truckee.protocol.paths import SIDECAR_DIRECTORY
from truckee.protocol.predicates import (
    ALWAYS_FALSE,
    ALWAYS_TRUE,
    In,
    IsNotNull,
    IsNull,
    Not,
    Predicate,
    StartsWith,
    all_of,
    any_of,
    column_named,
)
from truckee.scan.snapshot_scan import scan_files
from truckee.storage.base import Storage
from values import compare

DAYS = ("2024-01-01", "2024-01-01", "2024-01-02", "2024-01-03", None, "2024-01-04")
FIRST = date.fromisoformat("2024-01-01")


@pytest.fixture
def _all_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("truckee.log.snapshot.LARGE_CHECKPOINT", 0)


pytestmark = pytest.mark.usefixtures("_all_are_large")


def file_stats(number: int) -> str | None:
    """Statistics of ten ids a file; one file has none, one lacks a bound, one has a NaN."""
    low = 10 * number
    if number == 3:
        return None
    minute = f"2024-01-01T00:{number:02}"
    least = {"id": low, "x": low / 2, "s": f"n{low:03}", "at": f"{minute}:00.000Z"}
    greatest = {
        "id": low + 9,
        "x": "NaN" if number == 0 else low / 2 + 1,
        "s": f"n{low + 9:03}",
        "at": f"{minute}:09.123Z",
    }
    if number == 5:
        del greatest["id"]
    nulls = dict.fromkeys(least, 0)
    return json.dumps(
        {"numRecords": 10, "minValues": least, "maxValues": greatest, "nullCount": nulls}
    )


def grown_table(days: Sequence[str | None] = DAYS) -> History:
    """Return files in order of `id` and nearly of `day`, none of them in a checkpoint yet."""
    columns = ("id long", "x double", "s string", "at timestamp", "day date")
    table = history().stage(metadata(*columns, partitioned_by=("day",)))
    for number, day in enumerate(days):
        table.add(f"f{number}", partition_values={"day": day}, stats=file_stats(number))
    return table


def with_checkpoint(kind: str) -> Storage:
    """Return the same with a checkpoint in pieces of two files, and a commit after it."""
    table = grown_table()
    snapshot = load_snapshot(table.storage)
    if kind == "sidecars":
        write_v2_checkpoint(snapshot, sidecar_actions=2)
    else:
        write_classic_checkpoint(snapshot)
    table.then().delete("f1", rows=[4]).remove("f2").add(
        "f6", partition_values={"day": "2024-01-01"}, stats=file_stats(6)
    )
    return table.storage


PREDICATES: tuple[Predicate, ...] = (
    compare("id", "=", 17),
    compare("id", "<", 5),
    compare("id", ">", 52),
    compare("id", "!=", 3),
    compare("x", ">", 100.0),
    compare("x", "<", 4.0),
    compare("s", "=", "n014"),
    StartsWith(column_named("s"), "n06"),
    Not(StartsWith(column_named("s"), "n0")),
    compare("at", ">", datetime(2024, 1, 1, 0, 4, 5, tzinfo=timezone.utc)),
    compare("at", "=", datetime(2024, 1, 1, 0, 0, 9, 123400, tzinfo=timezone.utc)),
    compare("day", "=", FIRST),
    compare("day", ">", date.fromisoformat("2024-01-03")),
    compare("day", "!=", FIRST),
    compare("day", "<=>", None),
    IsNull(column_named("day")),
    IsNotNull(column_named("day")),
    IsNull(column_named("id")),
    In(column_named("day"), (FIRST, date.fromisoformat("2024-01-04"))),
    all_of(compare("day", "=", FIRST), compare("id", "<", 10)),
    any_of(compare("day", "=", FIRST), compare("id", ">", 55)),
    any_of(IsNull(column_named("day")), compare("s", "<", "n005")),
    compare("nowhere", "=", 1),
    ALWAYS_TRUE,
    ALWAYS_FALSE,
)


def found(snapshot: Snapshot, predicate: Predicate | None = None) -> list[str]:
    return sorted(str(file) for file in scan_files(snapshot, predicate))


@pytest.mark.parametrize("kind", ["sidecars", "classic"])
@pytest.mark.parametrize("predicate", PREDICATES, ids=str)
def test_a_filter_finds_the_same_files_while_they_are_read_and_when_they_are_known(
    kind: str, predicate: Predicate
) -> None:
    storage = with_checkpoint(kind)
    known = load_snapshot(storage)
    assert known.files_table().num_rows == 6

    assert found(load_snapshot(storage), predicate) == found(known, predicate)


@pytest.mark.parametrize(
    ("predicate", "paths"),
    [
        (compare("id", "=", 17), ["f1"]),
        (compare("s", "<", "n005"), ["f0"]),
        (compare("at", "<", datetime(2024, 1, 1, 0, 1, 5, tzinfo=timezone.utc)), ["f0", "f1"]),
        (compare("day", "=", FIRST), ["f0", "f1"]),
        (all_of(compare("day", "<", date(2024, 2, 1)), compare("id", "<", 3)), ["f0"]),
        (any_of(compare("day", "<", FIRST), compare("id", "=", 12)), ["f1"]),
    ],
    ids=str,
)
def test_row_groups_that_the_footer_rules_out_are_not_decoded(
    predicate: Predicate, paths: list[str]
) -> None:
    table = grown_table(("2024-01-01", "2024-01-01", "2024-01-02"))
    write_v2_checkpoint(load_snapshot(table.storage), sidecar_actions=2)
    spoil(table.storage, holding="f2")

    snapshot = load_snapshot(table.storage)

    assert [file.path for file in scan_files(snapshot, predicate)] == paths
    with pytest.raises(CorruptLogFileError):
        snapshot.files_table()


def spoil(storage: Storage, holding: str) -> None:
    """Overwrite the data of the sidecar that holds a file, so that only its footer can be read."""
    for sidecar in list(storage.list_tree(SIDECAR_DIRECTORY)):
        data = storage.read(sidecar.path)
        paths = pq.read_table(pa.BufferReader(data)).column("add").combine_chunks().field("path")
        if holding in paths.to_pylist():
            start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
            storage.write(sidecar.path, data[:4] + bytes(start - 4) + data[start:])


@pytest.mark.parametrize("kind", ["sidecars", "classic"])
def test_files_are_counted_without_being_kept(kind: str) -> None:
    storage = with_checkpoint(kind)

    snapshot = load_snapshot(storage)

    assert snapshot.totals == FileTotals(files=6, vectors=1, size_in_bytes=600)
    assert "_files" not in vars(snapshot)


def test_files_of_a_small_checkpoint_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("truckee.log.snapshot.LARGE_CHECKPOINT", 1 << 20)
    snapshot = load_snapshot(with_checkpoint("classic"))

    scan_files(snapshot, compare("id", "=", 17))

    assert "_files" in vars(snapshot)
