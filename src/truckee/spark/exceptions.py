"""Errors as users of Spark catch them: each is also the exception that delta-spark raises.

Programs test whether a table exists by catching `AnalysisException`. So each of our error classes
gets a subclass, made once, that is also an exception of PySpark. Importing this package makes
errors instances of these subclasses. Every program with a session has imported it; without a
session, PySpark is not loaded and errors stay plain.

| what delta-spark raises        | here                                              |
|--------------------------------|---------------------------------------------------|
| AnalysisException              | the table, a column, a name or a plan is wrong    |
| ParseException                 | a text that is not SQL                            |
| IllegalArgumentException       | an option or a property has a value it cannot have |
| UnsupportedOperationException  | the table does not allow this, or Delta does not  |
| ArithmeticException            | a value does not fit its column                   |
| others                         | PySparkException, the root of all of them         |

An error that may be temporary, or that depends on the machine (a store that does not answer, a
damaged file, another writer), is never an AnalysisException. So no program mistakes it for a
missing table. An error that ended a stream is a StreamingQueryException too, for those who wait for
the stream.
"""

from __future__ import annotations

from dataclasses import fields
from threading import Lock
from typing import Any

import pyspark.errors
from pyspark.errors import StreamingQueryException

from truckee.errors.base import DeltaError, raise_as

_made: dict[type[DeltaError], type[DeltaError]] = {}
_of_streams: dict[type[DeltaError], type[DeltaError]] = {}
_making = Lock()


class _AsSparkTells(DeltaError):
    """The methods of PySpark's exceptions, answered from the fields of our error."""

    def getCondition(self) -> str:
        """Return the error class."""
        return self.code

    def getErrorClass(self) -> str:
        """Return the error class."""
        return self.code

    def getSqlState(self) -> str | None:
        """Return the SQLSTATE of the error class."""
        return self.state

    def getMessageParameters(self) -> dict[str, str]:
        """Return the fields of the error as texts."""
        return {field.name: str(getattr(self, field.name)) for field in fields(self)}

    def getMessage(self) -> str:
        """Return the text of the error, with its class."""
        return str(self)

    @property
    def desc(self) -> str:
        """The text of the error, by the name that it had in older versions of PySpark."""
        return str(self)

    def getQueryContext(self) -> list[Any]:
        """Return the positions in the query that caused the error: always none."""
        return []

    def getBreakingChangeInfo(self) -> None:
        """Return None: none of our errors is about a breaking change between versions."""


def spark_class(kind: type[DeltaError]) -> type[DeltaError]:
    """Return the subclass of an error class that is also what delta-spark raises."""
    with _making:
        if kind not in _made:
            _made[kind] = _new_class(kind)
        return _made[kind]


def of_a_stream(error: DeltaError) -> DeltaError:
    """Return an error that ended a stream, as one that is a StreamingQueryException too."""
    kind = type(error)
    if issubclass(kind, StreamingQueryException):
        return error
    with _making:
        if kind not in _of_streams:
            _of_streams[kind] = type(
                kind.__name__, (kind, StreamingQueryException), _body(kind.plain or kind)
            )
    copy = _of_streams[kind](**{field.name: getattr(error, field.name) for field in fields(error)})
    copy.__cause__ = error.__cause__
    return copy


def _new_class(kind: type[DeltaError]) -> type[DeltaError]:
    theirs = getattr(pyspark.errors, kind.spark)
    return type(kind.__name__, (kind, _AsSparkTells, theirs), _body(kind))


def _body(kind: type[DeltaError]) -> dict[str, Any]:
    return {
        "__module__": kind.__module__,
        "__qualname__": kind.__qualname__,
        "__doc__": kind.__doc__,
        "plain": kind,
    }


raise_as(spark_class)
