"""Tables and builders of a session of Spark Connect: the calls that lead to them, not yet made."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar, get_origin, get_type_hints

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.types import StructType

from truckee.commands.care.optimize_builder import DeltaOptimizeBuilder
from truckee.commands.ddl.table_builder import DeltaTableBuilder
from truckee.commands.merge.builder import DeltaMergeBuilder
from truckee.connect.wire import (
    ERROR,
    TYPE_URL,
    VALUE,
    Call,
    Request,
    error_from,
    message_text,
    to_wire,
)
from truckee.errors.commands.dml import AmbiguousColumnError
from truckee.errors.options import ArgumentTypeError
from truckee.errors.spark import RemoteSessionError
from truckee.errors.sql import StatementNotAllowedError
from truckee.options.arguments import package_and_type
from truckee.spark.jvm.projection import quoted
from truckee.spark.session.arguments import is_connect_process, is_of_connect

Kind = TypeVar("Kind")

_SESSION = "sparkSession"
_NO_PLUGIN = "No handler found for extension"
_LAZY = ("toDF", "history", "detail", "changes", "diff", "row_history")
_OPENING = ("forPath", "forName")
_BUILDERS = (DeltaTableBuilder, DeltaMergeBuilder, DeltaOptimizeBuilder)
_TARGET = "truckee_target"


def over_connect(kind: type[Kind]) -> type[Kind]:
    """Let the class methods of a class that take a session also take one of Spark Connect.

    They then return a `RemoteObject`, which makes the methods of the class on the server.
    """
    for name, found in list(vars(kind).items()):
        if (
            isinstance(found, classmethod)
            and _SESSION in inspect.signature(found.__func__).parameters
        ):
            setattr(kind, name, classmethod(_dispatched(found.__func__)))
    return kind


def _dispatched(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def dispatched(cls: type, *args: Any, **kwargs: Any) -> Any:
        bound = inspect.signature(method).bind(cls, *args, **kwargs)
        spark = bound.arguments.get(_SESSION)
        if spark is None and is_connect_process():
            spark = SparkSession.active()
        if not is_of_connect(spark, SparkSession):
            return method(cls, *args, **kwargs)
        bound.arguments[_SESSION] = spark
        return RemoteObject(spark, cls)._call(method, bound.args[2:], bound.kwargs)

    return dispatched


class RemoteObject:
    """A table or a builder on the server; it has the public methods of a class of ours.

    `shown` are the ids of the plans of the DataFrames that `toDF` of the table returned, `source`
    those of the plans that the source of a merge is made of.
    """

    def __init__(
        self,
        spark: Any,
        kind: type,
        calls: tuple[Call, ...] = (),
        *,
        table: type | None = None,
        shown: set[int] | None = None,
        source: frozenset[int] = frozenset(),
    ) -> None:
        self._spark = spark
        self._kind = kind
        self._calls = calls
        self._table = table or kind
        self._shown: set[int] = set() if shown is None else shown
        self._source = source

    def __repr__(self) -> str:
        # Other arguments than texts are long, or secrets of a store.
        texts = [
            (name, [each for each in given if isinstance(each, str)])
            for name, given, _ in self._calls
        ]
        path = [f"{name}({', '.join(map(repr, shown))})" for name, shown in texts]
        return ".".join([self._table.__name__, *path])

    def __dir__(self) -> list[str]:
        return [name for name in dir(self._kind) if not name.startswith("_")]

    def __getattr__(self, name: str) -> Any:
        method = None if name.startswith("_") else getattr(self._kind, name, None)
        if not callable(method):
            raise AttributeError(f"{self._kind.__name__} has no attribute {name!r}")
        if inspect.ismethod(method):
            return method

        @functools.wraps(method)
        def call(*args: Any, **kwargs: Any) -> Any:
            inspect.signature(method).bind(self, *args, **kwargs)
            return self._call(method, args, kwargs)

        return call

    def _call(self, method: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Make a call on the server, or note it for later, by what it returns."""
        name = method.__name__
        returned = get_type_hints(method)["return"]
        kind = get_origin(returned) or returned
        if kind is DeltaMergeBuilder and self._kind is self._table:
            return self._merge(method, args, kwargs)
        calls = (*self._calls, self._wired(name, args, kwargs))
        if kind is DataFrame:
            return self._frame(name, calls)
        if kind is type(None):
            self._made(calls)
            return None
        if kind is bool:
            return self._made(calls)[VALUE][0].as_py()
        if kind is self._table or isinstance(kind, TypeVar):
            return self._opened(name, calls)
        if kind in _BUILDERS:
            return self._builder(kind, calls)
        raise StatementNotAllowedError(
            operation=f"{self._kind.__name__}.{name} over Spark Connect",
            hint="call it in a classic session, or where the table is: truckee doctor PATH",
        )

    def _frame(self, name: str, calls: tuple[Call, ...]) -> Any:
        if name in _LAZY:
            frame = remote_frame(self._spark, Request(calls))
            if name == "toDF":
                self._shown.add(frame._plan._plan_id)
            return frame
        rows = self._made(calls)
        columns = {} if rows.num_columns else {"schema": StructType([])}
        return self._spark.createDataFrame(rows if rows.num_columns else [], **columns)

    def _opened(self, name: str, calls: tuple[Call, ...]) -> RemoteObject:
        if name == "alias":
            return RemoteObject(self._spark, self._table, calls, shown=self._shown)
        path = self._made(calls)[VALUE][0].as_py()
        found = calls if name in _OPENING else (["forPath", [path], {}],)
        return RemoteObject(self._spark, self._table, found)

    def _merge(self, method: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> RemoteObject:
        given = inspect.signature(method).bind(self, *args, **kwargs).arguments["source"]
        calls = self._calls
        if self._shown and self._alias() is None:
            # A column of the table given by name alone could also be one of the source.
            calls = (*calls, ["alias", [_TARGET], {}])
        if not is_of_connect(given, DataFrame):
            needs = "be a DataFrame of Spark, made with the same session"
            raise ArgumentTypeError(
                what="the source of MERGE", needs=needs, found=package_and_type(given)
            )
        relation = given._plan.plan(self._spark.client)
        plans = _messages(relation, "spark.connect.RelationCommon")
        source = frozenset(each.plan_id for each in plans if each.HasField("plan_id"))
        merged = RemoteObject(
            self._spark,
            DeltaMergeBuilder,
            calls,
            table=self._table,
            shown=self._shown,
            source=source,
        )
        merged._calls = (*calls, merged._wired(method.__name__, args, kwargs))
        return merged

    def _builder(self, kind: type, calls: tuple[Call, ...]) -> RemoteObject:
        if kind is self._kind is DeltaTableBuilder:
            # The definition of a table is collected in place, as programs rely on.
            self._calls = calls
            return self
        return RemoteObject(
            self._spark,
            kind,
            calls,
            table=self._table,
            shown=self._shown,
            source=self._source,
        )

    def _made(self, calls: tuple[Call, ...]) -> Any:
        """Make the calls on the server, once, and return the rows of the answer in Arrow."""
        client = self._spark.client
        plan = remote_frame(self._spark, Request(calls, once=True))._plan.to_proto(client)
        try:
            found = client.to_table(plan, {})[0]
        except PySparkException as error:
            if _NO_PLUGIN in str(error):
                raise RemoteSessionError from error
            raise
        if found.column_names == [ERROR]:
            raise error_from(found[ERROR][0].as_py())
        return found

    def _alias(self) -> str | None:
        names = [arguments for name, arguments, _ in self._calls if name == "alias"]
        return str(names[-1][0]) if names else None

    def _wired(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Call:
        own = functools.partial(self._own, what=f"an argument of {name}")
        arguments = [to_wire(each, own, what=f"an argument of {name}") for each in args]
        named = {key: to_wire(each, own, what=f"{key} of {name}") for key, each in kwargs.items()}
        return [name, arguments, named]

    def _own(self, value: Any, what: str) -> Any:
        """Return a column, a DataFrame or a table of this session as JSON; None for others."""
        client = self._spark.client
        if isinstance(value, RemoteObject):
            return {"calls": list(value._calls)}
        if is_of_connect(value, DataFrame):
            return {"frame": message_text(value._plan.plan(client))}
        if not is_of_connect(value, Column):
            return None
        expression = value.to_plan(client)
        for attribute in _messages(expression, "spark.connect.Expression.UnresolvedAttribute"):
            if attribute.HasField("plan_id") and attribute.plan_id in self._shown:
                self._name(attribute, what, str(value))
        return {"column": message_text(expression)}

    def _name(self, attribute: Any, what: str, expression: str) -> None:
        """Make the column of a DataFrame of the table one that is given by its name."""
        name = attribute.unparsed_identifier
        if attribute.plan_id in self._source:
            raise AmbiguousColumnError(
                what=what,
                expression=expression,
                column=name,
                candidates="[the table's, the source's], for the source was made of the table",
            )
        alias = self._alias()
        attribute.unparsed_identifier = name if alias is None else f"{quoted(alias)}.{name}"
        attribute.ClearField("plan_id")


def remote_frame(spark: Any, request: Request) -> Any:
    """Return the rows of a request as a DataFrame of a session of Spark Connect."""
    from pyspark.sql.connect.dataframe import DataFrame as ConnectFrame
    from pyspark.sql.connect.plan import LogicalPlan

    class Calls(LogicalPlan):
        def plan(self, _: Any) -> Any:
            relation = self._create_proto_relation()
            relation.extension.type_url = TYPE_URL
            relation.extension.value = request.encoded()
            return relation

    return ConnectFrame(Calls(None), spark)


def _messages(message: Any, name: str) -> Iterator[Any]:
    """Yield the messages of a kind in a message of Spark Connect, however deep."""
    if message.DESCRIPTOR.full_name == name:
        yield message
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        if hasattr(value, "DESCRIPTOR"):
            yield from _messages(value, name)
            continue
        for each in value.values() if hasattr(value, "values") else value:
            if hasattr(each, "DESCRIPTOR"):
                yield from _messages(each, name)
