r"""Patterns of LIKE: `_` is one character, `%` any number of them; an escape makes them literal.

| pattern  | means                     |
|----------|---------------------------|
| `ab`     | equals `ab`               |
| `ab%`    | starts with `ab`          |
| `a_\_%` | matches a regex           |
"""

from __future__ import annotations

from msgspec import Struct

from truckee.errors.conditions import UnsupportedConditionError

# RE2, which matches the patterns, refuses programs that are too long.
_LONGEST = 50_000
_SPECIAL = frozenset(r"\.^$|?*+()[]{}-&~#")


class Pattern(Struct, frozen=True):
    """A pattern of LIKE as a regular expression that must match the whole text.

    Every matching text starts with `prefix`. `is_prefix` says that this is the whole condition.
    """

    regex: str
    prefix: str
    is_prefix: bool


def like_pattern(pattern: str, escape: str, *, condition: str) -> Pattern:
    """Return the pattern of a text; an escape must come before `_`, `%` or itself."""
    if len(pattern) > _LONGEST:
        what = f"a pattern of more than {_LONGEST} characters"
        raise UnsupportedConditionError(condition=condition, what=what)
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
