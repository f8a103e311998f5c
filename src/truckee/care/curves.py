"""Space-filling curves over small integers, as lookup tables: pure functions.

A point has one number per column: the range that the column's value is in. Two curves put points in
an order in which neighbours mostly stay neighbours:

- **Z-order**: the bits of the numbers are interleaved, from the most significant on. With 3 bits,
  (5, 3) is 101 and 011, which is 10 01 11 = 39.
- **Hilbert**: a curve without jumps. A state machine computes it from the Z-order number, some bits
  at a time; the state is the rotation of the curve in the current part of space (Hamilton and
  Rau-Chaplin, "Compact Hilbert indices").

In query plans both are lookups in short arrays: one spreads the bits of a number, the other has the
steps of the state machine.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

MAX_KEY_BITS = 54
_CHUNK_BITS = 10


def bits_for(num_columns: int, num_ranges: int) -> int:
    """Return how many bits each column gets, so that all of them fit into a key."""
    return max(1, min((num_ranges - 1).bit_length(), MAX_KEY_BITS // num_columns))


def spread_bits(num_columns: int, bits: int) -> list[int]:
    """Return, for each number below `2**bits`, its bits with gaps for those of the other columns.

    With two columns, 101 becomes 1 0 0 0 1 = 10001.
    """
    return [
        sum(((number >> bit) & 1) << (bit * num_columns) for bit in range(bits))
        for number in range(1 << bits)
    ]


class Machine(NamedTuple):
    """Turns the next bits of a Z-order number into bits of a Hilbert number.

    `steps[state << chunk | bits]` is `next_state << chunk | result`; `chunk` bits are processed at
    once, and 0 is the initial state.
    """

    chunk: int
    steps: tuple[int, ...]


@cache
def hilbert_machine(num_columns: int, bits: int) -> Machine:
    """Return the machine for points with this many columns; a chunk divides all their bits."""
    levels = next(n for n in range(bits, 0, -1) if bits % n == 0 and n * num_columns <= _CHUNK_BITS)
    chunk = levels * num_columns
    states = {(0, 0): 0}
    pending = [(0, 0)]
    results: dict[int, int] = {}
    while pending:
        state = pending.pop()
        for z in range(1 << chunk):
            now, h = state, 0
            for level in range(levels - 1, -1, -1):
                corner = (z >> (level * num_columns)) & ((1 << num_columns) - 1)
                now, digit = _step(now, corner, num_columns)
                h = h << num_columns | digit
            if now not in states:
                states[now] = len(states)
                pending.append(now)
            results[states[state] << chunk | z] = states[now] << chunk | h
    return Machine(chunk, tuple(results[index] for index in range(len(states) << chunk)))


def _step(state: tuple[int, int], corner: int, n: int) -> tuple[tuple[int, int], int]:
    """Return the next state and the number of the sub-cube at a corner of a cube.

    A state is the corner where the curve enters a cube, and the axis along which it leaves.
    """
    entry, axis = state
    digit = _gray_inverse(_rotated(corner ^ entry, -(axis + 1), n))
    entry ^= _rotated(_entry(digit), axis + 1, n)
    axis = (axis + _direction(digit, n) + 1) % n
    return (entry, axis), digit


def _entry(digit: int) -> int:
    return 0 if digit == 0 else _gray(2 * ((digit - 1) // 2))


def _direction(digit: int, n: int) -> int:
    if digit == 0:
        return 0
    return _trailing_ones(digit if digit % 2 else digit - 1) % n


def _trailing_ones(number: int) -> int:
    return (~number & (number + 1)).bit_length() - 1


def _gray(number: int) -> int:
    return number ^ (number >> 1)


def _gray_inverse(code: int) -> int:
    number = 0
    while code:
        number ^= code
        code >>= 1
    return number


def _rotated(bits: int, by: int, n: int) -> int:
    """Return n bits rotated to the left; to the right if `by` is negative."""
    by %= n
    return (bits << by | bits >> (n - by)) & ((1 << n) - 1)
