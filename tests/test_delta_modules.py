"""The modules of delta-spark's names: every public name of delta-spark 4.4 is there."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import SparkSession

import truckee
from step_scripts import outcomes

# The public methods of delta-spark 4.4's classes, with the names of their parameters.
METHODS = {
    "DeltaTable": {
        "toDF": [],
        "alias": ["aliasName"],
        "generate": ["mode"],
        "delete": ["condition"],
        "update": ["condition", "set"],
        "merge": ["source", "condition"],
        "vacuum": ["retentionHours"],
        "history": ["limit"],
        "detail": [],
        "convertToDelta": ["sparkSession", "identifier", "partitionSchema"],
        "forPath": ["sparkSession", "path", "hadoopConf"],
        "forName": ["sparkSession", "tableOrViewName"],
        "create": ["sparkSession"],
        "createIfNotExists": ["sparkSession"],
        "replace": ["sparkSession"],
        "createOrReplace": ["sparkSession"],
        "isDeltaTable": ["sparkSession", "identifier"],
        "upgradeTableProtocol": ["readerVersion", "writerVersion"],
        "addFeatureSupport": ["featureName"],
        "dropFeatureSupport": ["featureName", "truncateHistory"],
        "restoreToVersion": ["version"],
        "restoreToTimestamp": ["timestamp"],
        "optimize": [],
        "clone": ["target", "isShallow", "replace", "properties"],
        "cloneAtVersion": ["version", "target", "isShallow", "replace", "properties"],
        "cloneAtTimestamp": ["timestamp", "target", "isShallow", "replace", "properties"],
    },
    "DeltaMergeBuilder": {
        "whenMatchedUpdate": ["condition", "set"],
        "whenMatchedUpdateAll": ["condition"],
        "whenMatchedDelete": ["condition"],
        "whenNotMatchedInsert": ["condition", "values"],
        "whenNotMatchedInsertAll": ["condition"],
        "whenNotMatchedBySourceUpdate": ["condition", "set"],
        "whenNotMatchedBySourceDelete": ["condition"],
        "withSchemaEvolution": [],
        "execute": [],
    },
    "DeltaTableBuilder": {
        "tableName": ["identifier"],
        "location": ["location"],
        "comment": ["comment"],
        "addColumn": [
            "colName",
            "dataType",
            "nullable",
            "generatedAlwaysAs",
            "generatedByDefaultAs",
            "comment",
        ],
        "addColumns": ["cols"],
        "partitionedBy": ["cols"],
        "clusterBy": ["cols"],
        "property": ["key", "value"],
        "execute": [],
    },
    "DeltaOptimizeBuilder": {
        "where": ["partitionFilter"],
        "executeCompaction": [],
        "executeZOrderBy": ["cols"],
    },
    "IdentityGenerator": {},
}
EXCEPTIONS = (
    "DeltaConcurrentModificationException",
    "ConcurrentWriteException",
    "MetadataChangedException",
    "ProtocolChangedException",
    "ConcurrentAppendException",
    "ConcurrentDeleteReadException",
    "ConcurrentDeleteDeleteException",
    "ConcurrentTransactionException",
)


@pytest.fixture
def installed(spark: SparkSession) -> Iterator[SparkSession]:
    truckee.install()
    yield spark
    truckee.uninstall()


def test_every_class_and_method_of_delta_spark_is_there(installed: SparkSession) -> None:
    tables = importlib.import_module("delta.tables")

    for name, methods in METHODS.items():
        kind = getattr(tables, name)
        for method, expected in methods.items():
            found = inspect.signature(getattr(kind, method)).parameters
            given = [p for p in found if p not in ("self", "cls")]
            assert given[: len(expected)] == expected, f"{name}.{method}"


def test_every_exception_of_delta_spark_is_there(installed: SparkSession) -> None:
    exceptions = importlib.import_module("delta.exceptions")
    captured = importlib.import_module("delta.exceptions.captured")

    assert set(EXCEPTIONS) <= set(exceptions.__all__)
    assert all(getattr(captured, name) is getattr(exceptions, name) for name in EXCEPTIONS)
    raised = exceptions.ConcurrentWriteException(version=2, read_version=1)
    assert isinstance(raised, PySparkException)


def test_packages_of_delta_are_left_out_and_others_kept(installed: SparkSession) -> None:
    delta = importlib.import_module("delta")
    builder = SparkSession.Builder()

    packages = ["io.delta:delta-spark_4.2_2.13:4.4.0", "org.example:other:1.0"]
    configured = delta.configure_spark_with_delta_pip(builder, packages)

    assert configured._options["spark.jars.packages"] == "org.example:other:1.0"
    assert delta.__version__ == importlib.import_module("delta.version").__version__ == "4.4.0"
    with pytest.raises(TypeError, match="must be a SparkSession builder"):
        delta.pip_utils.configure_spark_with_delta_pip("local")


def test_a_star_brings_what_it_always_brought(installed: SparkSession) -> None:
    found: dict[str, object] = {}

    exec("from delta.tables import *", found)

    wanted = {"DeltaTable", "IdentityGenerator", "Column", "DataFrame", "functions", "StructType"}
    assert wanted <= found.keys()


def test_libraries_that_look_for_delta_find_it(installed: SparkSession) -> None:
    found = [importlib.util.find_spec(name) for name in ("delta", "delta.tables", "delta.other")]

    assert [spec and (spec.name, spec.origin) for spec in found] == [
        ("delta", "truckee.install()"),
        ("delta.tables", "truckee.install()"),
        None,
    ]


@pytest.mark.spark
@pytest.mark.slow
def test_suites_on_the_base_class_of_deltas_own_tests_run() -> None:
    suite = Path(__file__).with_name("delta_test_suite.py")

    assert outcomes([sys.executable, suite], seconds=120) == {"suite": [True, 0]}


def test_delta_testing_has_the_base_class_and_nothing_else(installed: SparkSession) -> None:
    utils = importlib.import_module("delta.testing.utils")

    assert utils.DeltaTestCase.__name__ == "DeltaTestCase"
    with pytest.raises(AttributeError, match="has no attribute 'Other'"):
        _ = utils.Other


def test_the_package_has_a_version_while_it_is_installed() -> None:
    truckee.install()
    try:
        assert importlib.metadata.version("delta-spark") == "4.4.0"
        assert importlib.metadata.version("Delta_Spark") == "4.4.0"
        listed = {found.metadata["Name"] for found in importlib.metadata.distributions()}
        assert "delta-spark" not in listed
    finally:
        truckee.uninstall()

    with pytest.raises(importlib.metadata.PackageNotFoundError):
        importlib.metadata.version("delta-spark")


def test_a_session_that_is_made_of_a_context_is_enabled(installed: SparkSession) -> None:
    made = SparkSession(installed.sparkContext)

    with pytest.raises(AnalysisException, match="DELTA_TABLE_ONLY_OPERATION"):
        made.sql("DESCRIBE HISTORY delta.`/no/such/table`")


def test_the_modules_are_gone_afterwards(spark: SparkSession) -> None:
    truckee.install()
    truckee.uninstall()

    assert not [name for name in sys.modules if name == "delta" or name.startswith("delta.")]
