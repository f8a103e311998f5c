"""Each error is declared once and whole: class, state, what users of PySpark catch, and text.

A SQLSTATE is Spark's where Spark has the error class, else Delta's, else one of our own choice.
"""

from __future__ import annotations

import json
import re
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path
from string import Formatter
from typing import Any
from zipfile import ZipFile

import pyspark.errors
import pytest

from errors.own_codes import OWN_CODES
from scripts.generated_docs import error_classes
from truckee.errors.base import DeltaError

KINDS = sorted(error_classes(), key=lambda kind: kind.__name__)
RAISED = {kind.code for kind in KINDS}
STATES = {kind.code.partition(".")[0]: kind.state for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_declaration_is_whole(kind: type[DeltaError]) -> None:
    assert re.fullmatch("[0-9A-Z]{5}", kind.state)
    assert issubclass(getattr(pyspark.errors, kind.spark), pyspark.errors.PySparkException)
    # One class has one state, and so have the classes below it: `A.B` has that of `A`.
    assert kind.state == STATES[kind.code.partition(".")[0]]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_what_a_text_shows_is_a_part_of_its_error(kind: type[DeltaError]) -> None:
    own = {field.name for field in fields(kind)}

    templates = (kind.text, kind.hint_template)
    shown = {
        name for each in templates if each for _, name, _, _ in Formatter().parse(each) if name
    }

    assert {name for name in shown if name not in own and not hasattr(kind, name)} == set()


def test_a_list_of_our_own_classes_has_those_that_are_raised() -> None:
    assert {code.partition(".")[0] for code in RAISED} >= OWN_CODES


def test_a_class_of_spark_has_sparks_state() -> None:
    conditions = _conditions_of_spark()
    of_spark = {code for code in RAISED if code.partition(".")[0] in conditions}

    assert {code: STATES[code.partition(".")[0]] for code in of_spark} == {
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
