"""The peak of the memory that a process and all its children hold together."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from types import TracebackType

_PAGE = os.sysconf("SC_PAGE_SIZE")


class TreePeak:
    """Watches a process tree while the `with` block runs; `mb` is what it held at its highest.

    Sampled from /proc, so a spike of a few milliseconds can be missed; 0 where there is no /proc.
    """

    def __init__(self, pid: int) -> None:
        self.mb = 0.0
        self._pid = pid
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> TreePeak:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        tree, age = _tree(self._pid), 0
        while True:
            self.mb = max(self.mb, sum(map(_rss, tree)) / 2**20)
            if self._stop.wait(0.01):
                return
            age += 1
            if age % 5 == 0:
                tree = _tree(self._pid)


def _tree(root: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The command, in brackets, may hold anything; what follows it is well formed.
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(entry.parent.name))
    found, queue = [], [root]
    while queue:
        pid = queue.pop()
        found.append(pid)
        queue.extend(children.get(pid, ()))
    return found


def _rss(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0
