r"""Patterns of LIKE: `_` is one character, `%` any number of them, and an escape takes both away.

| pattern  | means                     |
|----------|---------------------------|
| `ab`     | is `ab`                   |
| `ab%`    | begins with `ab`          |
| `a_\_%` | by a regular expression   |
"""

from __future__ import annotations

from msgspec import Struct

from truckee.errors.conditions import UnsupportedConditionError

_SPECIAL = frozenset(r"\.^$|?*+()[]{}-&~#")


class Pattern(Struct, frozen=True):
    """What LIKE asks of a text: a regular expression that the whole of it matches.

    `prefix` is what every such text begins with. `is_prefix` says that nothing else is asked.
    """

    regex: str
    prefix: str
    is_prefix: bool


def like_pattern(pattern: str, escape: str, *, condition: str) -> Pattern:
    """Return what a pattern means; an escape must stand before `_`, `%` or itself."""
    regex: list[str] = []
    prefix: list[str] = []
    is_open = True  # whether all so far are plain characters
    characters = iter(pattern)
    for character in characters:
        if character == escape:
            character = next(characters, "")
            if character not in ("_", "%", escape) or not character:
                raise UnsupportedConditionError(
                    condition=condition, what=f"an escape in the pattern {pattern!r} before nothing"
                )
        elif character in "_%":
            is_open = False
            regex.append("." if character == "_" else ".*")
            continue
        regex.append(f"\\{character}" if character in _SPECIAL else character)
        if is_open:
            prefix.append(character)
    text = "".join(prefix)
    is_prefix = regex[len(prefix) :] == [".*"]
    return Pattern(f"(?s)^(?:{''.join(regex)})$", text, is_prefix)
