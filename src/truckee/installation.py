"""truckee.install(): programs that were written for delta-spark run on truckee, unchanged.

Sessions are enabled as they start (see `truckee.enable`), and imports of delta-spark's modules give
truckee's. Only this process is changed. `uninstall` restores everything, except that sessions
which are already enabled stay so.
"""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

from pyspark.sql import SparkSession

from truckee.delta_modules import DeltaSparkFinder, delta_modules
from truckee.doors.enable import enable
from truckee.errors.spark import DeltaJarPresentError
from truckee.spark.session.arguments import is_connect_process, is_of_connect
from truckee.spark.session.session import start_without_delta_classes

_PACKAGES = "spark.jars.packages"
_DELTA_PACKAGES = tuple(f"io.delta:delta-{name}" for name in ("core", "spark", "storage"))


class _Installed(NamedTuple):
    """What `install` replaced."""

    start: Callable[..., SparkSession]
    make: Callable[..., None]
    finder: DeltaSparkFinder
    modules: dict[str, ModuleType | None]


_installed: _Installed | None = None


def install() -> None:
    """Let code written for delta-spark run on truckee in this process; calling it twice is fine.

    From now on, the running session and each new one is enabled: truckee runs SQL about Delta
    tables and `format("delta")`, and `from delta.tables import DeltaTable` imports truckee's class.
    If a builder names delta-spark in `spark.jars.packages`, that package is not fetched, with a
    warning. Raises `DeltaJarPresentError` if the running session has Delta's own JAR. A session
    that is started later with that JAR is left alone, with a warning. A session of Spark Connect is
    left alone, too: its server has to be one of `truckee.serve`.
    """
    global _installed
    if _installed is not None:
        return
    session = SparkSession.getActiveSession()
    if session is not None and not is_of_connect(session, SparkSession):
        enable(session)
    before = _Installed(
        SparkSession.Builder.getOrCreate, SparkSession.__init__, DeltaSparkFinder(), {}
    )
    SparkSession.Builder.getOrCreate = _starting(before.start)  # type: ignore[method-assign]
    SparkSession.__init__ = _making(before.make)  # type: ignore[method-assign]
    for name in [name for name in sys.modules if name == "delta" or name.startswith("delta.")]:
        before.modules[name] = sys.modules.pop(name)
    for name, module in delta_modules().items():
        before.modules.setdefault(name, None)
        sys.modules[name] = module
    # The last place, so that a delta-spark which is installed tells its own version.
    sys.meta_path.append(before.finder)
    _installed = before


def uninstall() -> None:
    """Restore everything that `install` changed; without `install`, nothing happens."""
    global _installed
    if _installed is None:
        return
    SparkSession.Builder.getOrCreate = _installed.start  # type: ignore[method-assign]
    SparkSession.__init__ = _installed.make  # type: ignore[method-assign]
    for name, module in _installed.modules.items():
        if module is None:
            sys.modules.pop(name, None)
        else:
            sys.modules[name] = module
    sys.meta_path.remove(_installed.finder)
    _installed = None


def _starting(original: Callable[..., SparkSession]) -> Callable[..., SparkSession]:
    @functools.wraps(original)
    def getOrCreate(self: Any) -> SparkSession:
        _leave_out_delta_packages(self._options)
        session = start_without_delta_classes(self._options, lambda: original(self))
        return session if is_of_connect(session, SparkSession) else _enabled(session)

    return getOrCreate


def _leave_out_delta_packages(options: dict[str, Any]) -> None:
    """Remove delta-spark from the packages to fetch, and say so.

    Programs name the version that they were written with, which is seldom one for this Spark.
    """
    names = [name.strip() for name in str(options.get(_PACKAGES, "")).split(",")]
    left_out = [name for name in names if name.startswith(_DELTA_PACKAGES)]
    if not left_out:
        return
    options[_PACKAGES] = ",".join(name for name in names if name not in left_out)
    if not options[_PACKAGES]:
        del options[_PACKAGES]
    warnings.warn(
        f"{', '.join(left_out)} is left out of {_PACKAGES}, since truckee.install() takes its "
        "place; call truckee.uninstall() first to use it",
        stacklevel=3,
    )


def _making(original: Callable[..., None]) -> Callable[..., None]:
    """Return a constructor that enables sessions made from a context, without a builder."""

    @functools.wraps(original)
    def make(
        self: SparkSession, sparkContext: Any, jsparkSession: Any = None, *rest: Any, **named: Any
    ) -> None:
        original(self, sparkContext, jsparkSession, *rest, **named)
        if jsparkSession is None and not is_connect_process():
            _enabled(self)

    return make


def _enabled(session: SparkSession) -> SparkSession:
    try:
        return enable(session)
    except DeltaJarPresentError as error:
        warnings.warn(error.sentence(), stacklevel=3)
        return session
