"""Every public operation and statement as a step, and what must be true of sessions after each.

run(walk, STEPS)          takes the steps in the user's session, and checks after each
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any

from pyspark.rdd import RDD
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.session import _monkey_patch_RDD

import truckee
from truckee import DeltaTable
from truckee.spark.session.settings import LAST_COMMIT, session_settings

PLAIN = ("json", "csv", "parquet")
"""Formats of Spark's own, whose writes know nothing of truckee."""


@dataclass
class Walk:
    """A folder for tables, and the session in which steps are taken: the user's, or another."""

    spark: SparkSession
    folder: Path
    session: SparkSession
    name: str = "walked"
    settings: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.settings = _settings(self.session)
        _monkey_patch_RDD(self.spark)

    @property
    def table(self) -> str:
        return str(self.folder / "t")

    def sql(self, text: str) -> DataFrame:
        return self.session.sql(text.format(t=f"delta.`{self.table}`", n=self.name, f=self.folder))

    def rows(self, first: int = 0, last: int = 4) -> DataFrame:
        columns = ("id", "CAST(id % 2 AS STRING) AS part", "id * 10 AS value")
        return self.session.range(first, last).selectExpr(*columns)

    def opened(self) -> DeltaTable:
        return DeltaTable.forPath(self.session, self.table)


Step = Callable[[Walk], "DataFrame | None"]


def run(walk: Walk, steps: Iterable[str], *, writes: bool) -> None:
    """Take steps, and check after each; with `writes`, that a plain write still lands."""
    for name, kind in zip(steps, cycle(PLAIN), strict=False):
        result = STEPS[name](walk)
        check(walk, name, writes=[kind] if writes else [])
        if result is not None:
            session = result._jdf.sparkSession()
            assert session.equals(walk.session._jsparkSession), (
                f"{name}: a frame of another session"
            )
            assert result.sparkSession._jsparkSession.equals(session), name


def check(walk: Walk, name: str, *, writes: Iterable[str] = PLAIN) -> None:
    """Assert that the user's session is the active one everywhere, and unchanged."""
    spark, users = walk.spark, walk.spark._jsparkSession
    java = jvm_sessions(spark)
    assert java.getActiveSession().get().equals(users), f"{name}: active in the JVM"
    assert java.getDefaultSession().get().equals(users), f"{name}: default of the JVM"
    assert SparkSession.getActiveSession() is spark, f"{name}: active"
    assert SparkSession._instantiatedSession is spark, f"{name}: instantiated"
    assert rdd_session() is spark, f"{name}: RDD.toDF"
    assert _settings(walk.session) == walk.settings, f"{name}: settings"
    for kind in writes:
        folder = walk.folder / "plain" / kind
        rows = SparkSession.active().range(3).coalesce(1)
        rows.write.format(kind).mode("overwrite").save(str(folder))
        assert list(folder.glob(f"*.{kind}")), f"{name}: no {kind} was written"
        assert (folder / "_SUCCESS").exists(), f"{name}: {kind} was not committed"


def jvm_sessions(spark: SparkSession) -> Any:
    """Return Spark's own class of sessions."""
    return getattr(spark._jvm, "org.apache.spark.sql.classic.SparkSession")


def rdd_session() -> object:
    """Return the session to which PySpark's `RDD.toDF` belongs."""
    [session] = [cell.cell_contents for cell in RDD.toDF.__closure__ or ()]
    return session


def _settings(spark: SparkSession) -> dict[str, str]:
    return {k: v for k, v in session_settings(spark).items() if k != LAST_COMMIT}


def _sql(text: str) -> Step:
    return lambda walk: walk.sql(text)


def _merge(walk: Walk) -> DataFrame:
    source = walk.rows(2, 8).alias("s")
    merge = walk.opened().alias("t").merge(source, "t.id = s.id").withSchemaEvolution()
    return merge.whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()


def _replace_where(walk: Walk) -> None:
    frame = walk.rows(20, 24).where("part = '0'").write.format("delta").mode("overwrite")
    frame.option("replaceWhere", "part = '0'").save(walk.table)


def _evolve(walk: Walk) -> None:
    rows = walk.rows(30, 32).selectExpr("*", "CAST(id AS INT) AS more")
    rows.write.format("delta").mode("append").option("mergeSchema", True).save(walk.table)


def _builder(walk: Walk) -> None:
    made = DeltaTable.createOrReplace(walk.session).location(str(walk.folder / "built"))
    made.addColumn("id", "BIGINT").addColumn("part", "STRING", comment="c").execute()


def _save_as_table(walk: Walk) -> None:
    walk.rows().write.format("delta").mode("overwrite").saveAsTable(walk.name)


def _write_to(walk: Walk) -> None:
    walk.rows(40, 42).writeTo(walk.name).append()


def _insert_into(walk: Walk) -> None:
    walk.rows(42, 44).write.insertInto(walk.name)


def _convert(walk: Walk) -> None:
    folder = str(walk.folder / "parquet")
    walk.rows().write.mode("overwrite").parquet(folder)
    DeltaTable.convertToDelta(walk.session, f"parquet.`{folder}`")


def _read_feed(walk: Walk) -> DataFrame:
    read = walk.session.read.format("delta").option("readChangeFeed", True)
    return read.option("startingVersion", 5).load(walk.table)


def _stream(walk: Walk) -> DataFrame:
    return walk.session.readStream.format("delta").option("ignoreChanges", True).load(walk.table)


def _stream_into_table(walk: Walk) -> None:
    write = _stream(walk).writeStream.format("delta").trigger(availableNow=True)
    write = write.option("checkpointLocation", str(walk.folder / "c1"))
    write.option("mergeSchema", True).start(str(walk.folder / "s1")).awaitTermination()


def _stream_of_changes(walk: Walk) -> None:
    read = truckee.readStream(walk.session).option("readChangeFeed", True)
    frame = read.option("startingVersion", 5).load(walk.table)
    write = frame.writeStream.trigger(availableNow=True)
    write = write.option("checkpointLocation", str(walk.folder / "c2"))
    kept = write.foreachBatch(truckee.write_batch(str(walk.folder / "s2"), mergeSchema=True))
    kept.start().awaitTermination()
    _monkey_patch_RDD(walk.spark)  # PySpark gives it to the session of the batch


def _stream_of_commands(walk: Walk) -> None:
    """Take steps in the session of a batch, which stays the active one of its thread."""

    def write(batch: DataFrame, _: int) -> None:
        own = batch.sparkSession
        java = jvm_sessions(own)
        inner = Walk(walk.spark, walk.folder / "batch", own, walk.name)
        _monkey_patch_RDD(own)
        for name in IN_BATCHES:
            STEPS[name](inner)
            assert java.getActiveSession().get().equals(own._jsparkSession), f"{name}: in a batch"
            assert SparkSession._activeSession is walk.spark, f"{name}: active, in a batch"
            assert rdd_session() is own, f"{name}: RDD.toDF, in a batch"
        assert _settings(own) == inner.settings

    write_stream = _stream(walk).limit(1).writeStream.trigger(availableNow=True)
    write_stream = write_stream.option("checkpointLocation", str(walk.folder / "c3"))
    write_stream.foreachBatch(write).start().awaitTermination()
    _monkey_patch_RDD(walk.spark)


IN_BATCHES = ("save", "merge", "history")

STEPS: Mapping[str, Step] = {
    "save": lambda w: w.rows().write.format("delta").mode("overwrite").save(w.table),
    "feed on": lambda w: w.opened().setProperties({"delta.enableChangeDataFeed": "true"}),
    "append": lambda w: w.rows(4, 8).write.format("delta").mode("append").save(w.table),
    "truckee.write": lambda w: truckee.write(w.rows(8, 10)).mode("append").save(w.table),
    "evolve": _evolve,
    "load": lambda w: w.session.read.format("delta").load(w.table),
    "truckee.read": lambda w: truckee.read(w.session).load(w.table),
    "toDF": lambda w: w.opened().toDF(),
    "update": lambda w: w.opened().update("id % 2 = 0", {"value": "value + 1"}),
    "delete": lambda w: w.opened().delete("id = 3"),
    "merge": _merge,
    "replaceWhere": _replace_where,
    "history": lambda w: w.opened().history(),
    "detail": lambda w: w.opened().detail(),
    "changes": lambda w: w.opened().changes(startingVersion=1),
    "feed": _read_feed,
    "diff": lambda w: w.opened().diff(0, 1),
    "row history": lambda w: w.opened().row_history("id = 5"),
    "optimize": lambda w: w.opened().optimize().executeCompaction(),
    "z-order": lambda w: w.opened().optimize().executeZOrderBy("id"),
    "vacuum": lambda w: w.opened().vacuum(),
    "clone": lambda w: (
        w.opened().clone(str(w.folder / "clone"), isShallow=True, replace=True) and None
    ),
    "generate": lambda w: w.opened().generate("symlink_format_manifest"),
    "restore": lambda w: w.opened().restoreToVersion(4),
    "doctor": lambda w: w.opened().doctor() and None,
    "convert": _convert,
    "builder": _builder,
    "saveAsTable": _save_as_table,
    "writeTo": _write_to,
    "insertInto": _insert_into,
    "forName": lambda w: DeltaTable.forName(w.session, w.name).toDF(),
    "SQL INSERT": _sql("INSERT INTO {n} VALUES (50, '0', 1)"),
    "SQL INSERT BY NAME": _sql("INSERT INTO {n} BY NAME SELECT '1' AS part, 51 AS id, 7 AS value"),
    "SQL INSERT OVERWRITE": _sql("INSERT OVERWRITE {n} SELECT id, '1', id FROM range(5)"),
    "SQL UPDATE": _sql("UPDATE {n} SET value = 0 WHERE id = 1"),
    "SQL DELETE": _sql("DELETE FROM {n} WHERE id = 2"),
    "SQL MERGE": _sql(
        "MERGE INTO {t} t USING (SELECT 60L AS id, '0' AS part, 1L AS value) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET value = s.value "
        "WHEN NOT MATCHED THEN INSERT (id, part, value) VALUES (s.id, s.part, s.value)"
    ),
    "SQL COLUMNS": _sql("ALTER TABLE {n} ADD COLUMNS (note STRING COMMENT 'n')"),
    "SQL CHECK": _sql("ALTER TABLE {n} ADD CONSTRAINT positive CHECK (id >= 0)"),
    "SQL DROP CHECK": _sql("ALTER TABLE {n} DROP CONSTRAINT positive"),
    "SQL PROPERTIES": _sql("ALTER TABLE {n} SET TBLPROPERTIES ('delta.appendOnly' = 'false')"),
    "SQL CTAS": _sql("CREATE OR REPLACE TABLE {n}_as USING delta AS SELECT * FROM {n}"),
    "SQL LIKE": _sql("CREATE TABLE {n}_like LIKE {n} USING delta"),
    "SQL GENERATED": _sql(
        "CREATE TABLE {n}_gen (id BIGINT GENERATED ALWAYS AS IDENTITY, a INT DEFAULT 5, "
        "b INT GENERATED ALWAYS AS (a * 2)) USING delta "
        "TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')"
    ),
    "SQL INSERT GENERATED": _sql("INSERT INTO {n}_gen (a) VALUES (1), (DEFAULT)"),
    "SQL HISTORY": _sql("DESCRIBE HISTORY {n}"),
    "SQL DETAIL": _sql("DESCRIBE DETAIL {n}"),
    "SQL VERSION": _sql("SELECT * FROM {n} VERSION AS OF 0"),
    "SQL table_changes": _sql("SELECT * FROM table_changes_by_path('{f}/t', 1)"),
    "SQL OPTIMIZE": _sql("OPTIMIZE {n} ZORDER BY (id)"),
    "SQL REORG": _sql("REORG TABLE {n} APPLY (PURGE)"),
    "SQL VACUUM": _sql("VACUUM {n} DRY RUN"),
    "SQL CLONE": _sql("CREATE OR REPLACE TABLE {n}_clone SHALLOW CLONE {n}"),
    "SQL RESTORE": _sql("RESTORE TABLE {n} TO VERSION AS OF 1"),
    "SQL TRUNCATE": _sql("TRUNCATE TABLE {n}"),
    "SQL VIEW": _sql("CREATE OR REPLACE TEMP VIEW {n}_view AS SELECT * FROM {n}"),
    "SQL SHOW": _sql("SHOW COLUMNS IN {n}"),
    "stream": _stream_into_table,
    "stream of changes": _stream_of_changes,
    "stream of commands": _stream_of_commands,
    "SQL DROP LIKE": _sql("DROP TABLE {n}_like"),
    "SQL DROP GENERATED": _sql("DROP TABLE {n}_gen"),
}

MAIN_STEPS = ("save", "history", "stream of commands")
"""A few of them, which take seconds: a write, what returns metrics, a batch with both."""
