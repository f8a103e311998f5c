"""The one in whose name this process commits: what it has to say, and what it is told.

An engine has sessions with settings for all commits. It sets its committer once; without an engine,
nothing is said and nobody is told.
"""

from __future__ import annotations

import logging
from typing import Protocol

_log = logging.getLogger(__name__)


class Committer(Protocol):
    """Who commits; called in the thread that commits."""

    def user_metadata(self) -> str | None:
        """Return the text for a commit whose command gives none."""

    def committed(self, version: int) -> None:
        """Take note of a version that was committed."""


_committer: Committer | None = None


def commit_as(committer: Committer) -> None:
    """From now on, commit in the name of this one."""
    global _committer
    _committer = committer


def text_of_committer() -> str | None:
    """Return what the committer has to say in a commit."""
    return None if _committer is None else _committer.user_metadata()


def tell_committer(version: int) -> None:
    """Tell the committer of a commit. It is made already, so a failure is only logged."""
    if _committer is None:
        return
    try:
        _committer.committed(version)
    except Exception as error:
        _log.warning("the session was not told of the commit of version %d: %s", version, error)
