"""The changelog has the sections that CONTRIBUTING.md names, and tells users what there is."""

from __future__ import annotations

import re
from pathlib import Path

import truckee

TEXT = (Path(__file__).parents[1] / "CHANGELOG.md").read_text()
KINDS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def first_version() -> str:
    """Return the text of 0.1.0."""
    found = re.search(r"^## 0\.1\.0 - \S+$(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def test_versions_have_a_day_or_are_unreleased() -> None:
    titles = re.findall(r"^## (.*)$", TEXT, re.MULTILINE)

    assert titles
    versions = [title for title in titles if title != "Unreleased"]
    assert titles[-len(versions) :] == versions
    day = re.compile(r"\d+\.\d+\.\d+ - (\d{4}-\d\d-\d\d|unreleased)")
    assert [title for title in versions if not day.fullmatch(title)] == []
    assert versions[0].startswith(f"{truckee.__version__} - ")


def test_changes_are_grouped_by_kind() -> None:
    assert set(re.findall(r"^### (.*)$", TEXT, re.MULTILINE)) <= KINDS


def test_every_bullet_of_the_first_version_is_in_the_group_of_its_area() -> None:
    _, *groups = re.split(r"^#### ", first_version(), flags=re.MULTILINE)

    names = [group.partition("\n")[0] for group in groups]
    assert len(set(names)) == len(names) > 10
    bullets = [re.findall(r"^- (.*)$", group, re.MULTILINE) for group in groups]
    assert all(bullets)
    assert sum(map(len, bullets)) == len(re.findall(r"^- ", first_version(), re.MULTILINE))
    assert len({bullet for group in bullets for bullet in group}) == sum(map(len, bullets))


def test_the_first_version_is_compared_with_nothing() -> None:
    compared = r"used to|no longer|is shown again|less time|where it took|got 0|previously"

    assert re.findall(compared, first_version()) == []
