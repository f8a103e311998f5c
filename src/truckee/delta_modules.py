"""Modules with the names of delta-spark's, which hold truckee's classes.

| module             | what it has                                                              |
|--------------------|--------------------------------------------------------------------------|
| `delta`            | `DeltaTable`, `configure_spark_with_delta_pip`, `__version__`            |
| `delta.tables`     | `DeltaTable`, its builders and `IdentityGenerator`; the same classes are |
|                    | in `delta.connect.tables`, since they take sessions of both kinds        |
| `delta.exceptions` | errors of commits that other writers were faster than; `base`, `captured` |
| `delta.pip_utils`  | `configure_spark_with_delta_pip`                                         |
| `delta.testing`    | `utils.DeltaTestCase`, the base class of delta-spark's own tests         |
| `delta.version`    | `__version__`: the version of delta-spark whose names these are          |

Programs ask for the version of the package too, for example to name a JAR by it. They get the
same one.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.metadata import Distribution, DistributionFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession, functions
from pyspark.sql.types import DataType, StructField, StructType

import truckee.errors
from truckee.commands.care.optimize_builder import DeltaOptimizeBuilder
from truckee.commands.ddl.table_builder import DeltaTableBuilder, IdentityGenerator
from truckee.commands.merge.builder import DeltaMergeBuilder
from truckee.errors.options import ArgumentTypeError
from truckee.spark.session.session import configure
from truckee.table import DeltaTable

VERSION = "4.4.0"
_METADATA = f"""\
Metadata-Version: 2.1
Name: delta-spark
Version: {VERSION}
Summary: Stands in for delta-spark, put here by truckee.install().
"""
_ANYTHING = DistributionFinder.Context()
_PACKAGES = "spark.jars.packages"
_DELTA_PACKAGES = "io.delta:"


def delta_modules() -> dict[str, ModuleType]:
    """Return new modules by name, a package before what is in it."""
    exceptions = {
        name: getattr(truckee.errors, name)
        for name in truckee.errors.__all__
        if name.endswith("Exception")
    }
    contents: dict[str, dict[str, Any]] = {
        "delta": {
            "DeltaTable": DeltaTable,
            "configure_spark_with_delta_pip": configure_spark_with_delta_pip,
            "__version__": VERSION,
            "__all__": ["DeltaTable", "configure_spark_with_delta_pip", "__version__"],
        },
        "delta.tables": _tables(),
        "delta.connect": {},
        "delta.connect.tables": _tables(),
        "delta.exceptions": exceptions | {"__all__": sorted(exceptions)},
        "delta.exceptions.base": exceptions,
        "delta.exceptions.captured": exceptions,
        "delta.pip_utils": {"configure_spark_with_delta_pip": configure_spark_with_delta_pip},
        "delta.testing": {},
        "delta.testing.utils": {"__getattr__": _testing},
        "delta.version": {"__version__": VERSION},
    }
    return _modules(contents)


def _testing(name: str) -> Any:
    """Return what `delta.testing.utils` has; Spark's test classes are loaded only if needed."""
    if name != "DeltaTestCase":
        raise AttributeError(f"module 'delta.testing.utils' has no attribute {name!r}")
    return import_module("truckee.delta_testing").DeltaTestCase


def _tables() -> dict[str, Any]:
    ours = (
        DeltaTable,
        DeltaMergeBuilder,
        DeltaTableBuilder,
        DeltaOptimizeBuilder,
        IdentityGenerator,
    )
    # `from delta.tables import *` has always brought these along, and programs rely on it.
    theirs = (Column, DataFrame, SparkSession, DataType, StructField, StructType)
    return {kind.__name__: kind for kind in (*ours, *theirs)} | {"functions": functions}


def _modules(contents: dict[str, dict[str, Any]]) -> dict[str, ModuleType]:
    made: dict[str, ModuleType] = {}
    for name, names in contents.items():
        module = ModuleType(name, "Stands in for delta-spark, put here by truckee.install().")
        # Without a spec, importlib.util.find_spec("delta") raises an error. Libraries call it to
        # find out whether there is Delta.
        is_package = any(other.startswith(f"{name}.") for other in contents)
        module.__spec__ = ModuleSpec(
            name, loader=None, origin="truckee.install()", is_package=is_package
        )
        vars(module).update(names)
        made[name] = module
    for name, module in made.items():
        package, _, own = name.rpartition(".")
        if package:
            made[package].__path__ = []
            setattr(made[package], own, module)
    return made


def configure_spark_with_delta_pip(
    spark_session_builder: SparkSession.Builder,
    extra_packages: list[str] | None = None,
) -> SparkSession.Builder:
    """Return the builder as truckee likes it, with other packages than Delta's own.

    Delta's JARs are left out: truckee needs none, and keeps out of sessions that have them.
    """
    if not isinstance(spark_session_builder, SparkSession.Builder):
        raise ArgumentTypeError(
            what="the argument of configure_spark_with_delta_pip",
            needs="be a SparkSession builder",
            found=str(type(spark_session_builder)),
        )
    builder = configure(spark_session_builder)
    packages = [name for name in extra_packages or () if not name.startswith(_DELTA_PACKAGES)]
    return builder.config(_PACKAGES, ",".join(packages)) if packages else builder


class DeltaSparkFinder(DistributionFinder):
    """Lets `importlib.metadata` find the package delta-spark by its name.

    Lists of all installed packages do not have it.
    """

    def find_spec(self, *_: Any, **__: Any) -> None:
        """Return nothing: the modules are in `sys.modules`."""

    def find_distributions(
        self, context: DistributionFinder.Context = _ANYTHING
    ) -> Iterable[Distribution]:
        """Return the package if the context asks for its name."""
        asked = (context.name or "").lower().replace("_", "-")
        return [_DeltaSpark()] if asked == "delta-spark" else []


class _DeltaSpark(Distribution):
    def read_text(self, filename: str) -> str | None:
        return _METADATA if filename == "METADATA" else None

    def locate_file(self, path: Any) -> Path:
        return Path(path)
