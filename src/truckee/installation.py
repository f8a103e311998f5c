"""truckee.install(): code that says `format("delta")` runs on truckee, unchanged.

PySpark's readers and writers keep what they are told in the JVM, where it cannot be read back. So
the methods that tell them are replaced by ones that also take note, and the methods that act look
at the notes: where the format is `delta`, truckee's own reader or writer is given the same calls,
and otherwise what was there before goes on. Only this process is changed, and `uninstall` puts
everything back.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

from pyspark.sql import SparkSession
from pyspark.sql.readwriter import DataFrameReader, DataFrameWriter
from pyspark.sql.streaming.readwriter import DataStreamReader, DataStreamWriter

from truckee.commands.catalog import delta_location
from truckee.delta_modules import delta_modules
from truckee.errors.install import DeltaJarPresentError, NotSupportedByInstallError
from truckee.readwriter import read, readStream
from truckee.spark.session.catalog import DELTA_PROVIDERS, named_table
from truckee.spark.session.delta_jar import delta_jar
from truckee.streaming.sink import write_batch
from truckee.table import DeltaTable
from truckee.writer import write

Method = Callable[..., Any]

_FORMAT = "delta"
_NOTES = "_truckee_notes"
_QUERY_OPTIONS = ("checkpointLocation", "path")  # for Spark, not for the table


class Note(NamedTuple):
    """One call that told a reader or writer something."""

    method: str
    arguments: tuple[Any, ...]
    options: dict[str, Any]


class _Installed(NamedTuple):
    """What was there before."""

    methods: dict[tuple[type, str], Method]
    modules: dict[str, ModuleType | None]


_installed: _Installed | None = None
_jars: dict[str | None, str | None] = {}


def install() -> None:
    """Let code written for delta-spark run on truckee in this process; doing it twice is fine.

    From now on `spark.read`, `spark.readStream` and `df.write` with `format("delta")`, tables of
    the catalog that are Delta tables, `saveAsTable`, and `from delta.tables import DeltaTable` are
    truckee's. Raises `DeltaJarPresentError` where a running session has Delta's own JAR; a session
    that is started later is looked at when it is first used.
    """
    global _installed
    if _installed is not None:
        return
    session = SparkSession.getActiveSession()
    if session is not None:
        _refuse_delta_jar(session)
    before = _Installed({}, {})
    for kind, methods in _PATCHES.items():
        for name, replacement in methods.items():
            original = getattr(kind, name)
            before.methods[kind, name] = original
            setattr(kind, name, functools.wraps(original)(replacement(original)))
    for name in [name for name in sys.modules if name == "delta" or name.startswith("delta.")]:
        before.modules[name] = sys.modules.pop(name)
    for name, module in delta_modules().items():
        before.modules.setdefault(name, None)
        sys.modules[name] = module
    _installed = before


def uninstall() -> None:
    """Put everything back that `install` changed; without one, nothing happens."""
    global _installed
    if _installed is None:
        return
    for (kind, name), original in _installed.methods.items():
        setattr(kind, name, original)
    for name, module in _installed.modules.items():
        if module is None:
            sys.modules.pop(name, None)
        else:
            sys.modules[name] = module
    _installed = None


def _refuse_delta_jar(spark: SparkSession) -> None:
    application = spark.sparkContext.applicationId
    if application not in _jars:
        _jars[application] = delta_jar(spark)
    found = _jars[application]
    if found is not None:
        raise DeltaJarPresentError(jar=found)


def _noting(original: Method) -> Method:
    """Return a method that does what it did, and takes note of the call."""

    def noted(self: Any, *arguments: Any, **options: Any) -> Any:
        note = Note(original.__name__, arguments, options)
        self.__dict__.setdefault(_NOTES, []).append(note)
        return original(self, *arguments, **options)

    return noted


def _loading(original: Method) -> Method:
    def load(
        self: Any,
        path: Any = None,
        format: str | None = None,
        schema: Any = None,
        **options: Any,
    ) -> Any:
        if not _is_delta(self, self._spark, format):
            return original(self, path, format, schema, **options)
        if schema is not None:
            raise _no_schema()
        reader = _told(_reader(self)(self._spark), self).options(**options)
        return reader.load(_only(path if path is not None else _options(self, options).get("path")))

    return load


def _reading_table(original: Method) -> Method:
    def table(self: Any, tableName: str) -> Any:
        spark = self if isinstance(self, SparkSession) else self._spark
        if not _is_delta_table(spark, tableName):
            return original(self, tableName)
        return _told(_reader(self)(spark), self).table(tableName)

    return table


def _saving(original: Method) -> Method:
    def save(
        self: Any,
        path: str | None = None,
        format: str | None = None,
        mode: str | None = None,
        partitionBy: Any = None,
        **options: Any,
    ) -> None:
        if not _is_delta(self, self._spark, format):
            original(self, path, format, mode, partitionBy, **options)
            return
        writer = _told(write(self._df), self)
        writer.save(path, mode=mode, partitionBy=partitionBy, **options)

    return save


def _saving_table(original: Method) -> Method:
    def saveAsTable(
        self: Any,
        name: str,
        format: str | None = None,
        mode: str | None = None,
        partitionBy: Any = None,
        **options: Any,
    ) -> None:
        is_delta = _is_delta(self, self._spark, format)
        if not is_delta and not _is_delta_table(self._spark, name):
            original(self, name, format, mode, partitionBy, **options)
            return
        writer = _told(write(self._df), self)
        writer.saveAsTable(name, mode=mode, partitionBy=partitionBy, **options)

    return saveAsTable


def _inserting(original: Method) -> Method:
    def insertInto(self: Any, tableName: str, overwrite: bool | None = None) -> None:
        if not _is_delta_table(self._spark, tableName):
            original(self, tableName, overwrite)
            return
        _told(write(self._df), self).insertInto(tableName, overwrite)

    return insertInto


def _starting(original: Method) -> Method:
    def start(
        self: Any,
        path: str | None = None,
        format: str | None = None,
        outputMode: str | None = None,
        partitionBy: Any = None,
        queryName: str | None = None,
        **options: Any,
    ) -> Any:
        goes_elsewhere = format is None and _has_own_sink(self)
        if self._spark is None or goes_elsewhere or not _is_delta(self, self._spark, format):
            return original(self, path, format, outputMode, partitionBy, queryName, **options)
        given = _options(self, options)
        where = _only(path if path is not None else given.pop("path", None))
        sink = write_batch(
            where,
            outputMode=outputMode or _last(self, "outputMode") or "append",
            partitionBy=partitionBy or _last(self, "partitionBy"),
            **{key: value for key, value in given.items() if key not in _QUERY_OPTIONS},
        )
        # Not the noted one: the writer may be started again, for another table.
        _original(DataStreamWriter, "foreachBatch")(self, sink)
        return original(self, outputMode=outputMode, queryName=queryName, **options)

    return start


def _streaming_to_table(original: Method) -> Method:
    def toTable(self: Any, tableName: str, format: str | None = None, **rest: Any) -> Any:
        spark = self._spark
        is_table = _is_delta_table(spark, tableName)
        if not is_table and not _is_delta(self, spark, format):
            return original(self, tableName, format, **rest)
        if not is_table:
            columns = DeltaTable.createIfNotExists(spark).tableName(tableName)
            columns.addColumns(self._df.schema).execute()
        return self.start(delta_location(spark, tableName), _FORMAT, **rest)

    return toTable


def _has_own_sink(told: Any) -> bool:
    """Whether a stream goes to a function of the user: of it and a format, the last one counts."""
    said = [note.method for note in _notes(told) if note.method in ("format", *_SINKS)]
    return bool(said) and said[-1] in _SINKS


def _original(kind: type, name: str) -> Method:
    """Return a method as it was before it was replaced."""
    assert _installed is not None
    return _installed.methods[kind, name]


def _is_delta(told: Any, spark: SparkSession, given: str | None) -> bool:
    named = [note.arguments[0] for note in _notes(told) if note.method == "format"]
    name = given or (named[-1] if named else spark.conf.get("spark.sql.sources.default"))
    if str(name).lower() != _FORMAT:
        return False
    _refuse_delta_jar(spark)
    return True


def _is_delta_table(spark: SparkSession, name: str) -> bool:
    found = named_table(spark, name)
    if found is None or found.provider not in DELTA_PROVIDERS:
        return False
    _refuse_delta_jar(spark)
    return True


def _reader(told: Any) -> Callable[[SparkSession], Any]:
    return readStream if isinstance(told, DataStreamReader) else read


def _told(ours: Any, told: Any) -> Any:
    """Return our reader or writer, told all that Spark's was."""
    for note in _notes(told):
        if note.method == "schema":
            raise _no_schema()
        if note.method == "format":
            continue  # of several the last one counts, which is Delta's
        if not hasattr(ours, note.method):
            raise NotSupportedByInstallError(
                what=f"{note.method} of a Delta table", hint="leave it out"
            )
        getattr(ours, note.method)(*note.arguments, **note.options)
    return ours


def _notes(told: Any) -> list[Note]:
    found: list[Note] = getattr(told, _NOTES, [])
    return found


def _no_schema() -> NotSupportedByInstallError:
    return NotSupportedByInstallError(
        what="schema of a Delta table", hint="leave it out, for the table knows its schema"
    )


def _only(path: Any) -> str:
    if isinstance(path, str | os.PathLike):
        return os.fspath(path)
    if not isinstance(path, list) or len(path) != 1:
        raise NotSupportedByInstallError(
            what=f"reading from {path!r}", hint="read one path at a time, and use union for more"
        )
    return str(path[0])


def _options(told: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Return all options that were given, the last value of each."""
    found: dict[str, Any] = {}
    for note in _notes(told):
        if note.method == "option":
            key, value = (*note.arguments, *note.options.values())
            found[key] = value
        elif note.method == "options":
            found.update(note.options)
    return {**found, **given}


def _last(told: Any, method: str) -> Any:
    """Return what a method was told last: one value, or a list of several; None if nothing."""
    said = [note.arguments for note in _notes(told) if note.method == method]
    if not said:
        return None
    return said[-1][0] if len(said[-1]) == 1 else list(said[-1])


_SINKS = ("foreach", "foreachBatch")
_TOLD = dict.fromkeys(("format", "option", "options"), _noting)
_PATCHES: dict[type, dict[str, Callable[[Method], Method]]] = {
    SparkSession: {"table": _reading_table},
    DataFrameReader: {**_TOLD, "schema": _noting, "load": _loading, "table": _reading_table},
    DataStreamReader: {**_TOLD, "schema": _noting, "load": _loading, "table": _reading_table},
    DataFrameWriter: {
        **_TOLD,
        "mode": _noting,
        "partitionBy": _noting,
        "clusterBy": _noting,
        "bucketBy": _noting,
        "save": _saving,
        "saveAsTable": _saving_table,
        "insertInto": _inserting,
    },
    DataStreamWriter: {
        **_TOLD,
        "outputMode": _noting,
        "partitionBy": _noting,
        **dict.fromkeys(_SINKS, _noting),
        "start": _starting,
        "toTable": _streaming_to_table,
    },
}
