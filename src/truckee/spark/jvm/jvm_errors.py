"""Errors that pass through the JVM: our own are found again, and not logged a second time.

An error that Python raises in a call from the JVM is kept here under a mark, and the JVM gets only
the mark. The exception that comes out of the JVM, however wrapped, is recognised by it. Clients of
a Spark Connect server are in other processes; for them the JVM also gets what they are told.
"""

from __future__ import annotations

import functools
import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from threading import local
from typing import Any

from pyspark.errors import (
    AnalysisException,
    ArithmeticException,
    IllegalArgumentException,
    ParseException,
    PySparkException,
    StreamingQueryException,
    UnsupportedOperationException,
)
from pyspark.errors.exceptions import captured
from pyspark.logger import PySparkLogger
from pyspark.sql.streaming.query import StreamingQuery

from truckee.errors.base import DeltaError
from truckee.errors.spark import (
    ClassesNotAddedError,
    ForeignWriteJobError,
    NoCallbackConnectionError,
    SessionStoppedError,
    WorkersWithoutTruckeeError,
)
from truckee.spark.exceptions import of_a_stream

_MARK = "truckee-error-"
_MARKED = re.compile(rf"{_MARK}\d+; ")
# PySpark logs a page of JSON here for each error of an expression, even if the error is caught.
_CONTEXT_LOGGERS = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")
# Py4J logs the stack here for each error that a function of `foreachBatch` raises.
_PROXY_LOGGER = "py4j.clientserver"
_ERRORS_KEPT = 64
_FOREIGN_JOB = "truckee-foreign-job"
_NO_ANSWER = "truckee-no-answer"
_NO_CLASS = "ClassNotFoundException: truckee."
_NO_MODULE = "No module named 'truckee"
_STREAM_FAILED = "org.apache.spark.sql.streaming.StreamingQueryException"
_STOPPED = (
    "SparkContext was shut down",
    "on a stopped SparkContext",
    "SparkContext has been shutdown",
    "SparkContext is stopped",
)
# What `TruckeeErrors.java` has an exception for; a class comes before the one that it extends.
_TOLD_AS = (
    ParseException,
    AnalysisException,
    IllegalArgumentException,
    UnsupportedOperationException,
    ArithmeticException,
)
_raised: dict[str, BaseException] = {}
_numbers = count()
_translators: list[Callable[[list[str]], BaseException | None]] = []
_thread = local()
_has_clients = False
_is_logging_raised = True


def tell_clients() -> None:
    """From now on, tell the JVM all that a client of a Spark Connect server is told of an error."""
    global _has_clients
    _has_clients = True


def error_answer(error: BaseException) -> str:
    """Return the answer to a call of the JVM that raised `error` (see `TruckeeErrors.java`)."""
    marked = error_mark(error).replace("\0", "")
    if not _has_clients:
        return marked
    kind = next((kind.__name__ for kind in _TOLD_AS if isinstance(error, kind)), "")
    condition = state = None
    if isinstance(error, PySparkException):
        condition, state = error.getCondition(), error.getSqlState()
    text = _MARKED.sub("", marked, count=1)
    return "\0".join((marked, kind, condition or "", state or "", text))


def error_mark(error: BaseException) -> str:
    """Return a text for an exception of the JVM, from which `error` is found again.

    Spark shows the text in logs and in the state of a query, so it says what happened.
    """
    mark = f"{_MARK}{next(_numbers)};"
    _raised[mark] = error
    while len(_raised) > _ERRORS_KEPT:
        _raised.pop(next(iter(_raised)), None)
    return f"{mark} {error if isinstance(error, PySparkException | DeltaError) else repr(error)}"


@contextmanager
def quiet_errors() -> Iterator[None]:
    """Keep PySpark from logging errors of this block: they are caught and become ours."""
    before = getattr(_thread, "is_quiet", False)
    _thread.is_quiet = True
    try:
        yield
    finally:
        _thread.is_quiet = before


def leave_errors_to_exceptions() -> None:
    """From now on, keep PySpark from logging as JSON the errors that it also raises."""
    global _is_logging_raised
    _is_logging_raised = False


def translate_with(translator: Callable[[list[str]], BaseException | None]) -> None:
    """Let `translator` turn a Spark failure into an error of ours, or None.

    It is given the texts of the exception and of its causes, outermost first.
    """
    if translator not in _translators:
        _translators.append(translator)


def install_translation() -> None:
    """Make PySpark's conversion of JVM exceptions look for ours first.

    PySpark converts every exception of the JVM in a single function. No other place sees the
    errors of all DataFrames, including those that users derive from ours.
    """
    original = captured.convert_exception
    if getattr(original, "knows_truckee", False):
        return

    def convert(error: Any) -> Any:
        texts = _messages(error)
        ours = _ours(texts)
        if not texts[0].startswith(_STREAM_FAILED):
            return ours or original(error)
        if isinstance(ours, DeltaError):
            return of_a_stream(ours)
        # Those who wait for a stream catch one kind of error, whatever Spark raised in it.
        failed = original(error)
        failed._desc = _MARKED.sub("", str(failed._desc))
        return failed

    convert.knows_truckee = True  # type: ignore[attr-defined]
    captured.convert_exception = convert  # type: ignore[assignment]
    _translate_ended_streams(convert)
    for name in _CONTEXT_LOGGERS:
        PySparkLogger.getLogger(name).addFilter(_is_logged)
    logging.getLogger(_PROXY_LOGGER).addFilter(_is_logged)


def _translate_ended_streams(convert: Callable[[Any], Any]) -> None:
    """Let `StreamingQuery.exception` return what `awaitTermination` raises: PySpark makes both."""
    original = StreamingQuery.exception

    def exception(self: StreamingQuery) -> StreamingQueryException | None:
        found = original(self)
        if found is None or _MARK not in str(found):
            return found
        ours: StreamingQueryException = convert(self._jsq.exception().get())
        return ours

    StreamingQuery.exception = functools.wraps(original)(exception)  # type: ignore[method-assign]


def _is_logged(record: logging.LogRecord) -> bool:
    """Return whether an error is logged: one of ours is not, since the user sees it anyway."""
    if record.name in _CONTEXT_LOGGERS and not _is_logging_raised:
        return False
    is_ours = record.exc_info is not None and _MARK in str(record.exc_info[1])
    return not is_ours and not getattr(_thread, "is_quiet", False)


def _ours(texts: list[str]) -> BaseException | None:
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
    if any(_FOREIGN_JOB in text for text in texts):
        return ForeignWriteJobError()
    if any(_NO_CLASS in text for text in texts):
        return ClassesNotAddedError(reason="an executor does not have them")
    if any(_NO_MODULE in text for text in texts):
        return WorkersWithoutTruckeeError()
    return None


def _messages(error: Any) -> list[str]:
    texts: list[str] = []
    while error is not None and len(texts) < 12:
        texts.append(str(error.toString()))
        error = error.getCause()
    return texts
