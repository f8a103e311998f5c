"""The way into the JVM: the compiled half of the file index, callbacks, and errors coming out.

This and the modules beside it are the only ones that know Py4J or Spark's own classes.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import resources
from itertools import count
from threading import Lock, local
from typing import Any

from py4j.java_gateway import JavaObject
from pyspark import SparkContext
from pyspark.errors.exceptions import captured
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.logger import PySparkLogger
from pyspark.sql import Column, SparkSession

from truckee.errors.spark import NoCallbackConnectionError, SessionStoppedError

_MARK = "truckee-error-"
# Where PySpark logs a page of JSON about each error of an expression, whoever catches the error.
_CONTEXT_LOGGERS = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")
# Where Py4J logs the stack of each error that a function of `foreachBatch` raises.
_PROXY_LOGGER = "py4j.clientserver"
_ERRORS_KEPT = 64
_NO_ANSWER = "truckee-no-answer"
_STOPPED = (
    "SparkContext was shut down",
    "on a stopped SparkContext",
    "SparkContext has been shutdown",
    "SparkContext is stopped",
)
_raised: dict[str, BaseException] = {}
_numbers = count()
_translators: list[Callable[[list[str]], BaseException | None]] = []
_classes: dict[str, tuple[Any, Any]] = {}
_makers: dict[tuple[int, str], JavaObject] = {}
_compiling = Lock()
_opening = Lock()
_calls: dict[int, Any] = {}
_functions: dict[int, Callable[[Any, Any], Any]] = {}
_thread = local()


def gateway(spark: SparkSession) -> Any:
    """Return the Py4J gateway of the session, ready for callbacks."""
    context = spark.sparkContext
    if context._jsc is None:
        raise SessionStoppedError
    found = context._gateway
    ensure_callback_server_started(found)  # type: ignore[no-untyped-call]
    _install_translation()
    _adopt_thread(found)
    return found


def java_class(spark: SparkSession, name: str) -> Any:
    """Return a class of the JVM by its whole name.

    Py4J asks the JVM for every dot of `jvm.org.apache.spark...`, and asks again each time. Where a
    plan is made of many objects, that is most of what it costs.
    """
    found: Any = spark.sparkContext._gateway
    jvm = found.jvm
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
    return _maker(gateway(spark), name)


def _maker(found: Any, name: str) -> Any:
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

    It is given to methods of the JVM, and returned to it, like an object of the JVM. The JVM holds
    a number, and the function is released when the JVM has dropped the object with that number
    (see `TruckeeCalls.java`). An error that the function raises is kept, and stands in for whatever
    Spark makes of the failed call.
    """

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        self._function = function
        self._java: Any = None

    def _get_object_id(self) -> str:
        """Return the name by which Py4J sends an object of the JVM."""
        if self._java is None:
            number = next(_numbers)
            _functions[number] = self._function
            self._java = _java_calls(SparkContext._gateway).call(number)
        found: str = self._java._get_object_id()
        return found


def marked(error: BaseException) -> str:
    """Return a text for an exception of the JVM, from which `error` is found again.

    Spark shows the text in logs and in the state of a query, so it says what happened.
    """
    mark = f"{_MARK}{next(_numbers)};"
    _raised[mark] = error
    while len(_raised) > _ERRORS_KEPT:
        _raised.pop(next(iter(_raised)), None)
    code = getattr(error, "code", None)
    return f"{mark} {repr(error) if code is None else f'[{code}] {error}'}"


class _Answers:
    """The one object of Python that the JVM calls; it finds functions by their numbers.

    It raises nothing: Py4J would log an exception with its stack, although it reaches the user in
    any case. The JVM is given the mark of an error in place of a result.
    """

    def call(self, number: int, released: str, first: Any, second: Any) -> Any:
        for gone in released.split():
            _functions.pop(int(gone), None)
        function = _functions.get(number)
        try:
            answer = None if function is None else function(first, second)
        except BaseException as error:
            answer = marked(error)
        # Py4J drops an object of the JVM as soon as Python does, maybe before the JVM has taken it.
        _thread.answer = answer
        return answer

    class Java:
        implements = ["org.apache.spark.api.java.function.Function4"]  # noqa: RUF012  read by Py4J


def _java_calls(found: Any) -> Any:
    """Return the maker in `TruckeeCalls.java`, which has been told whom to ask."""
    with _opening:
        if id(found) not in _calls:
            calls = _maker(found, "TruckeeCalls")
            calls.open(JavaObject("GATEWAY_SERVER", found._gateway_client), _Answers())
            _calls[id(found)] = calls
        return _calls[id(found)]


def _adopt_thread(found: Any) -> None:
    """Have the connection of this thread closed in time, if the JVM opened it to call Python.

    Spark opens one for each thread that calls a function of `foreachBatch`, and closes it never.
    """
    if getattr(_thread, "is_known", False):
        return
    _thread.is_known = True
    connection = found._gateway_client.get_thread_connection()
    if connection is not None and not connection.initiated_from_client:
        _java_calls(found).adopt()


@contextmanager
def unlogged() -> Iterator[None]:
    """Let PySpark log no error of this block: it is caught, and told in a sentence of ours."""
    before = getattr(_thread, "is_quiet", False)
    _thread.is_quiet = True
    try:
        yield
    finally:
        _thread.is_quiet = before


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
    for name in _CONTEXT_LOGGERS:
        PySparkLogger.getLogger(name).addFilter(_is_logged)
    logging.getLogger(_PROXY_LOGGER).addFilter(_is_logged)


def _is_logged(record: logging.LogRecord) -> bool:
    """Return whether an error is logged: not one of ours, which the user is told anyway."""
    is_ours = record.exc_info is not None and _MARK in str(record.exc_info[1])
    return not is_ours and not getattr(_thread, "is_quiet", False)


def _ours(error: Any) -> BaseException | None:
    texts = _messages(error)
    for text in texts:
        if _MARK in text:
            mark = text[text.index(_MARK) :]
            mark = mark[: mark.index(";") + 1]
            if mark in _raised:
                return _raised[mark]
    translators = (_of_the_session, *_translators)
    return next((ours for each in translators if (ours := each(texts)) is not None), None)


def _of_the_session(texts: list[str]) -> BaseException | None:
    """Return the error if the session itself is what failed."""
    if any(sign in text for text in texts for sign in _STOPPED):
        return SessionStoppedError()
    if any(_NO_ANSWER in text for text in texts):
        return NoCallbackConnectionError()
    return None


def _messages(error: Any) -> list[str]:
    texts: list[str] = []
    while error is not None and len(texts) < 12:
        texts.append(str(error.toString()))
        error = error.getCause()
    return texts
