"""Three ways to give a complete file its name, unless the name is already taken.

Each takes a staged file, complete and synced, and a target in the same folder. It returns if the
target is now the staged file, and raises FileExistsError if the target is another file. Readers
never see a part of a file. A plain rename does not work: it replaces an existing file.

| way         | exclusive because                          | not on                               |
|-------------|--------------------------------------------|--------------------------------------|
| `by_link`   | a link never replaces a name               | FAT, exFAT, many FUSE and SMB mounts |
| `by_rename` | the kernel is told not to replace the name | old kernels, some FUSE mounts        |
| `by_claim`  | a folder replaces only an empty folder     | (needs only an atomic rename)        |

If the file system does not support a way, it raises WayNotSupportedError, and the next one is
tried. All processes use the same file system, so they all use the same way.
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
    """The file system, or the platform, does not support this way."""


def name_exclusively(staged: Path, target: Path, ways: Sequence[Way]) -> None:
    """Turn `staged` into `target` by the first way that works here, or raise FileExistsError.

    The staged file itself may remain; then the caller removes it.
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
        # A network file system may repeat a request whose answer was lost, and then finds the
        # link that it created itself.
        if not _same_file(staged, target):
            raise


def by_rename(staged: Path, target: Path) -> None:
    """Rename the file with the flag that forbids replacing the target."""
    failure = _rename_without_replacing()(os.fsencode(staged), os.fsencode(target))
    if failure in _NOT_SUPPORTED:
        raise WayNotSupportedError
    if failure:
        raise OSError(failure, os.strerror(failure), str(target))


def by_claim(staged: Path, target: Path) -> None:
    """Rename a folder with the file to a claim on the name, then move the file out of it.

    The claim on `t` is the folder `.t.claim`. A process that renames its folder to it holds the
    claim as long as there is a file inside, because a rename replaces only an empty folder. While
    the claim is held and `t` is absent, only the file inside may become `t`. Any process can make
    that move: if a process was killed, the next one that wants the name completes its claim. So no
    claim is ever broken, and none goes stale. A claim that is taken when `t` exists is too late.
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
        reason = f"its claim was left for others to complete ({error.strerror})"
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
    """Move the file of another process's claim to the target, if it is still there.

    The order matters. If a file is seen in the claim, and the target is seen to be absent after
    that, only this file can become the target, even if this process sleeps before the move. Staged
    names are unique, so the move fails if the claim has changed since.
    """
    with suppress(FileNotFoundError):
        for claimed in list(claim.iterdir()):
            if not _is_there(target):
                claimed.rename(target)
    _remove_if_empty(claim)


def _fulfil_own_claim(claimed: Path, target: Path) -> None:
    """Move the file of our own claim to the target; FileExistsError if it was too late.

    If the file is no longer in the claim, another process has made the move for us.
    """
    with suppress(FileNotFoundError):
        if not _is_there(target):
            claimed.rename(target)
            return
        claimed.unlink()
        raise _taken(target)


def _remove_if_empty(folder: Path) -> None:
    # It fails if another process removed the folder, or now holds the claim; both are fine.
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
    """Return a rename function that never replaces, and that returns 0 or an errno."""
    import ctypes  # slow to load, and rarely needed

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
