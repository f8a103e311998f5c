"""Build the sdist and from it the wheel, and use the wheel on every supported Python found.

Each Python gets an environment with the dependencies that the wheel names, from the package index,
except pyspark: it is 450 MB, and the commands that are run here must work without it. The oldest
Python gets another one, with the lowest versions that the wheel allows.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "package"


def main() -> int:
    shutil.rmtree(FOLDER, ignore_errors=True)
    print("== sdist, and the wheel that it builds")
    run([sys.executable, "-m", "build", "--outdir", str(FOLDER), str(ROOT)])
    (wheel,) = FOLDER.glob("truckee-*.whl")
    print(*(f"{path.name}, {path.stat().st_size:,} bytes" for path in FOLDER.iterdir()), sep="\n")
    table = small_table(FOLDER / "table")
    pythons = found_pythons()
    for python in pythons:
        try_with(python, wheel, table)
    try_with(pythons[0], wheel, table, lowest=True)
    return 0


def found_pythons() -> list[str]:
    """Return a Python of each supported version that is found."""
    found = [str(ROOT / "scripts" / "find_python.sh"), "all"]
    return subprocess.run(found, check=True, capture_output=True, text=True).stdout.split()


def try_with(python: str, wheel: Path, table: Path, *, lowest: bool = False) -> None:
    version = run([python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"])
    needed = dependencies(wheel)
    if lowest:
        needed = [text.replace(">=", "==") for text in needed]
    print(f"== Python {version}" + (f" with {', '.join(needed)}" if lowest else ""))
    home = FOLDER / f"python-{version}{'-lowest' * lowest}"
    run([python, "-m", "venv", str(home)])
    pip = [str(home / "bin" / "pip"), "install", "--quiet"]
    run([*pip, *needed])
    run([*pip, "--no-deps", str(wheel)])
    truckee = str(home / "bin" / "truckee")
    print(run([truckee, "--version"]))
    shown = run([truckee, "history", str(table), "--utc"])
    print(shown)
    assert shown.splitlines()[1].split() == ["0", "2024-01-01T00:00:00.000Z", "CREATE", "TABLE"]
    assert json.loads(run([truckee, "files", str(table), "--json"]))[0]["path"] == "a.parquet"
    assert run([truckee, "files", "--help"])
    assert run([truckee, "files"], code=2) == ""


def dependencies(wheel: Path) -> list[str]:
    """Return what a wheel needs at least, without pyspark."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(archive.read(name).decode())
    needed = [text for text in metadata.get_all("Requires-Dist", []) if "extra ==" not in text]
    assert any(text.startswith("pyspark") for text in needed), needed
    return [text for text in needed if not text.startswith("pyspark")]


def small_table(root: Path) -> Path:
    """Write the log of a table with one file, as the protocol says."""
    schema = {"type": "struct", "fields": []}
    actions = (
        {"commitInfo": {"timestamp": 1_704_067_200_000, "operation": "CREATE TABLE"}},
        {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
        {
            "metaData": {
                "id": "11111111-2222-3333-4444-555555555555",
                "format": {"provider": "parquet", "options": {}},
                "schemaString": json.dumps(schema),
                "partitionColumns": [],
                "configuration": {},
            }
        },
        {
            "add": {
                "path": "a.parquet",
                "partitionValues": {},
                "size": 1,
                "modificationTime": 1_704_067_200_000,
                "dataChange": True,
            }
        },
    )
    commit = root / "_delta_log" / f"{0:020}.json"
    commit.parent.mkdir(parents=True)
    commit.write_text("".join(f"{json.dumps(action)}\n" for action in actions))
    os.utime(commit, (1_704_067_200, 1_704_067_200))
    return root


def run(command: list[str], *, code: int = 0) -> str:
    """Return what a command prints; if it does not exit with a code, show that and stop."""
    # The package that was installed is tried, not the one that is beside this file.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, capture_output=True, text=True, env=env, cwd="/")
    if done.returncode != code:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
