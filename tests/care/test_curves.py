"""The curves: values from the protocol's examples, and what makes a curve a Hilbert curve."""

from __future__ import annotations

from itertools import pairwise, product

import pytest

from truckee.care.curves import bits_for, hilbert_machine, spread_bits


def z_order(point: tuple[int, ...], bits: int) -> int:
    """Return the position of a point on the Z-order curve, by the table that plans look up."""
    spread = spread_bits(len(point), bits)
    last = len(point) - 1
    return sum(spread[number] << (last - index) for index, number in enumerate(point))


def hilbert(point: tuple[int, ...], bits: int) -> int:
    """Return the position of a point on the Hilbert curve, by the machine that plans look up."""
    z = z_order(point, bits)
    machine = hilbert_machine(len(point), bits)
    mask = (1 << machine.chunk) - 1
    found, state = 0, 0
    for shift in range(len(point) * bits - machine.chunk, -1, -machine.chunk):
        step = machine.steps[state << machine.chunk | ((z >> shift) & mask)]
        state, found = step >> machine.chunk, found << machine.chunk | (step & mask)
    return found


@pytest.mark.parametrize(
    ("point", "bits", "expected"),
    [
        ((1, 0), 10, 0x2),
        ((0, 1), 10, 0x1),
        ((5, 3), 10, 0x27),
        ((999, 1, 512), 10, 0x2C920126),
        ((7,), 10, 7),
    ],
)
def test_z_order_lets_the_bits_of_columns_take_turns(
    point: tuple[int, ...], bits: int, expected: int
) -> None:
    assert z_order(point, bits) == expected


@pytest.mark.parametrize(("columns", "bits"), [(2, 1), (2, 4), (3, 3), (4, 2), (4, 3)])
def test_a_hilbert_curve_visits_every_point_once_and_never_jumps(columns: int, bits: int) -> None:
    points = list(product(range(1 << bits), repeat=columns))

    path = sorted(points, key=lambda point: hilbert(point, bits))

    assert sorted(hilbert(point, bits) for point in points) == list(range(len(points)))
    steps = [sum(abs(a - b) for a, b in zip(p, q, strict=True)) for p, q in pairwise(path)]
    assert set(steps) == {1}


def test_tables_stay_short() -> None:
    assert [len(hilbert_machine(columns, 10).steps) for columns in (2, 3, 4)] < [70_000] * 3
    assert all(hilbert_machine(columns, 10).chunk <= 10 for columns in (2, 3, 4))


def test_all_columns_together_fit_into_a_key() -> None:
    assert [bits_for(columns, 1000) for columns in (1, 2, 5, 6, 54)] == [10, 10, 10, 9, 1]
