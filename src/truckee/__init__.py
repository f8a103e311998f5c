"""Delta Lake tables, their change data feed and deletion vectors, on Spark, with no JAR.

The names in `__all__` are the public ones. Modules below are ours to move, except `truckee.errors`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from truckee import errors
    from truckee.commands.care.optimize_builder import DeltaOptimizeBuilder
    from truckee.commands.ddl.table_builder import DeltaTableBuilder, IdentityGenerator
    from truckee.commands.merge.builder import DeltaMergeBuilder
    from truckee.connect.server import serve
    from truckee.datasource.register import register
    from truckee.doors.enable import configure, enable, session
    from truckee.errors import DeltaError
    from truckee.installation import install, uninstall
    from truckee.local_table import LocalTable, open  # noqa: A004
    from truckee.readwriter import read, readStream, table_changes
    from truckee.streaming.sink import write_batch
    from truckee.table import DeltaTable
    from truckee.writer import write

__version__ = "0.1.0"

# Names are looked up when they are first used: the command line answers from the log alone, and
# should not pay for importing Spark.
_HOMES = {
    "DeltaError": "truckee.errors",
    "DeltaMergeBuilder": "truckee.commands.merge.builder",
    "DeltaOptimizeBuilder": "truckee.commands.care.optimize_builder",
    "DeltaTable": "truckee.table",
    "DeltaTableBuilder": "truckee.commands.ddl.table_builder",
    "IdentityGenerator": "truckee.commands.ddl.table_builder",
    "configure": "truckee.doors.enable",
    "enable": "truckee.doors.enable",
    "LocalTable": "truckee.local_table",
    "install": "truckee.installation",
    "open": "truckee.local_table",
    "read": "truckee.readwriter",
    "readStream": "truckee.readwriter",
    "register": "truckee.datasource.register",
    "serve": "truckee.connect.server",
    "session": "truckee.doors.enable",
    "table_changes": "truckee.readwriter",
    "uninstall": "truckee.installation",
    "write": "truckee.writer",
    "write_batch": "truckee.streaming.sink",
}

__all__ = [
    "DeltaError",
    "DeltaMergeBuilder",
    "DeltaOptimizeBuilder",
    "DeltaTable",
    "DeltaTableBuilder",
    "IdentityGenerator",
    "LocalTable",
    "configure",
    "enable",
    "errors",
    "install",
    "open",
    "read",
    "readStream",
    "register",
    "serve",
    "session",
    "table_changes",
    "uninstall",
    "write",
    "write_batch",
]


def __getattr__(name: str) -> Any:
    if name == "errors":
        return import_module("truckee.errors")
    if name not in _HOMES:
        raise AttributeError(f"module 'truckee' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
