"""A Spark that nobody has tested is refused, unless the user says otherwise."""

from __future__ import annotations

import pyspark
import pytest

from truckee.errors.spark import UntestedSparkError
from truckee.spark.jvm.spark_version import check_spark_version


def test_the_spark_of_the_tests_is_a_tested_one() -> None:
    check_spark_version(pyspark.__version__, None)


@pytest.mark.parametrize("version", ["4.1.1", "4.4.0", "4.30.0", "5.0.0-SNAPSHOT"])
def test_an_untested_spark_is_refused_with_the_way_to_try_it(
    version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TRUCKEE_ALLOW_UNTESTED_SPARK", raising=False)

    with pytest.raises(UntestedSparkError) as caught:
        check_spark_version(version, "false")

    assert str(caught.value) == (
        f"[TRUCKEE_UNTESTED_SPARK] this is Spark {version}, but truckee was tested on 4.2 and "
        "4.3\n"
        "hint: install one of these, or set spark.truckee.allowUntestedSpark to true to try it "
        "anyway"
    )


def test_a_setting_or_the_environment_allows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    check_spark_version("5.0.0", "true")
    monkeypatch.setenv("TRUCKEE_ALLOW_UNTESTED_SPARK", "1")
    check_spark_version("5.0.0", None)
