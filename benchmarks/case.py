"""The attributes of a case, read from its module, with defaults.

Only the standard library is imported here and at the top of a case, since a case is loaded in the
environment of every engine.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks import cases

Params = dict[str, Any]
Run = Callable[[Any, Params], Any]


@dataclass(frozen=True)
class Case:
    """One thing to measure, and how each engine does it."""

    name: str
    title: str
    prepare: Callable[[str, Path], Params]
    engines: Mapping[str, Run]
    data_version: int
    is_fresh: bool
    needs_spark: bool
    warmup: int
    repetitions: int
    rounds: Mapping[str, tuple[int, int]]
    imports: Mapping[str, Sequence[str]]
    reset: Run | None
    variants: Mapping[str, Params]
    in_turn: Sequence[str]
    spark_conf: Mapping[str, str]
    notes: Mapping[str, str]

    def groups(self) -> list[list[str]]:
        """Return the variants in the order in which they run, those that run in turn together."""
        alone = [[variant] for variant in self.variants if variant not in self.in_turn]
        return [list(self.in_turn), *alone] if self.in_turn else alone


def case_names() -> list[str]:
    """Return the names of all cases, in order."""
    return sorted(module.name for module in pkgutil.iter_modules(cases.__path__))


def load_case(name: str) -> Case:
    """Return the case of that name."""
    module = import_module(f"benchmarks.cases.{name}")
    return Case(
        name=name,
        title=module.TITLE,
        prepare=module.prepare,
        engines=_engines(module.ENGINES),
        data_version=getattr(module, "DATA_VERSION", 1),
        is_fresh=getattr(module, "FRESH", False),
        needs_spark=getattr(module, "SPARK", False),
        warmup=getattr(module, "WARMUP", 1),
        repetitions=getattr(module, "REPETITIONS", 5),
        rounds=getattr(module, "ROUNDS", {}),
        imports=getattr(module, "IMPORTS", {}),
        reset=getattr(module, "reset", None),
        variants=getattr(module, "VARIANTS", {"": {}}),
        in_turn=getattr(module, "IN_TURN", ()),
        spark_conf=getattr(module, "SPARK_CONF", {}),
        notes=getattr(module, "NOTES", {}),
    )


def _engines(given: Mapping[str, Run]) -> Mapping[str, Run]:
    """Return how each engine does it; another checkout of truckee does what truckee does."""
    return {**given, "truckee-before": given["truckee"]} if "truckee" in given else given
