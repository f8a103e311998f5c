"""How well a text can be read: the contrast of two colours, as WCAG 2 defines it."""

from __future__ import annotations

READABLE = 4.5
VISIBLE = 3.0

Colour = tuple[float, float, float]


def colour(text: str) -> Colour:
    """Return red, green and blue of `#1e2129`, each from 0 to 255."""
    digits = text.removeprefix("#")
    assert len(digits) == 6, text
    return (int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:], 16))


def mixed(over: Colour, under: Colour, share: float) -> Colour:
    """Return a colour that covers another one by a share."""
    red, green, blue = (a * share + b * (1 - share) for a, b in zip(over, under, strict=True))
    return (red, green, blue)


def contrast(one: Colour, other: Colour) -> float:
    """Return 1 for equal colours, and 21 for black on white."""
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(of: Colour) -> float:
    red, green, blue = (_linear(value / 255) for value in of)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(value: float) -> float:
    return value / 12.92 if value <= 0.03928 else float(((value + 0.055) / 1.055) ** 2.4)
