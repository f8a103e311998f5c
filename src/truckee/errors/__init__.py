"""Every error of truckee, one class each, all below `DeltaError`.

A module holds the errors of one part of the path; `base` says how an error is declared, and
`caller_lines` has what a notebook shows of one. docs/reference/errors.md lists them all. Import a
new module below, so that its classes are exported.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
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


_FOLDERS = [str(Path(__file__).parent)]


def _exported() -> dict[str, type[DeltaError]]:
    """Return every error class by its name."""
    found = {"DeltaError": DeltaError}
    for module in walk_packages(_FOLDERS, "truckee.errors."):
        for name, value in vars(import_module(module.name)).items():
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
