"""The base class of delta-spark's own Python tests, which other suites use too."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from pyspark import SparkConf
from pyspark.testing.sqlutils import ReusedSQLTestCase


class DeltaTestCase(ReusedSQLTestCase):
    """A test with a session that has Delta, in `self.spark`, and a folder of its own.

    `self.tempPath` is the folder, and `self.tempFile` a path in it where there is nothing yet.
    """

    @classmethod
    def conf(cls) -> SparkConf:
        """Return the settings of the session: a small one, without the pages of Spark's UI."""
        settings = {
            "spark.app.name": cls.__name__,
            "spark.master": "local[4]",
            "spark.ui.enabled": "false",
            "spark.sql.shuffle.partitions": "5",
        }
        found: SparkConf = super().conf()  # type: ignore[no-untyped-call]
        return found.setAll(list(settings.items()))

    def setUp(self) -> None:
        """Make the folder."""
        super().setUp()
        self.tempPath = tempfile.mkdtemp()
        self.tempFile = str(Path(self.tempPath) / "tempFile")

    def tearDown(self) -> None:
        """Delete the folder."""
        super().tearDown()  # type: ignore[no-untyped-call]
        shutil.rmtree(self.tempPath)
