"""What is shipped: light to import, whole, and of one version."""

from __future__ import annotations

import fnmatch
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import truckee
from docs_blocks import blocks
from staging import create_table
from truckee.storage.local import LocalStorage

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def loaded_by(statement: str) -> set[str]:
    """Return the top-level modules that a fresh interpreter has after a statement."""
    code = f"import sys; {statement}; print(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_truckee_imports_neither_spark_nor_arrow() -> None:
    assert not loaded_by("import truckee") & {"pyspark", "py4j", "pyarrow", "pandas", "numpy"}


def test_the_log_needs_no_spark() -> None:
    assert not loaded_by("import truckee.changes.plan, truckee.report") & {"pyspark", "py4j"}


@pytest.mark.parametrize("name", truckee.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert callable(getattr(truckee, name)) or name == "errors"
    assert getattr(truckee, name) is getattr(truckee, name)


def documented_imports() -> Iterator[tuple[str, str]]:
    """Yield what every example of a page and every example script imports from truckee."""
    scripts = [(path.name, path.read_text()) for path in (ROOT / "examples").rglob("*.py")]
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    parts = [(p.name, block.code) for p in pages for block in blocks(p) if block.kind == "python"]
    for name, text in (*scripts, *parts):
        yield from ((name, found[1]) for found in _IMPORT.finditer(text))


_IMPORT = re.compile(r"^\s*(?:from|import) (truckee[\w.]*)", re.MULTILINE)


def test_documentation_imports_public_modules_only() -> None:
    found = list(documented_imports())

    assert len(found) > 20
    assert [each for each in found if each[1] not in ("truckee", "truckee.errors")] == []


def test_what_users_hold_tells_what_it_is(tmp_path: Path) -> None:
    write_table(tmp_path / "t")
    table = truckee.open(str(tmp_path / "t"))

    assert repr(table) == f"truckee.open('{tmp_path}/t')"
    assert "<td" in table._repr_html_()
    assert "CREATE TABLE" in table._repr_html_()
    assert repr(table.rows()).startswith(f"ArrowRows('{tmp_path}/t', 0 files, columns id")


def write_table(path: Path) -> None:
    create_table(LocalStorage(str(path)))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'truckee' has no attribute 'nonsense'"):
        truckee.nonsense  # noqa: B018


def test_the_version_is_that_of_the_project() -> None:
    assert PROJECT["project"]["dynamic"] == ["version"]
    assert PROJECT["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "truckee.__version__"}
    assert f"## {truckee.__version__}" in (ROOT / "CHANGELOG.md").read_text()


@pytest.mark.slow
def test_the_wheel_holds_java_types_and_licence_and_installs(tmp_path: Path) -> None:
    source = tmp_path / "source"
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("*.egg-info"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path)]
    subprocess.run([*build, str(source)], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("truckee-*.whl")

    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path / "installed")
    shipped = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src").rglob("*.java")}
    assert shipped
    assert shipped <= set(names)
    assert "truckee/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    program = "import truckee; print(truckee.__file__, truckee.__version__)"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "installed")},
        capture_output=True,
        text=True,
        check=True,
    )
    place, version = done.stdout.split()
    assert place.startswith(str(tmp_path / "installed"))
    assert wheel.name == f"truckee-{version}-py3-none-any.whl"


def test_every_file_that_is_no_module_is_shipped() -> None:
    patterns = PROJECT["tool"]["setuptools"]["package-data"]["*"]
    others = [
        path.name
        for path in (ROOT / "src").rglob("*")
        if path.is_file() and path.suffix not in (".py", ".pyc") and ".egg-info" not in str(path)
    ]

    assert "py.typed" in others
    assert [n for n in others if not any(fnmatch.fnmatch(n, p) for p in patterns)] == []
