"""Spark's errors about unreadable files, told in terms of the table.

Spark names the file by its URL. Only the scan that asked for the file knows its table and version,
so this module remembers the scans that are alive.
"""

from __future__ import annotations

import re
from threading import Lock
from urllib.parse import unquote
from weakref import ref

from truckee.errors.base import DeltaError
from truckee.errors.deletion_vectors import CorruptDeletionVectorError
from truckee.errors.spark import DataFileNotFoundError, DataFileUnreadableError
from truckee.scan.scan_file import ScanFile, selected_rows
from truckee.spark.jvm.jvm_errors import translate_with
from truckee.spark.read.scan import Scan

_FAILED = re.compile(
    r"\[(FAILED_READ_FILE[.\w]*|CANNOT_READ_FILE_FOOTER)\] .*? file:? (\S+?)\.? (.*)", re.DOTALL
)
_VECTOR = "truckee-vector: "
_STATE = re.compile(r" SQLSTATE: \w+.*", re.DOTALL)


_scans: list[ref[Scan]] = []
_lock = Lock()


def explain_failures_of(scan: Scan) -> None:
    """From now on, turn Spark's errors about files of this scan into errors of ours.

    If several scans have the file, the most recent caller wins. This is called whenever a query
    asks for files.
    """
    with _lock:
        others = [known for known in _scans if known() not in (None, scan)]
        _scans[:] = [*others, ref(scan)]
    translate_with(_explained)


def _explained(texts: list[str]) -> DeltaError | None:
    matches = ((place, _FAILED.search(text)) for place, text in enumerate(texts))
    position, found = next(((p, m) for p, m in matches if m is not None), (0, None))
    if found is None:
        return None
    url = _plain(unquote(found[2]))
    detail = found[3] if "NO_HINT" not in found[1] else _innermost(texts[position:])
    for known in reversed(list(_scans)):
        scan = known()
        file = None if scan is None else _listed_file(scan, url)
        if scan is not None and file is not None:
            if _VECTOR in "".join(texts):
                return _vector_error(scan, file, detail)
            return _error(scan, file, found[1], detail)
    return None


def _listed_file(scan: Scan, url: str) -> ScanFile | None:
    root = _plain(scan.storage.root)
    paths = {url, url.removeprefix(f"{root}/")}
    return next((f for files in scan.listed for f in files if _plain(f.path) in paths), None)


def _error(scan: Scan, file: ScanFile, kind: str, detail: str) -> DeltaError:
    if kind.endswith("FILE_NOT_EXIST"):
        explained = scan.missing_file_error and scan.missing_file_error()
        return explained or DataFileNotFoundError(path=file.path, version=file.version)
    reason = _STATE.sub("", detail).strip().rstrip(".")
    return DataFileUnreadableError(path=file.path, version=file.version, reason=reason)


def _vector_error(scan: Scan, file: ScanFile, detail: str) -> DeltaError:
    """Return what is wrong with a deletion vector of a file, by reading it again on the driver.

    A task only says that it could not use the vector.
    """
    others = [f for files in scan.listed for f in files if f.path == file.path]
    for each in [file, *others]:
        try:
            list(selected_rows(scan.storage, [each]))
        except DeltaError as error:
            return error
    reason = detail.removeprefix(_VECTOR)
    return CorruptDeletionVectorError(
        path="its file", reason=reason, data_file=file.path, version=file.version
    )


def _innermost(texts: list[str]) -> str:
    """Return the first line of the last cause, without the class of the exception."""
    first_line = texts[-1].partition("\n")[0]
    return re.sub(r"^[\w.$]+: ", "", first_line)


def _plain(url: str) -> str:
    """Return a path or URL without the prefix `file:`, which has several spellings."""
    return re.sub(r"^file:/*", "/", url)
