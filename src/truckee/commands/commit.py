"""The commit of files that were written for it, and what becomes of them if it fails."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

from truckee.errors.base import DeltaError
from truckee.errors.storage import StorageError
from truckee.log.transaction import Transaction


class Discardable(Protocol):
    """Files that were written for a commit, and can be deleted if there is none."""

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
    """Delete files that were written if the body fails, which must not be a commit."""
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

    Files of a commit that was refused are deleted. After an error of the store, or when
    interrupted, the commit may be there all the same, and the files are left alone.
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
