"""No session but the user's is active, default or instantiated, and frames belong to it."""

from __future__ import annotations

import re
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.session import _monkey_patch_RDD

import truckee
from session_walk import MAIN_STEPS, STEPS, Walk, check, jvm_sessions, run
from step_scripts import outcomes
from test_layers import SOURCE
from truckee.errors.spark import ForeignWriteJobError
from truckee.log.snapshot import load_snapshot
from truckee.scan.scan_file import ScanFile
from truckee.spark.read.frames import snapshot_scan
from truckee.spark.read.relations import scan_frame
from truckee.spark.session.jvm_sessions import session_of
from truckee.storage.local import LocalStorage

_PROTOCOL = "spark.sql.sources.commitProtocolClass"


@pytest.fixture
def walk(spark: SparkSession, tmp_path: Path) -> Walk:
    return Walk(truckee.enable(spark), tmp_path, spark)


def test_the_main_operations_leave_the_session_of_the_user_active(walk: Walk) -> None:
    run(walk, MAIN_STEPS, writes=False)

    check(walk, "all")


# Invariant 65.
@pytest.mark.slow
def test_every_operation_and_statement_leaves_the_session_of_the_user_active(walk: Walk) -> None:
    run(walk, STEPS, writes=True)


@pytest.mark.slow
def test_operations_in_another_session_leave_the_first_one_active(
    spark: SparkSession, tmp_path: Path
) -> None:
    other = spark.newSession()
    walk = Walk(truckee.enable(spark), tmp_path, other, "walked_elsewhere")

    run(walk, STEPS, writes=False)

    check(walk, "all")


@pytest.mark.slow
def test_operations_in_threads_make_no_session_active_there(walk: Walk) -> None:
    names = [name for name in STEPS if "stream" not in name and walk.name not in name]

    def in_thread(number: int) -> None:
        own = Walk(walk.spark, walk.folder / str(number), walk.spark, f"walked_{number}")
        for name in names:
            STEPS[name](own)
            active = jvm_sessions(own.spark).getActiveSession()
            users = own.spark._jsparkSession
            assert not active.isDefined() or active.get().equals(users), f"{name}: in a thread"

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(in_thread, range(3)))

    check(walk, "threads")


@pytest.mark.slow
def test_after_stop_and_restart_the_new_session_is_the_only_one(tmp_path: Path) -> None:
    script = Path(__file__).parent / "restarted_walk.py"

    assert outcomes([sys.executable, script, tmp_path]) == {"first": "ok", "second": "ok"}


def test_a_session_that_spark_mentions_claims_nothing(spark: SparkSession) -> None:
    other = spark._jsparkSession.newSession()
    instantiated, SparkSession._instantiatedSession = SparkSession._instantiatedSession, None
    try:
        found = session_of(other)
        claimed = SparkSession._instantiatedSession
    finally:
        SparkSession._instantiatedSession = instantiated

    assert claimed is None
    assert found._jsparkSession.equals(other)
    assert found.range(2).count() == 2
    assert found.newSession().sql("SELECT 1 AS a").collect() == [(1,)]
    assert SparkSession.active() is spark


def test_python_is_called_with_the_session_of_the_user_active(
    spark: SparkSession, tmp_path: Path
) -> None:
    called: list[SparkSession] = []
    jvm = getattr(spark._jvm, "org.apache.spark.sql.classic.SparkSession")

    def files(*_question: object) -> list[ScanFile]:
        called.append(session_of(jvm.getActiveSession().get()))
        return []

    source = str(tmp_path / "source")
    truckee.write(spark.range(1)).save(source)
    scan = replace(snapshot_scan(load_snapshot(LocalStorage(source))), files=files)
    truckee.write(scan_frame(spark, scan)).save(str(tmp_path / "t"))

    assert called
    assert {id(session) for session in called} == {id(spark)}


@pytest.mark.parametrize("mode", ["overwrite", "append"])
@pytest.mark.parametrize("kind", ["json", "parquet"])
def test_the_commit_protocol_refuses_foreign_writes_before_anything_happens(
    spark: SparkSession, tmp_path: Path, kind: str, mode: str
) -> None:
    there = tmp_path / "there"
    there.mkdir()
    (there / "kept.txt").write_text("kept")
    session = spark.newSession()
    _monkey_patch_RDD(spark)
    session.conf.set(_PROTOCOL, "truckee.TruckeeCommit")

    with pytest.raises(ForeignWriteJobError, match="not started by truckee"):
        session.range(3).write.format(kind).mode(mode).save(str(there))

    assert [file.name for file in there.iterdir()] == ["kept.txt"]


def test_only_two_modules_make_sessions_or_local_frames() -> None:
    """A copy of a session cannot reach users through a constructor that nobody calls."""
    traps = re.compile(
        r"\bSparkSession\(|[.]createDataFrame\(|[.]newSession\(|[.]cloneSession\(|[.]getActiveSession\("
    )
    found = {
        str(file.relative_to(SOURCE))
        for pattern in ("*.py", "*.java")
        for file in SOURCE.rglob(pattern)
        if traps.search(file.read_text(encoding="utf-8"))
    }

    assert found == {
        "cli/demo.py",  # a program of its own
        "connect/client.py",  # a process without a JVM
        "installation.py",  # asks once, for the session that is active when the user calls it
        "spark/local_frames.py",
        "spark/session/arguments.py",  # a hint
        "spark/jvm/TruckeeCalls.java",  # puts the user's in the place of a copy
        "spark/jvm/TruckeeSessions.java",
        "spark/write/condition_checks.py",  # a method of the JVM, which makes nothing active
    }
