"""The commits that a stream has still to read, with none left out in silence."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator

from truckee.errors.streaming import MissingCommitsError
from truckee.log.commits import Commit, commits_of
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
    files = list_commits(storage, start, end)
    _check_complete(storage, start, files, fail_on_data_loss)
    yield from commits_of(storage, files)


def _check_complete(
    storage: Storage, start: int, versions: Iterable[int], fail_on_data_loss: bool
) -> None:
    expected = start
    for version in versions:
        if version != expected:
            if fail_on_data_loss:
                raise MissingCommitsError(table=storage.root, expected=expected, found=version)
            _logger.warning(
                "the stream of %s goes on without the versions %d to %d, which are gone",
                storage.root,
                expected,
                version - 1,
            )
        expected = version + 1
