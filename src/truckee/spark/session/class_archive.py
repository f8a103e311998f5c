"""An archive of Spark's classes, with which a JVM starts in about half the time.

Half of the first seconds of Spark go into finding, reading and checking some fifteen thousand
classes. Java can keep the classes that a program has loaded in a file, which the next JVM maps into
its memory ("class data sharing"). A process of its own makes that file: it does what most programs
do in their first minute and ends properly, which is when Java writes the file.

| `spark.truckee.classArchive` | what happens                                                     |
|------------------------------|------------------------------------------------------------------|
| `auto`, or nothing           | an archive is used; if there is none, it is made at low priority |
|                              | once the program that missed it has ended                        |
| `use`                        | an archive is used if there is one, which `truckee warm` makes   |
| `off`                        | none is used or made                                             |

The variable `TRUCKEE_CLASS_ARCHIVE` says the same for all programs of an environment. Where the
variable `CI` is set, `auto` makes none: such a machine is thrown away before anyone could use it.

An archive is for one Java and one PySpark, which its name stands for. Java itself checks that its
own version and the JARs are those of the archive, and starts without it if they are not. An archive
holds code, so it is used only if no other user could have written it.
"""

from __future__ import annotations

import atexit
import hashlib
import logging
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pyspark

from truckee.errors.options import IllegalOptionError
from truckee.spark.session.cache_folder import is_private, user_cache

SETTING = "spark.truckee.classArchive"
VARIABLE = "TRUCKEE_CLASS_ARCHIVE"

_CHOICES = ("auto", "use", "off")
_KEPT = 2  # of 200 MB each: say, for the two versions of Spark that somebody changes between
_LONGEST_S = 600
_QUIET = ("-Xlog:cds=off", "-Xlog:cds+dynamic=off")
_ABOUT_SHARING = ("SharedArchiveFile", "ArchiveClassesAtExit", "-Xshare")
JAVA_VARIABLES = ("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "SPARK_SUBMIT_OPTS")
_log = logging.getLogger(__name__)


def archive_options(settings: Mapping[str, str], java_options: Sequence[str]) -> tuple[str, ...]:
    """Return options by which a JVM that is about to start uses the archive; none if it cannot.

    `java_options` are those it gets anyway; if they are about class data sharing, nothing is added.
    With `auto`, the archive is made after this process if it is missing.
    """
    wanted = _wanted(settings)
    is_shared = any(word in each for each in java_options for word in _ABOUT_SHARING)
    archive = None if wanted == "off" or is_shared else archive_path()
    if archive is None:
        return ()
    if is_private(archive):
        return (f"-XX:SharedArchiveFile={archive}", *_QUIET)
    if wanted == "auto" and "CI" not in os.environ:
        _make_at_exit()
    return ()


def _wanted(settings: Mapping[str, str]) -> str:
    for name, said in ((SETTING, settings.get(SETTING)), (VARIABLE, os.environ.get(VARIABLE))):
        if said:
            if said not in _CHOICES:
                raise IllegalOptionError(option=name, value=said, needs="auto, use or off")
            return said
    return "auto"


def archive_path() -> Path | None:
    """Return where the archive for this Java and this PySpark is or would be.

    None if there is no folder for it, or if its path has a space, at which Spark would part it.
    """
    folder = user_cache()
    if folder is None or " " in str(folder):
        return None
    return folder / archive_name()


def archive_name() -> str:
    """Return the name of the archive for this Java and this PySpark."""
    home = Path(os.environ.get("JAVA_HOME", "")).resolve()
    about = home / "release"
    java = about.read_text(errors="replace") if about.is_file() else ""
    jars = Path(pyspark.__file__).resolve().parent / "jars"
    parts = (str(home), java, pyspark.__version__, str(jars))
    return f"spark-classes-{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:16]}.jsa"


def _make_at_exit() -> None:
    # A program may configure several sessions; a function is registered once at the most.
    atexit.unregister(_start_maker)
    atexit.register(_start_maker)


def _start_maker() -> None:
    """Start a process that makes the archive, and do not wait for it."""
    try:
        subprocess.Popen(
            [sys.executable, "-c", f"from {__name__} import _make_last; _make_last()"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=Path(sys.prefix),
            start_new_session=True,
        )
    except OSError as error:
        _log.info("no archive of Spark's classes is made: %s", error)


def _make_last() -> None:
    """Make the archive at the lowest priority: nobody waits for it."""
    os.nice(19)
    archive = archive_path()
    if archive is not None and not archive.exists():
        make_archive(archive)


def make_archive(archive: Path, *, java_options: str = "") -> bool:
    """Make an archive, which takes half a minute, and return whether it is there.

    Older archives in its folder are deleted. If another process makes this one now, it is left to
    do so.
    """
    env = {name: value for name, value in os.environ.items() if name not in JAVA_VARIABLES}
    with _only_maker(archive) as is_only:
        if not is_only:
            _log.warning("another process is making the archive of Spark's classes")
            return archive.exists()
        with tempfile.TemporaryDirectory(dir=archive.parent, prefix="warm-") as folder:
            made = Path(folder) / "made.jsa"
            try:
                done = subprocess.run(
                    [sys.executable, "-c", _WORK, str(Path(folder) / "table"), str(made)],
                    env=env | {VARIABLE: "off", "JDK_JAVA_OPTIONS": java_options},
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    text=True,
                    cwd=folder,
                    timeout=_LONGEST_S,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                _log.warning("no archive of Spark's classes was made in %d s", _LONGEST_S)
                return False
            if done.returncode != 0 or not made.exists():
                _log.warning("no archive of Spark's classes was made: %s", done.stderr[-500:])
                return False
            made.chmod(0o600)
            made.replace(archive)
    _drop_older(archive)
    return True


@contextmanager
def _only_maker(archive: Path) -> Iterator[bool]:
    """Yield whether this process alone makes an archive; others see its mark meanwhile."""
    mark = archive.with_suffix(".making")
    with suppress(FileNotFoundError):
        if time.time() - mark.stat().st_mtime > _LONGEST_S:
            mark.unlink()  # of a process that was killed
    try:
        mark.touch(mode=0o600, exist_ok=False)
    except FileExistsError:
        yield False
        return
    try:
        yield True
    finally:
        mark.unlink(missing_ok=True)


def _drop_older(archive: Path) -> None:
    others = [found for found in archive.parent.glob("spark-classes-*.jsa") if found != archive]
    newest_first = sorted(others, key=lambda found: found.stat().st_mtime, reverse=True)
    for old in newest_first[_KEPT - 1 :]:
        old.unlink(missing_ok=True)


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
