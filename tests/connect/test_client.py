"""What each method of a table means over Spark Connect, read from what it returns."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any, TypeVar, get_origin, get_type_hints

import pytest
from pyspark.sql import DataFrame

from truckee import DeltaMergeBuilder, DeltaOptimizeBuilder, DeltaTable
from truckee.commands.ddl.table_builder import DeltaTableBuilder
from truckee.connect.client import RemoteObject

BUILDERS = (DeltaTableBuilder, DeltaMergeBuilder, DeltaOptimizeBuilder)


def methods() -> Iterator[tuple[str, Any]]:
    for kind in (DeltaTable, *BUILDERS):
        for name, method in inspect.getmembers(kind, callable):
            if not name.startswith("_"):
                returned = get_type_hints(method)["return"]
                yield f"{kind.__name__}.{name}", get_origin(returned) or returned


def test_every_method_but_doctor_can_be_made_on_the_server() -> None:
    known = (DataFrame, type(None), bool, DeltaTable, *BUILDERS)

    found = dict(methods())

    assert len(found) > 50
    left_out = [
        name for name, kind in found.items() if kind not in known and not isinstance(kind, TypeVar)
    ]
    assert left_out == ["DeltaTable.doctor"]


def test_an_object_has_the_methods_of_its_class_and_no_others() -> None:
    table = RemoteObject(None, DeltaTable, (["forPath", ["/lake/t", {"dict": []}], {}],))

    assert {"delete", "merge", "changes"} <= set(dir(table))
    assert repr(table) == "DeltaTable.forPath('/lake/t')"
    assert table.delete.__doc__ == DeltaTable.delete.__doc__
    with pytest.raises(AttributeError, match="DeltaTable has no attribute 'nothing'"):
        _ = table.nothing
    with pytest.raises(TypeError, match="unexpected keyword argument 'where'"):
        table.delete(where="id = 1")
