"""The text of an error starts with its class, and errors are rebuilt from their fields."""

from __future__ import annotations

import pickle
import pkgutil
import subprocess
import sys
from importlib import import_module

import pytest

from truckee import errors
from truckee.errors.base import DeltaError

CLASSES = [
    found
    for name in errors.__all__
    if isinstance(found := getattr(errors, name), type) and issubclass(found, DeltaError)
]


def test_the_text_of_an_error_starts_with_its_class() -> None:
    error = errors.NotADeltaTableError(table="/t")

    assert str(error) == f"[DELTA_MISSING_DELTA_TABLE] {error.sentence()}"


def test_the_text_of_a_conflict_names_its_exception() -> None:
    error = errors.MetadataChangedException(version=3, changed="the schema")

    assert str(error) == f"[DELTA_METADATA_CHANGED] MetadataChangedException: {error.sentence()}"


# Invariant 27.
@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_no_error_tells_its_text_without_its_class(kind: type[DeltaError]) -> None:
    assert kind.__str__ is DeltaError.__str__


def test_an_error_survives_pickling() -> None:
    error = errors.VersionNotFoundError(table="/t", version=7, earliest=0, latest=3)

    again = pickle.loads(pickle.dumps(error))

    assert (type(again), vars(again), str(again)) == (type(error), vars(error), str(error))


def test_errors_of_a_process_without_spark_are_plain() -> None:
    code = (
        "import sys\n"
        "from truckee.errors import NotADeltaTableError\n"
        "error = NotADeltaTableError(table='/t')\n"
        "print(type(error) is NotADeltaTableError, 'pyspark' in sys.modules)\n"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "True False\n"


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (errors.ArgumentTypeError(what="a", needs="be b", found="c"), TypeError),
        (errors.ArgumentValueError(what="a", needs="be b", found="c"), ValueError),
        (errors.NoAssignmentsError(what="UPDATE"), ValueError),
    ],
)
def test_an_argument_that_makes_no_sense_is_what_python_calls_it(
    error: DeltaError, kind: type[Exception]
) -> None:
    assert isinstance(error, kind)
    assert isinstance(pickle.loads(pickle.dumps(error)), kind)


def test_every_class_of_every_module_is_exported() -> None:
    modules = [
        import_module(module.name)
        for module in pkgutil.walk_packages(errors.__path__, "truckee.errors.")
    ]
    found = {
        name
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, DeltaError) and not name.startswith("_")
    }

    assert found == set(errors.__all__)


def test_one_module_of_errors_is_imported_without_the_others() -> None:
    code = (
        "import sys\n"
        "from truckee.errors.log import NotADeltaTableError\n"
        "print('truckee.errors.commands.dml' in sys.modules)\n"
        "from truckee.errors import NoAssignmentsError\n"
        "print('truckee.errors.commands.dml' in sys.modules)\n"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "False\nTrue\n"
