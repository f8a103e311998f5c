"""What is shipped: light to import, whole, and of one version."""

from __future__ import annotations

import fnmatch
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import truckee

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
    assert callable(getattr(truckee, name))
    assert getattr(truckee, name) is getattr(truckee, name)


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
