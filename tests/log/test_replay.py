"""The fold, and how rows of a checkpoint are dropped by their keys."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders import history, vector
from truckee.log.checkpoint.schema import add_actions, file_rows
from truckee.log.replay import (
    Tail,
    decode_state,
    few_batches,
    file_key,
    live_files,
    path_key,
    path_keys,
    untouched_rows,
)
from truckee.protocol.actions import AddFile, RemoveFile


def add(path: str, *rows: int) -> AddFile:
    return AddFile(
        path=path,
        partition_values={"p": None},
        size=1,
        modification_time=2,
        data_change=False,
        deletion_vector=vector(*rows) if rows else None,
    )


def remove(path: str, *rows: int) -> RemoveFile:
    return RemoveFile(path=path, deletion_vector=vector(*rows) if rows else None)


def kept(older: list[AddFile], *newer: AddFile | RemoveFile) -> list[AddFile]:
    touched = {file_key(action): action for action in newer}
    return [
        file for batch in untouched_rows([file_rows(older)], touched) for file in add_actions(batch)
    ]


def test_the_last_action_of_a_key_wins() -> None:
    tail = Tail()

    tail.fold([add("a"), remove("a"), add("b"), remove("b"), add("b")])

    assert [type(action) for action in tail.files.values()] == [RemoveFile, AddFile]


def test_a_file_with_another_vector_is_another_file() -> None:
    tail = Tail()

    tail.fold([add("a"), add("a", 1), remove("a")])

    assert [type(action) for action in tail.files.values()] == [RemoveFile, AddFile]


def test_spellings_of_one_path_are_one_file() -> None:
    tail = Tail()

    tail.fold([add("c=a%20b/x"), remove("c=a b/x")])

    assert len(tail.files) == 1


def test_rows_that_nobody_touched_stay() -> None:
    older = [add("a"), add("b"), add("c", 1)]

    assert kept(older, remove("b"), add("z")) == [older[0], older[2]]


def test_a_row_goes_only_if_its_vector_is_meant() -> None:
    older = [add("a", 1), add("b", 1)]

    assert kept(older, remove("a"), remove("b", 1)) == [older[0]]


def test_a_row_goes_by_any_spelling_of_its_path() -> None:
    older = [add("c=a%20b/x"), add("c=%C3%A9/x"), add("c=%2525/x"), add("y")]

    left = kept(older, remove("c=a b/x"), remove("c=é/x"), remove("c=%25/x"))

    assert [file.path for file in left] == ["c=%2525/x", "y"]


def test_a_scheme_makes_another_uri() -> None:
    older = [add("/data/x"), add("file:///data/y")]

    left = kept(older, remove("file:/data/x"), remove("file:/data/y"))

    assert [file.path for file in left] == ["/data/x"]


def test_newer_files_stand_after_older_ones() -> None:
    batches = [file_rows([add("a")])]

    table = live_files(batches, {("b", None): add("b"), ("c", None): remove("c")})

    assert table.column("path").to_pylist() == ["a", "b"]


def test_many_small_batches_become_few() -> None:
    small = [file_rows([add(f"{number:03}")]) for number in range(100)]
    large = file_rows([add(f"x{number}") for number in range(2000)])

    few = list(few_batches([*small[:50], large, *small[50:]]))

    assert [len(batch) for batch in few] == [2000, 100]
    assert few[1].column("path").to_pylist() == [f"{number:03}" for number in range(100)]


def test_rows_and_actions_are_two_spellings_of_one_thing() -> None:
    files = [
        add("a", 1),
        AddFile(
            path="b",
            partition_values={"p": "1", "q": None},
            size=3,
            modification_time=4,
            data_change=False,
            stats="{}",
            tags={"t": "u", "n": None},
            base_row_id=5,
            default_row_commit_version=6,
            clustering_provider="liquid",
        ),
        add("c"),
    ]

    assert list(add_actions(file_rows(files))) == files


def test_commit_info_cannot_make_a_commit_unreadable() -> None:
    data = b'{"commitInfo":{"operationMetrics":[1,2],"isBlindAppend":"yes"}}\n'

    assert decode_state(data) == []


PIECES = st.sampled_from(["a", "/", " ", "%", "2", "5", "C", "é", "%20", "%25", "%3A", "%C3%A9"])
PATHS = st.lists(st.lists(PIECES).map("".join), min_size=1)


@pytest.mark.property
@settings(deadline=None)
@given(PATHS)
def test_keys_of_a_column_are_the_keys_of_its_paths(paths: list[str]) -> None:
    column = pa.array(paths, pa.string())

    assert path_keys(column).to_pylist() == [path_key(path) for path in paths]


@pytest.mark.property
@settings(deadline=None)
@given(st.lists(st.sampled_from(["a", "%20b", "c%3ad", "file:/x", "FILE:///x%20", "%2520", "%"])))
def test_keys_of_a_slice_are_the_keys_of_its_paths(paths: list[str]) -> None:
    column = pa.array(["%20", *paths], pa.string()).slice(1)

    assert path_keys(column).to_pylist() == [path_key(path) for path in paths]


def test_a_history_ends_in_its_live_files() -> None:
    snapshot = (
        history()
        .add("a")
        .add("b")
        .then()
        .remove("a")
        .add("c")
        .then()
        .delete("b", rows=[1])
        .then()
        .delete("b", rows=[1, 2])
        .snapshot()
    )

    assert [(f.path, f.deletion_vector) for f in snapshot.files()] == [
        ("c", None),
        ("b", vector(1, 2)),
    ]
