"""Law: what the rules let pass could have been run one by one; what they refuse has a reason."""

from __future__ import annotations

import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from law_examples import examples
from property.serial_model import (
    Append,
    Compact,
    Delete,
    Derive,
    File,
    Outcome,
    Partitions,
    Program,
    Row,
    Table,
    rows,
    run_one_by_one,
)
from staging import BASIC, check, commit, metadata, remove
from staging import add as new_file
from staging import vector as new_vector
from truckee.errors.transaction import (
    ConcurrentAppendException,
    ConcurrentDeleteDeleteException,
    ConcurrentDeleteReadException,
    DeltaConcurrentModificationException,
)
from truckee.log.commit.conflicts import Candidate, IsolationLevel, Reads
from truckee.log.commit.transaction import isolation_level
from truckee.log.files.commits import Commit
from truckee.protocol.actions import Action, AddFile
from truckee.protocol.predicates import (
    UNKNOWN,
    Column,
    In,
    IsNull,
    Predicate,
    all_of,
    any_of,
)
from truckee.protocol.table_configuration import TableConfiguration

pytestmark = pytest.mark.property

ALL: Partitions = frozenset({"x", "y", None})
TABLE = metadata("key long", "p string", partitioned_by=("p",))

partition = st.sampled_from(["x", "y", None])
partitions = st.sets(partition, min_size=1).map(frozenset)
keys = st.integers(0, 2)


def programs(name: str) -> st.SearchStrategy[Program]:
    named = st.just(name)
    return st.one_of(
        st.builds(Append, named, partition, keys),
        st.builds(Delete, named, partitions, keys, st.booleans()),
        st.builds(Derive, named, partitions, partition),
        st.builds(Compact, named, partition),
    )


@st.composite
def tables(draw: st.DrawFn) -> dict[str, File]:
    files = draw(st.lists(st.tuples(partition, st.sets(keys, min_size=1)), max_size=5))
    return {
        f"f{i}": File(where, frozenset(Row(key, f"f{i}") for key in found))
        for i, (where, found) in enumerate(files)
    }


# From the model to what the rules are given.


def actions(outcome: Outcome, before: Table) -> tuple[Action, ...]:
    changes = outcome.changes_data
    removes = [
        remove(_action(path, before[path], changes), data_change=changes)
        for path in sorted(outcome.removed)
    ]
    adds = [_action(path, file, changes) for path, file in outcome.added.items()]
    return (*removes, *adds)


def _action(path: str, file: File, changes_data: bool) -> AddFile:
    return new_file(
        path,
        partition={"p": file.partition},
        vector=new_vector(f"v{file.vector}") if file.vector else None,
        data_change=changes_data,
    )


def predicate(searched: Partitions) -> Predicate:
    """Return the search for some partitions, with a condition on data beside it."""
    values = tuple(sorted(value for value in searched if value is not None))
    on_partition: Predicate = In(Column(("p",)), values)
    if None in searched:
        on_partition = any_of(on_partition, IsNull(Column(("p",))))
    return all_of(on_partition, UNKNOWN)


def candidate(outcome: Outcome, before: Table, level: IsolationLevel) -> Candidate:
    reads = Reads(
        whole_table=outcome.searched == ALL,
        predicates=() if outcome.searched is None else (predicate(outcome.searched),),
        paths=outcome.read,
    )
    planned = actions(outcome, before)
    return Candidate(
        reads=reads,
        actions=planned,
        isolation=isolation_level(planned, level),
        before=TableConfiguration(TABLE, BASIC),
    )


def won(version: int, outcome: Outcome, before: Table) -> Commit:
    return commit(version, *actions(outcome, before), blind=outcome.is_blind_append)


def refusal(mine: Candidate, winner: Commit) -> DeltaConcurrentModificationException | None:
    """Return why the rules do not let a transaction follow a winner; None if they do."""
    try:
        check(mine, winner)
    except DeltaConcurrentModificationException as refused:
        return refused
    return None


# The law for one winner, at every level.

levels = st.sampled_from([IsolationLevel.SERIALIZABLE, IsolationLevel.WRITE_SERIALIZABLE])


# Invariant 7.
@given(tables(), programs("winner"), programs("mine"), levels)
@settings(max_examples=examples(500), deadline=None)
def test_what_is_allowed_could_have_been_run_in_some_order(
    before: dict[str, File], winner: Program, mine: Program, level: IsolationLevel
) -> None:
    theirs, ours = winner.run(before), mine.run(before)
    assume(ours.added or ours.removed)
    mine_to_check = candidate(ours, before, level)
    event(f"{type(winner).__name__} then {type(mine).__name__}")

    refused = refusal(mine_to_check, won(1, theirs, before))

    if refused is not None:
        assert reason(refused, theirs, ours, mine_to_check.isolation)
        return
    together = rows(ours.applied(theirs.applied(before)))
    in_order_of_commits = rows(run_one_by_one(before, winner, mine))
    the_other_way_round = rows(run_one_by_one(before, mine, winner))
    if level is IsolationLevel.SERIALIZABLE:
        assert together == in_order_of_commits
    else:
        assert together in (in_order_of_commits, the_other_way_round)


def reason(
    refused: DeltaConcurrentModificationException,
    theirs: Outcome,
    ours: Outcome,
    level: IsolationLevel,
) -> bool:
    """Return whether the refusal names a file that the two really have in common."""
    match refused:
        case ConcurrentAppendException(path=path):
            assert level is not IsolationLevel.SNAPSHOT_ISOLATION
            assert level is IsolationLevel.SERIALIZABLE or not theirs.is_blind_append
            return ours.searched is not None and theirs.added[path].partition in ours.searched
        case ConcurrentDeleteReadException(path=path):
            return path in theirs.removed and (path in ours.read or ours.searched == ALL)
        case ConcurrentDeleteDeleteException(path=path):
            return path in theirs.removed & ours.removed
        case _:
            return False


@given(tables(), programs("winner"), programs("mine"))
@settings(max_examples=examples(500), deadline=None)
def test_serializable_refuses_only_what_saw_another_table(
    before: dict[str, File], winner: Program, mine: Program
) -> None:
    theirs, ours = winner.run(before), mine.run(before)
    assume(ours.changes_data and (ours.added or ours.removed))
    after = theirs.applied(before)

    planned = candidate(ours, before, IsolationLevel.SERIALIZABLE)

    refused = refusal(planned, won(1, theirs, before))

    sees_the_same = looked_at(before, ours) == looked_at(after, ours)
    assert (refused is None) == sees_the_same


def looked_at(table: Table, outcome: Outcome) -> dict[str, File]:
    """Return the files that decide what a program does, as far as partitions can tell.

    Files that were there and were not read do not decide anything: that they go is no matter.
    """
    skipped = {} if outcome.searched == ALL else {p for p in table if p not in outcome.read}
    searched = outcome.searched or frozenset()
    return {
        path: file
        for path, file in table.items()
        if file.partition in searched and not (path in skipped and _is_old(path, file))
    }


def _is_old(path: str, file: File) -> bool:
    return path.startswith("f") and file.vector == 0


# The law for several winners, one after the other.


@given(tables(), st.data())
@settings(max_examples=examples(300), deadline=None)
def test_serializable_transaction_sees_the_table_that_all_winners_left(
    before: dict[str, File], data: st.DataObject
) -> None:
    mine = data.draw(programs("mine"))
    winners = [data.draw(programs(f"winner{i}")) for i in range(data.draw(st.integers(1, 4)))]
    ours = mine.run(before)
    assume(ours.added or ours.removed)
    mine_to_check = candidate(ours, before, IsolationLevel.SERIALIZABLE)
    table: dict[str, File] = dict(before)

    for version, winner in enumerate(winners, 1):
        theirs = winner.run(table)
        if refusal(mine_to_check, won(version, theirs, table)) is not None:
            return
        table = theirs.applied(table)

    assert rows(ours.applied(table)) == rows(run_one_by_one(table, mine))
