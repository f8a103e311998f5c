"""The way into the JVM: its classes, the makers of ours, and callbacks.

This and the modules beside it are the only ones that know Py4J or Spark's own classes.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from itertools import count
from threading import Lock, local
from typing import Any

from py4j.java_gateway import JavaObject
from pyspark import SparkContext
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import Column, SparkSession

from truckee.errors.spark import SessionStoppedError
from truckee.spark.jvm.classes import maker
from truckee.spark.jvm.jvm_errors import error_answer, install_translation
from truckee.spark.jvm.jvm_errors import translate_with as translate_with
from truckee.spark.jvm.spark_version import ALLOW_UNTESTED, check_spark_version

_numbers = count()
_checked: set[int] = set()
_classes: dict[str, tuple[Any, Any]] = {}
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
    if id(found) not in _checked:
        check_spark_version(spark.version, context.getConf().get(ALLOW_UNTESTED))
        _checked.add(id(found))
    ensure_callback_server_started(found)  # type: ignore[no-untyped-call]
    install_translation()
    _adopt_thread(found)
    return found


def java_class(spark: SparkSession, name: str) -> Any:
    """Return a class of the JVM by its whole name.

    Py4J asks the JVM for every dot of `jvm.org.apache.spark...`, and asks again each time. For a
    plan of many objects, these calls would be most of the cost.
    """
    found: Any = spark.sparkContext._gateway
    jvm = found.jvm
    known = _classes.get(name)
    if known is None or known[0] is not jvm:
        known = _classes[name] = (jvm, getattr(jvm, name))
    return known[1]


def java_half(spark: SparkSession) -> Any:
    """Return the maker in `TruckeeFiles.java`, which makes plans, rows and sets in one call."""
    return compiled(spark, "TruckeeFiles")


def compiled(spark: SparkSession, name: str) -> Any:
    """Return the `Maker` of a Java source beside this module, one for each JVM."""
    gateway(spark)
    return maker(spark.sparkContext, name)


def java_array(spark: SparkSession, kind: str, items: list[Any]) -> Any:
    """Return a Java array of objects of the class named `kind`."""
    found = gateway(spark)
    array = found.new_array(getattr(found.jvm, kind), len(items))
    for index, item in enumerate(items):
        array[index] = item
    return array


def java_list(spark: SparkSession, items: list[Any]) -> Any:
    """Return a Java list of objects."""
    found = java_class(spark, "java.util.ArrayList")()
    for item in items:
        found.add(item)
    return found


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

    It is passed to methods of the JVM like an object of the JVM. The JVM holds a number, and the
    function is released when the JVM has dropped the object with that number (see
    `TruckeeCalls.java`). An error that the function raises is kept, and replaces the exception
    that Spark makes of the failed call.
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


class _Answers:
    """The one object of Python that the JVM calls; it finds functions by their numbers.

    It raises nothing: Py4J would log the exception with its stack, although the user sees it
    anyway. Instead of a result, the JVM gets a text that tells the error.
    """

    def call(self, number: int, released: str, first: Any, second: Any) -> Any:
        for gone in released.split():
            _functions.pop(int(gone), None)
        function = _functions.get(number)
        try:
            answer = None if function is None else function(first, second)
        except BaseException as error:
            answer = error_answer(error)
        # Py4J drops an object of the JVM as soon as Python does, perhaps before the JVM uses it.
        _thread.answer = answer
        _forget_copies()
        return answer

    class Java:
        implements = ["org.apache.spark.api.java.function.Function4"]  # noqa: RUF012  read by Py4J


def _forget_copies() -> None:
    """Leave the connection of this thread to the call that is running on it.

    Py4J lists a connection after each call to the JVM, and takes it off the list once when its
    thread ends. Calls that are made while another one waits for the JVM list it again, so the
    connection of a thread that has ended would stay open, with a thread of the JVM behind it.
    """
    client: Any = getattr(SparkContext._gateway, "_gateway_client", None)
    if not hasattr(client, "get_thread_connection"):
        return  # without pinned threads the list is a pool
    connection = client.get_thread_connection()
    with suppress(ValueError):
        while connection is not None:
            client.deque.remove(connection)


def _java_calls(found: Any) -> Any:
    """Return the maker in `TruckeeCalls.java`, connected to the object that answers its calls."""
    with _opening:
        if id(found) not in _calls:
            calls = maker(SparkContext._active_spark_context, "TruckeeCalls")
            calls.open(JavaObject("GATEWAY_SERVER", found._gateway_client), _Answers())
            _calls[id(found)] = calls
        return _calls[id(found)]


def _adopt_thread(found: Any) -> None:
    """Close the connection of this thread when the thread ends, if the JVM opened it.

    Spark opens one for each thread that calls a function of `foreachBatch`, and never closes it.
    """
    if getattr(_thread, "is_known", False):
        return
    _thread.is_known = True
    connection = found._gateway_client.get_thread_connection()
    if connection is not None and not connection.initiated_from_client:
        _java_calls(found).adopt()
