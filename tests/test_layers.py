"""Imports run one way, from people to bytes, and everything left of `spark` needs no JVM."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "src" / "truckee"

# A module imports from its own room and from those above it in this list.
ROOMS = (
    {"errors", "options"},
    {"protocol"},
    {"conditions"},
    {"storage"},
    {"log.files"},
    {"log.checkpoint"},
    {"log"},
    {"log.upkeep"},
    {"log.commit"},
    {"deletion_vectors"},
    {"scan"},
    {"changes"},
    {"changes.changelog"},
    {"changes.diff"},
    {"rows"},
    {"care"},
    {"care.vacuum"},
    {"care.health"},
    {"report"},
    {"arrow"},
    {"arrow.compare"},
    {"local_table"},
    {"spark"},
    {"spark.jvm"},
    {"spark.session"},
    {"spark.read"},
    {"spark.write"},
    {"spark.dml"},
    {"commands"},
    {"commands.schema"},
    {"commands.dml"},
    {"commands.merge"},
    {"commands.write"},
    {"commands.ddl"},
    {"commands.care"},
    {"sql"},
    {"streaming"},
    {"datasource"},
    {"readwriter"},
    {"doors"},
    {"connect"},
    {"table", "writer"},
    {"delta_testing"},
    {"connect.server"},
    {"delta_modules"},
    {"installation"},
    {"cli"},
)
RANK = {name: rank for rank, names in enumerate(ROOMS) for name in names}

# The front: the public names of the package, and `python -m truckee`.
FRONT = {"__init__", "__main__"}

MAY_IMPORT_PYSPARK = {
    "spark",
    "commands",
    "sql",
    "streaming",
    "datasource",
    "doors",
    "connect",
    "table",
    "readwriter",
    "writer",
    "delta_modules",
    "delta_testing",
    "installation",
}
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


def room(module: str) -> str:
    """Return the room of a module of ours: the longest name in the list that it lies in."""
    parts = module.split(".")
    known = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((name for name in known if name in RANK), parts[0])


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


@cache
def tree_of(path: Path) -> ast.Module:
    """Return the syntax tree of a module; several tests walk all of them."""
    return ast.parse(path.read_text())


def all_imports() -> Iterator[tuple[Path, Import]]:
    for path in modules():
        for found in imports(tree_of(path)):
            yield path, found


def place(path: Path, found: Import) -> str:
    return f"{module_name(path)}:{found.line} imports {found.module}"


def test_every_module_belongs_to_a_layer() -> None:
    strangers = [module_name(path) for path in modules() if layer(path) not in RANK.keys() | FRONT]

    assert strangers == []


# Invariant 15.
def test_imports_run_from_right_to_left() -> None:
    upward = [
        place(path, found)
        for path, found in all_imports()
        if layer(path) in RANK
        and found.module.startswith("truckee.")
        and RANK.get(room(found.module.removeprefix("truckee.")), len(ROOMS))
        > RANK[room(module_name(path))]
    ]

    assert upward == []


def test_imports_of_our_own_are_absolute() -> None:
    relative = [place(path, found) for path, found in all_imports() if found.module[:1] == "."]

    assert relative == []


def test_only_the_engine_and_what_stands_on_it_imports_pyspark() -> None:
    elsewhere = [
        place(path, found)
        for path, found in all_imports()
        if found.module.split(".")[0] == "pyspark"
        and layer(path) not in MAY_IMPORT_PYSPARK
        and not found.is_for_types
    ]

    assert elsewhere == []


def test_only_the_spark_layer_knows_the_jvm() -> None:
    imported = [
        place(path, found)
        for path, found in all_imports()
        if found.module.split(".")[0] == "py4j" and layer(path) not in MAY_KNOW_THE_JVM
    ]
    touched = [
        f"{module_name(path)}:{node.lineno} touches {node.attr}"
        for path in modules()
        if layer(path) not in MAY_KNOW_THE_JVM
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Attribute) and node.attr in JVM_NAMES
    ]

    assert imported + touched == []


def test_imports_of_our_own_stand_at_the_top() -> None:
    late = [
        place(path, found)
        for path, found in all_imports()
        if found.is_late
        and found.module.split(".")[0] == "truckee"
        and layer(path) not in LATE_IMPORTS
    ]

    assert late == []


def test_a_swapped_or_late_import_is_seen() -> None:
    text = "def f():\n    from truckee import table\nif TYPE_CHECKING:\n    import pyspark.sql\n"

    assert list(imports(ast.parse(text))) == [
        Import("truckee.table", 2, is_late=True, is_for_types=False),
        Import("pyspark.sql", 4, is_late=False, is_for_types=True),
    ]
