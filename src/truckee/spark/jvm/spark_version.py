"""Which versions of Spark truckee was tested on.

truckee uses Spark's internal classes by name, and they change without notice. So an untested
version of Spark is refused before anything is written with it.
"""

from __future__ import annotations

import os

from truckee.errors.spark import UntestedSparkError

TESTED_SPARKS = ("4.2", "4.3")
ALLOW_UNTESTED = "spark.truckee.allowUntestedSpark"
_VARIABLE = "TRUCKEE_ALLOW_UNTESTED_SPARK"


def check_spark_version(version: str, setting: str | None) -> None:
    """Raise UntestedSparkError for a Spark that was never tested, unless that is allowed.

    `setting` is what the session says of `spark.truckee.allowUntestedSpark`; the environment
    variable `TRUCKEE_ALLOW_UNTESTED_SPARK=1` says the same.
    """
    is_tested = ".".join(version.split(".")[:2]) in TESTED_SPARKS
    is_allowed = str(setting).lower() == "true" or os.environ.get(_VARIABLE) == "1"
    if not is_tested and not is_allowed:
        raise UntestedSparkError(found=version, tested=TESTED_SPARKS)
