"""Finding a Java that Spark can run on."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

from truckee.errors.spark import JavaNotFoundError

OLDEST_JAVA = 17
JAVA_FOLDERS = ("/usr/lib/jvm", "/usr/java", "/opt/java", "/Library/Java/JavaVirtualMachines")
_VERSION = re.compile(r'version "(\d+)(?:\.(\d+))?')


def ensure_java(folders: Iterable[str] = JAVA_FOLDERS) -> None:
    """Point JAVA_HOME at a Java of at least version 17, or raise JavaNotFoundError.

    A JAVA_HOME that is new enough is left as it is. Otherwise the `java` on the PATH is tried, then
    the folders where systems install Java; if another one takes the place of JAVA_HOME, there is a
    warning.
    """
    seen: list[str] = []
    wanted = os.environ.get("JAVA_HOME")
    for home in _candidates(folders):
        java = home / "bin" / "java"
        version = _java_version(java) if java.exists() else None
        if version is not None and version >= OLDEST_JAVA:
            os.environ["JAVA_HOME"] = str(home)
            if wanted and Path(wanted) != home:
                none = f"{wanted} has no bin/java that runs"
                reason = next((text for text in seen if text.startswith(f"{wanted} is")), none)
                text = f"JAVA_HOME is not used, since {reason}; {home} (Java {version}) is"
                warnings.warn(text, stacklevel=2)
            return
        if version is not None:
            seen.append(f"{home} is Java {version}")
    raise JavaNotFoundError(found=", ".join(seen) if seen else "none was found")


def _candidates(folders: Iterable[str]) -> Iterator[Path]:
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home)
    if java := shutil.which("java"):
        yield Path(java).resolve().parent.parent
    for folder in map(Path, folders):
        for found in sorted(folder.glob("*"), reverse=True):
            yield found / "Contents" / "Home" if (found / "Contents").exists() else found


def _java_version(java: Path) -> int | None:
    try:
        done = subprocess.run([str(java), "-version"], capture_output=True, text=True, check=False)
    except OSError:
        return None
    found = _VERSION.search(done.stderr + done.stdout)
    if found is None:
        return None
    first, second = int(found[1]), int(found[2] or 0)
    return second if first == 1 else first  # Java 8 calls itself 1.8
