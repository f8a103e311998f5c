from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import pytest

from truckee.storage import LocalStorage
from truckee.storage.exclusive import by_claim


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    return LocalStorage(str(tmp_path), ways=[by_claim])


def test_the_claim_of_a_killed_process_is_fulfilled_by_the_next(
    storage: LocalStorage, tmp_path: Path
) -> None:
    (tmp_path / ".t.claim").mkdir()
    (tmp_path / ".t.claim" / ".t.1.tmp").write_bytes(b"of the killed")

    with pytest.raises(FileExistsError):
        storage.put_if_absent("t", b"of the next")

    assert storage.read("t") == b"of the killed"
    assert [file.name for file in tmp_path.iterdir()] == ["t"]


def test_a_claim_that_came_too_late_replaces_nothing(storage: LocalStorage, tmp_path: Path) -> None:
    storage.put_if_absent("t", b"first")
    (tmp_path / ".t.claim").mkdir()
    (tmp_path / ".t.claim" / ".t.1.tmp").write_bytes(b"late and killed")

    with pytest.raises(FileExistsError):
        storage.put_if_absent("t", b"next")

    assert storage.read("t") == b"first"


def test_an_empty_claim_is_free(storage: LocalStorage, tmp_path: Path) -> None:
    (tmp_path / ".t.claim").mkdir()

    storage.put_if_absent("t", b"mine")

    assert storage.read("t") == b"mine"
    assert [file.name for file in tmp_path.iterdir()] == ["t"]


# A seccomp filter makes the kernel itself answer as a file system without links would, and as one
# that does not know how to rename without replacing.
FORBID_SYSTEM_CALLS = """
import ctypes, errno, os, struct, sys

LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, FAIL_WITH = 0x7FFF0000, 0x00050000
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 22, 38, 2

def forbid(failures):
    steps = [(LOAD, 0, 0, 0)]
    for call, failure in failures.items():
        steps += [(JUMP_IF_EQUAL, 0, 1, call), (RETURN, 0, 0, FAIL_WITH | failure)]
    steps.append((RETURN, 0, 0, ALLOW))
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = struct.pack("HL", len(steps), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    assert libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0) == 0, ctypes.get_errno()

forbid({int(call): getattr(errno, name) for call, name in (a.split("=") for a in sys.argv[2:])})

from truckee.errors import DeltaError
from truckee.storage import LocalStorage
from truckee.storage.exclusive import by_claim, by_link, by_rename

storage = LocalStorage(sys.argv[1])
storage.put_if_absent("log/t", b"first")
try:
    storage.put_if_absent("log/t", b"second")
except FileExistsError:
    print(storage.read("log/t").decode(), *os.listdir(f"{sys.argv[1]}/log"))
for way in (by_link, by_rename, by_claim):
    try:
        LocalStorage(sys.argv[1], ways=[way]).put_if_absent(way.__name__, b"")
        print(way.__name__)
    except DeltaError:
        pass
"""

_CALLS = {"x86_64": ((86, 265), 316), "aarch64": ((37,), 276)}


@pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() not in _CALLS, reason="needs Linux's seccomp"
)
@pytest.mark.parametrize("no_links", ["EPERM", "EOPNOTSUPP", "ENOSYS"])
@pytest.mark.parametrize("no_rename", [None, "EINVAL", "ENOSYS"])
def test_a_kernel_that_forbids_links_is_no_obstacle(
    tmp_path: Path, no_links: str, no_rename: str | None
) -> None:
    link_calls, rename_call = _CALLS[platform.machine()]
    forbidden = [f"{call}={no_links}" for call in link_calls]
    if no_rename:
        forbidden.append(f"{rename_call}={no_rename}")

    done = subprocess.run(
        [sys.executable, "-c", FORBID_SYSTEM_CALLS, str(tmp_path), *forbidden],
        capture_output=True,
        text=True,
    )

    works = ["by_claim"] if no_rename else ["by_rename", "by_claim"]
    assert (done.stdout.splitlines(), done.stderr) == (["first t", *works], "")
