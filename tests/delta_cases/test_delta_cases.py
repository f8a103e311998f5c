"""What Delta's own suites hold of CDC, vectors, MERGE, UPDATE and DELETE, held of truckee.

`README.md` beside this file counts the cases. `make test` runs some of them, `make test-slow` each
on one of the ways to store its table, `make test-long` each on all of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from zlib import crc32

import pytest
from pyspark.sql import SparkSession

from delta_cases.form import Case
from delta_cases.running import Copies, differences, run
from delta_cases.suites import SUITES
from truckee.doors.enable import enable

ALL_WAYS = bool(os.environ.get("TRUCKEE_ALL_WAYS"))


def chosen() -> Iterator[object]:
    for suite, module in SUITES.items():
        for case in module.CASES:
            one = case.ways[crc32(case.fact.encode()) % len(case.ways)]
            for way in case.ways if ALL_WAYS else (one,):
                marks = [] if case.quick else [pytest.mark.slow]
                if case.unlike:
                    marks.append(pytest.mark.xfail(reason=case.unlike, strict=False))
                yield pytest.param(case, way, id=f"{suite}: {case.fact} ({way})", marks=marks)


@pytest.fixture(scope="module")
def copies(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Copies:
    return Copies(enable(spark), tmp_path_factory.mktemp("delta-cases"))


@pytest.mark.parametrize(("case", "way"), list(chosen()))
def test_a_case_of_deltas_suites(spark: SparkSession, copies: Copies, case: Case, way: str) -> None:
    outcome = run(spark, copies, case, way)

    assert differences(case, way, outcome) == {}
