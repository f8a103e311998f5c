"""What a worker received is acknowledged at once."""

from __future__ import annotations

import pickle
import socket
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from pyspark.sql.types import StructType

from truckee.datasource.acknowledgement import acknowledge_received
from truckee.datasource.source import StreamReader

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux can")


@pytest.fixture
def delaying() -> Iterator[socket.socket]:
    """A connection that waits for something to send before it acknowledges."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        near = socket.create_connection(server.getsockname())
        far, _ = server.accept()
    with near, far:
        near.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 0)
        yield near


def acknowledges_at_once(connection: socket.socket) -> bool:
    return bool(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK))


def open_descriptors() -> set[str]:
    return {link.name for link in Path("/proc/self/fd").iterdir()}


def test_every_tcp_connection_of_the_process_acknowledges_at_once(delaying: socket.socket) -> None:
    assert not acknowledges_at_once(delaying)

    acknowledge_received()

    assert acknowledges_at_once(delaying)


def test_a_reader_that_reaches_a_worker_acknowledges(delaying: socket.socket) -> None:
    reader = StreamReader({"path": "t"}, StructType(), 7)

    found = pickle.loads(pickle.dumps(reader))

    assert vars(found) == vars(reader)
    assert acknowledges_at_once(delaying)


def test_descriptors_of_others_stay_open_and_none_is_added(delaying: socket.socket) -> None:
    pair = socket.socketpair()
    before = open_descriptors()

    acknowledge_received()

    assert open_descriptors() == before
    delaying.sendall(b"open")
    for end in pair:
        end.close()
