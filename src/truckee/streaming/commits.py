"""The commits that a stream has still to read, with none left out in silence."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace

from truckee.errors.streaming import MissingCommitsError
from truckee.log.commits import LOOK_BACK, Commit, CommitFile, decode_commit, monotonic
from truckee.log.log_files import read_in_order
from truckee.log.segment import list_commits
from truckee.storage.base import Storage

_logger = logging.getLogger(__name__)


def stream_commits(
    storage: Storage, start: int, end: int | None = None, *, fail_on_data_loss: bool = True
) -> Iterator[Commit]:
    """Yield the commits `start..end` that exist, each read when it is asked for.

    Nothing comes of a start after the latest version. Where versions are missing, before the first
    commit or between two, raises `MissingCommitsError`, or goes on and logs which they are.
    """
    if not list_commits(storage, start, end):
        return
    listed = monotonic(list_commits(storage, max(0, start - LOOK_BACK), end))
    files = [commit for commit in listed if commit.version >= start]
    _check_complete(storage, start, files, fail_on_data_loss)
    contents = read_in_order(storage, [commit.file.path for commit in files])
    for commit, data in zip(files, contents, strict=True):
        actions = tuple(decode_commit(storage, commit.file.path, data))
        yield _timed(Commit(commit.version, commit.timestamp_ms, actions))


def _timed(commit: Commit) -> Commit:
    recorded = commit.commit_info.in_commit_timestamp if commit.commit_info else None
    return commit if recorded is None else replace(commit, timestamp_ms=recorded)


def _check_complete(
    storage: Storage, start: int, files: list[CommitFile], fail_on_data_loss: bool
) -> None:
    expected = start
    for file in files:
        if file.version != expected:
            if fail_on_data_loss:
                raise MissingCommitsError(table=storage.root, expected=expected, found=file.version)
            _logger.warning(
                "the stream of %s goes on without the versions %d to %d, which are gone",
                storage.root,
                expected,
                file.version - 1,
            )
        expected = file.version + 1
