"""Three ways to give a finished file its name, unless something has that name already.

Each takes a staged file, whole and synced, and a target in the same folder. It returns when the
target is the staged file, raises FileExistsError when the target is another, and in neither case
does a reader ever see half a file. A plain rename is no such way: it replaces what is there.

| way         | exclusive because                          | not on                               |
|-------------|--------------------------------------------|--------------------------------------|
| `by_link`   | a link never replaces a name               | FAT, exFAT, many FUSE and SMB mounts |
| `by_rename` | the kernel is told not to replace the name | old kernels, some FUSE mounts        |
| `by_claim`  | a folder replaces an empty folder only     | (needs only an atomic rename)        |

A way that the file system does not know raises WayNotSupportedError, and the next is tried. All
processes meet the same file system, hence take the same way.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from truckee.errors.storage import WriteOutcomeUnknownError

Way = Callable[[Path, Path], None]

_NOT_SUPPORTED = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL}
_AT_FDCWD = -100
_RENAME_NOREPLACE = 1  # Linux, for renameat2
_RENAME_EXCL = 4  # macOS, for renamex_np


class WayNotSupportedError(Exception):
    """The file system, or the platform, does not know this way."""


def name_exclusively(staged: Path, target: Path, ways: Sequence[Way]) -> None:
    """Turn `staged` into `target` by the first way that works here, or raise FileExistsError.

    The staged file itself may be left, and is then the caller's to remove.
    """
    for way in ways:
        try:
            way(staged, target)
        except WayNotSupportedError:
            continue
        return
    raise OSError(errno.ENOTSUP, "no way to create a file exclusively on this file system")


def by_link(staged: Path, target: Path) -> None:
    """Give the file a second name, which fails if that name is taken."""
    try:
        os.link(staged, target)
    except OSError as error:
        if error.errno in _NOT_SUPPORTED:
            raise WayNotSupportedError from error
        # A network file system may repeat a request whose answer was lost, and then trips over
        # the link that it has made itself.
        if not _same_file(staged, target):
            raise


def by_rename(staged: Path, target: Path) -> None:
    """Rename the file with the flag that forbids to replace the target."""
    failure = _rename_without_replacing()(os.fsencode(staged), os.fsencode(target))
    if failure in _NOT_SUPPORTED:
        raise WayNotSupportedError
    if failure:
        raise OSError(failure, os.strerror(failure), str(target))


def by_claim(staged: Path, target: Path) -> None:
    """Rename a folder that holds the file to a claim on the name, then the file out of it.

    The claim on `t` is the folder `.t.claim`. Whoever renames a folder to it holds it for as long
    as there is a file inside, since a rename replaces an empty folder only. While the claim is
    held and `t` is absent, the file inside may become `t`, and nothing else may. Anyone can make
    that move: the claim of a process that was killed is fulfilled by the next that wants the name,
    so no claim is ever broken, and none goes stale. A claim won when `t` exists came too late.
    """
    claim = target.with_name(f".{target.name}.claim")
    own = staged.with_name(f"{staged.name}.claim")
    own.mkdir()
    staged.rename(own / staged.name)
    try:
        while not _take_claim(own, claim):
            _fulfil_claim(claim, target)
            if _is_there(target):
                raise _taken(target)
    except BaseException:
        (own / staged.name).unlink()
        own.rmdir()
        raise
    try:
        _fulfil_own_claim(claim / staged.name, target)
    except FileExistsError:
        raise
    except OSError as error:
        reason = f"its claim was left for others to fulfil ({error.strerror})"
        raise WriteOutcomeUnknownError(action="write", path=str(target), reason=reason) from error
    finally:
        _remove_if_empty(claim)


def _take_claim(own: Path, claim: Path) -> bool:
    """Rename the folder `own` to `claim`; False if another holds it."""
    try:
        own.rename(claim)
    except OSError as error:
        if error.errno in (errno.EEXIST, errno.ENOTEMPTY):
            return False
        raise
    return True


def _fulfil_claim(claim: Path, target: Path) -> None:
    """Move the file of another's claim to the target, if nobody has yet.

    The order matters. A file that is seen in the claim before the target is seen absent is the
    only one that can become the target, even if this process sleeps before it moves it. Staged
    names are unique, so the move fails if the claim has passed on.
    """
    with suppress(FileNotFoundError):
        for claimed in list(claim.iterdir()):
            if not _is_there(target):
                claimed.rename(target)
    _remove_if_empty(claim)


def _fulfil_own_claim(claimed: Path, target: Path) -> None:
    """Move the file of the claim just won to the target; FileExistsError if it came too late.

    Where the file has left the claim, another process has made the move for us.
    """
    with suppress(FileNotFoundError):
        if not _is_there(target):
            claimed.rename(target)
            return
        claimed.unlink()
        raise _taken(target)


def _remove_if_empty(folder: Path) -> None:
    # It fails if another process removed it, or holds the claim by now; both are fine.
    with suppress(OSError):
        folder.rmdir()


def _is_there(target: Path) -> bool:
    return os.path.lexists(target)


def _same_file(staged: Path, target: Path) -> bool:
    try:
        return staged.samefile(target)
    except OSError:
        return False


def _taken(target: Path) -> FileExistsError:
    return FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))


@cache
def _rename_without_replacing() -> Callable[[bytes, bytes], int]:
    """Return a rename that never replaces, and that gives 0 or an errno."""
    import ctypes  # takes time to load, and is hardly ever needed

    libc = ctypes.CDLL(None, use_errno=True)

    def on_linux(source: bytes, target: bytes) -> int:
        failed = libc.renameat2(_AT_FDCWD, source, _AT_FDCWD, target, _RENAME_NOREPLACE)
        return ctypes.get_errno() if failed else 0

    def on_macos(source: bytes, target: bytes) -> int:
        return ctypes.get_errno() if libc.renamex_np(source, target, _RENAME_EXCL) else 0

    if sys.platform == "linux" and hasattr(libc, "renameat2"):
        return on_linux
    if sys.platform == "darwin" and hasattr(libc, "renamex_np"):
        return on_macos
    return lambda _source, _target: errno.ENOSYS
