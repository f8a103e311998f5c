"""delta-spark refuses the requests of `tests/refusals.py` as said there, with Delta's states."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from benchmarks.delta_session import IVY
from errors.own_codes import OWN_CODES
from interop.delta_spark import DeltaSpark
from refusals import AFTER, BEFORE, REFUSALS, WORDS
from scripts.generated_docs import error_classes

pytestmark = pytest.mark.interop

_ASK = """
import sys
sys.path.insert(0, arguments["tests"])
from delta.tables import DeltaTable
from refusals import found_refusal, found_text
p = arguments["folder"]
for statement in arguments["before"]:
    spark.sql(statement.replace("{p}", p))
refusals = [found_refusal(spark, DeltaTable, request, p) for request in arguments["requests"]]
texts = [found_text(spark, DeltaTable, request, p) for request in arguments["texts"]]
result = [refusals, texts]
for statement in arguments["after"]:
    spark.sql(statement)
"""


def test_delta_spark_refuses_the_same(delta_spark: DeltaSpark, tmp_path: Path) -> None:
    found, texts = delta_spark.run(
        _ASK,
        tests=str(Path(__file__).resolve().parent.parent),
        folder=str(tmp_path),
        before=BEFORE,
        after=AFTER,
        requests=[case.request for case in REFUSALS],
        texts=list(WORDS),
    )

    told = {case.request: tuple(answer) for case, answer in zip(REFUSALS, found, strict=True)}
    assert told == {case.request: tuple(case[1:]) for case in REFUSALS}
    pairs = zip(WORDS.items(), texts, strict=True)
    assert [request for (request, words), text in pairs if words not in text] == []


def test_an_error_class_of_delta_has_deltas_state(delta_spark: DeltaSpark) -> None:
    assert delta_spark.spark_version  # its JARs are here
    known = _classes_of_delta()
    states = {kind.code: kind.state for kind in error_classes()}
    of_delta = {code for code in states if code.partition(".")[0] in known}

    assert {code: states[code] for code in of_delta} == {
        code: known[code.partition(".")[0]]["sqlState"] for code in of_delta
    }
    assert not OWN_CODES & known.keys()
    below = [code.split(".") for code in of_delta if "." in code]
    assert [code for code, part in below if part not in known[code]["subClass"]] == []


def _classes_of_delta() -> dict[str, Any]:
    jar = next(IVY.glob("cache/io.delta/delta-spark_*/jars/*.jar"))
    with ZipFile(jar) as packed:
        found: dict[str, Any] = json.loads(packed.read("error/delta-error-classes.json"))
        return found
