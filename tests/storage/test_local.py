from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from contracts.storage import SharedStorageContract
from truckee.errors import StorageError, StoragePermissionError
from truckee.storage import LocalStorage, open_storage
from truckee.storage.exclusive import (
    Way,
    WayNotSupportedError,
    by_claim,
    by_link,
    by_rename,
)
from truckee.storage.tree import walk

NOBODY = 65534


def no_links(staged: Path, target: Path) -> None:
    """The way of a file system that has no links."""
    raise WayNotSupportedError


WAYS = {
    "link": (by_link, by_rename, by_claim),
    "rename": (no_links, by_rename, by_claim),
    "claim": (no_links, by_claim),
}


def names_in(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


@pytest.fixture(params=WAYS)
def ways(request: pytest.FixtureRequest) -> tuple[Way, ...]:
    return WAYS[request.param]


@pytest.fixture
def storage(tmp_path: Path, ways: tuple[Way, ...]) -> LocalStorage:
    return LocalStorage(str(tmp_path / "tables" / "t"), ways=ways)


class TestLocalStorage(SharedStorageContract):
    pass


def test_nothing_but_the_files_is_left_behind(storage: LocalStorage) -> None:
    storage.write("log/a", b"1")
    storage.put_if_absent("log/b", b"2")
    with pytest.raises(FileExistsError):
        storage.put_if_absent("log/b", b"3")

    assert names_in(Path(storage.root, "log")) == ["a", "b"]


def test_unfinished_files_are_not_listed(tmp_path: Path) -> None:
    storage = LocalStorage(str(tmp_path))
    storage.write("log/.0.json.6f1e.tmp", b"half")
    storage.write("log/.keep", b"")

    assert [f.path for f in storage.list_from("log/")] == ["log/.keep"]


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "log" / "folder").mkdir(parents=True)
    storage = LocalStorage(str(tmp_path))

    assert list(storage.list_from("log/")) == []
    with pytest.raises(StorageError) as caught:
        storage.read("log/folder")
    assert caught.value.sentence() == f"cannot read {tmp_path}/log/folder: is a directory"
    with pytest.raises(FileExistsError):
        storage.put_if_absent("log/folder", b"")


def test_a_file_where_a_folder_should_be_is_named(tmp_path: Path) -> None:
    storage = LocalStorage(str(tmp_path / "file"))
    (tmp_path / "file").write_bytes(b"")

    with pytest.raises(StorageError) as caught:
        storage.write("log/a", b"")

    assert caught.value.sentence() == f"cannot write {tmp_path}/file/log/a: not a directory"


def test_hadoops_checksum_goes_with_the_bytes_it_was_made_of(tmp_path: Path) -> None:
    storage = LocalStorage(str(tmp_path))
    for name in ("replaced", "deleted", "kept"):
        storage.write(name, b"by hadoop")
        (tmp_path / f".{name}.crc").write_bytes(b"checksum")

    storage.write("replaced", b"by truckee")
    storage.delete("deleted")

    assert names_in(tmp_path) == [".kept.crc", "kept", "replaced"]


def test_links_to_files_are_files_and_links_to_folders_are_not_followed(tmp_path: Path) -> None:
    storage = LocalStorage(str(tmp_path))
    storage.write("data/a", b"1")
    (tmp_path / "data" / "link").symlink_to(tmp_path / "data" / "a")
    (tmp_path / "data" / "loop").symlink_to(tmp_path)
    (tmp_path / "data" / "broken").symlink_to(tmp_path / "nowhere")

    assert sorted(f.path for f in storage.list_tree("data")) == ["data/a", "data/link"]


@contextmanager
def without_privileges() -> Iterator[None]:
    """Drop root's right to pass every check of permission, where the tests run as root."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(user)


def test_a_path_without_permission_is_one_sentence_and_a_hint(tmp_path: Path) -> None:
    storage = LocalStorage(str(tmp_path / "t"))
    storage.write("log/a", b"1")
    hint = "hint: check the owner and mode of the path, or the credentials for its store"
    (tmp_path / "t").chmod(0o000)

    try:
        with without_privileges():
            with pytest.raises(StoragePermissionError) as listing:
                list(storage.list_from("log/a"))
            with pytest.raises(StoragePermissionError) as reading:
                storage.read("log/a")
            with pytest.raises(StoragePermissionError) as writing:
                storage.put_if_absent("log/b", b"2")
            with pytest.raises(StoragePermissionError) as walking:
                list(walk(storage, lambda _: False))
    finally:
        (tmp_path / "t").chmod(0o755)

    log = tmp_path / "t" / "log"
    assert listing.value.sentence() == f"no permission to list {log}: permission denied\n{hint}"
    assert walking.value.sentence() == (
        f"no permission to list {tmp_path}/t: permission denied\n{hint}"
    )
    assert reading.value.sentence() == f"no permission to read {log}/a: permission denied\n{hint}"
    assert writing.value.sentence() == f"no permission to write {log}/b: permission denied\n{hint}"
    assert names_in(log) == ["a"]


WRITE_UNTIL_KILLED = """
import sys
from truckee.storage import LocalStorage
from truckee.storage.exclusive import by_claim, by_link, by_rename

storage = LocalStorage(sys.argv[1], ways=[globals()[sys.argv[2]]])
version = int(sys.argv[3])
while True:
    try:
        storage.put_if_absent(f"log/{version:04}", b"%04d" % version * 50_000)
        storage.write("last", b"%04d" % version * 50_000)
        print(version, flush=True)
    except FileExistsError:
        pass
    version += 1
"""


@pytest.mark.parametrize("way", ["by_link", "by_rename", "by_claim"])
def test_a_killed_writer_leaves_whole_files_and_all_that_it_acknowledged(
    tmp_path: Path, way: str
) -> None:
    storage = LocalStorage(str(tmp_path / "t"), ways=[globals()[way]])
    acknowledged: list[int] = []
    rng = random.Random(way)

    for _ in range(6):
        start = acknowledged[-1] + 1 if acknowledged else 0
        acknowledged += _write_and_kill(storage.root, way, start, after_s=rng.uniform(0, 0.1))

        for found in storage.list_from("log/"):
            version = int(found.path.removeprefix("log/"))
            assert storage.read(found.path) == b"%04d" % version * 50_000
        assert len(set(storage.read("last"))) <= 4
        assert len(storage.read("last")) == 200_000

    assert len(acknowledged) > 6
    listed = {int(f.path.removeprefix("log/")) for f in storage.list_from("log/")}
    assert listed >= set(acknowledged)


def _write_and_kill(root: str, way: str, start: int, *, after_s: float) -> list[int]:
    """Run a writer, kill it a moment after its first file, and return what it acknowledged."""
    command = [sys.executable, "-c", WRITE_UNTIL_KILLED, root, way, str(start)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        first = writer.stdout.readline()
        time.sleep(after_s)
        writer.kill()
        return [int(line) for line in (first, *writer.stdout) if line.endswith("\n")]


@pytest.mark.parametrize(
    ("written", "path"),
    [
        ("/data/t", "/data/t"),
        ("/data/t/", "/data/t"),
        ("/data//x/../t/.", "/data/t"),
        ("/data/a%20b", "/data/a%20b"),
        ("file:/data/t", "/data/t"),
        ("file:///data/t/", "/data/t"),
        ("file://localhost/data/t", "/data/t"),
        ("FILE:/data/t", "/data/t"),
        ("file:///data/a%20b%25c", "/data/a b%c"),
        ("file:/data/a b", "/data/a b"),
        ("/data/s3:/t", "/data/s3:/t"),
        ("/data/day=2024-01-01T00:00", "/data/day=2024-01-01T00:00"),
    ],
)
def test_paths_and_file_urls_open_the_same_folder(written: str, path: str) -> None:
    assert open_storage(written).root == path


def test_relative_paths_start_at_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    storage = open_storage("tables/t")
    monkeypatch.chdir("/")

    assert storage.root == f"{tmp_path}/tables/t"
    assert open_storage("~/t").root == "/~/t"
    assert open_storage("a:b").root == "/a:b"


def test_a_file_url_inside_a_table_is_taken_letter_for_letter(tmp_path: Path) -> None:
    storage = LocalStorage(str(tmp_path))
    storage.write("a b%20c", b"1")

    assert storage.read(f"file:{tmp_path}/a b%20c") == b"1"
    assert storage.read(f"file://{tmp_path}/a b%20c") == b"1"


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("", "cannot open '': the path is empty"),
        (
            "file:data/t",
            "cannot open 'file:data/t': a file: URL needs an absolute path, as in file:///data",
        ),
        ("file://host/t", "cannot open 'file://host/t': its path is on another host, 'host'"),
        (
            "hdfs://host/t",
            "cannot open 'hdfs://host/t': 'hdfs' is not a scheme that truckee can open without a "
            "Spark session",
        ),
        ("s3a:///t", "cannot open 's3a:///t': the URL names no bucket"),
    ],
)
def test_what_names_no_table_is_refused(url: str, message: str) -> None:
    hint = "hint: give a local path, or a URL that starts with file:, s3a://, gs:// or abfss://"

    with pytest.raises(StorageError) as caught:
        open_storage(url)

    assert caught.value.sentence() == f"{message}\n{hint}"
