"""Three ways to give a finished file its name, unless something has that name already.

Each takes a staged file, whole and synced, and a target in the same folder. It returns when the
target is the staged file, raises FileExistsError when the target is another, and in neither case
does a reader ever see half a file. A plain rename is no such way: it replaces what is there.

| way         | exclusive because                          | not on                              |
|-------------|--------------------------------------------|-------------------------------------|
| `by_link`   | link(2) never replaces a name              | FAT, exFAT, many FUSE and SMB mounts |
| `by_rename` | the kernel is told not to replace the name | older kernels, some FUSE mounts     |
| `by_claim`  | a folder cannot replace one with a file in | (needs only an atomic rename)       |

A way that the file system does not know raises WayNotSupported, and the next one is tried. All
processes meet the same file system, hence the same way; and the first two, which are one system
call each, also exclude each other.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Sequence
from functools import cache

Way = Callable[[str, str], None]

_NOT_SUPPORTED = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL}
_AT_FDCWD = -100
_RENAME_NOREPLACE = 1  # Linux, for renameat2
_RENAME_EXCL = 4  # macOS, for renamex_np


class WayNotSupported(Exception):
    """The file system, or the platform, does not know this way."""


def name_exclusively(staged: str, target: str, ways: Sequence[Way]) -> None:
    """Turn `staged` into `target` by the first way that works here, or raise FileExistsError."""
    for way in ways:
        try:
            return way(staged, target)
        except WayNotSupported:
            continue
    raise OSError(errno.ENOTSUP, "the file system has no way to create a file exclusively", target)


def by_link(staged: str, target: str) -> None:
    """Give the file a second name, which fails if the name is taken, and drop the first."""
    try:
        os.link(staged, target)
    except FileExistsError:
        # A network file system may send a request again whose answer was lost, and then trips
        # over the link that it has made itself.
        if not os.path.samefile(staged, target):
            raise
    except OSError as error:
        raise _unless_not_supported(error) from error
    os.unlink(staged)


def by_rename(staged: str, target: str) -> None:
    """Rename the file with the flag that forbids to replace the target."""
    failure = _rename_function()(os.fsencode(staged), os.fsencode(target))
    if failure:
        raise _unless_not_supported(OSError(failure, os.strerror(failure), target))


def by_claim(staged: str, target: str) -> None:
    """Rename a folder that holds the file to a claim on the name, then the file out of it.

    The claim on `t` is the folder `.t.claim`. Whoever renames a folder to it holds it for as long
    as there is a file inside, since a rename replaces an empty folder only. While the claim is
    held and `t` is absent, the file inside may become `t`, and nothing else may. Anyone can make
    that move: the claim of a process that was killed is fulfilled by the next that wants the name,
    so no claim is ever broken, and none goes stale. A claim won when `t` exists came too late.
    """
    folder, name = os.path.split(target)
    claim = os.path.join(folder, f".{name}.claim")
    file = os.path.basename(staged)
    own = f"{staged}.claim"
    os.mkdir(own)
    os.rename(staged, os.path.join(own, file))
    try:
        while not _take_claim(own, claim):
            _fulfil_claim(claim, target)
            if os.path.lexists(target):
                raise _taken(target)
    except BaseException:
        os.unlink(os.path.join(own, file))
        os.rmdir(own)
        raise
    try:
        _fulfil_own_claim(os.path.join(claim, file), target)
    finally:
        _remove_empty_folder(claim)


def _take_claim(own: str, claim: str) -> bool:
    """Rename the folder `own` to `claim`; False if another holds it."""
    try:
        os.rename(own, claim)
    except OSError as error:
        if error.errno in (errno.EEXIST, errno.ENOTEMPTY):
            return False
        raise
    return True


def _fulfil_claim(claim: str, target: str) -> None:
    """Move the file of another's claim to the target, if neither it nor anyone else has yet.

    The order matters. A file that is seen in the claim before the target is seen absent is the
    only one that can become the target, even if this process sleeps before it moves it. Staged
    names are unique, so the move fails if the claim has passed on.
    """
    try:
        files = os.listdir(claim)
    except FileNotFoundError:
        return
    for file in files:
        if not os.path.lexists(target):
            _move_if_there(os.path.join(claim, file), target)
    _remove_empty_folder(claim)


def _fulfil_own_claim(claimed: str, target: str) -> None:
    """Move the file of the claim just won to the target; FileExistsError if it came too late."""
    if not os.path.lexists(target):
        _move_if_there(claimed, target)
        return
    try:
        os.unlink(claimed)
    except FileNotFoundError:
        return  # another process has made the move: the target is ours
    raise _taken(target)


def _move_if_there(source: str, target: str) -> None:
    try:
        os.rename(source, target)
    except FileNotFoundError:
        pass


def _remove_empty_folder(folder: str) -> None:
    try:
        os.rmdir(folder)
    except OSError:
        pass  # another process removed it, or holds the claim by now


def _taken(target: str) -> FileExistsError:
    return FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target)


def _unless_not_supported(error: OSError) -> Exception:
    return WayNotSupported() if error.errno in _NOT_SUPPORTED else error


@cache
def _rename_function() -> Callable[[bytes, bytes], int]:
    """Return a rename that never replaces and gives 0 or the errno."""
    import ctypes  # slow to load, and only rarely needed

    libc = ctypes.CDLL(None, use_errno=True)
    if sys.platform == "linux" and hasattr(libc, "renameat2"):

        def rename(source: bytes, target: bytes) -> int:
            done = libc.renameat2(_AT_FDCWD, source, _AT_FDCWD, target, _RENAME_NOREPLACE)
            return ctypes.get_errno() if done else 0

        return rename
    if sys.platform == "darwin" and hasattr(libc, "renamex_np"):

        def rename(source: bytes, target: bytes) -> int:
            return ctypes.get_errno() if libc.renamex_np(source, target, _RENAME_EXCL) else 0

        return rename
    return lambda source, target: errno.ENOSYS
