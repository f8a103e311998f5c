"""What Spark says when it cannot read a file, said in terms of the table.

Spark names the file by its URL. Which table that belongs to, and at which version, only the scan
knows that asked for it, so the scans that are alive are remembered here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol
from urllib.parse import unquote
from weakref import ref

from truckee.errors.base import DeltaError
from truckee.errors.spark import DataFileNotFoundError, DataFileUnreadableError
from truckee.spark.jvm import translate_with
from truckee.storage.base import Storage

_FAILED = re.compile(
    r"\[(FAILED_READ_FILE[.\w]*|CANNOT_READ_FILE_FOOTER)\] .*? file:? (\S+?)\.? (.*)", re.DOTALL
)
_STATE = re.compile(r" SQLSTATE: \w+.*", re.DOTALL)


class Explains(Protocol):
    """The part of a scan that errors need."""

    @property
    def storage(self) -> Storage: ...

    @property
    def version(self) -> int: ...

    @property
    def missing_file_error(self) -> Callable[[str], DeltaError] | None: ...


_scans: list[ref[Explains]] = []


def explain_failures_of(scan: Explains) -> None:
    """From now on, let a file of this scan that Spark cannot read be told as an error of ours."""
    _scans[:] = [known for known in _scans if known() is not None]
    _scans.append(ref(scan))
    translate_with(_explained)


def _explained(texts: list[str]) -> DeltaError | None:
    for position, text in enumerate(texts):
        if (found := _FAILED.search(text)) is not None:
            break
    else:
        return None
    path = _plain(unquote(found[2]))
    for known in reversed(_scans):
        scan = known()
        root = _plain(scan.storage.root) if scan is not None else ""
        if scan is not None and path.startswith(f"{root}/"):
            detail = found[3] if "NO_HINT" not in found[1] else _innermost(texts[position:])
            return _error(scan, path[len(root) + 1 :], found[1], detail)
    return None


def _error(scan: Explains, path: str, kind: str, detail: str) -> DeltaError:
    if kind.endswith("FILE_NOT_EXIST"):
        if scan.missing_file_error is not None:
            return scan.missing_file_error(path)
        return DataFileNotFoundError(path=path, version=scan.version)
    reason = _STATE.sub("", detail).strip().rstrip(".")
    return DataFileUnreadableError(path=path, version=scan.version, reason=reason)


def _innermost(texts: list[str]) -> str:
    """Return the first line of the last cause, without the class of the exception."""
    first_line = texts[-1].partition("\n")[0]
    return re.sub(r"^[\w.$]+: ", "", first_line)


def _plain(url: str) -> str:
    """Return a path or URL without the three spellings of `file:`."""
    return re.sub(r"^file:/*", "/", url)
