"""Errors of Spark: it cannot start, or it cannot read files.

Errors of `truckee.install()`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from truckee.errors.base import DeltaError


@dataclass(eq=False, kw_only=True)
class UntestedSparkError(DeltaError):
    """truckee was not tested on the version of the running Spark."""

    code: ClassVar[str] = "TRUCKEE_UNTESTED_SPARK"
    found: str
    tested: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"this is Spark {self.found}, but truckee was tested on {' and '.join(self.tested)}\n"
            "hint: install one of these, or set spark.truckee.allowUntestedSpark to true to try "
            "it anyway"
        )


@dataclass(eq=False, kw_only=True)
class RemoteSessionError(DeltaError):
    """A session of Spark Connect was given where only a classic one will do."""

    code: ClassVar[str] = "TRUCKEE_REMOTE_SESSION"

    def __str__(self) -> str:
        return (
            "the session is one of Spark Connect, which has no JVM here; DeltaTable, truckee.read, "
            "truckee.write and truckee.enable need a classic session\n"
            'hint: connect to a server started by truckee serve, and use SQL and format("delta"); '
            'on other servers, format("truckee") reads and appends by path'
        )


@dataclass(eq=False, kw_only=True)
class ConnectServerError(DeltaError):
    """A Spark Connect server cannot be started in this process."""

    code: ClassVar[str] = "TRUCKEE_CONNECT_SERVER_NOT_STARTED"
    reason: str

    def __str__(self) -> str:
        return (
            f"the Spark Connect server was not started: {self.reason}\n"
            "hint: name a host of this machine and a port that is free, such as port 0, in a "
            "process that runs no server"
        )


@dataclass(eq=False, kw_only=True)
class JavaNotFoundError(DeltaError):
    """No suitable Java was found for Spark."""

    code: ClassVar[str] = "TRUCKEE_JAVA_NOT_FOUND"
    found: str

    def __str__(self) -> str:
        return (
            f"Spark needs Java 17 or later, but {self.found}\n"
            "hint: install one (Debian and Ubuntu: apt-get install openjdk-17-jre-headless) "
            "or set JAVA_HOME to it"
        )


@dataclass(eq=False, kw_only=True)
class DataFileNotFoundError(DeltaError):
    """A file that the table's log names is gone."""

    code: ClassVar[str] = "DELTA_FILE_NOT_FOUND"
    path: str
    version: int
    detail: str = ""

    def __str__(self) -> str:
        more = f": {self.detail}" if self.detail else ""
        return (
            f"the data file {self.path}, which version {self.version} of the table names, "
            f"does not exist{more}\n"
            "hint: it was deleted by hand or by a VACUUM; read a later version, or restore the file"
        )


@dataclass(eq=False, kw_only=True)
class DataFileUnreadableError(DeltaError):
    """A file that the table's log names is not the file that the log describes."""

    code: ClassVar[str] = "DELTA_CANNOT_READ_DATA_FILE"
    path: str
    version: int
    reason: str

    def __str__(self) -> str:
        return (
            f"the data file {self.path}, which version {self.version} of the table names, "
            f"cannot be read: {self.reason}\n"
            "hint: the file is damaged, or not what the log says it is; restore it from a backup, "
            "or RESTORE the table to a version before this file"
        )


@dataclass(eq=False, kw_only=True)
class SessionStoppedError(DeltaError):
    """The Spark session was stopped before or while it was used."""

    code: ClassVar[str] = "TRUCKEE_SESSION_STOPPED"

    def __str__(self) -> str:
        return (
            "the Spark session was stopped\n"
            "hint: start another one with truckee.session(), and open the tables again"
        )


@dataclass(eq=False, kw_only=True)
class ClassesNotAddedError(DeltaError):
    """truckee's Java classes cannot be added to Spark."""

    code: ClassVar[str] = "TRUCKEE_CLASSES_NOT_ADDED"
    reason: str

    def __str__(self) -> str:
        return (
            f"truckee's Java classes cannot be added to Spark: {self.reason}\n"
            "hint: set spark.truckee.classes.folder to a writable folder, or put "
            "the JAR on the class path and set spark.truckee.classes.onClassPath"
        )


@dataclass(eq=False, kw_only=True)
class WorkersWithoutTruckeeError(DeltaError):
    """`format("truckee")` needs truckee in Spark's Python workers, which do not have it."""

    code: ClassVar[str] = "TRUCKEE_NOT_IN_WORKERS"

    def __str__(self) -> str:
        return (
            'format("truckee") runs in the Python workers of Spark, and their Python has no module '
            "truckee\n"
            "hint: ship it with --py-files or --archives, or use truckee.read, truckee.write and "
            "truckee.readStream, which need it on the driver alone"
        )


@dataclass(eq=False, kw_only=True)
class NoCallbackConnectionError(DeltaError):
    """Spark cannot reach Python to ask which files to read."""

    code: ClassVar[str] = "TRUCKEE_NO_CALLBACK_CONNECTION"

    def __str__(self) -> str:
        return (
            "Spark cannot reach Python to ask which files to read\n"
            "hint: the process may have used up its file descriptors; close files, or raise the "
            "limit with ulimit -n"
        )


@dataclass(eq=False, kw_only=True)
class DeltaJarPresentError(DeltaError):
    """A Delta JAR is on the class path, and it owns the name `delta`."""

    code: ClassVar[str] = "TRUCKEE_DELTA_JAR_PRESENT"
    jar: str

    def __str__(self) -> str:
        return (
            f'format("delta") cannot be taken over, because Delta\'s own JAR is on the class path: '
            f"{self.jar}\n"
            "hint: take delta-spark out of spark.jars, spark.jars.packages and "
            "spark.sql.extensions, or call truckee.read and truckee.write by name"
        )


@dataclass(eq=False, kw_only=True)
class NotSupportedByInstallError(DeltaError):
    """A feature of delta-spark that `truckee.install()` does not support."""

    code: ClassVar[str] = "TRUCKEE_NOT_SUPPORTED_BY_INSTALL"
    what: str
    hint: str

    def __str__(self) -> str:
        return f"{self.what} is not supported with truckee.install()\nhint: {self.hint}"
