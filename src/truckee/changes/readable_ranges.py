"""Which parts of a range can be read, if one schema cannot read all of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from truckee.changes.read_schema import ReadSchema, incompatibility, read_schema
from truckee.options.feed import SchemaMode


@dataclass(frozen=True)
class SchemaChoice:
    """The choice of the schema for a range: the mode, and the version analyzed.

    Unless the user chose it, the version analyzed is the latest one whenever a feed is opened.
    """

    mode: SchemaMode
    analyzed: ReadSchema
    is_chosen: bool = False

    def anew(self, latest: ReadSchema) -> SchemaChoice:
        """Return the choice for the next time that a feed is opened."""
        if self.is_chosen or latest.version <= self.analyzed.version:
            return self
        return replace(self, analyzed=latest)


def readable_ranges(
    history: Sequence[ReadSchema], end: int, choice: SchemaChoice
) -> tuple[tuple[int, int], ...]:
    """Return the fewest ranges up to `end` that can each be read by itself.

    `history` is the metadata at the start, and each later one. The ranges have no gap between them,
    and the last one ends at `end`; versions before the first range cannot be read in this way. With
    a column renamed at version 2, the parts of 0..3 are 0..1 and 2..3.
    """
    ranges: list[tuple[int, int]] = []
    choice = choice.anew(history[-1])
    left = [at for at in history if at.version <= end]
    while left:
        first = _first_readable(left, end, choice)
        if first is None:
            break
        ranges.insert(0, (left[first].version, end))
        end = left[first].version - 1
        left = left[:first]
    return tuple(ranges)


def _first_readable(history: Sequence[ReadSchema], end: int, choice: SchemaChoice) -> int | None:
    """Return the start of the longest readable range that ends here, None if there is none."""
    found = None
    for index in reversed(range(len(history))):
        if not _is_readable(history[index:], end, choice):
            break
        found = index
    return found


def _is_readable(history: Sequence[ReadSchema], end: int, choice: SchemaChoice) -> bool:
    last = ReadSchema(end, history[-1].configuration)
    read = read_schema(choice.mode, start=history[0], end=last, analyzed=choice.analyzed)
    return all(
        at.configuration.properties.enable_change_data_feed and incompatibility(read, at) is None
        for at in history
    )
