"""Text that may come from a table, made safe for a terminal."""

from __future__ import annotations


def printable(text: str, *, keep: str = "") -> str:
    r"""Return a text with characters that could control a terminal escaped, as in `\x1b`.

    These are control characters, which may move the cursor, hide text or type commands, and marks
    that change the direction of text. The characters in `keep` stay.
    """
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char in keep else char.encode("unicode_escape").decode()
        for char in text
    )


def printable_json(text: str) -> str:
    r"""Return JSON with the same characters escaped the JSON way, as in `\u001b`.

    Such characters occur only inside strings, apart from the line breaks of indented JSON.
    """
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char == "\n" else _json_escape(char) for char in text
    )


def _json_escape(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))
