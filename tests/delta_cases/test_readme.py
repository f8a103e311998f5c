"""The page beside the cases counts them as they are."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

from delta_cases import streams
from delta_cases.suites import SUITES

README = Path(__file__).with_name("README.md")
FILES = (*SUITES.values(), streams)


def counts(module: ModuleType) -> str:
    """Return the row of a file in the table of the page."""
    suites = re.findall(r"\w+Suite(?:Base)?\b", str(module.__doc__))
    left_out = sum(left_out_in(what) for what in module.LEFT_OUT)
    cells = (
        f"`{Path(str(module.__file__)).name}`",
        ", ".join(suites),
        len(module.CASES),
        sum(len(case.ways) for case in module.CASES),
        sum(bool(getattr(case, "unlike", "")) for case in module.CASES),
        left_out,
    )
    return "| " + " | ".join(map(str, cells)) + " |"


def left_out_in(what: str) -> int:
    """Return how many tests of Delta's were left out: "views (3)" are three, "a view" is one."""
    found = re.search(r"\((\d+)", what)
    return int(found[1]) if found else 1


def page() -> str:
    """Return the page with its counts and reasons as they should be."""
    head, _, _ = README.read_text().partition("|---|---|---|---|---|---|\n")
    rows = "\n".join(counts(module) for module in FILES)
    reasons = "\n".join(
        f"- `{Path(str(module.__file__)).name}`: {what}: {why}."
        for module in FILES
        for what, why in module.LEFT_OUT.items()
    )
    return (
        f"{head}|---|---|---|---|---|---|\n{rows}\n\n## Left out, and why\n\n{reasons}\n\n"
        f"## Other than Delta, and why\n\n{differences()}\n"
    )


def differences() -> str:
    return "\n".join(
        f"- `{Path(str(module.__file__)).name}`: {case.fact}: {case.unlike}."
        for module in SUITES.values()
        for case in module.CASES
        if case.unlike
    )


def test_the_page_counts_the_cases_and_says_what_is_left_out() -> None:
    assert README.read_text() == page(), "run: python tests/delta_cases/test_readme.py"


def test_facts_are_told_once() -> None:
    for module in FILES:
        facts = [case.fact for case in module.CASES]
        assert sorted(set(facts)) == sorted(facts)


if __name__ == "__main__":
    README.write_text(page())
