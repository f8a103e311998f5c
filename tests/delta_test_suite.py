"""A suite on the base class of delta-spark's tests, which runs in a process of its own."""

from __future__ import annotations

import json
import sys
import unittest
from pathlib import Path

import truckee

truckee.install()

from delta.tables import DeltaTable  # noqa: E402
from delta.testing.utils import DeltaTestCase  # noqa: E402


class TablesInAFolder(DeltaTestCase):  # type: ignore[misc]
    """What delta-spark's own tests do first of all."""

    def test_a_table_is_written_read_and_changed(self) -> None:
        rows = self.spark.createDataFrame([("a", 1), ("b", 2)], ["key", "value"])
        rows.write.format("delta").save(self.tempFile)
        DeltaTable.forPath(self.spark, self.tempFile).delete("key = 'a'")
        found = self.spark.read.format("delta").load(self.tempFile).collect()
        assert [tuple(row) for row in found] == [("b", 2)]
        assert str(Path(self.tempFile).parent) == self.tempPath

    def test_each_test_has_a_folder_of_its_own(self) -> None:
        assert list(Path(self.tempPath).iterdir()) == []
        assert self.spark.conf.get("spark.sql.shuffle.partitions") == "5"


if __name__ == "__main__":
    ran = unittest.main(exit=False).result
    print(json.dumps(["suite", [ran.testsRun >= 2, len(ran.failures) + len(ran.errors)]]))
    sys.stdout.flush()
