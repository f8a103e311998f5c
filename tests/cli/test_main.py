"""The process around the verbs: exit codes, help, debugging, pipes."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from inspect import getdoc
from pathlib import Path

import pytest

from builders import history
from truckee.cli.main import _COMMANDS, main
from truckee.errors.log import NotADeltaTableError
from truckee.storage.local import LocalStorage


def test_the_version_of_truckee(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"truckee {version('truckee')}\n"


def test_help_names_every_verb(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0

    printed = capsys.readouterr().out
    for verb in ("history", "detail", "log", "files", "changes"):
        assert verb in printed


@pytest.mark.parametrize("verb", [None, *_COMMANDS])
def test_help_names_no_value_for_flags_and_breaks_no_sentence(
    verb: str | None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")

    assert main(["--help"] if verb is None else [verb, "--help"]) == 0

    printed = capsys.readouterr().out
    assert "--help" in printed
    assert "bool" not in printed.lower()
    if verb is not None:
        doc = getdoc(_COMMANDS[verb]) or ""
        shown = [line.strip() for line in printed.splitlines()]
        for paragraph in doc.split("\n\n"):
            sentence = " ".join(paragraph.split())
            assert sentence in shown or len(sentence) > 190


@pytest.mark.parametrize("arguments", [["nonsense"], ["history"], ["files", ".", "--version", "x"]])
def test_arguments_that_make_no_sense_exit_with_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("place", [0, 1, 2])
def test_debug_shows_where_an_error_came_from(place: int, tmp_path: Path) -> None:
    arguments = ["history", str(tmp_path)]
    arguments.insert(place, "--debug")

    with pytest.raises(NotADeltaTableError):
        main(arguments)


def test_the_module_runs_as_a_process(tmp_path: Path) -> None:
    history(LocalStorage(str(tmp_path))).add("a").then()

    done = subprocess.run(
        [sys.executable, "-m", "truckee", "files", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0
    assert done.stderr == "1 file, 100 bytes\n"
    assert done.stdout.splitlines()[1].split()[:2] == ["a", "100"]


def test_an_error_is_the_exit_code_of_the_process(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "truckee", "files", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_a_reader_who_has_seen_enough_is_no_error(tmp_path: Path) -> None:
    table = history(LocalStorage(str(tmp_path)))
    for number in range(3000):
        table.add(f"some-rather-long-name-of-a-file-{number:09}.parquet")
    table.then()

    done = subprocess.run(
        f"{sys.executable} -m truckee files {tmp_path} --json | head -n 2",
        shell=True,
        capture_output=True,
        text=True,
        check=True,
    )

    assert len(done.stdout.splitlines()) == 2
    assert done.stderr == ""
