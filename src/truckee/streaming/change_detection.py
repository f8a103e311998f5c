"""How a stream of a table treats a commit that did more than append.

| the commit has      | nothing set | ignoreDeletes | ignoreChanges | skipChangeCommits |
|---------------------|-------------|---------------|---------------|-------------------|
| adds only           | read        | read          | read          | read              |
| removes only        | refused     | skipped       | skipped       | skipped           |
| removes and adds    | refused     | refused       | adds are read | skipped           |

Actions with `dataChange` false only move rows, so they do not count.
"""

from __future__ import annotations

from truckee.errors.streaming import SourceRowsChangedError, SourceRowsDeletedError
from truckee.log.commits import Commit
from truckee.options.stream import StreamOptions


def is_passed_over(commit: Commit, options: StreamOptions, *, table: str) -> bool:
    """Return whether a stream of a table skips a commit.

    Raises `SourceRowsChangedError` or `SourceRowsDeletedError` if it may not be read at all.
    """
    removed = next((remove for remove in commit.removes if remove.data_change), None)
    if removed is None:
        return False
    if options.skip_change_commits:
        return True
    if options.ignore_changes:
        return False
    info = commit.commit_info
    change = removed.path if info is None or info.operation is None else info.operation
    if any(add.data_change for add in commit.adds):
        raise SourceRowsChangedError(table=table, version=commit.version, change=change)
    if not options.ignore_deletes:
        raise SourceRowsDeletedError(table=table, version=commit.version, change=change)
    return False
