"""Every text of a page can be read, in light and in dark."""

from __future__ import annotations

import re
from importlib import resources

import pytest

from colours import READABLE, VISIBLE, Colour, colour, contrast, mixed

CSS = (resources.files("truckee.report") / "report.css").read_text()
TEXTS = ("ink", "soft", "insert", "delete")
SHAPES = ("insert", "update", "delete", "water", "none")


def palette(css: str) -> dict[str, Colour]:
    return {name: colour(value) for name, value in re.findall(r"--(\w+): (#\w{6});", css)}


def palettes() -> dict[str, dict[str, Colour]]:
    light, dark = CSS.split("@media (prefers-color-scheme: dark)")
    return {"light": palette(light), "dark": palette(dark)}


@pytest.mark.parametrize("name", ["light", "dark"])
def test_texts_and_shapes_stand_out_from_what_is_behind_them(name: str) -> None:
    found = palettes()[name]

    behind = (found["paper"], found["card"])
    texts = {text: min(contrast(found[text], under) for under in behind) for text in TEXTS}
    shapes = {shape: contrast(found[shape], found["card"]) for shape in SHAPES}
    assert {text for text, ratio in texts.items() if ratio < READABLE} == set()
    assert {shape for shape, ratio in shapes.items() if ratio < VISIBLE} == set()


@pytest.mark.parametrize("name", ["light", "dark"])
@pytest.mark.parametrize("kind", ["insert", "delete"])
def test_a_changed_value_can_be_read_on_its_mark(name: str, kind: str) -> None:
    found = palettes()[name]
    (share,) = re.findall(rf"color-mix\(in srgb, var\(--{kind}\) (\d+)%, transparent\)", CSS)

    mark = mixed(found[kind], found["card"], int(share) / 100)

    assert contrast(found["ink"], mark) >= READABLE


def test_colours_of_text_are_among_those_that_are_checked() -> None:
    used = set(re.findall(r"[{; ]color: ([^;]+);", CSS))
    filled = set(re.findall(r"\.axis \{ fill: ([^;]+);", CSS))

    assert used | filled <= {"inherit", *(f"var(--{name})" for name in TEXTS)}
