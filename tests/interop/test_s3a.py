"""Spark's own S3A connector and truckee on one store: the command of the guide, as it is there."""

from __future__ import annotations

import os
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pyspark
import pytest
from pyspark.sql import SparkSession

from benchmarks.delta_session import IVY
from docs_blocks import blocks
from interop.maven import hadoop_version, maven_jars
from s3_server import REGION, s3_server
from step_scripts import outcomes

pytestmark = pytest.mark.interop

REPOSITORY = Path(__file__).parents[2]
GUIDE = REPOSITORY / "docs" / "guides" / "cluster-and-s3.md"
SCRIPT = Path(__file__).with_name("s3a_steps.py")
COMMAND = next(
    shlex.split(block.code.replace("\\\n", ""))
    for block in blocks(GUIDE)
    if block.kind == "sh" and "hadoop-aws" in block.code
)
CHANGES = {"insert": 31, "delete": 3, "update_preimage": 5, "update_postimage": 5}
COUNTS = {"a": 14, "b": 8, "u": 4, "m": 2}


@pytest.fixture(scope="module")
def outcome(spark: SparkSession) -> dict[str, Any]:
    """What came of each step."""
    package = COMMAND[COMMAND.index("--packages") + 1]
    maven_jars(spark, package)  # so that the tests are skipped where it cannot be had
    home = Path(pyspark.__file__).parent
    with s3_server() as server:
        said = {
            "https://s3.example.com": server.endpoint,
            "eu-west-1": REGION,
            "KEY": server.options["fs.s3a.access.key"],
            "SECRET": server.options["fs.s3a.secret.key"],
        }
        words = [re.sub(f"(?<==)({'|'.join(said)})$", lambda m: said[m[0]], w) for w in COMMAND]
        assert (words[0], words[-1]) == ("spark-submit", "job.py")
        command = [
            home / "bin" / "spark-submit",
            *("--conf", f"spark.jars.ivy={IVY}", "--conf", "spark.driver.host=localhost"),
            *("--conf", "spark.driver.bindAddress=127.0.0.1", "--master", "local[2]"),
            *words[1:-1],
            *(SCRIPT, server.url("lake/orders"), server.endpoint),
        ]
        python = {"SPARK_HOME": str(home), "PYSPARK_PYTHON": sys.executable}
        return outcomes(command, env={**python, "PATH": os.environ["PATH"]})


def test_the_version_in_the_guide_is_that_of_the_hadoop_in_pyspark(spark: SparkSession) -> None:
    assert f"org.apache.hadoop:hadoop-aws:{hadoop_version(spark)}" in COMMAND


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        ("write", {"a": 20}),
        # One conditional put makes the commit, and nothing that was written is read again.
        ("commit", [["CREATE"], []]),
        ("change", [[3], [4], [2, 1, 0, 1]]),
        # Deleted were 3, 13 and 23; updated 0, 1, 2 and 4; merged 29, and 30 is new.
        ("read", [COUNTS, True, 0, 0]),
        ("feed", CHANGES),
        ("stream", sum(CHANGES.values())),
        ("race", [list(range(9)), list(range(9))]),
        ("care", [[], True, COUNTS]),
    ],
)
def test_a_step_on_s3_does_what_it_does_elsewhere(
    outcome: dict[str, Any], step: str, expected: Any
) -> None:
    assert outcome[step] == expected
