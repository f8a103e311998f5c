"""The race for the next version: create its file, or see who did, and whether to try again.

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

import random
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TypeAlias

from truckee.errors.log import LogFileNotFoundError, VersionNotFoundError
from truckee.errors.storage import StorageError
from truckee.errors.transaction import (
    ConcurrentAppendException,
    ConcurrentDeleteDeleteException,
    ConcurrentDeleteReadException,
    ConcurrentWriteException,
    MaxCommitRetriesExceededError,
)
from truckee.log.attempt import Base, Staged, commit_actions
from truckee.log.commits import Commit, decode_commit, read_commits
from truckee.log.conflicts import Candidate, Reads, check, swapped_paths
from truckee.protocol.actions import Action, CommitInfo, RemoveFile, encode_actions
from truckee.protocol.paths import commit_path, decode_path
from truckee.storage.base import Storage

Resolve: TypeAlias = Callable[[Commit, tuple[Action, ...]], Iterable[Action] | None]
"""Brings a winner's deletion vectors and my staged actions together, or says None: it cannot."""


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
        if _put(storage, version, actions, staged.txn_id):
            return version, actions
        _let_others_pass(attempt)
        for winner in _winners(storage, version, read_version):
            staged = _after(staged, base, winner, reads=reads, verify=verify, resolve=resolve)
            base = base.after(winner)
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


def _put(storage: Storage, version: int, actions: Iterable[Action], txn_id: str) -> bool:
    """Create the commit file of a version; False if it is another writer's."""
    path = commit_path(version)
    try:
        storage.put_if_absent(path, encode_actions(actions))
    except FileExistsError:
        # It may be our own: a request whose answer got lost may have been sent again on the way.
        return _author(storage, path) == txn_id
    except StorageError:
        author = _author(storage, path)
        if author is None:
            raise
        return author == txn_id
    return True


def _author(storage: Storage, path: str) -> str | None:
    """Return the id of the transaction that wrote a commit, None if there is no such file."""
    try:
        data = storage.read(path)
    except FileNotFoundError:
        return None
    actions = decode_commit(storage, path, data)
    infos = [action for action in actions if isinstance(action, CommitInfo)]
    return str(infos[0].txn_id) if infos else ""


def _let_others_pass(attempt: int) -> None:
    """Wait for a random moment: where many race, one that is always second would starve."""
    time.sleep(random.uniform(0, min(0.001 * 2 ** min(attempt, 10), 0.05)))  # noqa: S311


def _winners(storage: Storage, version: int, read_version: int) -> Iterator[Commit]:
    try:
        yield from read_commits(storage, version)
    except (VersionNotFoundError, LogFileNotFoundError) as cause:
        raise ConcurrentWriteException(version=version, read_version=read_version) from cause


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
        protocol=base.protocol,
        metadata=base.metadata,
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
