"""Reads that are kept below a table's root, whatever its log says."""

from __future__ import annotations

import pickle
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from builders import PROTOCOL
from changes.tables import FEED_ON
from staging import metadata, plan_changes
from truckee.arrow.file_columns import TableRead
from truckee.arrow.parts import tasks
from truckee.arrow.read import read_parts
from truckee.deletion_vectors.bitmap import RowBitmap
from truckee.deletion_vectors.store import write_deletion_vectors
from truckee.errors.options import IllegalOptionError
from truckee.errors.storage import PathOutsideTableError
from truckee.log.snapshot import load_snapshot
from truckee.options.feed import feed_options
from truckee.protocol.actions import Action, AddCDCFile, AddFile, encode_actions
from truckee.protocol.deletion_vector import DeletionVectorDescriptor
from truckee.protocol.paths import commit_path
from truckee.scan.scan_file import check_paths
from truckee.scan.snapshot_scan import scan_files
from truckee.storage import open_storage
from truckee.storage.base import Storage
from truckee.storage.local import LocalStorage
from truckee.storage.memory import MemoryStorage
from truckee.storage.read_bounds import ALSO_BELOW, ONLY_BELOW_ROOT, FencedStorage

FENCE = {ONLY_BELOW_ROOT: "true"}


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A Parquet file beside the table."""
    file = tmp_path / "elsewhere" / "secret.parquet"
    file.parent.mkdir()
    pq.write_table(pa.table({"id": pa.array([42], pa.int64())}), file)
    return file


def table(tmp_path: Path, *actions: Action) -> str:
    folder = tmp_path / "table"
    storage = LocalStorage(str(folder))
    storage.put_if_absent(
        commit_path(0), encode_actions([PROTOCOL, metadata(properties=FEED_ON), *actions])
    )
    return str(folder)


def add(path: str, vector: DeletionVectorDescriptor | None = None) -> AddFile:
    return AddFile(
        path=path,
        partition_values={},
        size=100,
        modification_time=1,
        data_change=True,
        stats='{"numRecords":1}',
        deletion_vector=vector,
    )


def rows(url: str, options: dict[str, str], *, feed: bool = False) -> list[int]:
    storage = open_storage(url, options)
    snapshot = load_snapshot(storage)
    files = list(
        plan_changes(storage, feed_options({"startingVersion": "0"})).files
        if feed
        else scan_files(snapshot)
    )
    read = TableRead(
        url=url,
        store_options=options,
        table=snapshot.configuration,
        is_feed=feed,
        columns=("id",),
    )
    batches = [batch for task in tasks(files) for batch in read_parts(read, task)]
    return [value for batch in batches for value in batch.column("id").to_pylist()]


@pytest.mark.parametrize(
    "spelling", ["plain", "url", "dots", "escaped dots", "link", "folder link"]
)
def test_a_data_file_outside_the_root_is_refused(
    tmp_path: Path, secret: Path, spelling: str
) -> None:
    """Invariant 43."""
    path = {
        "plain": str(secret),
        "url": f"file://{secret}",
        "dots": "../elsewhere/secret.parquet",
        "escaped dots": "%2e%2e/elsewhere/secret.parquet",
        "link": "inside.parquet",
        "folder link": "inside/secret.parquet",
    }[spelling]
    url = table(tmp_path, add(path))
    if spelling == "link":
        Path(url, "inside.parquet").symlink_to(secret)
    if spelling == "folder link":
        Path(url, "inside").symlink_to(secret.parent)

    assert rows(url, {}) == [42]
    for feed in (False, True):
        with pytest.raises(PathOutsideTableError) as error:
            rows(url, FENCE, feed=feed)
    with pytest.raises(PathOutsideTableError):
        check_paths(open_storage(url, FENCE), scan_files(load_snapshot(open_storage(url, FENCE))))
    assert ONLY_BELOW_ROOT in str(error.value)
    assert error.value.path in str(error.value)


def test_a_folder_that_the_user_names_may_be_read(tmp_path: Path, secret: Path) -> None:
    url = table(tmp_path, add(str(secret)))

    assert rows(url, {**FENCE, ALSO_BELOW: f"/nowhere, file://{secret.parent}"}) == [42]
    with pytest.raises(PathOutsideTableError):
        rows(url, {**FENCE, ALSO_BELOW: str(secret.parent)[:-1]})


def test_what_lies_below_the_root_is_read_as_ever(tmp_path: Path, secret: Path) -> None:
    url = table(tmp_path, add("a.parquet"), add(f"{tmp_path}/linked/b.parquet"))
    (tmp_path / "linked").symlink_to(url)
    for name in ("a", "b"):
        Path(url, f"{name}.parquet").write_bytes(secret.read_bytes())

    assert rows(url, FENCE) == [42, 42]
    assert rows(f"{tmp_path}/linked", FENCE) == [42, 42]


def test_a_change_file_outside_the_root_is_refused(tmp_path: Path, secret: Path) -> None:
    url = table(tmp_path, AddCDCFile(path=str(secret), partition_values={}, size=100))

    with pytest.raises(PathOutsideTableError):
        rows(url, FENCE, feed=True)


def test_a_vector_outside_the_root_is_refused(tmp_path: Path, secret: Path) -> None:
    other = LocalStorage(str(secret.parent))
    (vector,) = write_deletion_vectors(other, [RowBitmap([0])])
    url = table(tmp_path, add("a.parquet", vector.copy_with_absolute_path(other.root)))
    Path(url, "a.parquet").write_bytes(secret.read_bytes())

    assert rows(url, {}) == []
    with pytest.raises(PathOutsideTableError) as error:
        rows(url, FENCE)

    path = vector.absolute_path(other.root)
    assert str(error.value) == (
        f"[DELTA_PATH_OUTSIDE_TABLE] {path} is outside the table {url}, and "
        "spark.truckee.read.onlyBelowRoot forbids reading it\n"
        "hint: if you trust its folder, for example as the source of a clone, add it to "
        "spark.truckee.read.alsoBelow"
    )
    assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)


def test_a_log_behind_a_link_is_refused(tmp_path: Path) -> None:
    url = table(tmp_path)
    Path(url, "_delta_log").rename(tmp_path / "log")
    Path(url, "_delta_log").symlink_to(tmp_path / "log")

    assert load_snapshot(open_storage(url)).version == 0
    with pytest.raises(PathOutsideTableError):
        load_snapshot(open_storage(url, FENCE))


@pytest.mark.parametrize(
    ("path", "is_inside"),
    [
        ("a", True),
        ("memory://t/b/a", True),
        ("memory://t/bb/a", False),
        ("../a", False),
        ("memory://t/b/../c", False),
        ("s3://t/b/a", False),
        ("/etc/passwd", False),
        ("\0", True),
    ],
)
def test_places_are_compared_rather_than_spellings(path: str, is_inside: bool) -> None:
    storage = FencedStorage(MemoryStorage("memory://t/b"))

    if is_inside:
        storage.check(path)
    else:
        with pytest.raises(PathOutsideTableError):
            storage.check(path)


def test_the_setting_is_true_or_false(tmp_path: Path) -> None:
    def opened(value: str) -> Storage:
        return open_storage(str(tmp_path), {ONLY_BELOW_ROOT: value})

    assert isinstance(opened("TRUE"), FencedStorage)
    assert isinstance(opened("false"), LocalStorage)
    with pytest.raises(IllegalOptionError):
        opened("yes")
