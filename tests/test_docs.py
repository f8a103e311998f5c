"""The documentation tells the truth: its examples run, and what is made from code is up to date."""

from __future__ import annotations

import ast
import json
import re
import runpy
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import truckee
from docs_blocks import blocks, run
from scripts.generated_docs import ROOT, commands, pages, pictures, renewed
from scripts.search_names import on_post_build, parts_of
from truckee.datasource.read_request import READ_OPTIONS
from truckee.options.feed import FEED_SWITCHES, READ_CHANGE_FEED, TIME_TRAVEL
from truckee.options.stream import STREAM_OPTIONS
from truckee.streaming.write_plan import SINK_OPTIONS

OPTIONS_PAGE = ROOT / "docs" / "reference" / "options.md"
READS_OPTIONS = ("options/feed.py", "options/stream.py", "commands/write/options.py")
OUTSIDE_THE_SITE = ("ARCHITECTURE", "CONTRIBUTING", "SECURITY")
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def page_cases() -> list[Any]:
    return [
        pytest.param(
            page,
            id=str(page.relative_to(ROOT)),
            marks=page_marks(page),
        )
        for page in pages()
        if blocks(page)
    ]


def page_marks(page: Path) -> list[pytest.MarkDecorator]:
    marks = [pytest.mark.spark] if needs_spark(page) else []
    # A session of its own takes longer than all the other blocks together.
    return [*marks, pytest.mark.slow] if any(block.is_alone for block in blocks(page)) else marks


def needs_spark(page: Path) -> bool:
    return any(block.needs_spark for block in blocks(page))


# Invariant 16.
@pytest.mark.parametrize("page", page_cases())
def test_every_example_of_a_page_runs(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    # Before the folder changes: what the JVM starts, such as Python workers, runs in its folder.
    if needs_spark(page):
        request.getfixturevalue("spark")
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "__main__"}

    for block in blocks(page):
        run(block, namespace)


# Invariant 31.
@pytest.mark.spark
@pytest.mark.parametrize("example", EXAMPLES, ids=[example.name for example in EXAMPLES])
def test_every_example_script_ends_with_the_rows_it_states(
    example: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    request.getfixturevalue("spark")
    monkeypatch.chdir(tmp_path)

    module = runpy.run_path(str(example))

    assert module["main"]() == module["ENDS_WITH"]


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_what_is_made_from_code_is_up_to_date(page: Path) -> None:
    text = page.read_text()

    assert text == renewed(text), "run: python -m scripts.generated_docs"


def test_pictures_show_the_last_measurements() -> None:
    assert pictures()
    for place, text in pictures().items():
        assert place.read_text() == text, "run: python -m scripts.generated_docs"


@pytest.mark.parametrize("name", commands())
def test_every_command_has_help_with_an_example_and_a_place_in_the_docs(name: str) -> None:
    command = commands()[name]
    page = (ROOT / "docs" / "reference" / "command-line.md").read_text()

    assert f"Example: truckee {name}" in (command.help or "")
    assert f"## truckee {name}\n" in page
    for parameter in command.params:
        assert getattr(parameter, "help", None), f"{parameter.name} has no help"


def test_every_option_has_a_place_in_the_docs() -> None:
    page = OPTIONS_PAGE.read_text()
    known = {
        *READ_CHANGE_FEED,
        *TIME_TRAVEL,
        *FEED_SWITCHES,
        *STREAM_OPTIONS,
        *READ_OPTIONS,
        *SINK_OPTIONS,
        *options_in_code(),
    }

    assert sorted(name for name in known if f"`{name}`" not in page) == []


def options_in_code() -> set[str]:
    """Return the names that are asked of options: `options.boolean("mergeSchema")` and the like."""
    found = set()
    for path in READS_OPTIONS:
        tree = ast.parse((ROOT / "src" / "truckee" / path).read_text())
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in ("boolean", "get", "version")
                and ast.unparse(node.func.value) in ("options", "text")
                and isinstance(node.args[0], ast.Constant)
            ):
                found.add(str(node.args[0].value))
    return found


def test_every_setting_has_a_place_in_the_guide_to_tuning() -> None:
    guide = (ROOT / "docs" / "guides" / "tuning.md").read_text()
    sources = (path.read_text() for path in (ROOT / "src").rglob("*.py"))
    named = {
        name
        for text in sources
        for name in re.findall(r"spark\.truckee\.(?:\w+\.)*\w+(?![\w.])", text)
    }

    assert named
    assert {name for name in named if f"`{name}`" not in guide} == set()


def test_every_setting_of_delta_that_is_read_has_a_place_in_the_docs() -> None:
    """By the end of its name, since its beginning may be a constant: `f"{_DELTA}lite.enabled"`."""
    pages = ("guides/tuning.md", "guides/compaction.md", "reference/options.md")
    told = "\n".join((ROOT / "docs" / page).read_text() for page in pages)
    begun = r"\{(?:_DELTA|_CONF|_SETTINGS|_PARALLEL|DELTA_SETTINGS|clustering)\}"
    asked = rf'(?:spark\.databricks\.delta\.|{begun}|_setting\(settings, ")((?:\w+\.)*\w+)(?![\w.])'
    sources = [path.read_text() for path in (ROOT / "src").rglob("*.py")]
    named = {name for text in sources for name in re.findall(asked, text)}

    assert len(named) > 30
    assert {name for name in named if name not in told} == set()


def test_every_error_of_the_troubleshooting_guide_is_one_of_ours() -> None:
    guide = (ROOT / "docs" / "guides" / "troubleshooting.md").read_text()
    told = (ROOT / "docs" / "reference" / "errors.md").read_text()
    named = set(re.findall(r"`((?:DELTA|TRUCKEE|DIFFERENT)_[A-Z_]+)`", guide))

    assert named
    assert {name for name in named if f"`{name}`" not in told} == set()


def test_links_between_pages_lead_somewhere() -> None:
    broken = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in [*pages(), *(ROOT / f"{name}.md" for name in OUTSIDE_THE_SITE)]
        for target in re.findall(r"\]\(([^):]+)\)", page.read_text())
        if not leads_somewhere(page, target)
    ]

    assert broken == []


def leads_somewhere(page: Path, target: str) -> bool:
    path, _, heading = target.partition("#")
    place = page.parent / path if path else page
    if not heading or place.suffix != ".md":
        return place.exists()
    return place.exists() and heading in headings(place)


def headings(page: Path) -> set[str]:
    """Return the headings of a page as links spell them."""
    found = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in found}


def test_a_link_to_a_heading_that_is_not_there_leads_nowhere(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A page\n\n## What `it` has\n")

    assert leads_somewhere(page, "#what-it-has")
    assert leads_somewhere(page, "page.md#a-page")
    assert not leads_somewhere(page, "page.md#what-it-had")


def test_what_the_python_reference_describes_is_there() -> None:
    """The site collects it when it is built, which these tests do not do."""
    page = (ROOT / "docs" / "reference" / "python.md").read_text()
    described = re.findall(r"^::: (\S+)$", page, re.MULTILINE)

    assert len(described) > 20
    for place in described:
        module, _, name = place.rpartition(".")
        assert hasattr(import_module(module), name), place


def test_every_public_name_is_in_the_python_reference() -> None:
    page = (ROOT / "docs" / "reference" / "python.md").read_text()
    described = {
        place.rpartition(".")[2] for place in re.findall(r"^::: (\S+)$", page, re.MULTILINE)
    }

    assert sorted(set(truckee.__all__) - described - {"errors"}) == []


@pytest.mark.parametrize(
    "page",
    [page for page in pages() if page.is_relative_to(ROOT / "docs")],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_lines_of_code_fit_their_box_on_the_site(page: Path) -> None:
    """What is printed may be longer: the site breaks it."""
    fences = re.findall(
        r"^ *```(\w*)[^\n]*\n(.*?)^ *```$", page.read_text(), re.MULTILINE | re.DOTALL
    )

    long = [
        line
        for kind, code in fences
        if kind != "text"
        for line in code.splitlines()
        if len(line) > 80
    ]
    assert long == []


def test_every_page_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text()
    docs = ROOT / "docs"

    left_out = [
        str(page.relative_to(docs))
        for page in sorted(docs.rglob("*.md"))
        if str(page.relative_to(docs)) not in navigation
    ]

    assert left_out == []


def test_search_finds_names_by_their_ends() -> None:
    text = "Set `delta.columnMapping.mode` or spark.truckee.dml.x; DELTA_VERSION_NOT_FOUND, mode."

    assert parts_of(text) == [
        "columnMapping.mode",
        "truckee.dml.x",
        "dml.x",
        "x",
        "VERSION_NOT_FOUND",
    ]


def test_a_hit_of_the_search_shows_one_name_and_not_all_of_them(tmp_path: Path) -> None:
    index = tmp_path / "search" / "search_index.json"
    index.parent.mkdir()
    index.write_text('{"docs": [{"text": "<p>delta.a.b</p>"}, {"text": "plain"}]}')

    on_post_build({"site_dir": str(tmp_path)})

    assert [page["text"] for page in json.loads(index.read_text())["docs"]] == [
        "<p>delta.a.b</p> <p>a.b</p> <p>b</p>",
        "plain",
    ]


def test_every_invariant_names_a_test_that_cites_it() -> None:
    page = (ROOT / "docs" / "invariants.md").read_text()
    guards = re.findall(r"\| (\d+) \|.*`(tests/[\w/.]+)::(\w+)`", page)

    missing = [
        f"{number}: {path}::{name}"
        for number, path, name in guards
        if not (ROOT / path).exists() or f"def {name}(" not in (ROOT / path).read_text()
    ]
    uncited = [
        f"{number}: {path}"
        for number, path, _ in guards
        if not re.search(rf"[Ii]nvariant {number}\b", (ROOT / path).read_text())
    ]

    assert [number for number, _, _ in guards] == [str(n) for n in range(1, len(guards) + 1)]
    assert missing == []
    assert uncited == []
