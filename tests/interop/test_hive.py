"""Two engines on one Hive metastore, one after the other: Derby takes one process at a time."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hive_session import hive_settings
from interop.delta_spark import DeltaSpark, DeltaSparkMissingError
from step_scripts import outcomes

pytestmark = pytest.mark.interop

SCRIPT = Path(__file__).with_name("hive_statements.py")
Rows = list[dict[str, Any]]

# What the metastore itself keeps of a table, without times and the version of Spark.
_ENTRY = """
found = spark._jsparkSession.sharedState().externalCatalog().getTable("default", arguments["name"])
keys = found.properties().keySet().toSeq()
result = {
    "provider": found.provider().get(),
    "type": found.tableType().name(),
    "schema": found.schema().json(),
    "partitions": found.partitionColumnNames().size(),
    "properties": sorted(keys.apply(index) for index in range(keys.size())),
    "location": found.location().toString().rpartition("/")[2],
    "comment": found.comment().get() if found.comment().isDefined() else None,
}
"""
_CREATE = (
    "CREATE TABLE {name} (id BIGINT, day STRING, n INT) USING delta PARTITIONED BY (day) "
    "COMMENT 'of both' TBLPROPERTIES ('delta.enableDeletionVectors' = 'true', "
    "'delta.enableChangeDataFeed' = 'true', 'kept.by' = 'the log')"
)
_INSERT = "INSERT INTO {name} VALUES (1, 'a', 1), (2, 'b', 2), (3, 'b', 3)"
_SHOW = ["SELECT * FROM {name} ORDER BY id", "DESCRIBE {name}", "SHOW TBLPROPERTIES {name}"]


def _rows_of_truckee(folder: Path, statements: list[str]) -> list[Rows]:
    found = outcomes([sys.executable, SCRIPT, folder, *statements])
    return [found[str(number)] for number in range(len(statements))]


@contextmanager
def _delta_spark(folder: Path) -> Iterator[DeltaSpark]:
    try:
        engine = DeltaSpark(folder / "delta-spark.log", hive_settings(folder))
    except DeltaSparkMissingError as missing:
        pytest.skip(f"delta-spark left out: {missing}")
    yield engine
    engine.close()


def _shown(name: str) -> list[str]:
    return [statement.format(name=name) for statement in _SHOW]


def test_each_engine_opens_and_changes_the_tables_that_the_other_registered(
    tmp_path: Path,
) -> None:
    place = tmp_path / "elsewhere"
    shown_by_us = _rows_of_truckee(
        tmp_path,
        [
            _CREATE.format(name="ours"),
            _INSERT.format(name="ours"),
            "DELETE FROM ours WHERE id = 2",
            f"CREATE TABLE ours_elsewhere USING delta LOCATION '{place}' AS SELECT 1 AS a",
            *_shown("ours"),
        ],
    )[-3:]

    with _delta_spark(tmp_path) as delta_spark:
        shown_by_them = [delta_spark.sql(statement) for statement in _shown("ours")]
        delta_spark.sql("UPDATE ours SET n = 30 WHERE id = 3")
        delta_spark.sql("ALTER TABLE ours ADD COLUMN later STRING")
        delta_spark.sql("INSERT INTO ours_elsewhere VALUES (2)")
        delta_spark.sql(_CREATE.format(name="theirs"))
        delta_spark.sql(_INSERT.format(name="theirs"))
        delta_spark.sql("DELETE FROM theirs WHERE id = 2")
        # This has delta-spark keep columns and properties in the metastore, too.
        delta_spark.sql("SET spark.databricks.delta.catalog.update.enabled = true")
        delta_spark.sql(_CREATE.format(name="kept"))
        delta_spark.sql(_INSERT.format(name="kept"))
        entries = [delta_spark.run(_ENTRY, name=name) for name in ("ours", "theirs", "kept")]
        theirs = [delta_spark.sql(statement) for statement in _shown("theirs")]

    rows = [{"id": 1, "day": "a", "n": 1}, {"id": 3, "day": "b", "n": 3}]
    assert shown_by_us == shown_by_them
    assert shown_by_us[0] == rows
    # Nobody can tell from the metastore which of them has registered a table.
    assert entries[0] == {**entries[1], "location": "ours"}
    assert (entries[0]["provider"], entries[0]["type"]) == ("delta", "MANAGED")
    assert '"id"' in entries[2]["schema"], "delta-spark no longer keeps columns in the metastore"

    ours, elsewhere, *found = _rows_of_truckee(
        tmp_path,
        [
            "SELECT * FROM ours ORDER BY id",
            "SELECT * FROM ours_elsewhere ORDER BY a",
            *_shown("theirs"),
            "SELECT * FROM kept ORDER BY id",
            "ALTER TABLE kept ADD COLUMN later STRING",
            "ALTER TABLE kept SET TBLPROPERTIES ('kept.by' = 'truckee')",
            "UPDATE kept SET later = 'now' WHERE id = 1",
            "SELECT * FROM kept ORDER BY id",
            "MERGE INTO theirs t USING kept s ON t.id = s.id "
            "WHEN NOT MATCHED THEN INSERT (id, day, n) VALUES (s.id, s.day, s.n * 10)",
            "SELECT _change_type, id FROM table_changes('theirs', 0) ORDER BY _commit_version, id",
        ],
    )
    assert ours == [{**rows[0], "later": None}, {**rows[1], "n": 30, "later": None}]
    assert elsewhere == [{"a": 1}, {"a": 2}]
    assert found[:3] == theirs
    assert [row["id"] for row in found[3]] == [1, 2, 3]
    assert [row["later"] for row in found[7]] == ["now", None, None]
    kinds = [(row["_change_type"], row["id"]) for row in found[9]]
    assert kinds == [*(("insert", n) for n in (1, 2, 3)), ("delete", 2), ("insert", 2)]

    with _delta_spark(tmp_path) as delta_spark:
        kept = delta_spark.sql("SELECT id, later FROM kept ORDER BY id")
        properties = delta_spark.sql("SHOW TBLPROPERTIES kept ('kept.by')")
        merged = delta_spark.sql("SELECT id, n FROM theirs ORDER BY id")
    assert [row["later"] for row in kept] == ["now", None, None]
    assert [row["value"] for row in properties] == ["truckee"]
    assert [(row["id"], row["n"]) for row in merged] == [(1, 1), (2, 20), (3, 3)]
