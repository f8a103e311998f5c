from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from corpus import CorpusTable, corpus_tables
from staging import plan_changes
from truckee.changes.missing_files import missing_file_error
from truckee.changes.plan import ChangePlan
from truckee.changes.summary import summary
from truckee.deletion_vectors.bitmap import RowBitmap
from truckee.errors.base import DeltaError
from truckee.errors.changes import (
    ChangeDataNotRecordedError,
    InvalidRangeError,
    StartAfterLatestError,
)
from truckee.errors.log import VersionNotFoundError
from truckee.options.feed import Bound, FeedOptions
from truckee.scan.scan_file import ScanFile
from truckee.storage import open_storage
from truckee.storage.base import Storage
from values import read_deletion_vector

pytestmark = pytest.mark.golden

ERRORS: dict[str, tuple[type[DeltaError], ...]] = {
    "cdf-not-enabled": (ChangeDataNotRecordedError,),
    "version-not-available": (StartAfterLatestError, VersionNotFoundError),
    "invalid-range": (InvalidRangeError,),
    "any": (DeltaError,),
}


def tables_with_feeds() -> list[CorpusTable]:
    return [table for table in corpus_tables() if table.expected.get("cdf")]


def planned(storage: Storage, expected: dict[str, Any]) -> ChangePlan:
    end = None if expected["end"] is None else Bound(version=expected["end"])
    return plan_changes(storage, FeedOptions(start=Bound(version=expected["start"]), end=end))


@pytest.mark.parametrize("table", tables_with_feeds(), ids=str)
def test_every_range_is_planned_or_refused_as_others_do(table: CorpusTable, tmp_path: Path) -> None:
    storage = open_storage(str(table.ready(tmp_path)))

    for expected in table.expected["cdf"]:
        error = expected.get("error")
        if error in ERRORS:
            with pytest.raises(ERRORS[error]):
                planned(storage, expected)
            continue
        plan = planned(storage, expected)
        if error == "missing-file":
            assert missing_file_error(storage, plan.files, end=plan.end) is not None
        else:
            check_counts(plan, storage, expected)


def check_counts(plan: ChangePlan, storage: Storage, expected: dict[str, Any]) -> None:
    rows: Counter[str] = Counter()
    for file in plan.files:
        rows.update(counted(file, storage))
    rows = +rows

    assert rows == expected.get("change_type_counts", rows)
    assert rows.total() == expected["row_count"]
    for count in summary(plan.files, storage):
        assert count.rows is None or count.rows <= rows[count.change_type or ""]


def counted(file: ScanFile, storage: Storage) -> Counter[str]:
    """Return the rows of a file that are selected, by type of change, from the file itself."""
    assert file.change is not None
    with storage.open_input(file.path) as opened:
        parquet = pq.ParquetFile(opened)
        if file.change.type is None:
            return Counter(parquet.read(["_change_type"]).column(0).to_pylist())
        rows = RowBitmap(range(parquet.metadata.num_rows))
    within, without = file.rows.within, file.rows.without
    if within is not None:
        rows = rows & read_deletion_vector(storage, within)
    if without is not None:
        rows = rows - read_deletion_vector(storage, without)
    return Counter({file.change.type: len(rows)})


def test_a_table_whose_change_file_is_gone_says_from_where_it_can_be_read(corpus: Path) -> None:
    storage = open_storage(str(corpus / "cdf" / "deltars166-cdf-change-file-missing"))
    plan = plan_changes(storage, FeedOptions(start=Bound(version=0)))

    error = missing_file_error(storage, plan.files, end=plan.end)

    assert error is not None
    assert (error.version, error.readable_from) == (1, 2)
    assert error.path.startswith("_change_data/")
