"""Imports run one way, from people to bytes, and everything left of `spark` needs no JVM."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent / "src" / "truckee"

# A module imports from its own layer and from those above it in this list.
LAYERS = (
    {"errors", "options"},
    {"protocol"},
    {"storage"},
    {"log"},
    {"deletion_vectors"},
    {"scan"},
    {"changes"},
    {"spark"},
    {"commands"},
    {"streaming"},
    {"table", "readwriter"},
    {"cli"},
)
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}

# The front: the public names of the package, and `python -m truckee`.
FRONT = {"__init__", "__main__"}

MAY_IMPORT_PYSPARK = {"spark", "commands", "streaming", "table", "readwriter"}
MAY_KNOW_THE_JVM = {"spark"}
JVM_NAMES = {"_jvm", "_gateway", "_jsparkSession", "_jdf", "_jsc", "_jconf"}

# Imports of our own inside a function: module -> why it cannot stand at the top of the file.
LATE_IMPORTS = {
    "__init__": "the public names load on first use, so that reading a log needs no pyspark",
    "cli": "a command imports what it runs, so that `truckee history` starts no JVM",
    "storage": "obstore is an extra, loaded when a URL asks for it",
}


@dataclass(frozen=True)
class Import:
    """One imported module, and where."""

    module: str
    line: int
    is_late: bool
    is_for_types: bool


def modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts)


def layer(path: Path) -> str:
    return module_name(path).split(".")[0]


def imports(tree: ast.AST) -> Iterator[Import]:
    """Yield every import, however deep; relative ones stand out by a leading dot."""
    yield from _imports(tree, is_late=False, is_for_types=False)


def _imports(node: ast.AST, *, is_late: bool, is_for_types: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield Import(alias.name, child.lineno, is_late, is_for_types)
        elif isinstance(child, ast.ImportFrom):
            base = "." * child.level + (child.module or "")
            if base == "truckee":
                for alias in child.names:
                    yield Import(f"truckee.{alias.name}", child.lineno, is_late, is_for_types)
            else:
                yield Import(base, child.lineno, is_late, is_for_types)
        else:
            in_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from _imports(
                child,
                is_late=is_late or in_function,
                is_for_types=is_for_types or _is_type_checking(child),
            )


def _is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


every_module = pytest.mark.parametrize("path", modules(), ids=module_name)


@every_module
def test_module_belongs_to_a_layer(path: Path) -> None:
    assert layer(path) in RANK.keys() | FRONT


@every_module
def test_imports_run_from_right_to_left(path: Path) -> None:
    tree = ast.parse(path.read_text())
    own = layer(path)
    if own in FRONT:
        return

    upward = [
        f"line {found.line}: {found.module}"
        for found in imports(tree)
        if found.module.startswith("truckee.")
        and RANK.get(found.module.split(".")[1], len(LAYERS)) > RANK[own]
    ]

    assert upward == []


@every_module
def test_imports_of_our_own_are_absolute(path: Path) -> None:
    relative = [f.line for f in imports(ast.parse(path.read_text())) if f.module.startswith(".")]

    assert relative == []


@every_module
def test_only_the_engine_and_what_stands_on_it_imports_pyspark(path: Path) -> None:
    if layer(path) in MAY_IMPORT_PYSPARK:
        return

    found = [
        f"line {found.line}: {found.module}"
        for found in imports(ast.parse(path.read_text()))
        if found.module.split(".")[0] in {"pyspark", "py4j"} and not found.is_for_types
    ]

    assert found == []


@every_module
def test_only_the_spark_layer_knows_the_jvm(path: Path) -> None:
    if layer(path) in MAY_KNOW_THE_JVM:
        return
    tree = ast.parse(path.read_text())

    imported = [f.line for f in imports(tree) if f.module.split(".")[0] == "py4j"]
    touched = [
        f"line {node.lineno}: {node.attr}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in JVM_NAMES
    ]

    assert imported == []
    assert touched == []


@every_module
def test_imports_of_our_own_stand_at_the_top(path: Path) -> None:
    if layer(path) in LATE_IMPORTS:
        return

    late = [
        f"line {found.line}: {found.module}"
        for found in imports(ast.parse(path.read_text()))
        if found.is_late and found.module.split(".")[0] == "truckee"
    ]

    assert late == []
