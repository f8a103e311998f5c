"""What commands print on a terminal: one line for each row, whatever its width; all in a pipe."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import run, run_in_terminal
from diff_tables import Table
from staging import metadata

NAME = "part-00000-5c1d0ea4-bd55-487d-9370-3846d94b20de-1-c000.snappy.parquet"
SCHEMA = ("id long", "customer string", "status string", "town string")


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """Two rows, one of which is updated; names of files are as long as Spark's."""
    made = Table(tmp_path / "t")
    feed = {"delta.enableChangeDataFeed": "true"}
    made.history.stage(metadata(*SCHEMA, properties=feed)).info(operation="WRITE")
    rows = {"id": [1, 2], "customer": ["Ada", "Bo"], "status": ["new"] * 2, "town": ["Porto"] * 2}
    made.add(f"a-{NAME}", rows).then()
    made.history.info(operation="UPDATE", user_name="me").delete(f"a-{NAME}", rows=[0])
    row = {"id": [1], "customer": ["Ada"], "status": ["paid by the bank"], "town": ["Porto"]}
    return made.add(f"b-{NAME}", row).then()


VERBS = (
    ("files",),
    ("log",),
    ("history",),
    ("head",),
    ("rows", "--where", "id = 1", "--keys", "id"),
    ("diff", "0", "1", "--keys", "id"),
    ("changes", "--from", "0"),
    ("changes", "--from", "0", "--summary"),
)


def arguments(verb: tuple[str, ...], table: Table) -> list[str]:
    return [verb[0], str(table.root), *verb[1:]]


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
@pytest.mark.parametrize("columns", [80, 60, 40])
def test_a_row_is_one_line(
    verb: tuple[str, ...],
    columns: int,
    table: Table,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, piped, _ = run(capsys, *arguments(verb, table))

    lines, _ = run_in_terminal(capsys, monkeypatch, columns, *arguments(verb, table))

    assert len(lines) == len(piped.splitlines()) > 1
    assert max(map(len, lines)) <= columns
    assert all(line == line.rstrip() for line in (*lines, *piped.splitlines()))


def test_files_are_told_apart_at_80_columns(
    table: Table, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines, _ = run_in_terminal(capsys, monkeypatch, 80, "files", str(table.root))

    names = [line.split()[0] for line in lines]
    assert names == ["path", "a-part-00000-5c1d0e…arquet", "b-part-00000-5c1d0e…arquet"]


def test_a_history_keeps_when_who_and_what_and_the_values_that_change(
    table: Table, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    history = ("rows", str(table.root), "--where", "id = 1", "--keys", "id", "--utc")

    lines, err = run_in_terminal(capsys, monkeypatch, 80, *history)

    parts = [line.split() for line in lines]
    assert parts[0] == ["version", "time", "operation", "user", "_change_…", "id", "status"]
    assert all(re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d…", at) for _, at, *_ in parts[1:])
    assert [[version, *rest] for version, _, *rest in parts[1:]] == [
        ["0", "WRITE", "insert", "1", "new"],
        ["1", "UPDATE", "me", "preimage", "1", "new"],
        ["1", "UPDATE", "me", "postimage", "1", "paid", "by", "the", "bank"],
    ]
    assert err == (
        "not shown, as the terminal has 80 columns: customer, town, changed; --vertical shows all\n"
    )


def test_a_diff_keeps_the_names_of_changed_columns_and_leaves_out_the_others(
    table: Table, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    diff = ("diff", str(table.root), "0", "1", "--keys", "id")

    lines, err = run_in_terminal(capsys, monkeypatch, 43, *diff)

    assert [line.split() for line in lines] == [
        ["_change_type", "id", "status", "changed"],
        ["update_preimage", "1", "new", "status"],
        ["update_postimage", "1", "paid", "by", "the…", "status"],
    ]
    assert err == (
        "not shown, as the terminal has 43 columns: customer, town; --vertical shows all\n"
    )


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
@pytest.mark.parametrize("columns", [40, 200])
def test_the_vertical_form_has_each_value_whole_after_its_name(
    verb: tuple[str, ...],
    columns: int,
    table: Table,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, piped, _ = run(capsys, *arguments(verb, table))
    names, *rows = piped.splitlines()

    lines, _ = run_in_terminal(capsys, monkeypatch, columns, *arguments(verb, table), "--vertical")

    blocks = "\n".join(lines).split("\n\n")
    assert len(blocks) == len(rows)
    for block, row in zip(blocks, rows, strict=True):
        named = [line.split(maxsplit=1) for line in block.splitlines()]
        # Names may have spaces, so that a line may begin with more than one word of its name.
        assert sorted(" ".join(block.split()).split()) == sorted((names + " " + row).split())
        assert all(name in names for name, *_ in named)


def test_a_terminal_does_not_break_the_words_of_a_message(
    table: Table, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)

    _, _, err = run(capsys, "changes", str(table.root), "--from", "9")

    hint = [line for line in err.splitlines() if line.startswith("hint")]
    assert hint == ["hint: start at version 1 or before"]
    assert all(len(line) <= 60 for line in err.splitlines() if "/" not in line)
    assert all(line.strip() == line for line in err.splitlines())


def test_many_names_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Table(tmp_path / "t")
    names = [f"column_{number:02}" for number in range(30)]
    made.history.stage(metadata(*(f"{name} long" for name in names)))
    made.add("a", {name: [1] for name in names}).then()

    lines, err = run_in_terminal(capsys, monkeypatch, 80, "head", str(tmp_path / "t"))

    count = len(lines[0].split())
    assert err == (
        f"not shown, as the terminal has 80 columns: {', '.join(names[count : count + 8])} "
        f"and {22 - count} more; --vertical shows all\n"
    )


def test_pipes_and_json_have_everything(table: Table, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, err = run(capsys, "rows", str(table.root), "--where", "id = 1", "--keys", "id")
    _, text, _ = run(capsys, "files", str(table.root), "--json")

    assert (out.splitlines()[0].split()[1], err) == ("time", "")
    assert {file["path"] for file in json.loads(text)} == {f"a-{NAME}", f"b-{NAME}"}


def test_a_column_may_be_called_as_a_number_is_marked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = Table(tmp_path / "t")
    made.history.stage(metadata("#id long"))
    made.add("a", {"#id": [1]}).then()

    assert run(capsys, "head", str(tmp_path / "t"))[1] == "#id\n1\n"


@pytest.mark.parametrize("verb", [("detail",), ("doctor",), ("history", "--long")], ids=" ".join)
def test_facts_go_on_below_themselves(
    verb: tuple[str, ...],
    table: Table,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, piped, _ = run(capsys, *arguments(verb, table))

    lines, _ = run_in_terminal(capsys, monkeypatch, 60, *arguments(verb, table))

    # Paths are not broken, since people copy them.
    assert [line for line in lines if len(line) > 60 and "/" not in line] == []
    assert " ".join(" ".join(lines).split()) == " ".join(piped.split())


def test_hints_without_spark_name_none_of_its_settings(
    table: Table, capsys: pytest.CaptureFixture[str]
) -> None:
    script = f"import truckee; truckee.open({str(table.root)!r}).changes(startingVersion=9)"

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    _, _, err = run(capsys, "vacuum", str(table.root), "--retention", "0")

    assert done.stderr.endswith("\nhint: start at version 1 or before\n")
    assert err.endswith("if nobody uses the table, call truckee vacuum with --no-retention-check\n")
