"""The promises of every Storage, as tests.

A test class that inherits from StorageContract has a fixture `storage`, empty and ready to use.
SharedStorageContract adds what can be promised where several processes meet.
"""

from __future__ import annotations

import multiprocessing
import posixpath
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from threading import Barrier, Event

import pytest

from truckee.errors import StorageError
from truckee.storage import Storage

WRITERS = 8
PROCESSES = 4
ROUNDS = 20


class StorageContract:
    """What holds within one process."""

    def test_a_file_is_read_as_it_was_written(self, storage: Storage) -> None:
        storage.write("_delta_log/a", b"some bytes")

        assert storage.read("_delta_log/a") == b"some bytes"

    def test_an_empty_file_is_a_file(self, storage: Storage) -> None:
        storage.put_if_absent("a", b"")

        assert storage.read("a") == b""
        assert [(f.path, f.size) for f in storage.list_from("a")] == [("a", 0)]

    def test_a_missing_file_is_not_found(self, storage: Storage) -> None:
        storage.write("folder/a", b"")

        for missing in ("b", "folder/b", "nowhere/b", "folder/a/b"):
            with pytest.raises(FileNotFoundError):
                storage.read(missing)
            with pytest.raises(FileNotFoundError):
                storage.read_range(missing, 0, 1)
            with pytest.raises(FileNotFoundError):
                storage.open_input(missing)

    @pytest.mark.parametrize(
        ("offset", "length", "expected"),
        [(0, 3, b"abc"), (2, 2, b"cd"), (4, 9, b"ef"), (6, 1, b""), (99, 9, b""), (1, 0, b"")],
    )
    def test_a_range_ends_where_the_file_ends(
        self, storage: Storage, offset: int, length: int, expected: bytes
    ) -> None:
        storage.write("a", b"abcdef")

        assert storage.read_range("a", offset, length) == expected

    def test_an_opened_file_is_read_at_random(self, storage: Storage) -> None:
        data = bytes(range(256)) * 16
        storage.write("a", data)

        with storage.open_input("a") as file:
            assert file.seek(-8, 2) == len(data) - 8
            assert file.read() == data[-8:]
            assert file.seek(1000) == 1000
            assert file.read(10) == data[1000:1010]
            assert file.tell() == 1010
            assert file.seek(5, 1) == 1015
            assert file.read(1) == data[1015:1016]

    def test_a_listing_starts_at_the_name_and_is_in_order(self, storage: Storage) -> None:
        for name in ("10.json", "9.json", "11.json", "_last", "10.checkpoint", "Z", "é"):
            storage.write(f"log/{name}", b"")

        def names(path: str) -> list[str]:
            return [f.path.removeprefix("log/") for f in storage.list_from(path)]

        everything = ["10.checkpoint", "10.json", "11.json", "9.json", "Z", "_last", "é"]
        assert names("log/") == everything
        assert names("log/10.json") == everything[1:]
        assert names("log/10.jsona") == everything[2:]
        assert names("log/1") == everything
        assert names("log/2") == everything[3:]
        assert names("log/ê") == []

    def test_a_listing_leaves_out_folders_and_neighbours(self, storage: Storage) -> None:
        for path in ("log/a", "log/b/inner", "log/c", "log2/x", "lo", "log/b.json"):
            storage.write(path, b"")

        assert [f.path for f in storage.list_from("log/")] == ["log/a", "log/b.json", "log/c"]

    def test_a_listing_shows_sizes_and_times(self, storage: Storage) -> None:
        before_ms = time.time_ns() // 1_000_000
        storage.write("a", b"12345")

        (found,) = storage.list_from("a")

        assert found.size == 5
        assert abs(found.modified_ms - before_ms) < 60_000

    def test_a_missing_folder_is_empty(self, storage: Storage) -> None:
        storage.write("file", b"")

        for folder in ("nowhere", "no/where", "file"):
            assert list(storage.list_from(f"{folder}/a")) == []
            assert list(storage.list_tree(folder)) == []

    def test_the_root_can_be_listed(self, storage: Storage) -> None:
        assert list(storage.list_tree("")) == []

        storage.write("a", b"")
        storage.write("folder/b", b"")

        assert [f.path for f in storage.list_from("")] == ["a"]
        assert sorted(f.path for f in storage.list_tree("")) == ["a", "folder/b"]

    def test_a_tree_holds_all_files_below_a_folder(self, storage: Storage) -> None:
        for path in ("data/a", "data/x/b", "data/x/y/c", "data2/d"):
            storage.write(path, path.encode())

        found = list(storage.list_tree("data"))

        assert sorted(f.path for f in found) == ["data/a", "data/x/b", "data/x/y/c"]
        assert all(storage.read(f.path) == f.path.encode() for f in found)

    def test_a_write_replaces(self, storage: Storage) -> None:
        storage.write("a", b"a long text")
        storage.write("a", b"short")

        assert storage.read("a") == b"short"

    def test_a_put_leaves_what_is_there(self, storage: Storage) -> None:
        storage.put_if_absent("log/0", b"first")

        with pytest.raises(FileExistsError):
            storage.put_if_absent("log/0", b"second")
        # Equal bytes are no excuse: each caller believes that its own put made the file.
        with pytest.raises(FileExistsError):
            storage.put_if_absent("log/0", b"first")

        assert storage.read("log/0") == b"first"
        assert [f.path for f in storage.list_tree("")] == ["log/0"]

    def test_a_put_does_not_replace_a_write(self, storage: Storage) -> None:
        storage.write("a", b"written")

        with pytest.raises(FileExistsError):
            storage.put_if_absent("a", b"put")

        assert storage.read("a") == b"written"

    def test_only_files_below_the_root_are_deleted(self, storage: Storage) -> None:
        for path in ("../a", "folder/../../a", f"{posixpath.dirname(storage.root)}/a"):
            with pytest.raises(StorageError, match="outside the table"):
                storage.delete(path)

    def test_a_deleted_file_is_gone(self, storage: Storage) -> None:
        storage.write("log/a", b"1")
        storage.delete("log/a")
        storage.delete("log/a")
        storage.delete("nowhere/a")

        assert list(storage.list_from("log/")) == []
        storage.put_if_absent("log/a", b"2")
        assert storage.read("log/a") == b"2"

    @pytest.mark.parametrize(
        "name",
        ["a b", "a%20b", "p=x%3Ay/f", "ünï/ço∂é", "a+b&c=d", "q?x#y", "a:b", "(1)[2]{3}~'\"", ".x"],
    )
    def test_names_are_taken_letter_for_letter(self, storage: Storage, name: str) -> None:
        storage.put_if_absent(f"data/{name}", b"1")

        assert storage.read(f"data/{name}") == b"1"
        assert [f.path for f in storage.list_tree("data")] == [f"data/{name}"]
        with pytest.raises(FileExistsError):
            storage.put_if_absent(f"data/{name}", b"2")

    def test_an_absolute_path_is_taken_as_it_is(self, storage: Storage) -> None:
        storage.write("log/a b%20c", b"1")
        absolute = f"{storage.root}/log/a b%20c"

        assert storage.read(absolute) == b"1"
        assert [f.path for f in storage.list_from(absolute)] == [absolute]

    def test_the_root_ends_without_a_slash(self, storage: Storage) -> None:
        assert storage.root
        assert not storage.root.endswith("/")

    def test_a_url_of_another_kind_of_store_is_refused(self, storage: Storage) -> None:
        with pytest.raises(StorageError, match=r"cannot open ftp://host/x: it is not (in|on) "):
            storage.read("ftp://host/x")

    def test_of_many_threads_one_wins(self, storage: Storage) -> None:
        barrier = Barrier(WRITERS)

        def race(writer: int) -> list[bool]:
            wins = []
            for turn in range(ROUNDS):
                barrier.wait()
                wins.append(_try_put(storage, f"race/{turn}", _content(writer)))
            return wins

        with ThreadPoolExecutor(WRITERS) as pool:
            results = list(pool.map(race, range(WRITERS)))

        _check_race(storage, results)

    # Invariant 2.
    def test_no_reader_sees_half_a_file(self, storage: Storage) -> None:
        versions = {b"a" * 100_000, b"b" * 300_000}
        storage.write("a", min(versions))
        done = Event()

        def read() -> set[bytes]:
            seen = set()
            while not done.is_set():
                seen.add(storage.read("a"))
            return seen

        with ThreadPoolExecutor(2) as pool:
            readers = [pool.submit(read) for _ in range(2)]
            for _ in range(ROUNDS):
                for version in versions:
                    storage.write("a", version)
            done.set()

        assert all(reader.result() <= versions for reader in readers)


class SharedStorageContract(StorageContract):
    """What also holds between processes; the storage must pickle."""

    # Invariant 1.
    def test_of_many_processes_one_wins(self, storage: Storage) -> None:
        spawn = multiprocessing.get_context("spawn")

        with ProcessPoolExecutor(PROCESSES, mp_context=spawn) as pool:
            results = [pool.submit(_race_for_all, storage, w) for w in range(PROCESSES)]
            _wait_until(lambda: len(list(storage.list_from("ready/"))) == PROCESSES)
            storage.write("go", b"")
            _check_race(storage, [result.result() for result in results])


def _race_for_all(storage: Storage, writer: int) -> list[bool]:
    storage.write(f"ready/{writer}", b"")
    _wait_until(lambda: bool(list(storage.list_from("go"))))
    return [_try_put(storage, f"race/{turn}", _content(writer)) for turn in range(ROUNDS)]


def _try_put(storage: Storage, path: str, data: bytes) -> bool:
    try:
        storage.put_if_absent(path, data)
    except FileExistsError:
        return False
    return True


def _content(writer: int) -> bytes:
    return str(writer).encode() * 10_000


def _check_race(storage: Storage, results: list[list[bool]]) -> None:
    """Check that each turn had one winner, and that its bytes are there, whole."""
    for turn in range(ROUNDS):
        winners = [writer for writer, wins in enumerate(results) if wins[turn]]
        assert len(winners) == 1, f"turn {turn} was won by {winners}"
        assert storage.read(f"race/{turn}") == _content(winners[0])
    assert len(list(storage.list_tree("race"))) == ROUNDS


def _wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "waited for a minute"
        time.sleep(0.01)
