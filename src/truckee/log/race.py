"""The race for the next version: create its file, or see who did, and whether to try again.

One attempt, and what may come of it:

    put_if_absent(version n) ---> mine: done
            |
            | taken
            v
    read the winners n, n+1, ... ---> a conflict with one of them: give up
            |
            | none
            v
    try the version after the last of them
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import count, takewhile
from typing import TypeAlias

from truckee.errors.storage import StorageError
from truckee.errors.transaction import (
    ConcurrentAppendException,
    ConcurrentDeleteDeleteException,
    ConcurrentDeleteReadException,
    ConcurrentWriteException,
    MaxCommitRetriesExceededError,
)
from truckee.log.attempt import Base, Staged, commit_actions
from truckee.log.commits import Commit, decode_commit
from truckee.log.conflicts import Candidate, Reads, check, swapped_paths
from truckee.log.log_files import read_in_order
from truckee.log.segment import list_commits
from truckee.protocol.actions import Action, RemoveFile, encode_actions
from truckee.protocol.paths import commit_path, decode_path
from truckee.storage.base import FileInfo, Storage

_log = logging.getLogger(__name__)

Resolve: TypeAlias = Callable[[Commit, tuple[Action, ...]], Iterable[Action] | None]
"""Brings a winner's deletion vectors and my staged actions together, or says None: it cannot.

With an answer, every file whose vector the winner changed counts as settled. So whoever answers
has looked at all of them, also those that are not staged here, and says None where a vector that
lost rows brought back ones that this transaction should have seen.
"""


def write_commit(
    storage: Storage,
    staged: Staged,
    base: Base,
    *,
    reads: Reads,
    verify: Callable[[Staged], None],
    max_attempts: int,
    resolve: Resolve | None = None,
) -> tuple[int, tuple[Action, ...]]:
    """Try one version after another until one is ours; return it with the actions written.

    `base` is the table as it was read. `verify` raises if actions that `resolve` came up with may
    not be committed.
    """
    read_version = base.version
    start = time.monotonic()
    for attempt in range(max_attempts):
        version = base.version + 1
        actions = commit_actions(staged, base, now_ms())
        winners = _put(storage, version, actions, read_version)
        if winners is None or (winners and _is_by(staged.txn_id, winners[0])):
            return version, actions
        _log.debug(
            "%s: version %d was taken, by %s; looking whether it can follow",
            staged.operation,
            version,
            ", ".join(_operation(winner) for winner in winners) or "a commit not visible yet",
        )
        for winner in winners:
            staged = _after(staged, base, winner, reads=reads, verify=verify, resolve=resolve)
            base = base.after(winner)
        _let_others_pass(attempt)
    raise MaxCommitRetriesExceededError(
        version=base.version,
        start_version=read_version + 1,
        attempts=max_attempts,
        actions=len(staged.all_actions),
        seconds=time.monotonic() - start,
    )


def now_ms() -> int:
    """Return the wall clock in milliseconds."""
    return time.time_ns() // 1_000_000


def _put(
    storage: Storage, version: int, actions: Iterable[Action], read_version: int
) -> list[Commit] | None:
    """Create the commit file of a version and return None, or all who have come first.

    The first of them may be ourselves: a request whose answer got lost may have been sent again
    on the way, and a write that failed may have been carried out all the same.
    """
    try:
        storage.put_if_absent(commit_path(version), encode_actions(actions))
    except FileExistsError:
        return _winners(storage, version, read_version)
    except StorageError:
        winners = _winners(storage, version, read_version)
        if not winners:
            raise
        return winners
    return None


def _winners(storage: Storage, version: int, read_version: int) -> list[Commit]:
    """Return the commits from a version on, as far as they follow each other.

    A directory that is listed while others write to it may show a file and not yet an older one,
    so what comes after a gap is left for another time.
    """
    files = list_commits(storage, version)
    if files and version not in files and not _exists(storage, commit_path(version)):
        raise ConcurrentWriteException(version=version, read_version=read_version)
    numbers = list(takewhile(files.__contains__, count(version)))
    contents = read_in_order(storage, [files[number].path for number in numbers])
    return [
        _commit(storage, number, files[number], data)
        for number, data in zip(numbers, contents, strict=True)
    ]


def _exists(storage: Storage, path: str) -> bool:
    try:
        storage.read(path)
    except FileNotFoundError:
        return False
    return True


def _commit(storage: Storage, version: int, file: FileInfo, data: bytes) -> Commit:
    actions = tuple(decode_commit(storage, file.path, data))
    commit = Commit(version, file.modified_ms, actions)
    if commit.commit_info is None or commit.commit_info.in_commit_timestamp is None:
        return commit
    return replace(commit, timestamp_ms=commit.commit_info.in_commit_timestamp)


def _operation(commit: Commit) -> str:
    info = commit.commit_info
    return "another writer" if info is None or info.operation is None else info.operation


def _is_by(txn_id: str, commit: Commit) -> bool:
    return commit.commit_info is not None and commit.commit_info.txn_id == txn_id


def _let_others_pass(attempt: int) -> None:
    """Wait for a random moment: where many race, one that is always second would starve."""
    time.sleep(random.uniform(0, min(0.01 * 2 ** min(attempt, 10), 0.2)))  # noqa: S311


def _after(
    staged: Staged,
    base: Base,
    winner: Commit,
    *,
    reads: Reads,
    verify: Callable[[Staged], None],
    resolve: Resolve | None,
) -> Staged:
    """Return what to commit after a winner, or raise the conflict with it."""
    try:
        check(_candidate(staged, base, reads), winner)
    except (
        ConcurrentAppendException,
        ConcurrentDeleteReadException,
        ConcurrentDeleteDeleteException,
    ):
        swapped = swapped_paths(winner)
        replaced = None if not (resolve and swapped) else resolve(winner, staged.actions)
        if replaced is None:
            raise
        resolved = replace(staged, actions=tuple(replaced))
        check(_candidate(resolved, base, reads), winner, settled=swapped)
        if not _removes_what_is_there(resolved.actions, winner):
            raise
        verify(resolved)
        return resolved
    return staged


def _candidate(staged: Staged, base: Base, reads: Reads) -> Candidate:
    return Candidate(
        reads=reads,
        actions=staged.all_actions,
        isolation=staged.isolation,
        operation=staged.operation,
        before=base.configuration,
        table=staged.table,
    )


def _removes_what_is_there(actions: Iterable[Action], winner: Commit) -> bool:
    """Whether removes of files that a winner touched name the vectors that it gave them.

    A remove with any other vector would cancel nothing, and leave two files of one path.
    """
    vectors = {decode_path(add.path): add.deletion_vector for add in winner.adds}
    return all(
        action.deletion_vector == vectors[path]
        for action in actions
        if isinstance(action, RemoveFile) and (path := decode_path(action.path)) in vectors
    )
