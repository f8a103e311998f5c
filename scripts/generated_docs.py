"""The parts of the documentation that are made from code or from measurements.

A page holds each between two comments, `<!-- generated: name -->` and `<!-- end -->`.
`python -m scripts.generated_docs` brings all pages up to date; the tests say when one is not.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import typer.main

import truckee.errors
from scripts.curve_docs import growth_markdown, growth_pictures
from scripts.measured_docs import (
    headlines_markdown,
    measurements_markdown,
    performance_markdown,
    without_a_jvm_markdown,
)
from scripts.sql_examples.page import statements_markdown
from truckee.cli.main import app
from truckee.errors.base import DeltaError
from truckee.options.delta_settings import FIXED_SETTINGS, NEEDLESS_SETTINGS, UNUSED_SETTINGS
from truckee.protocol.feature_table import FEATURES, features_markdown
from truckee.protocol.properties import INTERVAL, PROPERTIES, Property
from truckee.protocol.unused_properties import UNUSED_PROPERTIES

ROOT = Path(__file__).resolve().parent.parent
_PART = re.compile(r"(<!-- generated: (\w+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def pages() -> list[Path]:
    """Return every page of the documentation, the README first."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def renewed(text: str) -> str:
    """Return a page with its generated parts as the code has them now."""

    def part(found: re.Match[str]) -> str:
        return f"{found[1]}{PARTS[found[2]]()}{found[4]}"

    return _PART.sub(part, text)


def properties_markdown() -> str:
    lines = ["| property | takes | default |", "|---|---|---|"]
    for key in sorted(PROPERTIES):
        found = PROPERTIES[key]
        takes = found.kind.needs if found.settable else "set by writers themselves"
        lines.append(f"| `{found.key}` | {takes} | {_default(found)} |")
    return "\n".join(lines) + "\n"


def unused_properties_markdown() -> str:
    lines = ["| property | why it has no effect |", "|---|---|"]
    lines += [f"| `{key}` | {why} |" for key, why in sorted(UNUSED_PROPERTIES.items())]
    return "\n".join(lines) + "\n"


def unused_settings_markdown() -> str:
    lines = ["| setting | what truckee does |", "|---|---|"]
    lines += [
        f"| `{name}` | as if `{as_if}`: {why} |" for name, (as_if, why) in FIXED_SETTINGS.items()
    ]
    lines += [f"| `{name}` | nothing: {why} |" for name, why in UNUSED_SETTINGS.items()]
    lines += [
        f"| `{name}` | nothing, and no warning: {why} |" for name, why in NEEDLESS_SETTINGS.items()
    ]
    return "\n".join(lines) + "\n"


def _default(found: Property[Any]) -> str:
    if found.default is None:
        return "none"
    if found.kind is INTERVAL:
        return f"`interval {found.default // 86_400_000} days`"
    if isinstance(found.default, tuple):
        return "none" if not found.default else f"`{','.join(found.default)}`"
    text = str(found.default)
    return f"`{text.lower() if isinstance(found.default, bool) else text}`"


def commands() -> Mapping[str, Any]:
    """Return every command of the command line by its name.

    Some typers bring a click of their own, so these have no type that can be named here.
    """
    group: Any = typer.main.get_command(app)
    found: Mapping[str, Any] = group.commands
    return found


def commands_markdown() -> str:
    return "\n".join(_command_lines())


def _command_lines() -> Iterator[str]:
    for name, command in commands().items():
        text = (command.help or "").strip()
        body, _, example = text.partition("Example: ")
        yield f"## truckee {name}\n\n{body.strip()}\n"
        yield f"```text\n{example.strip()}\n```\n"
        yield "| argument | meaning |\n|---|---|"
        for parameter in command.params:
            yield _parameter_line(parameter)
        yield ""


def _parameter_line(parameter: Any) -> str:
    help_text = str(getattr(parameter, "help", "") or "")
    if parameter.param_type_name != "option":
        return f"| `{parameter.metavar or parameter.name}` | {help_text} |"
    names = ", ".join([*parameter.opts, *parameter.secondary_opts])
    value = "" if parameter.is_flag else f" {parameter.metavar or _choices(parameter)}"
    if parameter.required:
        help_text += " Required."
    elif parameter.default not in (None, False):
        help_text += f" Default: {parameter.default}."
    return f"| `{names}{value}` | {help_text} |"


def _choices(parameter: Any) -> str:
    return " or ".join(choice.value for choice in parameter.type_descriptor.annotation)


def errors_markdown() -> str:
    lines = [
        "| error class | SQLSTATE | raised as | below | with Spark also | meaning |",
        "|---|---|---|---|---|---|",
    ]
    for error in sorted(error_classes(), key=lambda kind: (kind.code, kind.__name__)):
        first = (error.__doc__ or "").strip().splitlines()[0]
        above, also = error.__bases__[0].__name__, error.spark.replace("PySparkException", "")
        cells = (f"`{error.code}`", error.state, f"`{error.__name__}`", f"`{above}`", also, first)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def error_classes() -> set[type[DeltaError]]:
    for module in pkgutil.walk_packages(truckee.errors.__path__, "truckee.errors."):
        importlib.import_module(module.name)
    # Those that Spark's users see besides are made where Spark is loaded.
    found = _subclasses(DeltaError)
    return {each for each in found if each.plain is None and _is_of_errors(each)}


def _is_of_errors(kind: type[DeltaError]) -> bool:
    return kind.__module__.startswith("truckee.errors.")


def _subclasses(kind: type[DeltaError]) -> Iterator[type[DeltaError]]:
    for found in kind.__subclasses__():
        yield found
        yield from _subclasses(found)


# The README's comparison with other libraries: a row, the features that tell truckee's support (or
# a text, if it is not about a table feature), delta-spark, deltalake. The entry for deltalake is
# what it did with the test tables, that for delta-spark what `make interop` showed.
_COMPARED: tuple[tuple[str, str | tuple[str, ...], str, str], ...] = (
    ("newest PySpark", "4.3", "4.2", "needs no Spark"),
    ("JARs to match with Spark", "none", "yes", "none"),
    ("deletion vectors, read", ("deletionVectors",), "yes", "by SQL; not as a PyArrow table"),
    (
        "deletion vectors, written by DELETE, UPDATE, MERGE",
        ("deletionVectors",),
        "yes",
        "no, files are written anew",
    ),
    ("change data feed, batch", ("changeDataFeed",), "yes", "yes"),
    ("feed of tables with column mapping", ("changeDataFeed", "columnMapping"), "yes", "refused"),
    ("feed as a stream", "yes", "yes", "no"),
    (
        "column mapping, column defaults, generated and identity columns, constraints",
        (
            "columnMapping",
            "allowColumnDefaults",
            "generatedColumns",
            "identityColumns",
            "invariants",
            "checkConstraints",
        ),
        "yes",
        "some",
    ),
    (
        "type widening, row tracking, in-commit timestamps, V2 checkpoints",
        ("typeWidening", "rowTracking", "inCommitTimestamp", "v2Checkpoint"),
        "yes",
        "some",
    ),
    ("variant columns", ("variantType",), "yes", "yes"),
    (
        "Iceberg compatibility",
        ("icebergCompatV1", "icebergCompatV2", "icebergCompatV3"),
        "yes",
        "read, not written",
    ),
    ("catalog-managed tables", ("catalogManaged",), "yes", "refused"),
    ("Delta's SQL, by name and by path", "yes, no JAR", "yes", "SELECT"),
    ("VACUUM, OPTIMIZE, Z-order, RESTORE", "yes", "yes", "yes"),
    ("PURGE, clustering, CLONE", "yes", "yes, shallow clones", "no"),
    ("diff of two versions, net changes, feed of tables that recorded none", "yes", "no", "no"),
    ("rows, feed and history without a JVM", "yes", "no", "yes"),
)


def comparison_markdown() -> str:
    lines = [
        "| | truckee | delta-spark 4.4 | deltalake 1.6 (delta-rs) |",
        "|---|---|---|---|",
    ]
    for what, ours, delta_spark, deltalake in _COMPARED:
        word = ours if isinstance(ours, str) else _support(ours)
        lines.append(f"| {what} | {word} | {delta_spark} | {deltalake} |")
    return "\n".join(lines) + "\n"


def _support(names: tuple[str, ...]) -> str:
    """Return what the table of features says of all of these together."""
    if all(FEATURES[name].read and FEATURES[name].write for name in names):
        return "yes"
    return "read, not written" if all(FEATURES[name].read for name in names) else "refused"


PARTS: Mapping[str, Callable[[], str]] = {
    "sql": statements_markdown,
    "comparison": comparison_markdown,
    "features": features_markdown,
    "properties": properties_markdown,
    "commands": commands_markdown,
    "unused_properties": unused_properties_markdown,
    "unused_settings": unused_settings_markdown,
    "errors": errors_markdown,
    "headlines": headlines_markdown,
    "performance": performance_markdown,
    "measurements": measurements_markdown,
    "without_a_jvm": without_a_jvm_markdown,
    "growth": growth_markdown,
}


def pictures() -> Mapping[Path, str]:
    """Return the pictures that are made from measurements, by their place."""
    return {ROOT / "docs" / "images" / name: text for name, text in growth_pictures().items()}


def main() -> int:
    for page in pages():
        text = page.read_text()
        if (now := renewed(text)) != text:
            page.write_text(now)
            sys.stderr.write(f"{page.relative_to(ROOT)}: brought up to date\n")
    for place, picture in pictures().items():
        place.write_text(picture)
    return 0


if __name__ == "__main__":
    sys.exit(main())
