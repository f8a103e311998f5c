"""What a Python worker of Spark received is acknowledged at once, so that a task starts earlier.

Spark sends a worker the function of a task and then, in a second message, its partition. The
sockets of Spark hold a small message back until the one before has been acknowledged, and Linux
delays that for 40 ms, in case there is an answer to send along. A worker has none yet. Spark has no
such delay with `spark.python.unix.domain.socket.enabled`, which is off by default.
"""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from pathlib import Path
from stat import S_ISSOCK

_OPEN_FILES = Path("/proc/self/fd")


def acknowledge_received() -> None:
    """Acknowledge what all TCP connections of this process have received; only Linux can."""
    option = getattr(socket, "TCP_QUICKACK", None)
    if option is None or not _OPEN_FILES.is_dir():
        return
    for number in [int(link.name) for link in _OPEN_FILES.iterdir()]:
        # Most are no TCP connections, and the folder's own descriptor is closed by now.
        with suppress(OSError):
            if S_ISSOCK(os.fstat(number).st_mode):
                _acknowledge(socket.socket(fileno=number), option)


def _acknowledge(connection: socket.socket, option: int) -> None:
    try:
        connection.setsockopt(socket.IPPROTO_TCP, option, 1)
    finally:
        connection.detach()  # it belongs to others, who close it
