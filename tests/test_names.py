"""A public name exists once, modules and folders stay small, and imports have no cycle."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from test_layers import SOURCE, module_name, modules, tree_of

LONGEST = 400
MOST_IN_A_FOLDER = 18

# What the user types after `truckee` is the name of the function that runs it.
COMMAND_LINE = "cli."


def public_names(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Assign(targets=targets):
                yield from (target.id for target in targets if isinstance(target, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name


def homes() -> dict[str, set[str]]:
    """Return the modules that define each public name."""
    found = defaultdict(set)
    for path in modules():
        module = module_name(path)
        for name in public_names(tree_of(path)):
            if not name.startswith("_") and not module.startswith(COMMAND_LINE):
                found[name].add(module)
    return found


def imported_modules() -> dict[str, set[str]]:
    """Return which of our modules each of them imports when it is loaded."""
    trees = {
        f"truckee.{module_name(path)}".removesuffix(".__init__"): tree_of(path)
        for path in modules()
    }
    return {name: set(_loaded(tree)) & trees.keys() for name, tree in trees.items()}


def _loaded(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            # Either a name of a module, or a module of a package.
            parts = {f"{node.module}.{alias.name}" for alias in node.names}
            yield from parts
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def cycle_of(graph: dict[str, set[str]]) -> list[str]:
    """Return modules that import each other in a circle, [] if there are none."""
    done: set[str] = set()

    def walk(name: str, above: list[str]) -> list[str]:
        if name in above:
            return above[above.index(name) :]
        if name in done:
            return []
        for target in sorted(graph[name]):
            found = walk(target, [*above, name])
            if found:
                return found
        done.add(name)
        return []

    return next((found for name in sorted(graph) if (found := walk(name, []))), [])


def test_a_public_name_exists_once() -> None:
    found = homes().items()
    twice = {name: sorted(places) for name, places in found if len(places) > 1}

    assert twice == {}


def test_no_module_is_longer_than_four_hundred_lines() -> None:
    lengths = {
        str(path.relative_to(SOURCE)): len(path.read_text().splitlines()) for path in modules()
    }

    assert {path: length for path, length in lengths.items() if length > LONGEST} == {}


def test_no_folder_has_more_modules_than_can_be_seen_at_once() -> None:
    folders = Counter(path.parent for path in modules() if path.stem != "__init__")

    large = {str(folder): n for folder, n in folders.items() if n > MOST_IN_A_FOLDER}

    assert large == {}


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert cycle_of(imported_modules()) == []


def test_a_circle_is_seen() -> None:
    assert cycle_of({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()}) == ["b", "c"]


def test_no_error_module_is_left_out_of_the_tree() -> None:
    tree = (SOURCE / "errors" / "__init__.py").read_text()
    names = {path.stem for path in Path(SOURCE / "errors").glob("*.py")} - {"__init__"}

    assert {name for name in names if name not in tree} == set()


def test_every_module_on_the_map_is_there() -> None:
    text = (SOURCE.parents[1] / "ARCHITECTURE.md").read_text()
    named = set(re.findall(r"`((?:\w+/)*\w+\.(?:py|java))`", text))

    assert len(named) > 40
    assert {name for name in named if not (SOURCE / name).exists() and "test" not in name} == set()


def test_every_room_is_on_the_map() -> None:
    text = (SOURCE.parents[1] / "ARCHITECTURE.md").read_text()
    rooms = {path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists()}

    assert {room for room in rooms if f"`{room}`" not in text and f"`{room}/" not in text} == set()
