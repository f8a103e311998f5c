"""Spark's own Connect service, started in the process of a classic session."""

from __future__ import annotations

from typing import Any

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.sql import SparkSession

from truckee.errors.spark import ConnectServerError
from truckee.spark.jvm.bridge import gateway, java_class
from truckee.spark.jvm.jvm_errors import tell_clients

_SERVICE = "org.apache.spark.sql.connect.service.SparkConnectService$"
_ADDRESS = "spark.connect.grpc.binding.address"
_PORT = "spark.connect.grpc.binding.port"


def start_connect_service(spark: SparkSession, host: str, port: int) -> int:
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
    return int(service.localPort())


def _service(spark: SparkSession) -> Any:
    gateway(spark)
    try:
        return getattr(java_class(spark, _SERVICE), "MODULE$")
    except Py4JError as error:
        raise ConnectServerError(reason="Spark's JAR spark-connect is not there") from error
