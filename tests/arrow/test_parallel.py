"""Files read by threads: all rows once, few at a time, and no thread left behind."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace

from staging import configuration
from truckee.arrow.file_columns import TableRead
from truckee.arrow.parallel import read_files
from truckee.arrow.parquet_rows import ParquetRows
from truckee.arrow.parts import tasks, with_true_sizes
from truckee.errors.spark import DataFileNotFoundError
from truckee.scan.scan_file import ScanFile
from truckee.storage.local import LocalStorage
from values import simple_schema

MANY = 40


@pytest.fixture
def files(tmp_path: Path) -> list[ScanFile]:
    found = []
    for number in range(MANY):
        ids = pa.array(range(100 * number, 100 * number + 100), pa.int64())
        pq.write_table(pa.table({"id": ids}), tmp_path / f"f{number}")
        found.append(
            ScanFile(
                path=f"f{number}",
                size=9 << 20,  # so that each is a unit of its own
                modification_time=0,
                partition_values={},
                version=0,
            )
        )
    return found


def reading(folder: Path) -> TableRead:
    return TableRead(
        url=str(folder),
        store_options={},
        table=configuration(simple_schema("id long")),
    )


def test_every_row_is_read_once_whatever_the_threads(tmp_path: Path, files: list[ScanFile]) -> None:
    for threads in (1, 2, 7):
        found = read_files(
            reading(tmp_path), files, storage=LocalStorage(str(tmp_path)), threads=threads
        )

        ids = [number for _, batch in found for number in batch["id"].to_pylist()]
        assert sorted(ids) == list(range(100 * MANY))


def test_all_rows_together_are_in_the_order_of_the_files(
    tmp_path: Path, files: list[ScanFile]
) -> None:
    found = ParquetRows(LocalStorage(str(tmp_path)), reading(tmp_path), files).to_arrow()

    assert found["id"].to_pylist() == list(range(100 * MANY))


def test_who_takes_no_batch_lets_only_a_few_be_read(tmp_path: Path, files: list[ScanFile]) -> None:
    for file in files[12:]:
        (tmp_path / file.path).unlink()
    storage = LocalStorage(str(tmp_path))

    batches = read_files(reading(tmp_path), files, storage=storage, threads=2)
    first = [next(batches) for _ in range(4)]
    batches.close()

    # Two threads have read what was taken, what the queue holds, and one batch each.
    assert sum(batch.num_rows for _, batch in first) == 400


def test_an_error_of_a_thread_is_raised_and_ends_the_others(
    tmp_path: Path, files: list[ScanFile]
) -> None:
    (tmp_path / "f7").unlink()
    before = threading.active_count()

    with pytest.raises(DataFileNotFoundError) as raised:
        list(read_files(reading(tmp_path), files, storage=LocalStorage(str(tmp_path)), threads=3))

    assert raised.value.path == "f7"
    assert threading.active_count() == before


def test_a_stream_that_is_dropped_ends_its_threads(tmp_path: Path, files: list[ScanFile]) -> None:
    before = threading.active_count()
    rows = ParquetRows(LocalStorage(str(tmp_path)), reading(tmp_path), files)

    reader = rows.to_batches()
    reader.read_next_batch()
    del reader

    assert threading.active_count() == before


@pytest.mark.parametrize("logged", [1 << 40, (1 << 63) - 1])
def test_a_size_in_the_log_that_is_absurd_costs_no_time_and_no_rows(
    tmp_path: Path, files: list[ScanFile], logged: int
) -> None:
    lies = [replace(file, size=logged) for file in files]
    opened = Opened(str(tmp_path))

    batches = [batch for _, batch in read_files(reading(tmp_path), lies, storage=opened)]

    assert sum(batch.num_rows for batch in batches) == sum(
        batch.num_rows
        for _, batch in read_files(reading(tmp_path), files, storage=LocalStorage(str(tmp_path)))
    )
    assert len(opened.paths) == 2 * len(files)
    assert len(tasks(with_true_sizes(lies, opened))) <= 2 * (os.cpu_count() or 1)


def test_a_huge_file_that_is_missing_is_reported_as_missing(
    tmp_path: Path, files: list[ScanFile]
) -> None:
    gone = [replace(files[0], path="gone", size=1 << 50)]

    with pytest.raises(DataFileNotFoundError):
        list(read_files(reading(tmp_path), gone, storage=LocalStorage(str(tmp_path))))


class Opened(LocalStorage):
    """A folder that notes which files were opened."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.paths: list[str] = []

    def open_input(self, path: str) -> BinaryIO:
        self.paths.append(path)
        return super().open_input(path)
