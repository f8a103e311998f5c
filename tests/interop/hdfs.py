"""A real HDFS on loopback: a name node and a data node, in a Java process of their own."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark

_CLUSTER = "org.apache.hadoop.test.MiniDFSClusterManager"
_SECONDS = 120


@contextmanager
def hdfs_server(folder: Path, jars: Iterable[Path]) -> Iterator[str]:
    """Start an empty HDFS that keeps its blocks in a folder, and yield its URL."""
    details, log = folder / "details.json", folder / "hdfs.log"
    of_spark = Path(pyspark.__file__).parent / "jars" / "*"
    command = [
        str(Path(os.environ["JAVA_HOME"]) / "bin" / "java"),
        "-Xmx512m",
        f"-Dtest.build.data={folder}",
        "-cp",
        os.pathsep.join(str(jar) for jar in [*jars, of_spark]),
        *(_CLUSTER, "-format", "-datanodes", "1", "-nnport", "0", "-writeDetails", str(details)),
    ]
    with log.open("w") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, cwd=folder)
    try:
        yield f"hdfs://127.0.0.1:{_port(process, details, log)}"
    finally:
        process.kill()
        process.wait()


def _port(process: subprocess.Popen[bytes], details: Path, log: Path) -> int:
    """Return the port of the name node, once it serves."""
    end = time.monotonic() + _SECONDS
    while time.monotonic() < end and process.poll() is None:
        text = details.read_text() if details.exists() else ""
        if text.endswith("}"):
            return int(json.loads(text)["namenode_port"])
        time.sleep(0.1)
    said = log.read_text(errors="replace")
    raise RuntimeError(f"HDFS did not start:\n{said[-4000:]}")
