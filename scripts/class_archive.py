"""Prints where Spark's loaded classes are archived, for tests whose JVMs start in half the time.

`python -m scripts.class_archive` makes the archive in `build/` if there is none for this Java and
this PySpark. Slow tests start some forty JVMs, in several ways, so the archive reaches them by
JDK_JAVA_OPTIONS (see tests/conftest.py), and users' own archives are neither used nor made.

`--if-made` prints the path only if the archive is there: for tests that start too few JVMs to pay
for it.
"""

from __future__ import annotations

import sys
from pathlib import Path

from truckee.spark.session.class_archive import archive_name, make_archive

FOLDER = Path(__file__).resolve().parents[1] / "build"


def main() -> None:
    """Print the path of the archive, after making it if it is missing; nothing if it cannot be."""
    archive = FOLDER / archive_name()
    if "--if-made" in sys.argv[1:] and not archive.exists():
        return
    FOLDER.mkdir(exist_ok=True)
    options = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    if not archive.exists() and not make_archive(archive, java_options=options):
        print("no archive of Spark's classes could be made; tests start slower", file=sys.stderr)
        return
    print(archive)


if __name__ == "__main__":
    main()
