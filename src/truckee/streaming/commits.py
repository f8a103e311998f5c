"""The commits that a stream still has to read; none is skipped silently."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator

from truckee.errors.log import LogFileNotFoundError
from truckee.errors.streaming import MissingCommitsError
from truckee.log.files.commits import Commit, FileTimes, commits_of
from truckee.log.files.segment import list_commits
from truckee.storage.base import FileInfo, Storage

_logger = logging.getLogger(__name__)
_PAGE = 10_000  # how many commits are listed at once


class StreamCommits:
    """The commits of a table in order, from listings that are kept between batches.

    In a long backlog, most batches list nothing: an earlier listing has their commits. Only at the
    end of that listing is the store asked for newer commits.
    """

    def __init__(self, storage: Storage, *, fail_on_data_loss: bool = True) -> None:
        self._storage = storage
        self._fail_on_data_loss = fail_on_data_loss
        self._files: dict[int, FileInfo] = {}
        self._times = FileTimes(storage)

    def read(self, start: int, end: int | None = None) -> Iterator[Commit]:
        """Yield the commits `start..end` that exist, each read when it is needed.

        If `start` is after the latest version, there are none. If versions are missing, before the
        first commit or between two, this raises `MissingCommitsError`, or continues and logs them.
        """
        version = start
        while end is None or version <= end:
            files = self._kept(version, end)
            was_kept = bool(files)
            files = files or self._listed(version, end)
            if not files:
                return
            try:
                for commit in commits_of(self._storage, files, self._times.at):
                    version = commit.version + 1
                    yield commit
            except LogFileNotFoundError:
                # The log was cleaned up since it was listed. A new listing shows what is missing.
                if not was_kept:
                    raise
                self._files = {}

    def forget_before(self, version: int) -> None:
        """Forget the commits that will not be read again."""
        self._files = {v: file for v, file in self._files.items() if v >= version}

    def _kept(self, start: int, end: int | None) -> dict[int, FileInfo]:
        if start not in self._files:
            return {}
        return {
            version: file
            for version, file in self._files.items()
            if version >= start and (end is None or version <= end)
        }

    def _listed(self, start: int, end: int | None) -> dict[int, FileInfo]:
        files = list_commits(self._storage, start, end, most=_PAGE)
        _check_complete(self._storage, start, files, self._fail_on_data_loss)
        self._files = {**self._files, **files}
        return files


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
