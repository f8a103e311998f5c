"""Prints where Spark's loaded classes are archived, for JVMs that start in half the time.

`python -m scripts.class_archive` makes the archive if there is none for this Java and this PySpark
(20 to 50 s, 200 MB in `build/`), by doing what many tests do in a session that ends properly. Slow
tests start some forty JVMs, and each spends half of its first seconds on loading and checking
classes. A JVM that cannot use the archive, since its class path differs, starts as it would
without.

`--if-made` prints the path only if the archive is there: for tests that start too few JVMs to pay
for it.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pyspark

FOLDER = Path(__file__).resolve().parents[1] / "build"


def main() -> None:
    """Print the path of the archive, after making it if it is missing; nothing if it cannot be."""
    archive = FOLDER / f"spark-classes-{_key()}.jsa"
    if "--if-made" in sys.argv[1:] and not archive.exists():
        return
    if not archive.exists() and not _make(archive):
        print("no archive of Spark's classes could be made; tests start slower", file=sys.stderr)
        return
    print(archive)


def _key() -> str:
    """Return a text that changes with the JVM and the JARs."""
    java = subprocess.run([_java(), "-version"], capture_output=True, check=True).stderr
    jars = str(Path(pyspark.__file__).parent / "jars")
    return hashlib.sha256(java + pyspark.__version__.encode() + jars.encode()).hexdigest()[:12]


def _java() -> str:
    home = os.environ.get("JAVA_HOME")
    return str(Path(home) / "bin" / "java") if home else "java"


def _make(archive: Path) -> bool:
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        made = Path(folder) / "made.jsa"
        done = subprocess.run(
            [sys.executable, "-c", _WORK, str(Path(folder) / "table"), str(made)],
            env=os.environ | {"JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            timeout=300,
            check=False,
        )
        if done.returncode != 0 or not made.exists():
            return False
        made.replace(archive)
    return True


_WORK = """
import sys
import truckee
from truckee import DeltaTable

path, archive = sys.argv[1:]
# Not in JDK_JAVA_OPTIONS: the JVM that starts Spark's would write an archive as well.
option = {"spark.driver.extraJavaOptions": f"-XX:ArchiveClassesAtExit={archive}"}
spark = truckee.session(master="local[2]", **option, **{"spark.ui.enabled": "false"})
properties = "'delta.enableChangeDataFeed' = 'true', 'delta.enableDeletionVectors' = 'true'"
columns = "id BIGINT, s STRING"
spark.sql(f"CREATE TABLE delta.`{path}` ({columns}) USING delta TBLPROPERTIES ({properties})")
rows = spark.range(100).selectExpr("id", "CAST(id AS STRING) AS s")
truckee.write(rows).mode("append").save(path)
table = DeltaTable.forPath(spark, path)
table.delete("id = 1")
table.update("id = 2", {"s": "'b'"})
merge = table.alias("t").merge(rows.alias("u"), "t.id = u.id + 50")
merge.whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()
table.changes(startingVersion=1).groupBy("_change_type").count().collect()
truckee.read(spark).load(path).join(rows, "id").orderBy("id").toArrow()
spark.sql(f"SELECT s, count(*) FROM delta.`{path}` GROUP BY s").show()
stream = truckee.readStream(spark).option("readChangeFeed", "true").load(path)
stream.writeStream.format("noop").trigger(availableNow=True).option(
    "checkpointLocation", path + ".checkpoint"
).start().awaitTermination(60)
jvm = spark.sparkContext._gateway
spark.stop()
# The JVM ends when its input does, and writes the archive then.
jvm.shutdown()
jvm.proc.stdin.close()
sys.exit(jvm.proc.wait(120))
"""


if __name__ == "__main__":
    main()
