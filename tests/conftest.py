"""The fixtures of all tests: one Spark session per run, and the corpus."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

import pytest
from hypothesis import settings

import truckee
from corpus import CorpusTable, corpus_root
from law_examples import examples

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_CORPUS_TABLE = "corpus table"

# The contract of every storage is asserted outside of test modules.
pytest.register_assert_rewrite("contracts.storage")

# How long an example takes depends on the load of the machine, and no law is about time.
settings.register_profile("truckee", deadline=None, max_examples=examples(100))
settings.load_profile("truckee")

# For a thousand short queries, here and in processes that tests start, Java's second compiler and
# its parallel garbage collector cost more than they save.
_JAVA_OPTIONS = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
# With one compiler, Java has room for 48 MB of compiled code. A thousand queries need more: Java
# would throw code away and compile it again all the time. The same for the room for classes.
_JAVA_OPTIONS += ["-XX:ReservedCodeCacheSize=256m", "-XX:MetaspaceSize=512m"]
# Users' archives are not for tests. See scripts/class_archive.py.
os.environ.setdefault("TRUCKEE_CLASS_ARCHIVE", "off")
# A JVM that cannot use the archive need not say so.
if archive := os.environ.get("TRUCKEE_TEST_ARCHIVE"):
    _JAVA_OPTIONS += [f"-XX:SharedArchiveFile={archive}", "-Xlog:cds=off", "-Xlog:cds+dynamic=off"]
os.environ.setdefault("JDK_JAVA_OPTIONS", " ".join(_JAVA_OPTIONS))


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The one Spark session of the run, started when the first test asks for it."""
    from truckee.spark.session.session import session

    # Spark's workers must import the truckee under test, not one that is installed, and functions
    # of these tests, in whichever folder the JVM was started.
    found = [
        str(Path(truckee.__file__).parents[1]),
        str(Path(__file__).parents[1]),
        os.environ.get("PYTHONPATH"),
    ]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, found))
    workdir = tmp_path_factory.mktemp("spark")
    started = session(
        "truckee-tests",
        **{
            "master": "local[2]",
            "spark.driver.memory": "2g",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.warehouse.dir": str(workdir / "warehouse"),
            "spark.local.dir": str(workdir / "local"),
            "spark.ui.enabled": "false",
        },
    )
    yield started
    started.stop()


@pytest.fixture
def corpus() -> Path:
    """Where the conformance corpus is; the test is skipped where there is none."""
    root = corpus_root()
    if not root.is_dir():
        pytest.skip(f"no corpus at {root}; TRUCKEE_CORPUS can name another place")
    return root


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test that asks for the Spark session, and put slow and long files of these first.

    Files are shared out to processes in this order. A long file that came last would leave the
    other processes idle. The tests without Spark keep their order: those of hostile tables fork,
    with little memory for the child, and a process that has run all others leaves it too little.
    """
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker("spark")
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    _share_out_cases(items)
    sizes = Counter(item.path for item in items)
    items.sort(
        key=lambda item: (
            (item.path not in slow, -sizes[item.path])
            if item.get_closest_marker("spark")
            else (False, 0)
        )
    )


# From so many cases on, `make test-slow` runs about half of the cases of a test with Spark.
_MANY_CASES = 4


def _share_out_cases(items: list[pytest.Item]) -> None:
    """Mark about half of the cases of a test as slow if it has many; the first never is.

    Which ones is decided by their names. Every second one could be one value of a parameter only.
    """
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("spark") and not item.get_closest_marker("interop"):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for found in cases.values():
        for item in found[1:] if len(found) >= _MANY_CASES else ():
            if crc32(item.nodeid.encode()) % 2:
                item.add_marker("slow")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Note the tables of the corpus that a test took as a parameter, unless it was skipped."""
    result = yield
    callspec = getattr(item, "callspec", None)
    if callspec is not None:
        # Properties of a report reach the process that prints the summary, whoever ran the test.
        item.user_properties += [
            (_CORPUS_TABLE, str(value))
            for value in callspec.params.values()
            if isinstance(value, CorpusTable)
        ]
    return result


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = (report for group in terminalreporter.stats.values() for report in group)
    properties = (p for report in reports for p in getattr(report, "user_properties", ()))
    tables = {value for key, value in properties if key == _CORPUS_TABLE}
    if not corpus_root().is_dir():
        terminalreporter.write_line(f"corpus: none at {corpus_root()}, its tests were left out")
    elif tables:
        terminalreporter.write_line(f"corpus: {len(tables)} tables were read")
