"""The race for the next version: create its file, or check the winners and try again.

One attempt and its outcomes:

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
from collections.abc import Iterable
from itertools import count, takewhile

from truckee.errors.commit import NoVersionLeftError
from truckee.errors.storage import StorageError
from truckee.errors.transaction import (
    ConcurrentWriteException,
    MaxCommitRetriesExceededError,
)
from truckee.log.commit.attempt import Base, StagedCommit, commit_actions
from truckee.log.commit.conflicts import Candidate, Reads, conflict_with
from truckee.log.files.commits import Commit, commits_of
from truckee.log.files.segment import list_commits
from truckee.protocol.actions import Action, encode_actions
from truckee.protocol.paths import LARGEST_VERSION, commit_path
from truckee.storage.base import Storage, file_exists

_log = logging.getLogger(__name__)

# A commit can be read as soon as its name is taken, even if a listing lags behind. If that fails
# again and again, the name is that of something else.
_MOST_UNSEEN = 20


def write_commit(
    storage: Storage,
    staged: StagedCommit,
    base: Base,
    *,
    reads: Reads,
    max_attempts: int,
) -> tuple[int, tuple[Action, ...]]:
    """Try one version after another until one is ours; return it with the actions written.

    `base` is the table as it was read. Raises the first conflict with a winning commit, and a
    StorageError if the name of the next version is taken by something that is not a commit.
    """
    read_version = base.version
    start = time.monotonic()
    unseen = 0
    for attempt in range(max_attempts):
        if base.version >= LARGEST_VERSION:
            raise NoVersionLeftError(table=staged.table, version=base.version)
        version = base.version + 1
        actions = commit_actions(staged, base, now_ms())
        winners = _put(storage, version, actions, read_version)
        if winners is None or (winners and _is_by(staged.txn_id, winners[0])):
            return version, actions
        _log.debug(
            "%s: version %d was taken, by %s; checking for conflicts",
            staged.operation,
            version,
            ", ".join(_operation(winner) for winner in winners) or "a commit not visible yet",
        )
        for winner in winners:
            conflict = conflict_with(_candidate(staged, base, reads), winner)
            if conflict is not None:
                raise conflict
            base = base.after(winner)
        unseen = 0 if winners or file_exists(storage, commit_path(version)) else unseen + 1
        if unseen > _MOST_UNSEEN:
            raise _not_a_commit(storage, version)
        _let_others_pass(attempt)
    raise MaxCommitRetriesExceededError(
        version=base.version,
        start_version=read_version + 1,
        attempts=max_attempts,
        actions=len(staged.all_actions),
        seconds=time.monotonic() - start,
    )


def _not_a_commit(storage: Storage, version: int) -> StorageError:
    return StorageError(
        action="write",
        path=f"{storage.root}/{commit_path(version)}",
        reason="its name is taken, but not by a file that can be read",
    )


def now_ms() -> int:
    """Return the current time in milliseconds."""
    return time.time_ns() // 1_000_000


def _put(
    storage: Storage, version: int, actions: Iterable[Action], read_version: int
) -> list[Commit] | None:
    """Create the commit file of a version and return None, or return the winning commits.

    The first of them may be our own commit: a request whose answer was lost may have been sent
    twice, and a write that failed may still have been carried out.
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
    """Return the commits from a version on, up to the first gap.

    A directory that is listed while others write to it may show a file but not yet an older one, so
    commits after a gap are read in a later attempt.
    """
    files = list_commits(storage, version)
    if files and version not in files and not file_exists(storage, commit_path(version)):
        raise ConcurrentWriteException(version=version, read_version=read_version)
    known = {number: files[number] for number in takewhile(files.__contains__, count(version))}
    return list(commits_of(storage, known, lambda number: known[number].modified_ms))


def _operation(commit: Commit) -> str:
    info = commit.commit_info
    return "another writer" if info is None or info.operation is None else info.operation


def _is_by(txn_id: str, commit: Commit) -> bool:
    return commit.commit_info is not None and commit.commit_info.txn_id == txn_id


def _let_others_pass(attempt: int) -> None:
    """Wait for a short random time, so that no writer of many loses every race."""
    time.sleep(random.uniform(0, min(0.01 * 2 ** min(attempt, 10), 0.2)))  # noqa: S311


def _candidate(staged: StagedCommit, base: Base, reads: Reads) -> Candidate:
    return Candidate(
        reads=reads,
        actions=staged.all_actions,
        isolation=staged.isolation,
        operation=staged.operation,
        before=base.configuration,
        table=staged.table,
    )
