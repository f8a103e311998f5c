"""How a stream is cut into batches, with the worked examples of the rules."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from changes.tables import PROTOCOL, Table, add, cdc, merge_info, metadata, remove, vector
from streaming.streams import batches, feed, reread, stream
from truckee.errors.streaming import OffsetWentBackError
from truckee.options.stream import stream_options
from truckee.protocol.actions import Action
from truckee.streaming.batches import Budget
from truckee.streaming.offset import BASE, StreamOffset
from truckee.streaming.table_stream import TableStream, open_stream


def table(*commits: tuple[Action, ...]) -> Table:
    """A table whose first commit also creates it."""
    first, *others = commits
    return Table().commit(PROTOCOL, metadata(), *first).commits(*others)


def cut(of: TableStream) -> list[list[str]]:
    return [batch.paths for batch in batches(of)]


def test_an_oversized_file_still_passes() -> None:
    budget = Budget(10, 100)

    assert [budget.admits(60), budget.admits(60), budget.admits(60)] == [True, True, False]


def test_the_first_group_always_passes_and_a_refused_one_is_counted() -> None:
    budget = Budget(3)

    assert budget.admits_group([1, 1, 1, 1])
    assert not budget.has_room

    budget = Budget(3)
    assert budget.admits(1)
    assert not budget.admits_group([1, 1, 1])
    assert not budget.has_room


def test_an_empty_group_takes_nothing() -> None:
    budget = Budget(1)

    assert budget.admits_group([])
    assert budget.admits_group([1, 1])


def test_bytes_cut_a_plain_commit() -> None:
    files = [replace(add(name), size=60) for name in "abc"]
    of = stream(table((), tuple(files)).storage, startingVersion=1, maxBytesPerTrigger=100)

    assert cut(of) == [["a", "b"], ["c"]]


def test_files_cut_a_plain_commit() -> None:
    made = table((add("a"), add("b")), (add("c"), add("d")))
    of = stream(made.storage, startingVersion=0, maxFilesPerTrigger=3)

    found = list(batches(of))

    assert [batch.paths for batch in found] == [["a", "b", "c"], ["d"]]
    assert [batch.end for batch in found] == [(1, 0), (2, BASE)]


def test_change_files_that_do_not_fit_wait_for_the_next_batch() -> None:
    made = table((add("a"), add("b")), (cdc("p"), cdc("q")), (cdc("r"), cdc("s")))
    of = feed(made.storage, startingVersion=0, maxFilesPerTrigger=3)

    found = list(batches(of))

    assert [batch.paths for batch in found] == [["a", "b"], ["p", "q"], ["r", "s"]]
    assert [batch.end for batch in found] == [(1, BASE), (1, 1), (2, 1)]


def test_what_change_files_leave_is_for_the_next_commit() -> None:
    made = table((add("a"), add("b")), (cdc("p"), cdc("q")), (add("c"),))
    of = feed(made.storage, startingVersion=0, maxFilesPerTrigger=3)

    assert cut(of) == [["a", "b"], ["p", "q", "c"]]


def test_change_files_beyond_the_limit_pass_as_the_first_group() -> None:
    made = table((), (cdc("p"), cdc("q"), cdc("r")), (add("a"),))
    of = feed(made.storage, startingVersion=1, maxFilesPerTrigger=1)

    assert cut(of) == [["p", "q", "r"], ["a"]]


def test_ends_of_a_commit_with_vectors_count_as_files() -> None:
    deleted = (remove("a"), add("a", dv=vector(1)))
    made = table((add("a"),), deleted)

    four = feed(made.storage, startingVersion=0, maxFilesPerTrigger=4)
    five = feed(made.storage, startingVersion=0, maxFilesPerTrigger=5)

    assert cut(four) == [["a"], ["a"]]
    assert cut(five) == [["a", "a"]]


def test_a_commit_with_vectors_that_a_scan_starts_at_counts_one_end() -> None:
    deleted = (remove("a"), add("a", dv=vector(1)))
    made = table((add("a"),), deleted, (add("b"),))

    three = feed(made.storage, startingVersion=1, maxFilesPerTrigger=3)
    four = feed(made.storage, startingVersion=1, maxFilesPerTrigger=4)

    assert cut(three) == [["a"], ["b"]]
    assert cut(four) == [["a", "b"]]


def test_adds_and_removes_without_vectors_may_be_parted() -> None:
    made = table((add("a"), add("b")), (remove("a"), remove("b"), add("c")))
    of = feed(made.storage, startingVersion=1, maxFilesPerTrigger=2)

    found = list(batches(of))

    assert [batch.paths for batch in found] == [["a", "b"], ["c"]]
    assert [batch.end for batch in found] == [(1, 1), (2, BASE)]
    assert [f.change.type for batch in found for f in batch.files if f.change] == [
        "delete",
        "delete",
        "insert",
    ]


def test_empty_commits_move_the_stream_on_and_cost_nothing() -> None:
    made = table((add("a"),), (), (), (add("b"),))
    of = feed(made.storage, startingVersion=0, maxFilesPerTrigger=2)

    found = list(batches(of))

    assert [(batch.end, batch.paths) for batch in found] == [((4, BASE), ["a", "b"])]


def test_a_merge_without_effect_moves_the_stream_on_and_shows_nothing() -> None:
    zero = merge_info(numTargetRowsInserted="0", numTargetRowsUpdated="0", numTargetRowsDeleted="0")
    made = table((add("a"),), (zero, remove("a"), add("b")), (add("c"),))
    of = feed(made.storage, startingVersion=0, maxFilesPerTrigger=2)

    found = list(batches(of))

    assert [(batch.end, batch.paths) for batch in found] == [((3, BASE), ["a", "c"])]


def test_excluded_files_keep_their_numbers_and_nothing_takes_their_place() -> None:
    update = (cdc("p"), cdc("_old/q"), remove("a"), add("b"))
    made = table((add("a"),), update)
    of = feed(made.storage, startingVersion=1, excludeRegex="old")

    found = list(batches(of))

    assert [(batch.end, batch.paths) for batch in found] == [((1, 1), ["p"])]


def test_walk_through_of_a_feed() -> None:
    made = table(
        (add("a"), add("b")),
        (cdc("p"), remove("a"), add("c")),
        (remove("b"), add("b", dv=vector(0))),
        (remove("c", data_change=False), add("d", data_change=False)),
        (metadata(),),
    )
    of = feed(made.storage)

    first, *others = batches(of)

    assert first.end == (5, BASE)
    assert sorted(first.paths) == ["b", "d"]
    assert {(f.change.type, f.change.version) for f in first.files if f.change} == {("insert", 4)}
    assert others == []

    at = StreamOffset(table_id="t", version=5)
    made.commit(cdc("q"), remove("d"), add("e"))
    after_update = of.latest_offset(at)
    assert after_update == StreamOffset(table_id="t", version=5, index=0)
    assert [f.path for f in of.plan(at, after_update)] == ["q"]

    made.commit(remove("e"), add("e", dv=vector(3)))
    after_delete = of.latest_offset(after_update)
    assert after_delete == StreamOffset(table_id="t", version=7)
    assert [f.path for f in of.plan(after_update, after_delete)] == ["e"]
    assert of.latest_offset(after_delete) == after_delete


def test_the_whole_history_from_version_zero() -> None:
    made = table((add("a"),), (cdc("p"), remove("a"), add("c")), (metadata(),))
    of = feed(made.storage, startingVersion=0)

    (only,) = batches(of)

    assert (only.end, only.paths) == ((3, BASE), ["a", "p"])


def test_restart_inside_the_initial_snapshot_keeps_its_numbers() -> None:
    files = [
        replace(add(name), modification_time=time)
        for name, time in zip("dcba", (1, 2, 3, 3), strict=True)
    ]
    made = table(tuple(files))
    first = stream(made.storage, maxFilesPerTrigger=3)
    middle = first.latest_offset(None)
    assert middle == StreamOffset(table_id="t", version=0, index=2, is_initial=True)
    assert [f.path for f in first.plan(None, middle)] == ["d", "c", "a"]

    made.commit(add("new"))
    again = stream(made.storage, maxFilesPerTrigger=3)
    rest = list(batches(again, reread(again, middle)))

    assert [batch.paths for batch in rest] == [["b", "new"]]
    assert [f.path for f in again.plan(None, middle)] == ["d", "c", "a"]


def test_first_batch_that_is_planned_again_shows_the_table_before_its_end() -> None:
    made = table((add("a"),))
    of = stream(made.storage)
    made.commit(add("b"))
    end = of.latest_offset(None)
    assert end == StreamOffset(table_id="t", version=2)

    made.commit(add("c"))
    again = stream(made.storage)

    assert sorted(f.path for f in again.plan(None, end)) == ["a", "b"]
    assert sorted(f.path for f in again.plan(again.initial_offset(), end)) == ["a", "b"]


# Invariant 14.
def test_the_same_question_has_the_same_answer() -> None:
    of = stream(table((add("a"),), (add("b"),)).storage, startingVersion=0, maxFilesPerTrigger=1)

    first = of.latest_offset(None)

    assert of.latest_offset(None) == first
    assert of.plan(None, first) == of.plan(None, first) if first else False


def test_without_limits_all_is_one_batch() -> None:
    made = table((add("a"), add("b")), (cdc("p"), cdc("q")), (add("c"),))
    of = feed(made.storage, startingVersion=0, maxFilesPerTrigger=1)

    end = of.latest_offset(None, is_limited=False)

    assert end == StreamOffset(table_id="t", version=3)
    assert [f.path for f in of.plan(None, end)] == ["a", "b", "p", "q", "c"]


def test_available_now_stops_at_what_was_there_and_keeps_its_limits() -> None:
    made = table((add("a"),), (add("b"),))
    of = stream(made.storage, startingVersion=0, maxFilesPerTrigger=1)
    of.prepare_for_available_now()
    made.commit(add("late"))

    found = list(batches(of))

    assert [batch.paths for batch in found] == [["a"], ["b"]]
    assert found[-1].end == (2, BASE)


def test_an_end_before_the_start_is_refused() -> None:
    of = stream(table((add("a"),)).storage, startingVersion=0)
    start, end = StreamOffset(table_id="t", version=9), StreamOffset(table_id="t", version=1)

    with pytest.raises(OffsetWentBackError) as raised:
        of.plan(start, end)

    assert raised.value.sentence() == (
        f"the stream of {of.storage.root} has reached {start.to_json()}, but the table now ends "
        f"at {end.to_json()}\n"
        "hint: files of _delta_log may have been deleted; restore them, or start the query with "
        "a new checkpoint"
    )


def test_start_and_end_alike_read_nothing() -> None:
    of = stream(table((add("a"),)).storage, startingVersion=0)
    at = StreamOffset(table_id="t", version=9)

    assert of.plan(at, at) == []


def test_a_stream_keeps_the_schema_that_it_was_loaded_with() -> None:
    made = table((add("a"),))
    opened = open_stream(made.storage, stream_options({"startingVersion": 0}))
    made.commit(metadata("id long", comment="x"))

    of = TableStream(opened)

    assert cut(of) == [["a"]]
