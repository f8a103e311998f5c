"""Our Java classes, compiled once, kept, and known wherever Spark runs."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import truckee
from data_tables import DataTable, marked
from truckee.deletion_vectors.bitmap import RowBitmap
from truckee.deletion_vectors.store import write_deletion_vectors
from truckee.errors.spark import ClassesNotAddedError
from truckee.spark.jvm import classes
from truckee.spark.jvm.classes import add_services, shipped_class

CLUSTER = Path(__file__).with_name("cluster_classes.py")


def test_a_class_is_found_by_name_in_every_session_of_the_application(spark: SparkSession) -> None:
    other = spark.newSession()

    here = shipped_class(spark, "truckee.TruckeeFiles")
    there = shipped_class(other, "truckee.TruckeeFiles")

    assert here.equals(there)
    assert _found_by_spark(spark, "truckee.TruckeeFiles").equals(here)


def test_a_jar_is_compiled_once_and_made_again_if_it_is_not_whole(
    spark: SparkSession, tmp_path: Path
) -> None:
    context, made = spark.sparkContext, list[int]()

    def content() -> bytes:
        made.append(1)
        return classes._jar({"a": b"b"})

    def kept() -> Path:
        return classes._kept(_Settings(tmp_path), "some.jar", content)

    first = kept()
    again = kept()
    first.write_bytes(first.read_bytes()[:20])
    mended = kept()

    assert (first, len(made)) == (again, 2)
    assert zipfile.ZipFile(mended).read("a") == b"b"
    assert list(tmp_path.iterdir()) == [mended]
    assert classes._version(context).startswith(f"{spark.version}-java8-")


def test_services_are_found_by_java(spark: SparkSession) -> None:
    add_services(spark, {"java.util.concurrent.Callable": ["truckee.TruckeeCalls$Nobody"]})

    name = "META-INF/services/java.util.concurrent.Callable"
    found = shipped_class(spark, "truckee.TruckeeFiles").getClassLoader().getResource(name)

    assert "truckee-services-" in found.toString()


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")

    with pytest.raises(ClassesNotAddedError) as caught:
        classes._kept(_Settings(tmp_path / "file"), "some.jar", bytes)

    assert str(caught.value) == (
        "[TRUCKEE_CLASSES_NOT_ADDED] truckee's Java classes cannot be added to Spark: no file "
        f"can be written in the folder '{tmp_path / 'file'}'\n"
        "hint: set spark.truckee.classes.folder to a writable folder, or put the JAR on the "
        "class path and set spark.truckee.classes.onClassPath"
    )


@pytest.mark.spark
@pytest.mark.slow
def test_executors_may_have_the_classes_on_their_class_path(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = DataTable(tmp_path / "t", "id long")
    files = [table.file(f"{n}.parquet", {"id": [n, n + 1, n + 2]}) for n in (0, 10)]
    table.commit(*files)
    (marks,) = write_deletion_vectors(table.storage, [RowBitmap([1])])
    table.commit(*marked(files[1], marks))
    truckee.enable(spark)
    jar = classes._classes(spark.sparkContext)
    jars = ",".join(str(each) for each in [jar, *jar.parent.glob("truckee-services-*.jar")])
    settings = ["spark.truckee.classes.onClassPath=true", f"spark.jars={jars}"]

    found = _on_a_cluster(table, tmp_path / "none", settings)

    assert found == ["[0, 1, 2, 10, 12]", "[(11, 'delete', 2)]", "5"]
    assert not (tmp_path / "none").exists()


@pytest.mark.spark
@pytest.mark.slow
def test_a_session_with_sql_needs_both_jars_on_the_class_path(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = DataTable(tmp_path / "t", "id long")
    jar = classes._classes(spark.sparkContext)
    settings = ["spark.truckee.classes.onClassPath=true", f"spark.jars={jar}"]

    [found] = _on_a_cluster(table, tmp_path / "none", settings)

    assert "truckee-services-" in found
    assert "is not on the class path of the driver" in found


def test_a_class_path_without_the_classes_is_told(spark: SparkSession) -> None:
    platform = spark._jvm.ClassLoader.getPlatformClassLoader()  # type: ignore[union-attr]

    with pytest.raises(ClassesNotAddedError) as caught:
        classes._check_class_path(platform, "some.jar", classes._stamp(spark.sparkContext))

    assert caught.value.reason == (
        "spark.truckee.classes.onClassPath is set, and some.jar is not on the class path of the "
        "driver"
    )


class _Settings:
    """A context of which only the folder is asked."""

    def __init__(self, folder: Path) -> None:
        self._conf = {classes.FOLDER: str(folder)}


def _found_by_spark(spark: SparkSession, name: str) -> object:
    shared = spark._jsparkSession.sharedState().jarClassLoader()
    return shared.loadClass(name)


def _on_a_cluster(table: DataTable, folder: Path, settings: Sequence[str] = ()) -> list[str]:
    done = subprocess.run(
        [sys.executable, str(CLUSTER), str(table), str(folder), *settings],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()
