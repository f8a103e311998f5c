"""SQL from other programs: Spark's Thrift server on a session of ours, and Spark's command line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pyspark
import pytest

from step_scripts import outcomes

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("thrift")


@pytest.fixture(scope="module")
def outcome(folder: Path) -> dict[str, Any]:
    return outcomes([sys.executable, Path(__file__).with_name("thrift_steps.py"), folder])


def test_beeline_changes_and_reads_tables_by_name(outcome: dict[str, Any]) -> None:
    assert outcome["rows"] == "id,s\n1,z\n2,b\n3,c"
    assert outcome["here"] == [[1, "z"], [2, "b"], [3, "c"]]


def test_beeline_reads_tables_by_path_and_their_feeds(outcome: dict[str, Any]) -> None:
    assert outcome["by path"] == "n\n3"
    assert "2,insert" in outcome["feed"]
    assert "1,update_postimage" in outcome["feed"]


def test_beeline_creates_tables_and_runs_statements_of_delta(outcome: dict[str, Any]) -> None:
    assert "CREATE TABLE AS SELECT" in outcome["history"]
    assert "default,t,false" in outcome["names"]
    assert "default,u,false" in outcome["names"]


def test_beeline_is_told_what_truckee_refuses(outcome: dict[str, Any]) -> None:
    assert "DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT" in outcome["errors"]


@pytest.mark.usefixtures("outcome")  # leaves a table and the JARs
@pytest.mark.parametrize(
    "statement", ["INSERT INTO {table} VALUES (4, 'd')", "SELECT * FROM {table}"]
)
def test_spark_sql_without_python_refuses_delta_tables_in_a_sentence(
    folder: Path, statement: str
) -> None:
    jars = ":".join(str(jar) for jar in (folder / "jars").glob("*.jar"))
    command = [Path(pyspark.__file__).parent / "bin" / "spark-sql", "--driver-class-path", jars]
    settings = {
        "spark.master": "local[1]",
        "spark.sql.catalog.spark_catalog": "truckee.TruckeeCatalog",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.ui.enabled": "false",
    }
    said = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
    text = statement.format(table=f"delta.`{folder}/t`")
    done = subprocess.run(
        [*command, *said, "-e", text], capture_output=True, text=True, check=False, cwd=folder
    )
    assert done.returncode != 0
    assert "[TRUCKEE_NO_PYTHON] Delta tables need a session" in done.stderr
    assert "connect to it with beeline" in done.stderr
    assert "\tat " not in done.stderr
