"""How much one batch may take: files and bytes, counted down as entries are admitted.

A file is admitted if there is room *before* it is counted. So a file that is larger than the limit
is still admitted, and a batch is never empty for lack of room. A group is admitted completely or
not at all; its size is counted even if it is refused, so that nothing after it is admitted.
"""

from __future__ import annotations

from collections.abc import Sequence

from truckee.options.stream import StreamOptions


class Budget:
    """What is left for one batch. With 100 bytes and files of 60 each, two are admitted: 120."""

    def __init__(self, files: int, size: int | None = None) -> None:
        self._files = files
        self._size = float("inf") if size is None else size
        self._has_seen_something = False

    @property
    def has_room(self) -> bool:
        """Whether another file may be admitted."""
        return self._files > 0 and self._size > 0

    def admits(self, size: int | None) -> bool:
        """Return whether an entry of this many bytes is admitted; None is a sentinel, and free."""
        self._has_seen_something = True
        if size is None:
            return True
        had_room = self.has_room
        self._take(1, size)
        return had_room

    def admits_group(self, sizes: Sequence[int | None]) -> bool:
        """Return whether a group is admitted; sentinels count as files without bytes.

        The first entry of a batch is always admitted.
        """
        if not sizes:
            return True
        had_seen_something, self._has_seen_something = self._has_seen_something, True
        self._take(len(sizes), sum(size or 0 for size in sizes))
        return not had_seen_something or (self._files >= 0 and self._size >= 0)

    def _take(self, files: int, size: int) -> None:
        self._files -= files
        self._size -= size


def budget(options: StreamOptions) -> Budget:
    """Return what one batch of a stream may take."""
    return Budget(options.max_files, options.max_bytes)
