"""The way into the JVM: the compiled half of the file index, callbacks, and errors coming out.

This and the modules beside it are the only ones that know Py4J or Spark's own classes.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import resources
from itertools import count
from threading import Lock
from typing import Any

from py4j.java_gateway import JavaObject
from pyspark.errors.exceptions import captured
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import Column, SparkSession

_MARK = "truckee-error-"
_ERRORS_KEPT = 64
_raised: dict[str, BaseException] = {}
_numbers = count()
_translators: list[Callable[[list[str]], BaseException | None]] = []
_classes: dict[str, tuple[Any, Any]] = {}
_makers: dict[tuple[int, str], JavaObject] = {}
_compiling = Lock()


def gateway(spark: SparkSession) -> Any:
    """Return the Py4J gateway of the session, ready for callbacks."""
    found = spark.sparkContext._gateway
    ensure_callback_server_started(found)  # type: ignore[no-untyped-call]
    _install_translation()
    return found


def java_class(spark: SparkSession, name: str) -> Any:
    """Return a class of the JVM by its whole name.

    Py4J asks the JVM for every dot of `jvm.org.apache.spark...`, and asks again each time. Where a
    plan is made of many objects, that is most of what it costs.
    """
    jvm = gateway(spark).jvm
    known = _classes.get(name)
    if known is None or known[0] is not jvm:
        known = _classes[name] = (jvm, getattr(jvm, name))
    return known[1]


def java_half(spark: SparkSession) -> Any:
    """Return the maker in `TruckeeFiles.java`: plans, rows and sets that are made in one call."""
    return compiled(spark, "TruckeeFiles")


def compiled(spark: SparkSession, name: str) -> Any:
    """Return the `Maker` of a Java source beside this module, compiled once for each JVM.

    Janino, which compiles it, is what Spark's own code generation uses. The class never leaves the
    driver, so no executor has to know it.
    """
    found = gateway(spark)
    key = (id(found), name)
    # Py4J remembers methods by the name of their class, so a class must not be compiled twice.
    with _compiling:
        if key not in _makers:
            source = (resources.files("truckee.spark.jvm") / f"{name}.java").read_text()
            compiler = found.jvm.org.codehaus.janino.SimpleCompiler()
            loader = found.jvm.java.lang.Thread.currentThread().getContextClassLoader()
            compiler.setParentClassLoader(loader)
            compiler.setTargetVersion(8)  # from which on interfaces have static methods
            compiler.cook(source)
            maker = compiler.getClassLoader().loadClass(f"truckee.{name}$Maker")
            _makers[key] = maker.newInstance()
        return _makers[key]


def java_array(spark: SparkSession, kind: str, items: list[Any]) -> Any:
    """Return a Java array of objects of the class named `kind`."""
    found = gateway(spark)
    array = found.new_array(getattr(found.jvm, kind), len(items))
    for index, item in enumerate(items):
        array[index] = item
    return array


def scala_seq(spark: SparkSession, items: list[Any]) -> Any:
    """Return a Scala `Seq` of Java objects."""
    return java_class(spark, "org.apache.spark.api.python.PythonUtils").toSeq(items)


def to_column(spark: SparkSession, expression: Any) -> Column:
    """Return a Catalyst expression as a Column."""
    from pyspark.sql.classic.column import Column as ClassicColumn

    utils = java_class(spark, "org.apache.spark.sql.classic.ExpressionUtils")
    return ClassicColumn(utils.column(expression))


def to_expression(spark: SparkSession, column: Column) -> Any:
    """Return a Column as a Catalyst expression, not resolved yet."""
    utils = java_class(spark, "org.apache.spark.sql.classic.ExpressionUtils")
    return utils.expression(column._jc)


class Callback:
    """A Python function that the JVM may call as a `BiFunction`.

    An error that it raises is kept, and stands in for whatever Spark makes of the failed call.
    The JVM is given a mark in place of a result, and raises it: an exception here would be logged
    by Py4J with its stack, although it reaches the user in any case.
    """

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        self._function = function

    def apply(self, first: Any, second: Any) -> Any:
        try:
            return self._function(first, second)
        except BaseException as error:
            mark = f"{_MARK}{next(_numbers)};"
            _raised[mark] = error
            while len(_raised) > _ERRORS_KEPT:
                _raised.pop(next(iter(_raised)), None)
            return mark

    class Java:
        implements = ["java.util.function.BiFunction"]  # noqa: RUF012  read by Py4J


def translate_with(translator: Callable[[list[str]], BaseException | None]) -> None:
    """Let `translator` turn a Spark failure into an error of ours, or None.

    It is given the texts of the exception and of its causes, outermost first.
    """
    if translator not in _translators:
        _translators.append(translator)


def _install_translation() -> None:
    """Make PySpark's conversion of JVM exceptions look for ours first.

    PySpark turns every exception of the JVM into a Python one at a single place. There is no other
    spot that sees errors of any DataFrame, whatever was done to it since we made it.
    """
    original = captured.convert_exception
    if getattr(original, "knows_truckee", False):
        return

    def convert(error: Any) -> Any:
        return _ours(error) or original(error)

    convert.knows_truckee = True  # type: ignore[attr-defined]
    captured.convert_exception = convert  # type: ignore[assignment]


def _ours(error: Any) -> BaseException | None:
    texts = _messages(error)
    for text in texts:
        if _MARK in text:
            mark = text[text.index(_MARK) :]
            mark = mark[: mark.index(";") + 1]
            if mark in _raised:
                return _raised[mark]
    return next((ours for each in _translators if (ours := each(texts)) is not None), None)


def _messages(error: Any) -> list[str]:
    texts: list[str] = []
    while error is not None and len(texts) < 12:
        texts.append(str(error.toString()))
        error = error.getCause()
    return texts
