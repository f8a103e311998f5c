"""Pictures of the documentation can be read, on a light page and on a dark one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from colours import READABLE, VISIBLE, colour, contrast
from scripts.generated_docs import ROOT

PICTURES = sorted((ROOT / "docs" / "images").glob("*.svg"))
LIGHT, DARK = "#ffffff", "#1e2129"
SVG = "{http://www.w3.org/2000/svg}"


def rules(css: str, what: str) -> dict[str, str]:
    """Return the colour of each selector; a stroke or a fill."""
    return dict(re.findall(rf"([.\w]+)\{{[^}}]*\b{what}:(#\w{{6}})", css))


def sheets(picture: str) -> Iterator[tuple[str, str, str]]:
    """Return the page behind, and the rules of it, later ones stronger."""
    (css,) = re.findall("<style>(.*?)</style>", picture, re.DOTALL)
    light, dark = css.split("@media (prefers-color-scheme: dark)")
    yield LIGHT, light, ""
    yield DARK, light, dark


def colours_of(css: tuple[str, str], what: str) -> dict[str, str]:
    return {**rules(css[0], what), **rules(css[1], what)}


@pytest.mark.parametrize("place", PICTURES, ids=lambda place: place.name)
def test_every_text_and_line_of_a_picture_stands_out(place: Path) -> None:
    picture = place.read_text()
    root = ET.fromstring(picture)
    texts = {f".{text.get('class')}" for text in root.iter(f"{SVG}text")}

    for behind, *css in sheets(picture):
        fills = colours_of((css[0], css[1]), "fill")
        ratios = {
            name: contrast(colour(fills.get(name, fills["text"])), colour(behind)) for name in texts
        }
        strokes = {
            name: contrast(colour(value), colour(behind))
            for name, value in colours_of((css[0], css[1]), "stroke").items()
            if name.startswith(".s") or name == ".arrow"
        }
        assert {name for name, ratio in ratios.items() if ratio < READABLE} == set()
        assert {name for name, ratio in strokes.items() if ratio < VISIBLE} == set()


@pytest.mark.parametrize("place", PICTURES, ids=lambda place: place.name)
def test_a_picture_says_what_it_shows(place: Path) -> None:
    root = ET.fromstring(place.read_text())

    assert root.get("role") == "img"
    assert root.findtext(f"{SVG}title")
