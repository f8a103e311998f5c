"""Every error of truckee, in one tree under `DeltaError`.

One module holds the errors of one part of the path, and opens with its branch of the tree:

    requests             options  conditions  sql
    storage              storage
    protocol             protocol  columns
    log                  log  commit  transaction
    deletion vectors     deletion_vectors
    changes              changes  diff
    spark                spark
    commands
      ddl                commands/create  commands/alter  commands/drop_feature
      write              commands/write  commands/write_rows
      dml, merge         commands/dml  commands/expressions
      care               commands/care  commands/clone
    streaming            streaming  stream_schema

`base` has the root, and makes any text safe for a terminal; `caller_lines` what a notebook shows of
an error; `states` the SQLSTATE of each error class, and which of them only truckee has. Import a
new module below, so that its classes are exported.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from truckee.errors.base import DeltaError as DeltaError

if TYPE_CHECKING:
    from truckee.errors.changes import *
    from truckee.errors.columns import *
    from truckee.errors.commands.alter import *
    from truckee.errors.commands.care import *
    from truckee.errors.commands.clone import *
    from truckee.errors.commands.create import *
    from truckee.errors.commands.dml import *
    from truckee.errors.commands.drop_feature import *
    from truckee.errors.commands.expressions import *
    from truckee.errors.commands.write import *
    from truckee.errors.commands.write_rows import *
    from truckee.errors.commit import *
    from truckee.errors.conditions import *
    from truckee.errors.deletion_vectors import *
    from truckee.errors.diff import *
    from truckee.errors.log import *
    from truckee.errors.options import *
    from truckee.errors.protocol import *
    from truckee.errors.spark import *
    from truckee.errors.sql import *
    from truckee.errors.storage import *
    from truckee.errors.stream_schema import *
    from truckee.errors.streaming import *
    from truckee.errors.transaction import *

_MODULES = (
    "changes",
    "columns",
    "commands.alter",
    "commands.care",
    "commands.clone",
    "commands.create",
    "commands.dml",
    "commands.drop_feature",
    "commands.expressions",
    "commands.write",
    "commands.write_rows",
    "commit",
    "conditions",
    "deletion_vectors",
    "diff",
    "log",
    "options",
    "protocol",
    "spark",
    "sql",
    "storage",
    "stream_schema",
    "streaming",
    "transaction",
)


def _exported() -> dict[str, type[DeltaError]]:
    """Return every error class by its name."""
    found = {"DeltaError": DeltaError}
    for module in _MODULES:
        for name, value in vars(import_module(f"truckee.errors.{module}")).items():
            is_error = isinstance(value, type) and issubclass(value, DeltaError)
            if is_error and not name.startswith("_"):
                found[name] = value
    return found


def __getattr__(name: str) -> Any:
    # Making some three hundred classes takes a tenth of a second, and whoever imports one module of
    # this package runs this one too. So the others are loaded when a name of theirs is asked for.
    if name.startswith("_") and name != "__all__":
        raise AttributeError(f"module 'truckee.errors' has no attribute {name!r}")
    exported = _exported()
    globals().update(exported, __all__=sorted(exported))
    if name not in globals():
        raise AttributeError(f"module 'truckee.errors' has no attribute {name!r}")
    return globals()[name]


def __dir__() -> list[str]:
    return sorted(_exported())
