"""Whether truckee is installed for Spark's Python workers; it is only required on the driver."""

from __future__ import annotations

import logging
from functools import partial
from importlib.util import find_spec
from operator import is_not

from pyspark.sql import SparkSession

from truckee.spark.session.job_descriptions import job_description

_log = logging.getLogger(__name__)
_known: dict[str, bool] = {}


def workers_have_truckee(spark: SparkSession) -> bool:
    """Return whether functions of truckee can run in Python workers; checked only once."""
    context = spark.sparkContext
    application = str(context.applicationId)
    if application not in _known:
        with job_description(spark, "asking whether workers have truckee"):
            # Functions of Python's standard library, which every worker has.
            found = context.parallelize(["truckee"], 1).map(find_spec).map(partial(is_not, None))
            _known[application] = bool(found.collect()[0])
        if not _known[application]:
            _log.info("the Python of Spark's workers has no truckee: the driver does their part")
    return _known[application]
