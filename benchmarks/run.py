"""Runs cases on every engine that can do them: `python -m benchmarks.run --case log_snapshot`."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from rich.console import Console

from benchmarks import results
from benchmarks.case import Case, Params, case_names, load_case
from benchmarks.engines import (
    BEFORE,
    CACHE,
    ENGINES,
    RUN_LIMIT_S,
    EngineError,
    EngineMissingError,
    EngineProcess,
    Measurement,
    prepare_engine,
)

# A pipe has no width of its own; a table that is cut says nothing.
console = Console() if sys.stdout.isatty() else Console(width=120)


def main() -> int:
    """Run what the arguments name, keep and show the results."""
    arguments = _arguments()
    names = arguments.case.split(",") if arguments.case else case_names()
    if arguments.variant and not any(arguments.variant in load_case(n).variants for n in names):
        console.print(f"no case of {', '.join(names)} has the variant {arguments.variant}")
        return 2
    rows: list[results.Row] = []
    for name in names:
        case = load_case(name)
        found = Runner(case, arguments.scale, arguments).rows()
        # A comparison with another checkout is not a result of this one.
        if all(row.engine != BEFORE for row in found):
            results.merge(found)
        rows += found
    results.show(rows, console)
    console.print(f"written to {results.LATEST.relative_to(Path.cwd())}", highlight=False)
    return int(any(row.note.startswith("failed") for row in rows))


class Runner:
    """One case at one scale."""

    def __init__(self, case: Case, scale: str, arguments: argparse.Namespace) -> None:
        self._case, self._scale = case, scale
        self._asked = arguments.warmup, arguments.repetitions
        self._warmup, self._repetitions = self._rounds("")
        self._limit_s = arguments.limit
        self._variant = arguments.variant
        wanted = arguments.engines.split(",") if arguments.engines else set(ENGINES) - {BEFORE}
        self._engines = [e for e in ENGINES if e in case.engines and e in wanted]
        self._versions: dict[str, str] = {}
        self._measured: dict[str, list[Measurement]] = {}
        self._failed: dict[str, str] = {}

    def rows(self) -> list[results.Row]:
        """Run the case and return a row for each variant and engine that took part or failed."""
        case = self._case
        process = "a fresh process each time" if case.is_fresh else "one process an engine"
        console.print(
            f"[bold]{case.name}[/] ({self._scale}): {case.title}\n"
            f"  {self._warmup} warm-up, {self._repetitions} repetitions, {process}, "
            f"engines in turn: {', '.join(self._engines)}",
            highlight=False,
        )
        params = prepared(case, self._scale)
        with ExitStack() as stack:
            workers = self._workers(stack)
            not_started = dict(self._failed)
            found = []
            for variants in self._groups():
                taken: dict[str, tuple[dict[str, list[Measurement]], dict[str, str]]] = {
                    variant: ({}, dict(not_started)) for variant in variants
                }
                self._warmup, self._repetitions = self._rounds(variants[0])
                if variants[0]:
                    console.print(f"  [bold]{', '.join(variants)}[/]", highlight=False)
                for turn in range(self._warmup + self._repetitions):
                    for variant in variants:
                        self._measured, self._failed = taken[variant]
                        self._take_turns(turn, workers, {**params, **case.variants[variant]})
                for variant in variants:
                    self._measured, self._failed = taken[variant]
                    self._compare_answers()
                    found += self._rows(variant)
        return found

    def _groups(self) -> list[list[str]]:
        """Return the variants to run: those with the one that was asked for, if there is one."""
        groups = self._case.groups()
        return [group for group in groups if self._variant in group] or groups

    def _rounds(self, variant: str) -> tuple[int, int]:
        """Return how often a variant runs before it is measured, and how often it is measured."""
        case, (warmup, repetitions) = self._case, self._asked
        own = case.rounds.get(variant, (case.warmup, case.repetitions))
        return own[0] if warmup is None else warmup, repetitions or own[1]

    def _take_turns(self, turn: int, workers: Mapping[str, EngineProcess], params: Params) -> None:
        # The first engine finds the coldest caches, so the engines take turns at being first.
        first = turn % max(1, len(self._engines))
        for engine in self._engines[first:] + self._engines[:first]:
            if engine not in self._failed:
                self._take_turn(turn, engine, workers.get(engine), params)

    def _workers(self, stack: ExitStack) -> dict[str, EngineProcess]:
        workers = {}
        for engine in list(self._engines):
            try:
                prepare_engine(engine, self._case)
                worker = stack.enter_context(EngineProcess(engine, self._case, self._limit_s))
            except EngineMissingError as missing:
                console.print(f"  {engine} left out: {missing}", highlight=False)
                self._engines.remove(engine)
                continue
            except EngineError as error:
                self._failed[engine] = f"failed to start: {error}"
                continue
            self._versions[engine] = worker.version
            if self._case.is_fresh:
                worker.close()
            else:
                workers[engine] = worker
        return workers

    def _take_turn(
        self, turn: int, engine: str, worker: EngineProcess | None, params: Params
    ) -> None:
        try:
            if worker is None:
                with EngineProcess(engine, self._case, self._limit_s) as fresh:
                    measured = fresh.measure(params)
            else:
                measured = worker.measure(params)
        except EngineError as error:
            self._failed[engine] = f"failed: {error}"
            console.print(f"  {engine} {self._failed[engine]}", highlight=False, markup=False)
            return
        kind = "warm-up" if turn < self._warmup else f"run {turn - self._warmup + 1}"
        console.print(
            f"  {kind:8} {engine:14} {measured.seconds:8.3f} s {measured.peak_mb:7.0f} MB",
            highlight=False,
        )
        if turn >= self._warmup:
            self._measured.setdefault(engine, []).append(measured)

    def _compare_answers(self) -> None:
        answers = {engine: runs[0].answer for engine, runs in self._measured.items()}
        # A run without an answer has nothing to compare: it only reads rows, or shows the limit.
        reference = next((answer for answer in answers.values() if answer is not None), None)
        for engine, answer in answers.items():
            if answer is not None and answer != reference:
                self._failed[engine] = f"failed: answered {answer}, not {reference}"

    def _rows(self, variant: str) -> list[results.Row]:
        name = f"{self._case.name}: {variant}" if variant else self._case.name
        took_part = [e for e in self._engines if e in self._measured or e in self._failed]
        return [self._row(name, engine) for engine in took_part]

    def _row(self, name: str, engine: str) -> results.Row:
        runs = self._measured.get(engine, [])
        return results.Row(
            case=name,
            scale=self._scale,
            engine=engine,
            version=self._versions.get(engine, ""),
            seconds=[round(run.seconds, 4) for run in runs],
            peak_mb=round(max(run.peak_mb for run in runs), 1) if runs else None,
            note=self._failed.get(engine) or self._case.notes.get(engine, ""),
        )


def prepared(case: Case, scale: str) -> Params:
    """Return the parameters of the case's data, generated unless a former run has left it."""
    workdir = CACHE / "data" / f"{case.name}-{scale}-v{case.data_version}"
    marker = workdir / "ready.json"
    if not marker.exists():
        console.print(f"  generating its data in {workdir.relative_to(CACHE.parent)}")
        shutil.rmtree(workdir, ignore_errors=True)
        workdir.mkdir(parents=True)
        params = case.prepare(scale, workdir)
        marker.write_text(json.dumps(params))
    loaded: Params = json.loads(marker.read_text())
    return loaded


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--case", help=f"some of {', '.join(case_names())}")
    parser.add_argument("--scale", choices=("small", "full"), default="small")
    parser.add_argument("--engines", help=f"some of {', '.join(ENGINES)}")
    parser.add_argument("--variant", help="one variant, in the cases that have it")
    parser.add_argument("--warmup", type=int)
    parser.add_argument("--repetitions", type=int)
    parser.add_argument("--limit", type=int, default=RUN_LIMIT_S, help="seconds a run may take")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
