"""What commands print on a terminal: one line for each row, whatever its width; all in a pipe."""

from __future__ import annotations

import json
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


def test_columns_without_room_are_named_in_a_message(
    table: Table, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    history = ("rows", str(table.root), "--where", "id = 1", "--keys", "id")

    lines, err = run_in_terminal(capsys, monkeypatch, 80, *history)

    shown = "version  time  _change_type  id  customer  status  town"
    assert lines[0].split() == shown.split()
    assert lines[-1].endswith("update_postimage  1   Ada       paid by…nk  Porto")
    assert err == "not shown, as the terminal has 80 columns: operation, user, changed\n"


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
        f"and {22 - count} more\n"
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
