"""Every error class has a SQLSTATE: Spark's where Spark has the class, else Delta's or our own."""

from __future__ import annotations

import json
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from scripts.generated_docs import error_classes
from truckee.errors.states.own_codes import OWN_BY_STATE, OWN_CODES
from truckee.errors.states.sql_states import _BY_STATE, sql_state

RAISED = {kind.code for kind in error_classes()}
TABLES = {"theirs": _BY_STATE, "own": OWN_BY_STATE}


@pytest.mark.parametrize("code", sorted(RAISED))
def test_an_error_class_that_is_raised_has_a_state(code: str) -> None:
    state = sql_state(code)

    assert state is not None
    assert re.fullmatch("[0-9A-Z]{5}", state)


def test_the_table_has_each_class_once_and_only_those_that_are_raised() -> None:
    listed = [code for table in TABLES.values() for codes in table.values() for code in codes]

    assert len(listed) == len(set(listed))
    assert set(listed) == {code.partition(".")[0] for code in RAISED}


def test_a_class_below_another_has_its_state() -> None:
    assert sql_state("DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES") == sql_state("DATATYPE_MISMATCH")


def test_a_class_of_spark_has_sparks_state() -> None:
    conditions = _conditions_of_spark()
    of_spark = {code for code in RAISED if code.partition(".")[0] in conditions}

    assert {code: sql_state(code) for code in of_spark} == {
        code: conditions[code.partition(".")[0]]["sqlState"] for code in of_spark
    }
    assert {"TABLE_OR_VIEW_NOT_FOUND", "PARSE_SYNTAX_ERROR", "PATH_NOT_FOUND"} <= of_spark
    assert not of_spark & OWN_CODES


def test_a_class_below_one_of_spark_is_one_that_spark_has() -> None:
    conditions = _conditions_of_spark()
    below = [code.split(".") for code in RAISED if "." in code]

    unknown = [
        (above, code)
        for above, code in below
        if above in conditions and code not in conditions[above]["subClass"]
    ]
    assert unknown == []


def _conditions_of_spark() -> dict[str, Any]:
    """Return the table of error classes in the installed Spark."""
    pyspark = find_spec("pyspark")
    assert pyspark is not None
    assert pyspark.origin is not None
    for jar in (Path(pyspark.origin).parent / "jars").glob("spark-common-utils*.jar"):
        with ZipFile(jar) as packed:
            if "error/error-conditions.json" in packed.namelist():
                found: dict[str, Any] = json.loads(packed.read("error/error-conditions.json"))
                return found
    raise AssertionError("the installed Spark has no table of error classes")
