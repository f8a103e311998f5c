"""Errors of `truckee.install()`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from truckee.errors.base import DeltaError


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
