"""Commands of table care, for histories that are run on a table and on a model."""

from __future__ import annotations

import os
from dataclasses import dataclass

from dml_model import Counts, Model
from dml_tables import Table
from session_settings import set_as
from truckee.commands.care.restore import RESTORE_RESULT_COLUMNS, restore
from truckee.commands.care.vacuum import vacuum
from truckee.errors.commands.care import RETENTION_CHECK

QUIET = {
    RETENTION_CHECK: "false",
    "spark.databricks.delta.vacuum.logging.enabled": "false",
}


@dataclass(frozen=True)
class Restore:
    """Go back this many versions, or to the first one.

    What the feed shows depends on which files hold the rows: only the law of the feed is promised.
    """

    back: int

    def on_model(self, model: Model) -> None:
        if self.back and len(model.past) > 1:
            model.jump(model.past[max(0, len(model.past) - 1 - self.back)])

    def on_table(self, table: Table) -> dict[str, int]:
        answer = restore(table.spark, table.storage, version=max(0, table.version - self.back))
        assert answer.columns == list(RESTORE_RESULT_COLUMNS)
        return {}

    def metrics(self, counts: Counts) -> dict[str, int]:
        return {}

    def affected(self, counts: Counts) -> dict[str, int]:
        return {}


@dataclass(frozen=True)
class Vacuum:
    """Delete what no version needs: a file that nobody has committed."""

    def on_model(self, model: Model) -> None:
        pass

    def on_table(self, table: Table) -> dict[str, int]:
        before = table.files_on_disk()
        orphan = table.path / "orphan.parquet"
        orphan.write_bytes(b"")
        os.utime(orphan, (0, 0))
        with set_as(table.spark, QUIET):
            vacuum(table.spark, table.storage, retention_hours=0, protect=[0])
        assert table.files_on_disk() == before
        return {}

    def metrics(self, counts: Counts) -> dict[str, int]:
        return {}

    def affected(self, counts: Counts) -> dict[str, int]:
        return {}
