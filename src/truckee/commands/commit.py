"""The commit of files that were written before, and their deletion if it fails."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

from truckee.errors.base import DeltaError
from truckee.errors.storage import StorageError
from truckee.log.commit.transaction import Transaction


class Discardable(Protocol):
    """Files that were written for a commit, and can be deleted if the commit fails."""

    def discard(self) -> None:
        """Delete the files."""
        ...


class NewFiles(NamedTuple):
    """Files of several origins that are committed together."""

    parts: tuple[Discardable, ...]

    def discard(self) -> None:
        """Delete the files of all parts."""
        for part in self.parts:
            part.discard()


@contextmanager
def discarding(written: Discardable) -> Iterator[None]:
    """Delete the written files if the body fails; the body must not commit them."""
    try:
        yield
    except BaseException:
        written.discard()
        raise


def commit_written(
    transaction: Transaction,
    written: Discardable,
    operation: str,
    *,
    parameters: Mapping[str, Any] | None = None,
    metrics: Mapping[str, object] | None = None,
    user_metadata: str | None = None,
) -> int:
    """Commit a transaction whose files were written before, and return its version.

    If the commit is refused, its files are deleted. After a storage error or an interruption, the
    commit may still exist, so the files are kept.
    """
    try:
        return transaction.commit(
            operation,
            parameters=parameters,
            metrics=metrics,
            user_metadata=user_metadata,
        )
    except StorageError:
        raise
    except DeltaError:
        written.discard()
        raise
