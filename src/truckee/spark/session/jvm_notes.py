"""What the JVM prints on stderr when it starts, without a note that helps nobody.

Spark asks Java for a module that Java calls incubating, and Java then prints a warning that no
option turns off. The JVM keeps the stderr with which it was started. So it gets a pipe to a small
process, which outlives this one if the JVM does, and passes on everything else at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_RELAY = r"""
import os, re
while data := os.read(0, 1 << 16):
    data = re.sub(rb"(?m)^WARNING: Using incubator modules: .*\n", b"", data)
    while data:
        data = data[os.write(2, data):]
"""


@contextmanager
def without_java_notes() -> Iterator[None]:
    """Give a JVM that is started meanwhile a stderr without Java's note on incubator modules."""
    can_relay = hasattr(os, "posix_spawn") and bool(sys.executable)
    terminal = _copy_of_stderr() if can_relay else None
    if terminal is None:
        yield
        return
    source, sink = os.pipe()
    command = [sys.executable, "-I", "-S", "-c", _RELAY]
    streams = [(os.POSIX_SPAWN_DUP2, source, 0), (os.POSIX_SPAWN_DUP2, terminal, 2)]
    # In a process group of its own, so that Ctrl-C does not end it before the JVM.
    os.posix_spawn(sys.executable, command, os.environ, file_actions=streams, setpgroup=0)
    os.close(source)
    os.dup2(sink, 2)
    os.close(sink)
    try:
        yield
    finally:
        os.dup2(terminal, 2)
        os.close(terminal)


def _copy_of_stderr() -> int | None:
    """Return another descriptor of stderr, None if there is no stderr."""
    try:
        return os.dup(2)
    except OSError:
        return None
