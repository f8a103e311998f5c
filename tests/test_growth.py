"""The growth curves that the documentation shows keep the rule that it states."""

from __future__ import annotations

import statistics
from collections import defaultdict
from itertools import pairwise

import pytest

from benchmarks.curves import CURVES, Point, load_points

# What a noisy machine may add to a point.
TOLERANCE = 1.3
# Below, a run is mostly what every query costs.
COUNTED_S = 0.5


def lines() -> dict[tuple[str, str], list[Point]]:
    found = defaultdict(list)
    for point in load_points():
        found[point.curve, point.operation].append(point)
    return found


def driver_mb(point: Point) -> float:
    return point.heap_mb + point.python_mb


@pytest.mark.parametrize(
    ("curve", "operation"), [(name, run) for name, curve in CURVES.items() for run in curve.runs]
)
def test_time_and_driver_memory_grow_no_faster_than_the_work(curve: str, operation: str) -> None:
    points = lines()[curve, operation]

    assert [point.x for point in points] == list(CURVES[curve].points["full"])
    for smaller, larger in pairwise(points):
        work = larger.x / smaller.x
        before, after = (statistics.median(point.cpu_seconds) for point in (smaller, larger))
        assert after <= TOLERANCE * work * max(before, COUNTED_S), larger
        assert driver_mb(larger) <= TOLERANCE * work * driver_mb(smaller), larger


@pytest.mark.parametrize("operation", ["read", "feed"])
def test_driver_memory_does_not_grow_with_deleted_rows_that_are_read(operation: str) -> None:
    held = [driver_mb(point) for point in lines()["deleted", operation]]

    assert max(held) <= TOLERANCE * held[0]
