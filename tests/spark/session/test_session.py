"""A session that works, also where there is one already or no Java at all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import truckee
from truckee.errors import ArgumentTypeError, JavaNotFoundError
from truckee.options.delta_settings import UnusedSettingWarning
from truckee.spark.session.java import ensure_java
from truckee.spark.session.session import (
    CATALOG_SETTING,
    DELTA_CATALOG,
    start_without_delta_classes,
)

_QUIET_SCRIPT = """
import truckee
settings = {
    "spark.ui.showConsoleProgress": False,
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
}
spark = truckee.session(**settings)
spark.range(3).collect()
for text in ("SELECT 1/0", "SELECT nothing"):
    try:
        spark.sql(text).collect()
    except Exception as error:
        print(error.getCondition())
spark._jvm.System.err.println("from the JVM")
"""
_SOURCE = Path(__file__).resolve().parents[3] / "src"


@pytest.mark.spark
@pytest.mark.slow
def test_a_session_says_nothing_of_its_own_nor_what_its_exceptions_say() -> None:
    # Java says which options it takes from the environment, so it gets none there.
    given = {name: value for name, value in os.environ.items() if name != "JDK_JAVA_OPTIONS"}
    done = subprocess.run(
        [sys.executable, "-c", _QUIET_SCRIPT],
        env={**given, "PYTHONPATH": str(_SOURCE)},
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stderr == "from the JVM\n"
    assert done.stdout == "DIVIDE_BY_ZERO\nUNRESOLVED_COLUMN.WITHOUT_SUGGESTION\n"


def test_the_session_is_local(spark: SparkSession) -> None:
    assert spark.conf.get("spark.driver.host") == "localhost"
    assert spark.conf.get("spark.driver.bindAddress") == "127.0.0.1"


def test_workers_run_on_this_interpreter(spark: SparkSession) -> None:
    versions = spark.sparkContext.parallelize([0], 1).map(lambda _: sys.version).collect()

    assert versions == [sys.version]


def test_a_running_session_is_taken_as_it_is(spark: SparkSession) -> None:
    truckee.enable(spark)  # what SQL needs is the one setting that is made
    before = dict(spark.conf.getAll)
    spark.conf.set("spark.sql.shuffle.partitions", "7")
    try:
        found = truckee.session()
        configured = truckee.configure(SparkSession.builder).getOrCreate()
        partitions = spark.conf.get("spark.sql.shuffle.partitions")
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", before["spark.sql.shuffle.partitions"])

    assert found is spark
    assert configured is spark
    assert partitions == "7"
    assert dict(spark.conf.getAll) == before


def test_a_running_session_takes_the_settings_it_is_given(spark: SparkSession) -> None:
    try:
        truckee.session(**{"spark.sql.ansi.doubleQuotedIdentifiers": True})
        assert spark.conf.get("spark.sql.ansi.doubleQuotedIdentifiers") == "true"
    finally:
        spark.conf.unset("spark.sql.ansi.doubleQuotedIdentifiers")


def test_a_running_session_warns_of_settings_that_come_too_late(spark: SparkSession) -> None:
    memory = spark.sparkContext.getConf().get("spark.driver.memory")
    with pytest.warns(UnusedSettingWarning) as told:
        truckee.session(
            **{"spark.driver.memory": "77g", "spark.sql.warehouse.dir": "/elsewhere"},
            master=spark.sparkContext.master,
        )

    assert [str(warning.message) for warning in told] == [
        "setting spark.driver.memory has no effect on the running session, where it is "
        f"{memory}; stop that first",
        "setting spark.sql.warehouse.dir has no effect on the running session, where it is "
        f"{spark.conf.get('spark.sql.warehouse.dir')}; stop that first",
    ]
    assert {warning.filename for warning in told} == {__file__}


def test_configure_takes_no_session(spark: SparkSession) -> None:
    with pytest.raises(ArgumentTypeError) as caught:
        truckee.configure(spark)  # type: ignore[arg-type]

    assert caught.value.sentence() == (
        "the argument of configure must be a builder, as SparkSession.builder is; truckee.enable "
        "takes a running session; found pyspark.SparkSession"
    )


def test_a_folder_that_is_called_delta_is_no_jar_of_delta(spark: SparkSession) -> None:
    jars = {"spark.jars": "/home/delta/jars/kafka-clients.jar"}
    delta_jar = {"spark.jars": "/jars/kafka-clients.jar,/jars/delta-spark_2.13-4.0.0.jar"}
    settings = {CATALOG_SETTING: DELTA_CATALOG}
    without, with_delta = jars | settings, delta_jar | settings

    for options in (without, with_delta):
        start_without_delta_classes(options, lambda: spark)

    assert (without, with_delta) == (jars, delta_jar | settings)


# Invariant 33.
@pytest.mark.parametrize("master", ["local[2]", "yarn"])
def test_configure_says_nothing_of_addresses_pages_and_partitions(master: str) -> None:
    printed = _run(
        "from pyspark.sql import SparkSession; import truckee;"
        f"b = truckee.configure(SparkSession.builder.master({master!r}));"
        "print(sorted(b._options), b._options['spark.master'])"
    )

    assert printed == f"['spark.driver.defaultJavaOptions', 'spark.master'] {master}\n"


def test_what_files_and_spark_submit_say_is_not_overridden(tmp_path: Path) -> None:
    (tmp_path / "spark-defaults.conf").write_text(
        "# of the cluster\nspark.driver.host  me\nspark.sql.shuffle.partitions=77\n"
        "spark.driver.defaultJavaOptions -Xss2m\n"
    )
    printed = _run(
        _STARTED_WITH,
        SPARK_CONF_DIR=str(tmp_path),
        PYSPARK_SUBMIT_ARGS="--master local[3] --conf spark.ui.enabled=true pyspark-shell",
        SPARK_LOCAL_IP="10.1.2.3",
    )

    started = json.loads(printed)
    java = started.pop("spark.driver.defaultJavaOptions")
    assert started == {"spark.app.name": "truckee", "spark.master": "local[3]"}
    assert java.endswith("log4j2-quiet.properties -Xss2m")


def test_a_cluster_that_spark_submit_names_is_the_master(tmp_path: Path) -> None:
    printed = _run(
        _STARTED_WITH,
        SPARK_CONF_DIR=str(tmp_path),
        PYSPARK_SUBMIT_ARGS="--master=yarn pyspark-shell",
    )

    assert sorted(json.loads(printed)) == [
        "spark.app.name",
        "spark.driver.defaultJavaOptions",
        "spark.master",
    ]
    assert json.loads(printed)["spark.master"] == "yarn"


def test_a_keyword_wins_over_everything(tmp_path: Path) -> None:
    (tmp_path / "spark-defaults.conf").write_text("spark.ui.enabled false\nspark.master yarn\n")
    code = _STARTED_WITH.replace(
        "session()", "session('a', **{'master': 'local', 'spark.ui.enabled': True})"
    )
    started = json.loads(_run(code, SPARK_CONF_DIR=str(tmp_path)))

    assert started["spark.master"] == "local"
    assert started["spark.ui.enabled"] == "true"
    assert started["spark.driver.host"] == "localhost"


def test_a_logging_configuration_of_others_is_kept(tmp_path: Path) -> None:
    (tmp_path / "log4j2.properties").write_text("rootLogger.level = info\n")

    started = json.loads(_run(_STARTED_WITH, SPARK_CONF_DIR=str(tmp_path)))

    assert "spark.driver.defaultJavaOptions" not in started


def test_options_of_java_stand_behind_ours_however_often_they_are_configured() -> None:
    printed = _run(
        "from pyspark.sql import SparkSession; import truckee;"
        "b = SparkSession.builder.config('spark.driver.defaultJavaOptions', '-Xss2m');"
        "b = truckee.configure(truckee.configure(b));"
        "print(b._options['spark.driver.defaultJavaOptions'])"
    )

    own, *theirs = printed.split()
    assert own.startswith("-Dlog4j2.configurationFile=")
    assert theirs == ["-Xss2m"]


def test_a_java_that_is_too_old_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = _java(tmp_path / "jdk8", "1.8.0_402")
    new = _java(tmp_path / "jdk21", "21.0.2")
    monkeypatch.setenv("JAVA_HOME", str(old))
    monkeypatch.setenv("PATH", f"{new / 'bin'}{os.pathsep}/bin{os.pathsep}/usr/bin")

    with pytest.warns(UserWarning, match="JAVA_HOME") as warned:
        ensure_java(())

    assert os.environ["JAVA_HOME"] == str(new)
    assert [str(warning.message) for warning in warned] == [
        f"JAVA_HOME is not used, since {old} is Java 8; {new} (Java 21) is"
    ]


def test_a_java_home_without_a_java_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = _java(tmp_path / "jdk21", "21.0.2")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nothing"))
    monkeypatch.setenv("PATH", f"{new / 'bin'}{os.pathsep}/bin{os.pathsep}/usr/bin")

    with pytest.warns(UserWarning, match="nothing has no bin/java that runs"):
        ensure_java(())


def test_a_java_of_the_system_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = _java(tmp_path / "jvm" / "java-17", "17.0.1")

    ensure_java([str(tmp_path / "jvm")])

    assert os.environ["JAVA_HOME"] == str(found)


def test_no_java_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(JavaNotFoundError) as caught:
        ensure_java([str(tmp_path)])

    assert caught.value.sentence() == (
        "Spark needs Java 17 or later, but none was found\n"
        "hint: install one (Debian and Ubuntu: apt-get install openjdk-17-jre-headless) or set "
        "JAVA_HOME to it"
    )


def test_only_an_old_java_says_which(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = _java(tmp_path / "jdk", "11.0.22")
    broken = tmp_path / "jvm" / "broken"
    (broken / "bin").mkdir(parents=True)
    (broken / "bin" / "java").write_text("")
    monkeypatch.setenv("JAVA_HOME", str(old))
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(JavaNotFoundError) as caught:
        ensure_java([str(tmp_path / "jvm")])

    assert caught.value.sentence().startswith(
        f"Spark needs Java 17 or later, but {old} is Java 11\n"
    )


def _java(home: Path, version: str) -> Path:
    """A program that answers like a `java` of some version."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    program.chmod(0o755)
    return home


# The settings of the builder with which `session` starts Spark, as far as Spark is not started.
_STARTED_WITH = """
import json
from pyspark.sql import SparkSession
from truckee.spark.session.session import session
SparkSession.Builder.getOrCreate = lambda builder: builder
print(json.dumps(session()._options))
"""


def _run(code: str, **environment: str) -> str:
    given = {name: value for name, value in os.environ.items() if not name.startswith("PYSPARK")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**given, "PYTHONPATH": str(_SOURCE), **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout
