"""Spark's own Connect service, started in the process of a classic session."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.sql import Column, DataFrame, SparkSession

from truckee.errors.spark import ConnectServerError
from truckee.spark.jvm.bridge import Callback, gateway, java_class, to_column
from truckee.spark.jvm.classes import plugin
from truckee.spark.jvm.jvm_errors import tell_clients
from truckee.spark.session.jvm_sessions import session_of

_SERVICE = "org.apache.spark.sql.connect.service.SparkConnectService$"
_ADDRESS = "spark.connect.grpc.binding.address"
_PORT = "spark.connect.grpc.binding.port"
_RECURSION = "spark.connect.grpc.marshallerRecursionLimit"
_MESSAGES = "org.apache.spark.connect.proto."
_STREAM = "org.sparkproject.connect.protobuf.CodedInputStream"


class ConnectPlanner(NamedTuple):
    """What makes DataFrames and Columns of a client's messages, in the session of that client."""

    spark: SparkSession
    java: Any

    def frame(self, message: bytes) -> DataFrame:
        """Return the DataFrame of a serialized `Relation`."""
        plan = self.java.transformRelation(self._parsed("Relation", message))
        dataset = java_class(self.spark, "org.apache.spark.sql.classic.Dataset")
        return DataFrame(dataset.ofRows(self.spark._jsparkSession, plan), self.spark)

    def column(self, message: bytes) -> Column:
        """Return the Column of a serialized `Expression`."""
        return to_column(
            self.spark, self.java.transformExpression(self._parsed("Expression", message))
        )

    def _parsed(self, kind: str, message: bytes) -> Any:
        stream = java_class(self.spark, _STREAM).newInstance(message)
        # The same limit as for messages that Spark itself reads; the default is far lower.
        conf = self.spark.sparkContext.getConf()
        stream.setRecursionLimit(int(str(conf.get(_RECURSION, "1024"))))
        return java_class(self.spark, _MESSAGES + kind).parseFrom(stream)


RelationAnswer = Callable[[bytes, ConnectPlanner], DataFrame | None]
"""Returns the rows of a relation that Spark does not know, or None if it is not ours either."""


def start_connect_service(spark: SparkSession, host: str, port: int, answer: RelationAnswer) -> int:
    """Start the service, and return its port; port 0 is one that is free.

    The service derives the sessions of its clients from the application's first session.
    """
    service = _service(spark)
    if service.started():
        raise ConnectServerError(reason=f"one runs in this process, on port {service.localPort()}")
    context = spark.sparkContext._jsc.sc()
    context.conf().set(_ADDRESS, host)
    context.conf().set(_PORT, str(port))
    try:
        service.start(context)
    except Py4JJavaError as error:
        # What follows is advice about settings that are set here.
        said = str(error.java_exception.getMessage()).partition(": Service ")[0]
        raise ConnectServerError(reason=said) from error
    tell_clients()
    plugin(spark, "TruckeeConnect").open(Callback(_relations(answer)))
    return int(service.localPort())


def _relations(answer: RelationAnswer) -> Callable[[Any, Any], Any]:
    def relation(message: Any, planner: Any) -> Any:
        spark = session_of(planner.session())
        frame = answer(bytes(message), ConnectPlanner(spark, planner))
        return None if frame is None else frame._jdf

    return relation


def _service(spark: SparkSession) -> Any:
    gateway(spark)
    try:
        return getattr(java_class(spark, _SERVICE), "MODULE$")
    except Py4JError as error:
        raise ConnectServerError(reason="Spark's JAR spark-connect is not there") from error
