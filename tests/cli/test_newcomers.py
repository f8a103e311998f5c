"""What people try first: wrong words, empty tables, closed pipes, interrupts, completion."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from builders import history
from command_line import run
from diff_tables import Table
from staging import metadata
from truckee.log.files import history as log_history
from truckee.protocol.schema import StructType
from truckee.storage.local import LocalStorage

TRUCKEE = (sys.executable, "-m", "truckee")


@pytest.fixture
def table(tmp_path: Path) -> str:
    made = Table(tmp_path / "t")
    made.history.stage(metadata("id long", "name string"))
    made.add("a", {"id": [1, 2], "name": ["a", "b"]}).then()
    return str(made.root)


@pytest.fixture
def hollow(tmp_path: Path) -> str:
    """A table without columns."""
    nothing = replace(metadata(), schema_string=StructType(()).to_json())
    made = history(LocalStorage(str(tmp_path / "hollow"))).stage(nothing)
    made.then()
    return str(made.storage.root)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ("changes", "--from", "0", "--feed", "all"),
            "'all' is not one of recorded, derived, auto",
        ),
        (("changes", "--from", "0", "--schema", "x"), "'x' is not one of follow, superset, legacy"),
        (("head", "--columns", ""), "'' is not a list of column names"),
        (("head", "--columns", "id,,name"), "'id,,name' is not a list of column names"),
        (("diff", "0", "0", "--keys", " "), "' ' is not a list of column names"),
        (("rows", "--where", "id = 1", "--keys", ","), "',' is not a list of column names"),
        (("head", "--limit", "0"), "--limit"),
        (("head", "--engine", "fast"), "'fast' is not one of"),
        (("restore",), "give either --version or --timestamp"),
    ],
)
def test_a_wrong_option_is_one_sentence_and_exits_with_2(
    arguments: tuple[str, ...],
    says: str,
    table: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "200")

    code, out, err = run(capsys, arguments[0], table, *arguments[1:])

    assert (code, out) == (2, "")
    assert says in err


@pytest.mark.parametrize(
    "arguments",
    [
        ("head",),
        ("head", "--engine", "spark"),
        ("changes", "--from", "0"),
        ("changes", "--from", "0", "--net"),
        ("diff", "0", "0"),
        ("rows",),
        ("optimize",),
    ],
    ids=" ".join,
)
def test_a_condition_that_is_none_starts_no_jvm(
    arguments: tuple[str, ...], table: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, arguments[0], table, *arguments[1:], "--where", "id IN (1")

    assert (code, out) == (1, "")
    assert err == (
        "error: [PARSE_SYNTAX_ERROR] the condition 'id IN (1' cannot be parsed: expected a closing "
        "bracket at its end\n"
        "hint: write it as in SQL, such as \"id > 5 AND name LIKE 'a%'\"\n"
    )


def test_a_statement_that_is_none_starts_no_jvm(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "sql", "VACUUM")

    assert (code, out) == (1, "")
    assert err.splitlines()[0] == (
        "error: [PARSE_SYNTAX_ERROR] Syntax error at or near end of input: the name of a table or "
        "a path in quotes is expected. (line 1, pos 6)"
    )


def test_head_of_a_table_without_columns(hollow: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "head", hollow) == (0, "", "the table has no columns\n")
    assert run(capsys, "head", hollow, "--json") == (0, "[]\n", "")


def test_the_hint_of_a_feed_that_was_off_names_the_option_of_the_command(
    table: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, "changes", table, "--from", "0")

    assert code == 1
    assert "(on the command line: --feed auto)" in err


def test_a_table_that_is_in_the_way_of_a_clone_has_one_file(
    table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "clone", table, str(tmp_path / "copy"))[0] == 0

    code, _, err = run(capsys, "clone", table, str(tmp_path / "copy"))

    assert code == 1
    assert f"the target {tmp_path}/copy is a table with 1 file\n" in err


@pytest.mark.parametrize("verb", ["detail", "files", "report"])
def test_a_reader_who_has_seen_enough_is_no_failure(verb: str, table: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    options = ("-o", "-") if verb == "report" else ()

    done = subprocess.run(
        [*TRUCKEE, verb, table, *options], stdout=writer, stderr=subprocess.PIPE, text=True
    )
    os.close(writer)

    assert done.returncode == 0
    assert "Broken" not in done.stderr


def test_a_closed_stdout_is_no_failure(table: str) -> None:
    done = subprocess.run(f"{' '.join(TRUCKEE)} history {table} >&-", shell=True)

    assert done.returncode == 0


def test_an_interrupt_shows_no_traceback(
    table: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(log_history, "history", interrupted)

    code, out, err = run(capsys, "history", table)

    assert code == 128 + signal.SIGINT
    assert (out + err).strip() in ("", "Aborted.")


def test_shells_complete_commands_options_and_words() -> None:
    def completed(words: str, place: int) -> list[str]:
        env = {
            **os.environ,
            "_TRUCKEE_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": str(place),
        }
        return subprocess.run(TRUCKEE, env=env, capture_output=True, text=True).stdout.split()

    assert completed("truckee h", 1) == ["history", "head"]
    assert completed("truckee history --l", 2) == ["--limit", "--long"]
    assert completed("truckee changes t --feed ", 4) == ["recorded", "derived", "auto"]
    assert completed("truckee changes t --schema s", 4) == ["superset"]


def test_a_stdout_that_lacks_characters_spells_them_out(tmp_path: Path) -> None:
    made = Table(tmp_path / "t")
    made.history.stage(metadata("id long", "name string"))
    made.then()
    made.add("a", {"id": [1], "name": ["Zoë 🌊"]}).then()

    def printed(*arguments: str) -> bytes:
        env = {**os.environ, "PYTHONIOENCODING": "ascii"}
        command = [*TRUCKEE, *arguments]
        return subprocess.run(command, env=env, capture_output=True, check=True).stdout

    root = str(made.root)
    assert printed("head", root).splitlines()[1] == rb"1   Zo\u00eb \ud83c\udf0a"
    assert json.loads(printed("head", root, "--json")) == [{"id": 1, "name": "Zoë 🌊"}]
    page = printed("diff", root, "0", "1", "-o", "-").decode("utf-8")
    assert "<td>Zoë 🌊</td>" in page
