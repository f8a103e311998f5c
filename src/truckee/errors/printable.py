"""Text that may come from a table, made safe for a terminal."""

from __future__ import annotations


def printable(text: str, *, keep: str = "") -> str:
    r"""Return a text with all that a terminal does not just show spelled out, as in `\x1b`.

    Those are control characters, which may move the cursor, hide text or type commands, and marks
    that turn the direction of text. The characters in `keep` stay.
    """
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char in keep else char.encode("unicode_escape").decode()
        for char in text
    )


def printable_json(text: str) -> str:
    r"""Return JSON with the same characters escaped as JSON does, `\u001b`.

    Such characters stand inside strings only, but for the line breaks of a text that is indented.
    """
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char == "\n" else _json_escape(char) for char in text
    )


def _json_escape(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))
