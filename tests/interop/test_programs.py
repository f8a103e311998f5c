"""Programs of several steps, run by delta-spark and by truckee: the tables must be the same.

Each program is Python that sees `spark`, and leaves a table of the name `made`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import SparkSession

from interop.delta_spark import DeltaSpark
from interop.table_facts import table_facts
from interop.table_programs import PROGRAMS as TABLE_PROGRAMS
from truckee.doors.enable import enable

pytestmark = pytest.mark.interop

PROGRAMS = {
    "saveAsTable, replaceWhere": """
spark.sql("SELECT 1 AS id, 1 AS part UNION ALL SELECT 2, 2").write.format("delta").saveAsTable(
    "made"
)

def overwrite(text):
    return spark.sql(text).write.format("delta").mode("overwrite")

overwrite("SELECT 5 AS id, 1 AS part").option("replaceWhere", "part = 1").saveAsTable("made")
overwrite("SELECT 6 AS id, 1 AS part, 3 AS more").option("replaceWhere", "id = 6").option(
    "mergeSchema", "true"
).saveAsTable("made")
overwrite("SELECT 6 AS id, 1 AS part, 4 AS more").option("replaceUsing", "id").saveAsTable("made")
""",
    "saveAsTable, replaceWhere, new": """
spark.sql("SELECT 1 AS id").write.format("delta").mode("overwrite").option(
    "replaceWhere", "id = 1"
).saveAsTable("made")
""",
    "saveAsTable, overwrite": """
def overwrite(text):
    return spark.sql(text).write.format("delta").mode("overwrite")

overwrite("SELECT 1 AS id, 1 AS part").partitionBy("part").saveAsTable("made")
overwrite("SELECT 2 AS id, 2 AS part").option("partitionOverwriteMode", "dynamic").saveAsTable(
    "made"
)
overwrite("SELECT 3 AS id, 2 AS part, 4 AS more").option("mergeSchema", "true").saveAsTable("made")
overwrite("SELECT 'x' AS other").option("overwriteSchema", "true").saveAsTable("made")
""",
    "no USING": """
spark.conf.set("spark.sql.sources.default", "delta")
try:
    spark.sql("CREATE TABLE made (id INT, part INT) PARTITIONED BY (part)")
    spark.sql("INSERT INTO made VALUES (1, 2)")
    spark.sql("CREATE OR REPLACE TABLE made AS SELECT 2 AS id")
finally:
    spark.conf.unset("spark.sql.sources.default")
""",
    "no columns, ADD COLUMNS": """
spark.sql("CREATE TABLE made USING delta TBLPROPERTIES ('k' = 'v')")
spark.sql("DELETE FROM made")
spark.sql("ALTER TABLE made ADD COLUMNS (x INT, y STRING)")
spark.sql("INSERT INTO made VALUES (1, 'a')")
""",
    "no columns, mergeSchema": """
spark.sql("CREATE TABLE made USING delta TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')")
spark.range(3).write.format("delta").mode("append").option("mergeSchema", "true").saveAsTable(
    "made"
)
""",
    "no columns, INSERT WITH SCHEMA EVOLUTION": """
spark.sql("CREATE TABLE made USING delta")
spark.sql("INSERT WITH SCHEMA EVOLUTION INTO made SELECT 1 AS x")
spark.sql("INSERT WITH SCHEMA EVOLUTION INTO made BY NAME SELECT 2 AS x, 3 AS y")
""",
    "no columns, MERGE WITH SCHEMA EVOLUTION": """
spark.sql("CREATE TABLE made USING delta")
spark.sql(
    "MERGE WITH SCHEMA EVOLUTION INTO made USING (SELECT 1 AS x) s ON 1 = 1 "
    "WHEN NOT MATCHED THEN INSERT *"
)
""",
    "VOID columns": """
spark.sql("CREATE TABLE made (id INT, n VOID, s STRUCT<a: INT, b: VOID>) USING delta")
spark.sql("INSERT INTO made VALUES (1, NULL, named_struct('a', 1, 'b', NULL))")
spark.sql("INSERT INTO made (id) VALUES (2), (3)")
spark.sql("UPDATE made SET id = 5 WHERE id = 2")
spark.sql("UPDATE made SET n = NULL")
spark.sql("DELETE FROM made WHERE id = 1")
spark.sql("ALTER TABLE made ADD COLUMNS (m VOID)")
spark.sql("ALTER TABLE made ALTER COLUMN m TYPE INT")
spark.sql("SELECT 9 AS id, 'x' AS n, NULL AS p").write.format("delta").mode("append").option(
    "mergeSchema", "true"
).saveAsTable("made")
""",
    "VOID columns, column mapping": """
spark.sql(
    "CREATE TABLE made USING delta TBLPROPERTIES ('delta.columnMapping.mode' = 'name') "
    "AS SELECT 1 AS id, NULL AS n"
)
spark.sql("MERGE INTO made t USING (SELECT 7 AS id, NULL AS n) s ON t.id = s.id "
    "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *")
""",
    "DataFrames that follow their table": """
spark.sql("CREATE TABLE made (id BIGINT, what STRING) USING delta")
frame = spark.table("made")
old = spark.sql("SELECT * FROM made VERSION AS OF 0")
frame.createOrReplaceTempView("seen")

def append(frame):
    frame.write.format("delta").mode("append").saveAsTable("made")

spark.sql("INSERT INTO made VALUES (1, 'blind'), (2, 'blind')")
append(frame.selectExpr("id + 10 AS id", "'by itself' AS what"))
append(old.selectExpr("id + 20 AS id", "'by its past' AS what"))
spark.sql("INSERT INTO made SELECT count(*), 'by a view' FROM seen")
spark.sql("INSERT OVERWRITE made SELECT * FROM seen WHERE id <> 1")
spark.sql("ALTER TABLE made ADD COLUMN more INT")
append(frame.selectExpr("max(id) AS id", "'by older columns' AS what"))
told = spark.sql("DESCRIBE HISTORY made").orderBy("version").select("operation", "isBlindAppend")
append(spark.createDataFrame([(row[0] + str(row[1]),) for row in told.collect()], "what STRING"))
""",
    "a DataFrame whose column was dropped": """
spark.sql(
    "CREATE TABLE made (id BIGINT, what STRING) USING delta "
    "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
)
frame = spark.table("made")
spark.sql("ALTER TABLE made DROP COLUMN id")
try:
    frame.count()
    told = "nothing"
except Exception as error:
    kinds = [kind.__name__ for kind in type(error).__mro__]
    told = f"{'AnalysisException' in kinds} {error.getCondition()} {error.getSqlState()}"
spark.sql(f"INSERT INTO made VALUES ('{told}')")
""",
    "the version that a session committed last": """
KEY = "spark.databricks.delta.lastCommitVersionInSession"
spark.sql("CREATE TABLE made (id BIGINT, what STRING) USING delta")
told = [spark.conf.get(KEY)]
for statement in (
    "INSERT INTO made VALUES (1, 'a'), (2, 'b')",
    "UPDATE made SET what = 'z' WHERE id = 1",
    "DELETE FROM made WHERE id = 7",
    "ALTER TABLE made SET TBLPROPERTIES ('k' = 'v')",
    "DELETE FROM made WHERE id = 2",
):
    spark.sql(statement).collect()
    told.append(spark.conf.get(KEY))
spark.sql(f"INSERT INTO made VALUES (9, '{' '.join(told)}')")
""",
    "versions of commands that reset themselves": """
PREFIX = "spark.databricks.delta.write."
spark.sql("CREATE TABLE made (id BIGINT, what STRING) USING delta")
spark.conf.set(f"{PREFIX}txnAppId", "app")
spark.conf.set(f"{PREFIX}txnVersion.autoReset.enabled", "true")
told = []
for version, statement in (
    (1, "INSERT INTO made VALUES (1, 'a')"),
    (1, "INSERT INTO made VALUES (2, 'b')"),
    (2, "UPDATE made SET what = 'z' WHERE id = 1"),
    (2, "DELETE FROM made WHERE id = 1"),
    (3, "MERGE INTO made USING (SELECT 5 AS id, 'm' AS what) s ON made.id = s.id "
        "WHEN NOT MATCHED THEN INSERT *"),
):
    spark.conf.set(f"{PREFIX}txnVersion", str(version))
    spark.sql(statement).collect()
    told.append(spark.conf.get(f"{PREFIX}txnVersion", "-1"))
for name in ("txnAppId", "txnVersion", "txnVersion.autoReset.enabled"):
    spark.conf.unset(f"{PREFIX}{name}")
spark.sql(f"INSERT INTO made VALUES (9, '{' '.join(told)}')")
""",
    "streams that fail": """
import tempfile
from pyspark.errors import StreamingQueryException

spark.sql("CREATE TABLE made (id BIGINT, what STRING) USING delta")
spark.sql("INSERT INTO made VALUES (1, 'a'), (2, 'b')")
spark.sql("UPDATE made SET what = 'z' WHERE id = 1")
told = []
for start, needle in (("7", "DELTA_VERSION_NOT_FOUND"), ("0", "DELTA_SOURCE_TABLE_IGNORE_CHANGES")):
    stream = spark.readStream.option("startingVersion", start).table("made").writeStream
    query = stream.format("noop").option("checkpointLocation", tempfile.mkdtemp()).trigger(
        availableNow=True
    ).start()
    try:
        query.awaitTermination()
    except StreamingQueryException as error:
        told.append(str(needle in str(error)))
spark.sql(f"INSERT INTO made VALUES (9, '{' '.join(told)}')")
""",
    "streams into a table": """
import tempfile

def run(frame, mode="append"):
    writer = frame.writeStream.format("delta").outputMode(mode).trigger(availableNow=True)
    query = writer.option("checkpointLocation", tempfile.mkdtemp()).toTable("made")
    try:
        query.awaitTermination()
        (source,), sink = query.lastProgress["sources"], query.lastProgress["sink"]
        return source["description"][:17], sink["description"][:10], source["endOffset"][-30:]
    except Exception as error:
        kinds = [kind.__name__ for kind in type(error).__mro__]
        said = str(error)
        return "StreamingQueryException" in kinds, said[:15], "CAST_INVALID_INPUT" in said

def refusal(path):
    try:
        spark.readStream.format("delta").load(path)
    except Exception as error:
        return error.getCondition()

path = tempfile.mkdtemp() + "/s"
spark.sql("SELECT 1 AS n, '2024-02-03' AS d").write.format("delta").save(path)
spark.sql("CREATE TABLE made (n INT, d DATE, what STRING) USING delta")
stream = spark.readStream.format("delta").load(path)
told = [
    run(stream.selectExpr("cast(n AS STRING) AS N", "d")),
    run(stream.selectExpr("'one' AS n")),
    run(stream.join(spark.table("made").select("n"), "n", "left_anti")),
    run(stream.groupBy("n").count().selectExpr("n", "cast(count AS STRING) AS what"), "complete"),
    refusal(path + "@v0"),
]
history = spark.sql("DESCRIBE HISTORY made").orderBy("version").select("isBlindAppend")
told += [row[0] for row in history.collect()]
spark.createDataFrame([(str(each),) for each in told], "what STRING").coalesce(1).write.format(
    "delta"
).mode("append").saveAsTable("made")
""",
    "rows to replace in a table that is not there": """
told = []
for option, value in (("replaceUsing", "id"), ("replaceOn", "true")):
    writer = spark.range(2).write.format("delta").mode("overwrite").option(option, value)
    try:
        writer.saveAsTable("made")
    except Exception as error:
        told.append(f"{error.getCondition()} {error.getSqlState()}")
spark.createDataFrame([(each,) for each in told], "what STRING").coalesce(1).write.format(
    "delta"
).saveAsTable("made")
""",
    "overwrites of what is not there": """
import tempfile

path = tempfile.mkdtemp() + "/t"
spark.range(2).coalesce(1).write.format("delta").mode("overwrite").save(path)
info = spark.sql(f"DESCRIBE HISTORY delta.`{path}`").first()
told = f"{info['isBlindAppend']} {info['operationMetrics'].get('numRemovedFiles')}"
spark.sql(f"CREATE TABLE made USING delta AS SELECT '{told}' AS what")
""",
    "structs of an INSERT": """
spark.sql(
    "CREATE TABLE made (id INT, s STRUCT<x: INT, y: INT>, l ARRAY<STRUCT<x: INT>>) USING delta"
)
TURNED = "named_struct('y', 1, 'x', 2) AS s, array(named_struct('x', 3)) AS l"
for statement in (
    "VALUES (1, struct(1, 2), array(struct(3)))",
    f"SELECT 2 AS id, {TURNED}",
    f"SELECT 3 AS other, {TURNED}",
    f"SELECT 4L AS id, {TURNED}",
    "BY NAME SELECT struct('1', 2) AS s, 5 AS id",
    "(s, id) SELECT struct(1, 2), 6",
    "(id, s) SELECT 9 AS id, named_struct('y', 1, 'x', 2) AS s",
):
    spark.sql(f"INSERT INTO made {statement}")
spark.sql(f"SELECT 7 AS other, {TURNED}").write.insertInto("made")
spark.sql(f"SELECT 8 AS id, {TURNED}").write.format("delta").mode("append").saveAsTable("made")
""",
    "MERGE WITH SCHEMA EVOLUTION, structs": """
spark.sql("CREATE TABLE made (id INT, s STRUCT<a: INT, b: INT>) USING delta")
spark.sql("INSERT INTO made VALUES (1, struct(1, 2)), (2, struct(3, NULL)), (3, NULL)")
spark.sql(
    "MERGE WITH SCHEMA EVOLUTION INTO made t USING (SELECT 1 AS id, named_struct('c', 7) AS s) u "
    "ON t.id = u.id WHEN MATCHED THEN UPDATE SET s.c = u.s.c"
)
spark.sql(
    "MERGE WITH SCHEMA EVOLUTION INTO made t USING ("
    "SELECT id, CAST(NULL AS STRUCT<a: INT, d: INT>) AS s FROM range(1, 5)) s "
    "ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
)
""",
    "wider types": """
spark.sql(
    "CREATE TABLE made (id INT, v TINYINT, l ARRAY<INT>, m MAP<INT, INT>) USING delta "
    "TBLPROPERTIES ('delta.enableTypeWidening' = 'true')"
)
spark.sql("INSERT INTO made VALUES (1, 1, array(1), map(1, 1))")
spark.sql("ALTER TABLE made ALTER COLUMN v TYPE SMALLINT")
spark.sql("ALTER TABLE made ALTER COLUMN m.value TYPE BIGINT")
spark.sql(
    "MERGE WITH SCHEMA EVOLUTION INTO made t USING ("
    "SELECT 1 AS id, 70000 AS v, array(5000000000L) AS l) s "
    "ON t.id = s.id WHEN MATCHED THEN UPDATE SET *"
)
""",
    "storeAssignmentPolicy": """
POLICY = "spark.sql.storeAssignmentPolicy"
spark.sql("CREATE TABLE made (i INT, s STRING, b TINYINT, f BOOLEAN, l ARRAY<INT>) USING delta")
spark.sql("INSERT INTO made VALUES (1, 'a', 1, 0, NULL)")
spark.sql("UPDATE made SET f = 7, i = true WHERE s = 'a'")
spark.conf.set(POLICY, "LEGACY")
spark.sql("INSERT INTO made (i, b, l) VALUES ('abc', 300, array('1', 'x'))")
spark.sql("UPDATE made SET i = 'q', b = 300 WHERE s = 'a'")
spark.sql("INSERT INTO made (s, i) VALUES ('b', 3000000000)")
spark.sql(
    "MERGE INTO made t USING (SELECT 'b' AS s, 1000 AS b) u ON t.s = u.s "
    "WHEN MATCHED THEN UPDATE SET b = u.b"
)
spark.sql("SELECT 'abc' AS i").write.format("delta").mode("append").saveAsTable("made")
spark.conf.set(POLICY, "STRICT")
told = []
for statement in (
    "INSERT INTO made (i) VALUES (5L)", "UPDATE made SET i = 5L", "UPDATE made SET s = 5",
):
    try:
        spark.sql(statement)
        told.append("done")
    except Exception as error:
        kinds = [kind.__name__ for kind in type(error).__mro__]
        told.append(f"{'AnalysisException' in kinds} {error.getCondition()}")
spark.conf.unset(POLICY)
spark.sql(f"INSERT INTO made (s) VALUES ('{' '.join(told)}')")
""",
    "INSERT OVERWRITE, dynamic": """
MODE = "spark.sql.sources.partitionOverwriteMode"
spark.sql("CREATE TABLE made (id INT, a INT, b INT) USING delta PARTITIONED BY (a, b)")
spark.sql("INSERT INTO made VALUES (1, 1, 1), (2, 1, 2), (3, 2, 1), (4, 3, 1)")
spark.conf.set(MODE, "dynamic")
spark.sql("INSERT OVERWRITE made PARTITION (a = 1, b) SELECT 10, 2")
spark.sql("INSERT OVERWRITE made PARTITION (a = 2, b = 1) SELECT 20 WHERE false")
spark.sql("INSERT OVERWRITE made PARTITION (a = 3, b = 1) SELECT 30")
spark.conf.unset(MODE)
""",
    "columns that change": """
spark.sql(
    "CREATE TABLE made (id INT, p STRING, v VARCHAR(2), c VARCHAR(2)) USING delta "
    "PARTITIONED BY (p) TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
)
spark.sql("INSERT INTO made VALUES (1, 'x', 'v', 'c'), (2, NULL, 'v', 'c')")
spark.sql("ALTER TABLE made RENAME COLUMN p TO `a part`")
spark.sql("ALTER TABLE made ALTER COLUMN v TYPE VARCHAR(4)")
spark.sql("ALTER TABLE made ALTER COLUMN c TYPE STRING")
spark.sql("ALTER TABLE made DROP COLUMN IF EXISTS nothing")
spark.sql("ALTER TABLE made ALTER COLUMN id TYPE INT")
spark.sql("INSERT INTO made VALUES (3, 'y', 'four', 'c')")
spark.sql("DELETE FROM made WHERE `a part` = 'x'")
""",
    "several columns that change at once": """
spark.sql("CREATE TABLE made (a INT NOT NULL, b INT, c STRING) USING delta")
spark.sql("ALTER TABLE made ALTER COLUMN a DROP NOT NULL, b COMMENT 'x', c FIRST")
spark.sql("ALTER TABLE made ALTER COLUMN a AFTER b, b AFTER c")
""",
    "row ids": """
spark.sql(
    "CREATE TABLE made (id BIGINT, what STRING) USING delta TBLPROPERTIES "
    "('delta.enableRowTracking' = 'true', 'delta.enableDeletionVectors' = 'true')"
)

def append(frame):
    frame.coalesce(1).write.format("delta").mode("append").saveAsTable("made")

append(spark.range(1, 6).selectExpr("id", "'a' AS what"))
spark.sql("UPDATE made SET what = 'b' WHERE id = 2")
spark.sql("DELETE FROM made WHERE id = 3")
spark.sql(
    "MERGE INTO made t USING (SELECT 4L AS id) s ON t.id = s.id "
    "WHEN MATCHED THEN UPDATE SET what = 'c'"
)
told = []

def tell(query):
    found = spark.sql(query)
    told.append(found.schema.simpleString())
    told.extend(sorted(str(list(row)) for row in found.collect()))

IDS = "_metadata.row_id, _metadata.row_commit_version"
tell(f"SELECT id, what, {IDS}, _metadata.row_index FROM made")
spark.sql("OPTIMIZE made")
tell(f"SELECT id, {IDS} FROM made")
tell(f"SELECT id, {IDS} FROM made VERSION AS OF 2 WHERE _metadata.row_id < 2")
tell("SELECT a.id, b.id FROM made a JOIN made b ON a._metadata.row_id = b._metadata.row_id")
tell("SELECT max(_metadata.row_id) FROM made WHERE what = 'a'")
spark.sql("SELECT 1 AS id").write.format("delta").mode("overwrite").saveAsTable("untracked")
try:
    spark.table("untracked").select("_metadata.row_id")
except Exception as error:
    told.append(f"{error.getCondition()} {error.getSqlState()}")
append(spark.createDataFrame([(each,) for each in told], "what STRING"))
""",
    "row ids of rows that were there": """
spark.sql("CREATE TABLE made (id BIGINT, what STRING) USING delta")
spark.sql("INSERT INTO made VALUES (1, 'a')")
spark.sql("ALTER TABLE made SET TBLPROPERTIES ('delta.enableRowTracking' = 'true', 'k' = 'v')")
spark.sql("INSERT INTO made VALUES (2, 'b')")
spark.sql("UPDATE made SET what = 'c' WHERE id = 1")
found = spark.sql("SELECT id, _metadata.row_id, _metadata.row_commit_version FROM made")
told = " ".join(sorted(str(list(row)) for row in found.collect()))
spark.sql(f"INSERT INTO made VALUES (3, '{told}')")
""",
    "row ids that come late": """
spark.sql("CREATE TABLE made (id BIGINT, what STRING) USING delta")
spark.sql("INSERT INTO made VALUES (1, 'a')")
spark.sql("ALTER TABLE made SET TBLPROPERTIES ('delta.feature.rowTracking' = 'supported')")
spark.sql("INSERT INTO made VALUES (2, 'b')")
told = []
for properties in (
    "'delta.rowTrackingSuspended' = 'true', 'delta.enableRowTracking' = 'true'",
    "'delta.enableRowTracking' = 'true'",
    "'delta.rowTrackingSuspended' = 'true'",
):
    try:
        spark.sql(f"ALTER TABLE made SET TBLPROPERTIES ({properties})")
        told.append("done")
    except Exception as error:
        told.append(str("DELTA_ROW_TRACKING_ILLEGAL_PROPERTY_COMBINATION" in str(error)))
spark.sql(f"INSERT INTO made VALUES (3, '{' '.join(told)}')")
""",
    "row tracking of a table without rows": """
spark.sql("CREATE TABLE made (id BIGINT, what STRING) USING delta")
spark.sql("ALTER TABLE made SET TBLPROPERTIES ('delta.enableRowTracking' = 'true')")
spark.sql("INSERT INTO made VALUES (2, 'b')")
""",
    "row tracking that is dropped": """
spark.sql(
    "CREATE TABLE made (id BIGINT, what STRING) USING delta "
    "TBLPROPERTIES ('delta.enableRowTracking' = 'true')"
)
spark.sql("INSERT INTO made VALUES (1, 'a')")
spark.sql("UPDATE made SET what = 'b'")
spark.sql("ALTER TABLE made DROP FEATURE rowTracking")
spark.sql("ALTER TABLE made DROP FEATURE domainMetadata")
spark.sql("INSERT INTO made VALUES (2, 'c')")
""",
    "clone of a Parquet table": """
spark.sql("DROP TABLE IF EXISTS files")
spark.sql("CREATE TABLE files USING parquet PARTITIONED BY (p) AS SELECT 1L AS id, '07' AS p")
spark.sql("CREATE TABLE made SHALLOW CLONE files TBLPROPERTIES ('k' = 'v')")
spark.sql("INSERT INTO made VALUES (2, '08')")
spark.sql("UPDATE made SET id = 3 WHERE id = 1")
""",
}

PROGRAMS |= TABLE_PROGRAMS

_LOOK = """
found = spark.sql("SELECT * FROM made")
result = {
    "columns": found.schema.simpleString(),
    "rows": sorted([list(row) for row in found.collect()], key=repr),
    "location": spark.sql("DESCRIBE DETAIL made").first()["location"].removeprefix("file:"),
}
"""


@pytest.fixture
def session(spark: SparkSession, delta_spark: DeltaSpark) -> Iterator[SparkSession]:
    enabled = enable(spark)
    delta_spark.sql("DROP TABLE IF EXISTS made")
    enabled.sql("DROP TABLE IF EXISTS made")
    yield enabled
    enabled.sql("DROP TABLE IF EXISTS made")


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_a_program_makes_the_same_table_in_both_engines(
    session: SparkSession, delta_spark: DeltaSpark, program: str
) -> None:
    names: dict[str, Any] = {"spark": session}
    exec(program + _LOOK, names)
    ours = names["result"]
    theirs = delta_spark.run(program + _LOOK)

    assert _comparable(ours) == _comparable(theirs)


def _comparable(found: dict[str, Any]) -> dict[str, Any]:
    location = found["location"]
    told = json.dumps({**found, **table_facts(location)}, default=str, sort_keys=True)
    # Ids and physical names are drawn anew each time.
    plain: dict[str, Any] = json.loads(
        re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "", told.replace(location, ""))
    )
    return plain
