"""Errors of Spark: it cannot start, or it cannot read files.

Errors of `truckee.install()`.
"""

from __future__ import annotations

from truckee.errors.base import DeltaError


class UntestedSparkError(DeltaError, code="TRUCKEE_UNTESTED_SPARK", state="56038"):
    """truckee was not tested on the version of the running Spark."""

    found: str
    tested: tuple[str, ...]

    def sentence(self) -> str:
        return (
            f"this is Spark {self.found}, but truckee was tested on {' and '.join(self.tested)}\n"
            "hint: install one of these, or set spark.truckee.allowUntestedSpark to true to try "
            "it anyway"
        )


class RemoteSessionError(DeltaError, code="TRUCKEE_REMOTE_SESSION", state="56038"):
    """A session of Spark Connect was given where only a classic one will do."""

    text = (
        "the session is one of Spark Connect, which has no JVM here; truckee.read, truckee.write "
        "and truckee.enable need a classic session, DeltaTable that or a server of truckee"
    )
    hint = (
        "connect to a server started by truckee serve, and use DeltaTable, SQL and "
        'format("delta"); on other servers, format("truckee") reads and appends by path'
    )


class ConnectServerError(DeltaError, code="TRUCKEE_CONNECT_SERVER_NOT_STARTED", state="56038"):
    """A Spark Connect server cannot be started in this process."""

    reason: str
    text = "the Spark Connect server was not started: {reason}"
    hint = (
        "name a host of this machine and a port that is free, such as port 0, in a process that "
        "runs no server"
    )


class JavaNotFoundError(DeltaError, code="TRUCKEE_JAVA_NOT_FOUND", state="56038"):
    """No suitable Java was found for Spark."""

    found: str
    text = "Spark needs Java 17 or later, but {found}"
    hint = (
        "install one (Debian and Ubuntu: apt-get install openjdk-17-jre-headless) or set JAVA_HOME "
        "to it"
    )


class DataFileNotFoundError(DeltaError, code="DELTA_FILE_NOT_FOUND", state="42K03"):
    """A file that the table's log names is gone."""

    path: str
    version: int
    detail: str = ""

    def sentence(self) -> str:
        more = f": {self.detail}" if self.detail else ""
        return (
            f"the data file {self.path}, which version {self.version} of the table names, "
            f"does not exist{more}\n"
            "hint: it was deleted by hand or by a VACUUM; read a later version, or restore the file"
        )


class DataFileUnreadableError(DeltaError, code="DELTA_CANNOT_READ_DATA_FILE", state="KD001"):
    """A file that the table's log names is not the file that the log describes."""

    path: str
    version: int
    reason: str
    text = (
        "the data file {path}, which version {version} of the table names, cannot be read: {reason}"
    )
    hint = (
        "the file is damaged, or not what the log says it is; restore it from a backup, or RESTORE "
        "the table to a version before this file"
    )


class SessionStoppedError(DeltaError, code="TRUCKEE_SESSION_STOPPED", state="08003"):
    """The Spark session was stopped before or while it was used."""

    text = "the Spark session was stopped"
    hint = "start another one with truckee.session(), and open the tables again"


class ClassesNotAddedError(DeltaError, code="TRUCKEE_CLASSES_NOT_ADDED", state="56038"):
    """truckee's Java classes cannot be added to Spark."""

    reason: str
    text = "truckee's Java classes cannot be added to Spark: {reason}"
    hint = (
        "set spark.truckee.classes.folder to a writable folder, or put the JAR on the class path "
        "and set spark.truckee.classes.onClassPath"
    )


class WorkersWithoutTruckeeError(DeltaError, code="TRUCKEE_NOT_IN_WORKERS", state="56038"):
    """`format("truckee")` needs truckee in Spark's Python workers, which do not have it."""

    text = (
        'format("truckee") runs in the Python workers of Spark, and their Python has no module '
        "truckee"
    )
    hint = (
        "ship it with --py-files or --archives, or use truckee.read, truckee.write and "
        "truckee.readStream, which need it on the driver alone"
    )


class ForeignWriteJobError(DeltaError, code="TRUCKEE_FOREIGN_WRITE_JOB", state="56038"):
    """A write that truckee did not start was about to use truckee's commit protocol."""

    text = (
        "this write was not started by truckee, but its session names truckee.TruckeeCommit as its "
        "commit protocol, which writes nothing but Delta tables"
    )
    hint = "unset spark.sql.sources.commitProtocolClass, and write again"


class NoCallbackConnectionError(DeltaError, code="TRUCKEE_NO_CALLBACK_CONNECTION", state="56038"):
    """Spark cannot reach Python to ask which files to read."""

    text = "Spark cannot reach Python to ask which files to read"
    hint = (
        "the process may have used up its file descriptors; close files, or raise the limit with "
        "ulimit -n"
    )


class DeltaJarPresentError(DeltaError, code="TRUCKEE_DELTA_JAR_PRESENT", state="56038"):
    """A Delta JAR is on the class path, and it owns the name `delta`."""

    jar: str
    text = (
        'format("delta") cannot be taken over, because Delta\'s own JAR is on the class path: {jar}'
    )
    hint = (
        "take delta-spark out of spark.jars, spark.jars.packages and spark.sql.extensions, or call "
        "truckee.read and truckee.write by name"
    )


class NotSupportedByInstallError(
    DeltaError,
    code="TRUCKEE_NOT_SUPPORTED_BY_INSTALL",
    state="0A000",
    spark="UnsupportedOperationException",
):
    """A feature of delta-spark that `truckee.install()` does not support."""

    what: str
    hint: str
    text = "{what} is not supported with truckee.install()"
