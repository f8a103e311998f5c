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
from functools import cache
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
    assert repr(table.rows()).startswith("ArrowRows(0 files, columns id")


def write_table(path: Path) -> None:
    create_table(LocalStorage(str(path)))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'truckee' has no attribute 'nonsense'"):
        truckee.nonsense  # noqa: B018


def test_the_version_is_that_of_the_project() -> None:
    assert PROJECT["project"]["dynamic"] == ["version"]
    assert PROJECT["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "truckee.__version__"}
    assert f"## {truckee.__version__}" in (ROOT / "CHANGELOG.md").read_text()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this source, built without downloads."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("*.egg-info"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    subprocess.run([*build, str(source)], check=True, capture_output=True)
    (found,) = folder.glob("truckee-*.whl")
    return found


@pytest.mark.slow
def test_the_wheel_holds_java_types_and_licence(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    shipped = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src").rglob("*.java")}
    assert shipped
    assert shipped <= set(names)
    assert "truckee/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert wheel.name == f"truckee-{truckee.__version__}-py3-none-any.whl"


SUPPORTED = ("3.10", "3.11", "3.12", "3.13")

_TRY = """
import compileall, sys
from importlib.metadata import metadata
from pathlib import Path
import truckee
assert Path(truckee.__file__).is_relative_to(sys.prefix), truckee.__file__
about = metadata("truckee")
print("%d.%d" % sys.version_info[:2], about["Version"], about["Requires-Python"])
sys.exit(not compileall.compile_dir(Path(truckee.__file__).parent, quiet=1, force=True))
"""


@pytest.mark.slow
@pytest.mark.parametrize("version", SUPPORTED)
def test_the_wheel_installs_and_compiles_on_every_supported_python(
    version: str, wheel: Path, tmp_path: Path
) -> None:
    python = pythons_found().get(version)
    if python is None:
        pytest.skip(f"scripts/find_python.sh finds no Python {version}")
    # An environment without pip is made in no time; pip of this one installs into it.
    subprocess.run([python, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True)
    its_python = str(tmp_path / "venv" / "bin" / "python")
    pip = [sys.executable, "-m", "pip", "--python", its_python, "install", "--quiet"]
    # A truckee that is found beside these tests would count as installed.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    install = [*pip, "--no-deps", "--no-index", "--no-compile", str(wheel)]
    subprocess.run(install, check=True, env=env)

    # Warnings are errors: an escape or a comparison that a newer Python finds doubtful is one.
    tried = subprocess.run(
        [its_python, "-I", "-W", "error", "-c", _TRY], capture_output=True, text=True
    )

    assert (tried.stdout, tried.stderr, tried.returncode) == (
        f"{version} {truckee.__version__} >=3.10\n",
        "",
        0,
    )
    assert (tmp_path / "venv" / "bin" / "truckee").exists()


@cache
def pythons_found() -> dict[str, str]:
    """Return the supported Pythons of this machine by version."""
    found = subprocess.run(
        [ROOT / "scripts" / "find_python.sh", "all"], capture_output=True, text=True
    )
    ask = ("-c", "import sys; print('%d.%d' % sys.version_info[:2])")
    paths = found.stdout.split()
    return {subprocess.check_output([path, *ask], text=True).strip(): path for path in paths}


def test_supported_pythons_are_the_ones_that_the_project_names() -> None:
    named = [c.rpartition(" ")[2] for c in PROJECT["project"]["classifiers"] if "3." in c]

    assert named == list(SUPPORTED)
    assert PROJECT["project"]["requires-python"] == f">={SUPPORTED[0]}"


def test_every_file_that_is_no_module_is_shipped() -> None:
    patterns = PROJECT["tool"]["setuptools"]["package-data"]["*"]
    others = [
        path.name
        for path in (ROOT / "src").rglob("*")
        if path.is_file() and path.suffix not in (".py", ".pyc") and ".egg-info" not in str(path)
    ]

    assert "py.typed" in others
    assert [n for n in others if not any(fnmatch.fnmatch(n, p) for p in patterns)] == []
